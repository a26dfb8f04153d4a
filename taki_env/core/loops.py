"""Compiled loops over many games, called by `Game`, `Batch` and the environments.

Shapes: `states` is (num_games,) of `GAME_DTYPE`; other arrays have one row or element per game.
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
"""How many games ahead a record, and then its hand and next card, are prefetched.

A record is requested earlier because the address of the hand in use depends on its contents. Both
distances were chosen by measurement; large batches do not fit into the caches.
"""
_FIELDS: Any = GAME_DTYPE.fields
_HOLDS, _DRAW_PILE = int(_FIELDS["holds"][1]), int(_FIELDS["draw_pile"][1])
_HAND = 16
"""Bytes of one seat's hand."""


@inner
def ask_ahead(states: States, games: Integers, k: Int) -> None:
    """Prefetch the records of upcoming games after `games[k]`.

    A record spans several cache lines, too far apart for the processor to predict: its first two
    are read by every decision, then the actor's hand and the top of the draw pile.
    """
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
    """Deal new games at the indices `games`, from their `deals` and `episodes`; write `legal`."""
    for k in range(games.size):
        # dealing one game takes longer than loading the next, so two games ahead suffice
        soon = games[min(k + 2, games.size - 1)]
        for line in range(RECORD_LINES):
            prefetch(states, soon, CACHE_LINE * line)
        i = games[k]
        s = states[i]
        deal(s, seed_word(base, np.uint64(deals[i]), np.uint64(episodes[i])))
        legal[i] = legal_actions(s)


@entry
def deal_ready(states: States, legal: Words) -> None:
    """Deal games in the preset card order of each record (see `state.shuffle`)."""
    for i in range(states.size):
        deal(states[i], ZERO)
        legal[i] = legal_actions(states[i])


@entry
def legal_many(states: States, legal: Words) -> None:
    """Write the legal actions of each game to `legal`."""
    for i in range(states.size):
        legal[i] = legal_actions(states[i])


@inlined
def _allows(legal: Any, action: Int) -> bool:
    """Return whether a set contains an action or is empty, without a branch."""
    word = np.uint64(action)
    held = (word < SIZE) & ((legal >> (word & LAST)) & ONE != ZERO)
    return bool((legal == ZERO) | held)


@entry
def first_illegal(legal: Words, actions: Integers) -> Int:
    """Return the first game whose action is illegal, or -1; games without legal actions pass."""
    wrong = False  # the first loop has no exit, so that the compiler can vectorize it
    for i in range(legal.size):
        wrong |= not _allows(legal[i], actions[i])
    if wrong:
        for i in range(legal.size):
            if not _allows(legal[i], actions[i]):
                return i
    return -1


@entry
def apply_many(states: States, games: Integers, actions: Integers, legal: Words) -> None:
    """Carry out a legal action in each of `games` that is not over, and update `legal`."""
    for k in range(games.size):
        ask_ahead(states, games, k)
        i = games[k]
        if legal[i] != ZERO:
            s = states[i]
            apply_action(s, actions[k])
            legal[i] = legal_actions(s)


@entry
def observe_many(states: States, seats: Integers, out: npt.NDArray[np.float32]) -> None:
    """Write the observations of `seats` to `out`, (num_games, OBSERVATION_SIZE)."""
    for i in range(states.size):
        ahead = min(i + AHEAD, states.size - 1)
        prefetch(states, ahead, 0)
        prefetch(states, ahead, _HOLDS + _HAND * seats[ahead])
        observe(states[i], seats[i], out[i])


@entry
def masks_many(legal: Words, out: npt.NDArray[np.int8]) -> None:
    """Unpack sets of actions to rows of zeros and ones, (num_games, 64)."""
    for i in range(legal.size):
        for action in range(NUM_ACTIONS):
            out[i, action] = (legal[i] >> np.uint64(action)) & ONE


@entry
def determinize_many(states: States, seats: Integers, words: Words) -> None:
    """Re-deal in each game what its seat in `seats` cannot see."""
    for i in range(states.size):
        determinize(states[i], seats[i], words[i])


@entry
def sample_many(legal: Words, words: Words, actions: Integers) -> None:
    """Draw a uniformly random legal action for each game, 0 if it is over; advance `words`."""
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
    """Play one game for each of `words` in `states[0]` with uniformly random actions.

    Args:
        states: record of one game, with its rules and players.
        words: random words of the deals.
        word: random word from which actions are drawn.
        max_decisions: decision cap of each game.
        wins: wins by seat, (11,), to which results are added; the last counts capped games.
        out: array of an observation, (OBSERVATION_SIZE,).
        observed: whether to write the actor's observation to `out` before each decision.

    Returns:
        The number of decisions.
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
