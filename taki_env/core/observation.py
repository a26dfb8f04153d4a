"""What a seat sees: the observation vector, and determinization of what it does not see.

`LAYOUT` describes the vector; the compiled code and the table in the docs are built from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import literal_unroll

from taki_env.base.jit import inner
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, bit_of, next_random, random_below
from taki_env.core.cards import (
    BREAKER,
    CHANGE_COLOR,
    COLORS,
    KING,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_SYMBOLS,
    PHASES,
    RESPOND,
    STANDARD_DECK,
)
from taki_env.core.engine import next_seat
from taki_env.core.rules import SWITCHES
from taki_env.core.state import ONCE, TWICE, State, add_card, clear_hand, shuffle


class Feature(NamedTuple):
    """A range of the observation vector."""

    name: str
    size: int
    meaning: str


LAYOUT = (
    Feature("hand", NUM_CARDS, "own hand: copies of each card type / copies in the deck (2; 4)"),
    Feature("discard", NUM_CARDS, "discard pile: copies of each card type / copies in the deck"),
    Feature("color", len(COLORS), "active color, one-hot"),
    Feature("symbol", NUM_SYMBOLS + 1, "leading symbol, one-hot; the last one: none"),
    Feature("phase", len(PHASES), "phase, one-hot"),
    Feature("pending_draw", 1, "pending draw n as n / (n + 4)"),
    Feature("open_taki", 1, "a TAKI is open"),
    Feature("can_close", 1, "the run can be closed"),
    Feature("direction", 1, "1 if play passes to the seat after the observer's, else 0"),
    Feature("plus_three_by", MAX_PLAYERS, "whose +3 awaits answers, one-hot by relative seat"),
    Feature("turn", MAX_PLAYERS, "whose turn it is, one-hot by relative seat"),
    Feature("hand_sizes", MAX_PLAYERS, "cards n held by each relative seat as n / (n + 4)"),
    Feature("at_table", MAX_PLAYERS, "which relative seats are played"),
    Feature("stages", MAX_PLAYERS, "tournament: stage of each relative seat / first stage"),
    Feature("draw_pile", 1, "cards in the draw pile / 116"),
    *(Feature(switch, 1, "rule option") for switch in SWITCHES),
    Feature("hand_size", 1, "rule option: hand size n as n / (n + 4)"),
)


def _offsets() -> dict[str, int]:
    starts = np.cumsum([0, *(feature.size for feature in LAYOUT)]).tolist()
    return dict(zip((feature.name for feature in LAYOUT), starts, strict=False))


OFFSETS = _offsets()
"""First index of each feature, by name."""
OBSERVATION_SIZE = sum(feature.size for feature in LAYOUT)

_DISCARD, _COLOR, _SYMBOL, _PHASE = (
    OFFSETS[name] for name in ("discard", "color", "symbol", "phase")
)
_TABLE = OFFSETS["pending_draw"]
_PLUS_THREE_BY, _TURN, _HAND_SIZES = (
    OFFSETS[name] for name in ("plus_three_by", "turn", "hand_sizes")
)
_AT_TABLE, _STAGES = OFFSETS["at_table"], OFFSETS["stages"]
_DRAW_PILE, _HAND_SIZE = OFFSETS["draw_pile"], OFFSETS["hand_size"]
_HALF, _QUARTER, _FOUR = np.float32(0.5), np.float32(0.25), np.float32(4)
_DECK_SIZE = np.float32(sum(STANDARD_DECK))


@inner
def scaled(count: Int) -> np.float32:
    """Return count / (count + 4), in [0, 1); steps are largest for small counts."""
    return np.float32(count) / (np.float32(count) + _FOUR)


@inner
def _observe_cards(out: Any, one: np.uint64, two: np.uint64, change_colors: Int) -> None:
    """Write the copies of each card type into `out[:NUM_CARDS]`."""
    for card in range(CHANGE_COLOR):
        shift = np.uint64(card)
        out[card] = np.float32(((one >> shift) & ONE) + ((two >> shift) & ONE)) * _HALF
    out[CHANGE_COLOR] = np.float32(change_colors) * _QUARTER


@inner
def _observe_table(s: State, out: Any) -> None:
    """Write the features from `color` to `direction`."""
    out[_COLOR + s["color"]] = 1
    out[_SYMBOL + s["symbol"]] = 1
    out[_PHASE + s["phase"]] = 1
    out[_TABLE] = scaled(s["pending_draw"])
    out[_TABLE + 1] = s["open_taki"]
    out[_TABLE + 2] = s["can_close"]
    out[_TABLE + 3] = 1 if s["direction"] > 0 else 0


@inner
def _observe_seats(s: State, seat: Int, out: Any) -> None:
    """Write the features with one value per relative seat, the observer first."""
    first_stage = np.float32(s["hand_size"])
    other: Int = np.int64(seat)
    for relative in range(np.int64(s["num_players"])):
        out[_PLUS_THREE_BY + relative] = 1 if s["plus_three_by"] == other else 0
        out[_TURN + relative] = 1 if s["turn"] == other else 0
        out[_HAND_SIZES + relative] = scaled(s["hand_sizes"][other])
        out[_AT_TABLE + relative] = 1
        out[_STAGES + relative] = np.float32(s["stages"][other]) / first_stage
        other += 1
        if other == s["num_players"]:
            other = 0


@inner
def _observe_rules(s: State, out: Any) -> None:
    """Write the draw-pile size and the rule options."""
    out[_DRAW_PILE] = np.float32(s["draw_size"]) / _DECK_SIZE
    place = _DRAW_PILE + 1
    for switch in literal_unroll(SWITCHES):
        out[place] = s[switch]
        place += 1
    out[_HAND_SIZE] = scaled(s["hand_size"])


@inner
def observe(s: State, seat: Int, out: Any) -> None:
    """Write the observation of `seat` into `out`, float32 (OBSERVATION_SIZE,)."""
    out[_COLOR:] = 0  # the cards before it are all written below
    _observe_cards(out, s["holds"][seat, ONCE], s["holds"][seat, TWICE], s["change_colors"][seat])
    _observe_cards(out[_DISCARD:], s["discard_one"], s["discard_two"], s["discard_change_colors"])
    _observe_table(s, out)
    _observe_seats(s, seat, out)
    _observe_rules(s, out)


# Determinization ----------------------------------------------------------------------------------


@inner
def _minus(one: np.uint64, two: np.uint64, less_one: np.uint64, less_two: np.uint64) -> Any:
    """Return the two planes of some cards without a part of them.

    One copy is left if there were two and one goes; two are left only if none goes.
    """
    return (one & ~less_one) | (two & ~less_two), two & ~less_one


@inner
def _copies(one: np.uint64, two: np.uint64, card: Int) -> Int:
    """Return the number of copies of a card in two planes."""
    shift = np.uint64(card)
    return np.int64((one >> shift) & ONE) + np.int64((two >> shift) & ONE)


@inner
def _answer_to_keep(s: State, seat: Int, one: np.uint64, two: np.uint64, word: np.uint64) -> Int:
    """Return the card that the actor keeps to answer a +3 with, or -1 if it need not (section 7).

    In phase `respond` only a holder of an answering card is asked. Without one, the dealt state
    could not occur in a game. The card is drawn among the unseen answers, by their copies.
    """
    if s["phase"] != RESPOND or s["actor"] == seat:
        return -1
    breakers = _copies(one, two, BREAKER)
    kings = _copies(one, two, KING) if s["actor"] == next_seat(s, s["turn"]) else 0
    return BREAKER if random_below(word, breakers + kings) < breakers else KING


@inner
def determinize(s: State, seat: Int, word: np.uint64) -> None:
    """Re-deal everything that `seat` cannot see: the other hands, draw pile and random word.

    An actor who was asked to answer a +3 keeps an answering card, so that the state can occur in a
    game. The observation and the legal actions of `seat` stay the same.
    """
    one, two = _minus(s["deck_one"], s["deck_two"], s["holds"][seat, ONCE], s["holds"][seat, TWICE])
    one, two = _minus(one, two, s["discard_one"], s["discard_two"])
    change_colors = np.int64(s["deck_change_colors"]) - s["change_colors"][seat]
    word = next_random(word)
    kept = _answer_to_keep(s, seat, one, two, word)
    if kept >= 0:
        one, two = _minus(one, two, bit_of(kept), ZERO)
    s["rng"] = word
    shuffle(s, one, two, change_colors - np.int64(s["discard_change_colors"]))
    for other in range(np.int64(s["num_players"])):
        if other != seat:
            _deal_hand(s, other, kept if other == s["actor"] else -1)
    s["draw_pile"][s["draw_size"] :] = 0  # the dealt cards would remain there
    s["decisions"] = 0  # the number would tell how many seats were asked and passed


@inner
def _deal_hand(s: State, seat: Int, kept: Int) -> None:
    """Replace a hand by the card `kept`, if not negative, and cards from the draw pile."""
    size = np.int64(s["hand_sizes"][seat])
    clear_hand(s, seat)
    if kept >= 0:
        add_card(s, seat, kept)
        size -= 1
    for _ in range(size):
        s["draw_size"] -= 1
        add_card(s, seat, np.int64(s["draw_pile"][s["draw_size"]]))
