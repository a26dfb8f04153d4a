"""The expert policy, compiled: rules of thumb with weights.

The value of an action is the sum of the weights that apply to it, and the expert takes the action
of highest value. The rules come from human play; ``python -m training.tune_expert`` found the
weights by evolution of thousands of variants (CMA-ES, Hansen 2016). The expert reads only what the
actor sees.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import inner
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, lowest
from taki_env.core.cards import (
    BREAKER,
    CHANGE_COLOR,
    CHANGE_DIRECTION,
    CLOSE_TAKI,
    DRAW,
    KING,
    LAST_CARD,
    NUM_COLORED,
    NUM_COLORS,
    NUM_SYMBOLS,
    PASS,
    PLUS,
    PLUS_THREE,
    PLUS_TWO,
    RESPOND,
    RUN,
    SAY_LAST_CARD,
    STANDARD_DECK,
    STOP,
    SUPER_TAKI,
    TAKI,
)
from taki_env.core.engine import next_seat
from taki_env.core.state import (
    BREAKER_BIT,
    CHANGE_COLORS,
    COLOR_CARDS,
    COLORLESS_CARDS,
    ONCE,
    SUPER_TAKI_BIT,
    SYMBOL_CARDS,
    State,
    count_held,
)

Weights: TypeAlias = npt.NDArray[np.float64]

WEIGHTS: dict[str, float] = {
    # Value of laying a card, by kind; low for cards that are better kept.
    "number": 1.2,
    "stop": 1.6,
    "+2": 0.7,
    "change direction": 1.1,
    "plus": 2.1,
    "taki": 6.2,
    "super taki": -1.5,
    "king": -16.4,
    "+3": -8.6,
    "breaker": 13.8,  # a hand that keeps one cannot go out, so it is laid early
    "change color": -14.5,
    # Connections within the hand: the card that is hardest to lay later goes first.
    "same color": -1.7,  # for each other card of its color in hand
    "same symbol": -1.4,  # for each other card of its symbol in hand, at most two
    "other color": -2.3,  # the card changes the active color
    # Runs.
    "taki, a card": -0.8,  # for each card that can follow the TAKI
    "super taki, a card": 1.0,
    "taki alone": -6.9,  # no card can follow, so it stays open for the next player
    "plus alone": -14.2,  # no second card can follow
    "goes out": 108.5,  # the run empties the hand
    # Threats, multiplied by how near the next player is to going out: 0 (four or more cards) to 1
    # (one card).
    "threat, stop": 0.3,
    "threat, +2": 4.1,
    "threat, change direction": -1.5,  # threat of the next player minus that of the previous one
    "threat, +3": 9.9,
    # Few cards left, multiplied by 1 / hand size.
    "king, late": -1.7,
    "+3, late": -0.6,
    "change color, late": -0.9,
    "breaker, late": -0.4,
    # Answers to a +2.
    "answer +2": 14.8,
    "king, a card of the stack": -1.1,
    # Final card of a run.
    "end, same symbol": 5.0,  # for each other card of its symbol in hand, at most two
    "end, stop": 0.5,
    "end, +2": 1.2,
    "end, change direction": 0.4,
    "end, plus": 1.0,
    "end, taki": -0.8,
    "end, threat": 1.3,  # a stop or a +2, multiplied by the threat
    "leave open": -13.2,  # for a run that ends on a plus without a second card
    # Color to name.
    "name, a card": 6.9,  # for each card of the color in hand
    "name, taki": 2.4,  # for each card of the color, with a TAKI of it
    "name, a card unseen": -0.5,  # for each card of the color that others may hold
}
"""Weights of the rules, by name."""


def _at(name: str) -> int:
    return list(WEIGHTS).index(name)


W_NUMBER, W_STOP, W_PLUS_TWO = _at("number"), _at("stop"), _at("+2")
W_CHANGE_DIRECTION, W_PLUS, W_TAKI = _at("change direction"), _at("plus"), _at("taki")
W_SUPER_TAKI, W_KING, W_PLUS_THREE = _at("super taki"), _at("king"), _at("+3")
W_BREAKER, W_CHANGE_COLOR = _at("breaker"), _at("change color")
SAME_COLOR, SAME_SYMBOL, OTHER_COLOR = _at("same color"), _at("same symbol"), _at("other color")
TAKI_A_CARD, SUPER_TAKI_A_CARD = _at("taki, a card"), _at("super taki, a card")
TAKI_ALONE, PLUS_ALONE, GOES_OUT = _at("taki alone"), _at("plus alone"), _at("goes out")
THREAT_STOP, THREAT_PLUS_TWO = _at("threat, stop"), _at("threat, +2")
THREAT_DIRECTION, THREAT_PLUS_THREE = _at("threat, change direction"), _at("threat, +3")
KING_LATE, PLUS_THREE_LATE = _at("king, late"), _at("+3, late")
CHANGE_COLOR_LATE, BREAKER_LATE = _at("change color, late"), _at("breaker, late")
ANSWER_PLUS_TWO, KING_A_CARD = _at("answer +2"), _at("king, a card of the stack")
END_SAME_SYMBOL, END_STOP, END_PLUS_TWO = _at("end, same symbol"), _at("end, stop"), _at("end, +2")
END_DIRECTION, END_PLUS = _at("end, change direction"), _at("end, plus")
END_TAKI, END_THREAT, LEAVE_OPEN = _at("end, taki"), _at("end, threat"), _at("leave open")
NAME_A_CARD, NAME_TAKI, NAME_UNSEEN = (
    _at(name) for name in ("name, a card", "name, taki", "name, a card unseen")
)
DEFAULT_WEIGHTS: Weights = np.array(list(WEIGHTS.values()))

WILD_CARDS = COLORLESS_CARDS & ~BREAKER_BIT
CARDS_OF_A_COLOR = sum(STANDARD_DECK[:NUM_SYMBOLS])
NO_THREAT = 4
"""Hand size from which a seat is no threat."""
WORST = -1e9


@inner
def _wild(s: State, seat: Int) -> Int:
    """Return the number of a seat's colorless cards that can be laid at any time."""
    return count_held(s, seat, WILD_CARDS & ~CHANGE_COLORS) + np.int64(s["change_colors"][seat])


