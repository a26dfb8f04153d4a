"""Loops of the compiled rules over many games: what `Game`, `Batch` and the environments call.

Shapes: `states` (num_games,) of `GAME_DTYPE`; one row or element a game in every other array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry, inlined, inner, prefetch
from taki_env.base.types import Int, Integers, Words
from taki_env.core.bits import ONE, ZERO, next_random, sample_action, seed_word
from taki_env.core.cards import NUM_ACTIONS, OVER
from taki_env.core.engine import apply_action, deal, legal_actions
from taki_env.core.observation import determinize, observe
from taki_env.core.state import CACHE_LINE, GAME_DTYPE, States

SIZE, LAST = np.uint64(NUM_ACTIONS), np.uint64(NUM_ACTIONS - 1)
RECORD_LINES = -(-GAME_DTYPE.itemsize // CACHE_LINE)
AHEAD, SOON = 16, 8
"""Games whose records, and whose next card, are asked for before they are needed."""
_FIELDS: Any = GAME_DTYPE.fields
_HOLDS, _DRAW_PILE = int(_FIELDS["holds"][1]), int(_FIELDS["draw_pile"][1])
_HAND = 16
"""Bytes of one seat's hand."""


@inner
def ask_ahead(states: States, games: Integers, k: Int) -> None:
    """Have the memory deliver what games after `games[k]` need: they lie far apart."""
    ahead = games[min(k + AHEAD, games.size - 1)]
    prefetch(states, ahead, 0)
    prefetch(states, ahead, CACHE_LINE)
    soon = games[min(k + SOON, games.size - 1)]
    prefetch(states, soon, _HOLDS + _HAND * np.int64(states[soon]["actor"]))
    prefetch(states, soon, _DRAW_PILE + np.int64(states[soon]["draw_size"]))


@entry
def deal_many(
    states: States,
    games: Integers,
    base: np.uint64,
    deals: Integers,
    episodes: Integers,
    legal: Words,
) -> None:
    """Deal new games at the indices `games`, each that of its deal and episode."""
    for k in range(games.size):
        soon = games[min(k + 2, games.size - 1)]
        for line in range(RECORD_LINES):
            prefetch(states, soon, CACHE_LINE * line)
        i = games[k]
        s = states[i]
        deal(s, seed_word(base, np.uint64(deals[i]), np.uint64(episodes[i])))
        legal[i] = legal_actions(s)


@entry
def deal_ready(states: States, legal: Words) -> None:
    """Deal games in the order of cards that lies ready in each record (`engine.shuffle`)."""
    for i in range(states.size):
        deal(states[i], ZERO)
        legal[i] = legal_actions(states[i])


@entry
def legal_many(states: States, legal: Words) -> None:
    """Write the legal actions of every game."""
    for i in range(states.size):
        legal[i] = legal_actions(states[i])


@inlined
def _allows(legal: Any, action: Int) -> bool:
    """Tell whether a set holds an action, or nothing at all."""
    word = np.uint64(action)
    held = (word < SIZE) & ((legal >> (word & LAST)) & ONE != ZERO)
    return bool((legal == ZERO) | held)


@entry
def first_illegal(legal: Words, actions: Integers) -> Int:
    """Return the first game whose action is not legal, or -1; games with none are passed over."""
    wrong = False
    for i in range(legal.size):
        wrong |= not _allows(legal[i], actions[i])
    if wrong:
        for i in range(legal.size):
            if not _allows(legal[i], actions[i]):
                return i
    return -1


@entry
def apply_many(states: States, games: Integers, actions: Integers, legal: Words) -> None:
    """Carry out a legal action in each of `games` that is not over and renew its `legal`."""
    for k in range(games.size):
        ask_ahead(states, games, k)
        i = games[k]
        if legal[i] != ZERO:
            s = states[i]
            apply_action(s, actions[k])
            legal[i] = legal_actions(s)


@entry
def observe_many(states: States, seats: Integers, out: npt.NDArray[np.float32]) -> None:
    """Write what `seats` see into the rows of `out`."""
    for i in range(states.size):
        ahead = min(i + AHEAD, states.size - 1)
        prefetch(states, ahead, 0)
        prefetch(states, ahead, _HOLDS + _HAND * seats[ahead])
        observe(states[i], seats[i], out[i])


@entry
def masks_many(legal: Words, out: npt.NDArray[np.int8]) -> None:
    """Unpack sets of actions into rows of zeros and ones."""
    for i in range(legal.size):
        for action in range(NUM_ACTIONS):
            out[i, action] = (legal[i] >> np.uint64(action)) & ONE


@entry
def determinize_many(states: States, seats: Integers, words: Words) -> None:
    """Re-deal in every game what its seat cannot see."""
    for i in range(states.size):
        determinize(states[i], seats[i], words[i])


@entry
def sample_many(legal: Words, words: Words, actions: Integers) -> None:
    """Draw a uniformly random legal action for every game, 0 where it is over; renews `words`."""
    for i in range(legal.size):
        words[i] = next_random(words[i])
        actions[i] = sample_action(legal[i], words[i]) if legal[i] != ZERO else 0


@entry
def play_random(
    states: States,
    words: Words,
    word: np.uint64,
    max_decisions: Int,
    wins: Any,
    out: Any,
    observed: bool,
) -> Int:
    """Play a game per word in `states[0]` with uniformly random actions.

    Adds to `wins` (11,) by seat, the last one counting games cut off; if `observed`, writes what
    the actor sees before every decision to `out` (OBSERVATION_SIZE,). Returns the decisions taken.
    """
    total = 0
    s = states[0]
    for game in range(words.size):
        deal(s, words[game])
        decisions = 0
        while s["phase"] != OVER and decisions < max_decisions:
            if observed:
                observe(s, np.int64(s["actor"]), out)
            word = next_random(word)
            apply_action(s, sample_action(legal_actions(s), word))
            decisions += 1
        total += decisions
        wins[s["winner"]] += 1
    return total
