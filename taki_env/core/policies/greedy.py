"""The greedy policy, compiled: plain rules of thumb.

It plays long runs first and wild cards late, and always calls the last card. It reads only what
the actor sees: its own hand and the cards on the table.
"""

from __future__ import annotations

import numpy as np

from taki_env.base.jit import inner
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, lowest
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
    STOP,
    SUPER_TAKI,
    TAKI,
)
from taki_env.core.state import COLOR_CARDS, SUPER_TAKI_BIT, State, count_held


@inner
def _favorite_color(s: State, seat: Int) -> Int:
    best: Int = 0
    most: Int = -1
    for color in range(NUM_COLORS):
        own = count_held(s, seat, COLOR_CARDS[color])
        if own > most:
            best, most = color, own
    return best


@inner
def _run_order(symbol: Int) -> Int:
    """Return a card's place in a run, low ones first.

    Only the final card of a run takes effect, and a plus must not be final.
    """
    if symbol == STOP:
        return 5
    if symbol == PLUS_TWO:
        return 4
    if symbol == CHANGE_DIRECTION:
        return 3
    return 1 if symbol in (PLUS, TAKI) else 2


@inner
def _greedy_run(s: State, legal: np.uint64) -> Int:
    """Return the next action of a run: every card of the color, the strongest last, then close."""
    best: Int = -1
    first: Int = 9
    colored = legal & COLOR_CARDS[s["color"]]
    while colored != ZERO:
        card = lowest(colored)
        colored &= colored - ONE
        order = _run_order(card % NUM_SYMBOLS)
        if order < first:
            best, first = card, order
    if best >= 0:
        return best
    if legal & SUPER_TAKI_BIT and s["hand_sizes"][s["actor"]] == 1:
        return SUPER_TAKI
    return CLOSE_TAKI if s["can_close"] else PASS


@inner
def _colored_value(symbol: Int, held: Int) -> Int:
    """Return the value of playing a colored card; `held` cards of its color are in hand."""
    if symbol == TAKI:
        return 100 + held if held > 1 else -5
    if symbol == PLUS:
        return 30 + held if held > 1 else -10
    if symbol == STOP:
        return 40 + held
    return (35 if symbol == PLUS_TWO else 20) + held


@inner
def _colorless_value(s: State, seat: Int, card: Int) -> Int:
    """Return the value of playing a colorless card; most are kept for later."""
    if card == SUPER_TAKI:
        own = count_held(s, seat, COLOR_CARDS[s["color"]])
        return 60 + own if own > 1 else -30
    if card == PLUS_THREE:
        return -15
    if card == BREAKER:
        return -100
    return -40 if card == KING else -20


@inner
def _value(s: State, seat: Int, action: Int) -> Int:
    if action == DRAW or action == PASS:
        return -50
    if action < NUM_COLORED:
        own = count_held(s, seat, COLOR_CARDS[action // NUM_SYMBOLS])
        return _colored_value(action % NUM_SYMBOLS, own)
    return _colorless_value(s, seat, min(action, CHANGE_COLOR))


@inner
def _greedy_play(s: State, seat: Int, legal: np.uint64) -> Int:
    best: Int = -1
    most: Int = -1000
    while legal != ZERO:
        action = lowest(legal)
        legal &= legal - ONE
        value = _value(s, seat, action)
        if value > most:
            best, most = action, value
    if best >= CHANGE_COLOR and best < DRAW:
        return CHANGE_COLOR + _favorite_color(s, seat)
    return best


@inner
def choose_greedy(s: State, legal: np.uint64) -> Int:
    """Return the greedy action in a game that is not over."""
    phase = s["phase"]
    if phase == LAST_CARD:
        return SAY_LAST_CARD
    if phase == RUN:
        return _greedy_run(s, legal)
    if phase == RESPOND:
        return BREAKER if (legal >> np.uint64(BREAKER)) & ONE else KING
    return _greedy_play(s, np.int64(s["actor"]), legal)
