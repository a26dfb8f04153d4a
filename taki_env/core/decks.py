"""Decks by name: the standard one, and small ones whose games can be solved exactly."""

from __future__ import annotations

from typing import NamedTuple

from taki_env.core.cards import CARDS, STANDARD_DECK


class Deck(NamedTuple):
    """A deck and what goes with it."""

    counts: tuple[int, ...]
    """Copies of each card type, by card index."""
    hand_size: int
    """Cards dealt to each player unless the rules say otherwise."""
    max_decisions: int
    """After so many a game counts as drawn where games must end: the rules set no limit."""


def _small(hand_size: int, max_decisions: int, names: str) -> Deck:
    """Return the deck of the named cards; a name may occur twice."""
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
"""`mini-1` to `mini-4` have all kinds of cards between them."""