@inner
def _threat(s: State, seat: Int) -> float:
    """Return how near a seat is to going out, from 0 to 1."""
    cards = np.int64(s["hand_sizes"][seat])
    return 0.0 if cards >= NO_THREAT else (NO_THREAT - cards) / (NO_THREAT - 1.0)


@inner
def _seat_before(s: State, seat: Int) -> Int:
    before = np.int64(seat) - s["direction"]
    if before < 0:
        return np.int64(s["num_players"]) - 1
    return 0 if before >= s["num_players"] else before


@inner
def _favorite_color(s: State, seat: Int, w: Weights) -> Int:
    """Return the color to name: many cards in hand, few that others may hold."""
    best: Int = 0
    most = WORST
    for color in range(NUM_COLORS):
        cards = COLOR_CARDS[color]
        own = count_held(s, seat, cards)
        seen = count_bits(s["discard_one"] & cards) + count_bits(s["discard_two"] & cards)
        value = w[NAME_A_CARD] * own + w[NAME_UNSEEN] * (CARDS_OF_A_COLOR - own - seen)
        if s["holds"][seat, ONCE] & bit_of(NUM_SYMBOLS * color + TAKI):
            value += w[NAME_TAKI] * own
        if value > most:
            best, most = color, value
    return best


# Runs ---------------------------------------------------------------------------------------------


@inner
def _has_second_card(s: State, seat: Int) -> bool:
    """Return whether a card can follow a plus that ends a run, with all of its color laid."""
    others = SYMBOL_CARDS[PLUS] & ~COLOR_CARDS[s["color"]]
    return bool(s["holds"][seat, ONCE] & (others | WILD_CARDS))


@inner
def _end_value(s: State, seat: Int, card: Int, w: Weights) -> float:
    """Return the value of a card of the run's color as the final card of the run."""
    symbol = card % NUM_SYMBOLS
    others = count_held(s, seat, SYMBOL_CARDS[symbol] & ~COLOR_CARDS[s["color"]])
    value = w[END_SAME_SYMBOL] * min(others, 2)
    threat = w[END_THREAT] * _threat(s, next_seat(s, seat))
    if symbol == STOP:
        return value + w[END_STOP] + threat
    if symbol == PLUS_TWO:
        return value + w[END_PLUS_TWO] + threat
    if symbol == CHANGE_DIRECTION:
        return value + w[END_DIRECTION]
    if symbol == PLUS:
        return value + (w[END_PLUS] if _has_second_card(s, seat) else w[PLUS_ALONE])
    return value + (w[END_TAKI] if symbol == TAKI else 0.0)


