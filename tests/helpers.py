"""Helpers that several test files share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from taki_env import Game, Rules, View
from tools.reference import Shuffler
from tools.settings import SMALL_DECK, VARIANTS, rest_of_deck

__all__ = [
    "CASES", "SMALL_DECK", "VARIANTS", "Shuffler", "game", "position", "rest_of_deck", "view_of",
]  # fmt: skip

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())


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
