"""Named decks: the standard one, and small ones for games that can be solved exactly."""

from __future__ import annotations

from typing import NamedTuple

from taki_env.core.cards import CARDS, STANDARD_DECK


class Deck(NamedTuple):
    """A deck, and the hand size and the decision cap that suit it."""

    counts: tuple[int, ...]
    """Copies of each card type, by card index."""
    hand_size: int
    """Default number of cards dealt to each player."""
    max_decisions: int
    """Decision cap; a capped game is a draw. Used where games must end: the rules set no limit."""


def _small(hand_size: int, max_decisions: int, names: str) -> Deck:
    """Return a deck of the named cards, separated by commas; a name may occur twice."""
    cards = names.split(", ")
    return Deck(tuple(cards.count(card) for card in CARDS), hand_size, max_decisions)


DECKS = {
    "standard": Deck(STANDARD_DECK, 8, 500),
    "mini-1": _small(2, 12, "red 1, red 1, red stop, green 1, green 1, green stop"),
    "mini-2": _small(2, 8, "red 1, red 1, red +2, green 1, green +2, change color"),
    "mini-3": _small(1, 8, "red 1, red change direction, green 1, king, +3, +3 breaker"),
    "mini-4": _small(
        2, 8, "red 1, red plus, red taki, green 1, green plus, green taki, super taki"
    ),
}
"""Decks by name. Together, `mini-1` to `mini-4` contain all kinds of cards."""
