"""What each legal action is worth if the expert plays on, compiled: flat Monte Carlo.

(Tesauro and Galperin, *On-line policy improvement using Monte-Carlo search*, 1996.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import EXPERT, MOST_PLACES, PLACE_DTYPE, begin, copy_world, walk
from agents.beliefs.features import count_hands, expect_any
from agents.search.tree import MAX_DECISIONS
from taki_env.base.jit import entry
from taki_env.base.types import Words
from taki_env.core.bits import ONE, ZERO, lowest, next_random, seed_word
from taki_env.core.cards import MAX_PLAYERS, OVER
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.observation import determinize
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.state import GAME_DTYPE, States

BURN_IN, THIN, COUNTS = 200, 5, 4
"""Steps of the chain to the first deal that is counted and to each other; how many are counted for
one that is played, the last of them. Fewer than in play, for more decisions in the same time."""


@entry
def evaluate_actions(
    states: States,
    words: Words,
    deals: int,
    memory: Any,
    values: npt.NDArray[np.float32],
    expected: npt.NDArray[np.float32],
) -> None:
    """Add to `values` the mean return of the actor after each legal action.

    What the actor cannot see is re-dealt, by the chain of `agents.beliefs` where it remembers what
    others did. All actions of a game play the same deals, so that luck is the same for all. A game
    that is cut off counts 0.

    Args:
        states: games (B,) that are not over.
        words: uint64 (B,), not 0, to re-deal with.
        deals: for each game.
        memory: of the actors, the arrays of a `Memory` of these games.
        values: (B, 64), 0 before.
        expected: what the others are expected to hold, (B, BELIEF_SIZE), 0 before.
    """
    starts, moves, counts, drawers, drawn_at = memory
    places, worlds = np.empty(MOST_PLACES, PLACE_DTYPE), np.empty(3, GAME_DTYPE)
    fits, scratch = np.empty((MAX_PLAYERS, 2)), np.empty(2, GAME_DTYPE)
    for i in range(states.size):
        root = states[i]
        actor, legal = np.int64(root["actor"]), legal_actions(root)
        loss = -1 / (np.int64(root["num_players"]) - 1)
        unseen, fit, word, steps = 0, 0.0, next_random(words[i]), BURN_IN
        if counts[i] > 0:
            unseen, fit = begin(
                root, starts[i], moves[i], counts[i], drawers[i], drawn_at[i],
                EXPERT, places, worlds, fits, words[i],
            )  # fmt: skip
        if not unseen:
            expect_any(root, actor, expected[i])
        for deal in range(deals):
            dealt = seed_word(words[i], np.uint64(deal), ZERO)
            for _ in range(COUNTS if unseen else 0):
                fit, word = walk(
                    starts[i], moves[i], counts[i], actor, EXPERT, places, unseen,
                    worlds, fits, fit, word, steps,
                )  # fmt: skip
                steps = THIN
                count_hands(worlds[1], actor, 1 / (deals * COUNTS), expected[i])
            if unseen:
                copy_world(worlds, scratch, dealt)
            else:
                scratch[0] = root
                determinize(scratch[0], actor, dealt)
            left = legal
            while left != ZERO:
                action = lowest(left)
                left &= left - ONE
                scratch[1] = scratch[0]
                s = scratch[1]
                apply_action(s, action)
                while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
                    apply_action(s, choose_expert(s, legal_actions(s), DEFAULT_WEIGHTS))
                if s["phase"] == OVER:
                    values[i, action] += (1 if s["winner"] == actor else loss) / deals
