"""Decks by name: the standard one, and small ones whose games can be solved (docs/game_theory.md)."""

from __future__ import annotations

from typing import NamedTuple

from taki_env.cards import CARDS, STANDARD_DECK


class Deck(NamedTuple):
    """A deck and what goes with it."""

    counts: tuple[int, ...]
    """Copies of each card type, by card index."""
    hand_size: int
    """Cards dealt to each player unless the rules say otherwise."""
    max_decisions: int
    """After so many a game counts as drawn where games must end: the rules set no limit."""


def _of(hand_size: int, max_decisions: int, *names: str) -> Deck:
    """Return the deck of the named cards; a name may occur twice."""
    return Deck(tuple(names.count(card) for card in CARDS), hand_size, max_decisions)


def _colored(colors: str, symbols: str) -> list[str]:
    return [f"{color} {symbol}" for color in colors.split() for symbol in symbols.split()]


DECKS = {
    "standard": Deck(STANDARD_DECK, 8, 500),
    "mini-1": _of(2, 10, *_colored("red green", "1 3 stop")),
    "mini-2": _of(2, 10, *_colored("red green", "1 3 +2"), "change color"),
    "mini-3": _of(2, 10, *_colored("red green", "1 plus taki"), "super taki"),
    "mini-4": _of(3, 10, *_colored("red green", "1 3 stop"), "king", "+3", "+3 breaker"),
}
