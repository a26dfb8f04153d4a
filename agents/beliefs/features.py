"""What the other hands are expected to hold, as inputs for a network, compiled.

Expected are copies of each card in the hands of some groups of seats, in the scale in which an
observation counts the actor's own: half a copy of a card, a quarter of a Change Color. Where the
actor remembers what others did, they are means over deals of a chain (`agents.beliefs`), else every
hand is as likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import (
    EXPERT,
    FIRST_STEPS,
    MOST_PLACES,
    PLACE_DTYPE,
    begin,
    count_unseen,
    walk,
)
from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ONE, ZERO, lowest, next_random
from taki_env.core.cards import CHANGE_COLOR, MAX_PLAYERS, NUM_CARDS
from taki_env.core.engine import legal_actions, next_seat
from taki_env.core.state import CHANGE_COLORS, GAME_DTYPE, ONCE, TWICE, State, States

GROUPS = ("next seat", "previous seat", "all other seats")
"""Whose hands are summed up; next is who follows the actor in the direction of play."""
BELIEF_SIZE = len(GROUPS) * NUM_CARDS
"""Numbers that a network is given beside an observation: for each group, one of each card."""
DEALS, STEPS = 100, 10
"""Deals of the chain that are counted for a decision, and steps to each but the first."""


@inner
def _add(card: Int, copies: float, following: bool, previous: bool, out: Any) -> None:
    """Add copies of a card that one seat holds to what the groups hold that it is of."""
    scaled = np.float32(copies * (0.25 if card == CHANGE_COLOR else 0.5))
    if following:
        out[card] += scaled
    if previous:
        out[NUM_CARDS + card] += scaled
    out[2 * NUM_CARDS + card] += scaled


@inner
def count_hands(s: State, seat: Int, weight: float, out: Any) -> None:
    """Add what all but `seat` hold in a deal, times `weight`."""
    for other in range(np.int64(s["num_players"])):
        if other == seat:
            continue
        following, previous = other == next_seat(s, seat), seat == next_seat(s, other)
        held = s["holds"][other, ONCE] & ~CHANGE_COLORS
        while held != ZERO:
            bit = held & (~held + ONE)
            held ^= bit
            copies = 2 if s["holds"][other, TWICE] & bit != ZERO else 1
            _add(lowest(bit), weight * copies, following, previous, out)
        if s["change_colors"][other]:
            copies = np.int64(s["change_colors"][other])
            _add(CHANGE_COLOR, weight * copies, following, previous, out)


@inner
def expect_any(s: State, seat: Int, out: Any) -> None:
    """Add what all but `seat` are expected to hold if nothing tells hidden cards apart."""
    copies = np.empty(NUM_CARDS, np.int64)
    count_unseen(s, seat, copies)
    unseen = copies.sum()
    for other in range(np.int64(s["num_players"])):
        if other == seat or s["hand_sizes"][other] == 0:
            continue
        following, previous = other == next_seat(s, seat), seat == next_seat(s, other)
        share = s["hand_sizes"][other] / unseen
        for card in range(NUM_CARDS):
            _add(card, copies[card] * share, following, previous, out)


@entry
def expect_many(roots: States, words: Words, memory: Any, out: npt.NDArray[np.float32]) -> None:
    """Add to `out` what the actors of games expect the others to hold, where they have a choice.

    Args:
        roots: games (B,) that are not over, with nothing hidden that is true.
        words: uint64 (B,), not 0.
        memory: of the actors, the arrays of a `Memory` of these games.
        out: (B, BELIEF_SIZE), 0 before.
    """
    starts, moves, counts, drawers, drawn_at = memory
    places, worlds = np.empty(MOST_PLACES, PLACE_DTYPE), np.empty(3, GAME_DTYPE)
    fits = np.empty((MAX_PLAYERS, 2))
    for i in range(roots.size):
        legal, seat = legal_actions(roots[i]), np.int64(roots[i]["actor"])
        if legal & (legal - ONE) == ZERO:
            continue
        unseen, fit = 0, 0.0
        if counts[i] > 0:
            unseen, fit = begin(
                roots[i], starts[i], moves[i], counts[i], drawers[i], drawn_at[i],
                EXPERT, places, worlds, fits, words[i],
            )  # fmt: skip
        if not unseen:
            expect_any(roots[i], seat, out[i])
            continue
        word, steps = next_random(words[i]), FIRST_STEPS
        for _ in range(DEALS):
            fit, word = walk(
                starts[i], moves[i], counts[i], seat, EXPERT, places, unseen,
                worlds, fits, fit, word, steps,
            )  # fmt: skip
            steps = STEPS
            count_hands(worlds[1], seat, 1 / DEALS, out[i])
