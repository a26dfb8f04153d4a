"""The vocabulary of TAKI: colors, symbols, cards, actions, phases (RULES.md sections 1, 2, 10).

Every name in the project comes from here. An index is a place in one of these tuples:
``CARDS[13 * color + symbol]`` is a colored card, and ``ACTIONS[i]`` the name of action ``i``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

COLORS = ("red", "green", "blue", "yellow")
SYMBOLS = (
    *("1", "3", "4", "5", "6", "7", "8", "9"),
    *("stop", "+2", "change direction", "plus", "taki"),
)
COLORLESS = ("super taki", "king", "+3", "+3 breaker", "change color")

NUM_COLORS = len(COLORS)
NUM_SYMBOLS = len(SYMBOLS)
NUM_COLORED = NUM_COLORS * NUM_SYMBOLS

CARDS = (*(f"{color} {symbol}" for color in COLORS for symbol in SYMBOLS), *COLORLESS)
NUM_CARDS = len(CARDS)
CARD_INDEX = {name: index for index, name in enumerate(CARDS)}

STOP, PLUS_TWO, CHANGE_DIRECTION, PLUS, TAKI = range(8, 13)
NO_SYMBOL = NUM_SYMBOLS
"""The leading symbol after a King, a +3 or a Change Color."""

SUPER_TAKI, KING, PLUS_THREE, BREAKER, CHANGE_COLOR = range(NUM_COLORED, NUM_CARDS)

ACTIONS = (
    *CARDS[:CHANGE_COLOR],
    *(f"change color to {color}" for color in COLORS),
    *("draw", "close taki", "pass", "say last card"),
)
NUM_ACTIONS = len(ACTIONS)
ACTION_INDEX = {name: index for index, name in enumerate(ACTIONS)}
DRAW, CLOSE_TAKI, PASS, SAY_LAST_CARD = range(60, 64)

PHASES = ("play", "run", "plus", "king", "respond", "last_card", "over")
PLAY, RUN, PLUS_PHASE, KING_PHASE, RESPOND, LAST_CARD, OVER = range(len(PHASES))

STANDARD_DECK = (2,) * CHANGE_COLOR + (4,)
"""Copies of each card type in the 116-card deck."""

MIN_PLAYERS, MAX_PLAYERS = 2, 10

Position: TypeAlias = Mapping[str, Any]
"""A state as JSON-ready names and numbers (section 10)."""