@inner
def _run_action(s: State, seat: Int, legal: np.uint64, w: Weights) -> Int:
    """Return the next action of a run: the color's cards, the best final one last, then close."""
    best: Int = -1
    least = -WORST
    colored = legal & COLOR_CARDS[s["color"]]
    while colored != ZERO:
        card = lowest(colored)
        colored &= colored - ONE
        value = _end_value(s, seat, card, w)
        if value < least:
            best, least = card, value
    if best >= 0:
        return best
    if legal & SUPER_TAKI_BIT and s["hand_sizes"][seat] == 1:
        return SUPER_TAKI
    owes = s["symbol"] == PLUS and not _has_second_card(s, seat)
    if not s["can_close"] or (owes and w[LEAVE_OPEN] > w[PLUS_ALONE]):
        return PASS
    return CLOSE_TAKI


# A turn -------------------------------------------------------------------------------------------


@inner
def _colored_value(s: State, seat: Int, card: Int, w: Weights) -> float:
    color, symbol = card // NUM_SYMBOLS, card % NUM_SYMBOLS
    same_color = count_held(s, seat, COLOR_CARDS[color]) - 1
    same_symbol = count_held(s, seat, SYMBOL_CARDS[symbol]) - 1
    value = w[SAME_COLOR] * same_color + w[SAME_SYMBOL] * min(same_symbol, 2)
    if color != s["color"]:
        value += w[OTHER_COLOR]
    if symbol == TAKI:
        if same_color == 0:
            return value + w[TAKI_ALONE]
        if same_color + 1 == s["hand_sizes"][seat]:
            value += w[GOES_OUT]
        return value + w[W_TAKI] + w[TAKI_A_CARD] * same_color
    if symbol == PLUS:
        follows = same_color + same_symbol + _wild(s, seat) > 0
        return value + (w[W_PLUS] if follows else w[PLUS_ALONE])
    threat = _threat(s, next_seat(s, seat))
    if symbol == STOP:
        return value + w[W_STOP] + w[THREAT_STOP] * threat
    if symbol == PLUS_TWO:
        answer = w[ANSWER_PLUS_TWO] if s["pending_draw"] else 0.0
        return value + w[W_PLUS_TWO] + w[THREAT_PLUS_TWO] * threat + answer
    if symbol == CHANGE_DIRECTION:
        relief = threat - _threat(s, _seat_before(s, seat))
        return value + w[W_CHANGE_DIRECTION] + w[THREAT_DIRECTION] * relief
    return value + w[W_NUMBER]


@inner
def _colorless_value(s: State, seat: Int, card: Int, w: Weights) -> float:
    size = np.int64(s["hand_sizes"][seat])
    if card == SUPER_TAKI:
        taken = count_held(s, seat, COLOR_CARDS[s["color"]])
        if taken == 0:
            return w[W_SUPER_TAKI] + w[TAKI_ALONE]
        value = w[W_SUPER_TAKI] + w[SUPER_TAKI_A_CARD] * taken
        return value + (w[GOES_OUT] if taken + 1 == size else 0.0)
    if card == KING:
        if size == 1:
            return w[GOES_OUT]
        return w[W_KING] + w[KING_LATE] / size + w[KING_A_CARD] * s["pending_draw"]
    if card == PLUS_THREE:
        threat = _threat(s, next_seat(s, seat))
        return w[W_PLUS_THREE] + w[PLUS_THREE_LATE] / size + w[THREAT_PLUS_THREE] * threat
    if card == BREAKER:
        return w[W_BREAKER] + w[BREAKER_LATE] / size
    return w[W_CHANGE_COLOR] + w[CHANGE_COLOR_LATE] / size


@inner
def _turn_action(s: State, seat: Int, legal: np.uint64, w: Weights) -> Int:
    """Return the card of highest value; draw or pass only when no card can be laid."""
    best: Int = lowest(legal)
    most = WORST
    cards = legal & (bit_of(DRAW) - ONE)
    if cards & CHANGE_COLORS:
        cards = (cards & ~CHANGE_COLORS) | bit_of(CHANGE_COLOR)
    while cards != ZERO:
        card = lowest(cards)
        cards &= cards - ONE
        if card < NUM_COLORED:
            value = _colored_value(s, seat, card, w)
        else:
            value = _colorless_value(s, seat, card, w)
        if value > most:
            best, most = card, value
    return CHANGE_COLOR + _favorite_color(s, seat, w) if best == CHANGE_COLOR else best


@inner
def choose_expert(s: State, legal: np.uint64, w: Weights) -> Int:
    """Return the expert's action in a game that is not over."""
    phase = s["phase"]
    seat = np.int64(s["actor"])
    if phase == LAST_CARD:
        return SAY_LAST_CARD
    if phase == RUN:
        return _run_action(s, seat, legal, w)
    if phase == RESPOND:
        return BREAKER if legal & BREAKER_BIT else KING
    return _turn_action(s, seat, legal, w)
