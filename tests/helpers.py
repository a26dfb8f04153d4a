"""What several tests share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from taki_env import CARDS, Game, Rules, View

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
WORD = 2**64 - 1
SMALL_DECK = (*(1 if card % 3 else 2 for card in range(56)), 2)
"""An odd deck of 78 cards: refills and empty piles come early."""

VARIANTS = {
    "standard": Rules(),
    "tournament": Rules(tournament=True),
    "voluntary_draw": Rules(voluntary_draw=True),
    "full_runs": Rules(full_runs=True),
    "auto_last_card": Rules(auto_last_card=True),
    "hand_size": Rules(hand_size=3),
    "deck": Rules(hand_size=6, deck=SMALL_DECK),
    "all": Rules(True, True, True, True, 4, SMALL_DECK),
}


def rest_of_deck(*placed: list[str], rules: Rules | None = None) -> list[str]:
    """Return the cards of the deck that are not placed yet, sorted by card index."""
    deck = (rules or Rules()).deck
    rest = [card for index, card in enumerate(CARDS) for _ in range(deck[index])]
    for cards in placed:
        for card in cards:
            rest.remove(card)
    return rest


def position(hands: list[list[str]], lead: str = "red 7", **changes: Any) -> dict[str, Any]:
    """Return a position of phase `play` in which seat 0 is to move and nothing else happens.

    `top` names the cards that are drawn next; `under` those beneath the leading card.
    """
    top, under = changes.pop("top", []), changes.pop("under", [])
    discard = [*under, lead]
    rules = Rules.from_dict(changes.get("rules", {}))
    color, _, symbol = lead.partition(" ")
    base: dict[str, Any] = {
        "rules": {},
        "hands": hands,
        "draw_pile": [*top, *rest_of_deck(*hands, discard, top, rules=rules)],
        "discard_pile": discard,
        "color": color,
        "symbol": symbol,
        "direction": 1,
        "turn": 0,
        "actor": 0,
        "phase": "play",
        "pending_draw": 0,
        "open_taki": False,
        "can_close": False,
        "skip_next": False,
        "plus_three_by": None,
        "stages": None,
        "winner": None,
    }
    return {**base, **changes}


def game(hands: list[list[str]], lead: str = "red 7", **changes: Any) -> Game:
    """Return the game of `position(...)`."""
    return Game.from_dict(position(hands, lead, **changes))


def view_of(table: Game) -> View:
    """Return what the actor of a game sees, as agents get it: a batch of one."""
    return table.view()


class Shuffler:
    """The documented shuffle in plain Python: xorshift64 and an inside-out Fisher-Yates."""

    def __init__(self, word: int) -> None:
        """Start from a game's random word."""
        self.word = word

    def _below(self, bound: int) -> int:
        self.word ^= self.word << 13 & WORD
        self.word ^= self.word >> 7
        self.word ^= self.word << 17 & WORD
        return (self.word >> 32) * bound >> 32

    def __call__(self, cards: list[str]) -> list[str]:
        """Return the draw pile made of sorted cards, [0] drawn next."""
        pile: list[str] = []
        for card in cards:
            place = self._below(len(pile) + 1)
            pile.append(card)
            pile[place], pile[-1] = card, pile[place]
        return pile[::-1]
