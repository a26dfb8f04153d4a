"""Expected cards in the other hands, as network inputs, compiled.

For each group of seats, the expected copies of each card in its hands, scaled as an observation
scales the actor's own hand: half per copy of a card, a quarter per Change Color. If the actor
remembers what others did, they are means over deals of a chain (`agents.beliefs.chain`); otherwise
every hand is equally likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import EXPERT, NOW, begin, count_unseen, has_deal, walk
from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ONE, ZERO, lowest
from taki_env.core.cards import CHANGE_COLOR, NUM_CARDS
from taki_env.core.engine import legal_actions, next_seat
from taki_env.core.state import CHANGE_COLORS, ONCE, TWICE, State, States

GROUPS = ("next seat", "previous seat", "all other seats")
"""Groups of seats, counted in the direction of play from the actor."""
BELIEF_SIZE = len(GROUPS) * NUM_CARDS
"""Number of belief features: one per group and card."""
DEALS, BURN_IN, THIN = 100, 490, 10
"""Deals of the chain that are averaged, steps before the first one, and steps for each."""


@inner
def _add(card: Int, copies: float, following: bool, previous: bool, out: Any) -> None:
    """Add a seat's copies of a card to each group that contains the seat."""
    scaled = np.float32(copies * (0.25 if card == CHANGE_COLOR else 0.5))
    if following:
        out[card] += scaled
    if previous:
        out[NUM_CARDS + card] += scaled
    out[2 * NUM_CARDS + card] += scaled


@inner
def count_hands(s: State, seat: Int, weight: float, out: Any) -> None:
    """Add the cards that every seat but `seat` holds in a deal, times `weight`."""
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
            change_colors = np.int64(s["change_colors"][other])
            _add(CHANGE_COLOR, weight * change_colors, following, previous, out)


@inner
def expect_any(s: State, seat: Int, out: Any) -> None:
    """Add the expected cards of every seat but `seat` if all deals are equally likely."""
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
    """Add the cards that actors expect in the other hands to `out`, in games with a choice.

    Args:
        roots: games (B,) that are not over, with their hidden cards re-dealt.
        words: random words (B,), not 0.
        memory: of the actors, `Memory.arrays` of these games.
        out: (B, BELIEF_SIZE), initially 0.
    """
    for i in range(roots.size):
        legal = legal_actions(roots[i])
        if legal & (legal - ONE) == ZERO:  # forced: no need to know anything
            continue
        chain = begin(roots[i], memory, i, EXPERT, BURN_IN, words[i])
        if not has_deal(chain):
            expect_any(roots[i], chain.seat, out[i])
            continue
        for _ in range(DEALS):
            walk(chain, THIN)
            count_hands(chain.worlds[NOW], chain.seat, 1 / DEALS, out[i])
