"""The built-in policies, compiled: `random`, `greedy` and `expert`.

A built-in policy needs nothing but the engine, so the compiled loops of the environments, the arena
and search play it without a call to Python. It reads only what the actor sees. All other agents
are in the package `agents`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ZERO, next_random, sample_action
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.policies.greedy import choose_greedy
from taki_env.core.state import State, States

POLICIES = ("random", "greedy", "expert")
"""Names of the built-in policies; a policy's number is its index."""
RANDOM, GREEDY, EXPERT = range(len(POLICIES))


@inner
def choose(policy: Int, s: State, legal: np.uint64, word: np.uint64) -> Int:
    """Return the action of a built-in policy in a game that is not over."""
    if policy == EXPERT:
        return choose_expert(s, legal, DEFAULT_WEIGHTS)
    return choose_greedy(s, legal) if policy == GREEDY else sample_action(legal, word)


@inner
def next_word(policy: Int, word: np.uint64) -> np.uint64:
    """Return the random word for a policy's next decision.

    Only `random` uses the word. `greedy` advances it as well because the games of a seed are
    defined that way; `expert` leaves it as it is, as agents outside the compiled loops do.
    """
    return word if policy == EXPERT else next_random(word)


@entry
def choose_many(
    policy: Int, states: States, legal: Words, words: Words, actions: npt.NDArray[np.int64]
) -> None:
    """Write the action of a built-in policy for every game that is not over; advances `words`."""
    for i in range(states.size):
        words[i] = next_word(policy, words[i])
        if legal[i] != ZERO:
            actions[i] = choose(policy, states[i], legal[i], words[i])
