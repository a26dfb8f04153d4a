"""The state of a game: its record, its sets of cards, and moves between hands and piles.

Cards in one place (a hand, the discard pile, the deck) are kept as two sets and a number: the card
types held at least once, those held twice, and the Change Colors, of which there may be four.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import inlined, inner
from taki_env.base.types import Int, Word
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, lowest, next_random, random_below
from taki_env.core.cards import (
    BREAKER,
    CHANGE_COLOR,
    CLOSE_TAKI,
    DRAW,
    KING,
    MAX_PLAYERS,
    NUM_COLORED,
    NUM_COLORS,
    NUM_SYMBOLS,
    PASS,
    PLUS_TWO,
    SAY_LAST_CARD,
    STANDARD_DECK,
    SUPER_TAKI,
)
from taki_env.core.rules import SWITCHES

State: TypeAlias = Any
"""One element of a `GAME_DTYPE` array; Numba and NumPy give it different types."""

States: TypeAlias = npt.NDArray[np.void]

NOBODY = -1

ONCE, TWICE = 0, 1
"""Planes of a hand: card types held at least once, and those held twice."""

CACHE_LINE = 64

_FIELDS: list[Any] = [
    # What most decisions read comes first: two cache lines if few players hold cards.
    ("rng", "u8"),  # random word of the shuffles; 0 for preset orders
    ("decisions", "u4"),  # applied since the deal
    ("pending_draw", "u2"),  # cards of the +2 stack
    ("num_players", "u1"),
    ("turn", "u1"),  # seat whose turn it is
    ("actor", "u1"),  # seat that decides now
    ("phase", "u1"),
    ("direction", "i1"),  # 1 or -1
    ("color", "u1"),
    ("symbol", "u1"),
    ("lead", "u1"),  # leading card
    ("open_taki", "u1"),
    ("can_close", "u1"),
    ("skip_next", "u1"),
    ("plus_three_by", "i1"),  # seat whose +3 awaits answers, or NOBODY
    ("winner", "i1"),  # seat, or NOBODY
    ("draw_size", "u1"),  # cards in the draw pile
    ("voluntary_draw", "u1"),
    ("full_runs", "u1"),
    ("auto_last_card", "u1"),
    ("tournament", "u1"),
    ("hand_sizes", "u1", MAX_PLAYERS),
    ("change_colors", "u1", MAX_PLAYERS),  # in each hand
    ("stages", "u1", MAX_PLAYERS),
    ("discard_change_colors", "u1"),
    ("hand_size", "u1"),
    ("discard_one", "u8"),
    ("discard_two", "u8"),
    ("holds", "u8", (MAX_PLAYERS, 2)),  # planes ONCE and TWICE of each hand
    ("deck_one", "u8"),
    ("deck_two", "u8"),
    ("draw_pile", "u1", sum(STANDARD_DECK)),  # drawn from the end
    ("deck_change_colors", "u1"),
]

_LATER = [(name, "u1") for name in SWITCHES if name not in {field[0] for field in _FIELDS}]
"""Switches that are not among the fields above take bytes that were unused, so that the layout
stays and old checkpoints load."""

# Padding to whole cache lines, as a field: without gaps, copies are equal byte for byte.
GAME_DTYPE = np.dtype([*_FIELDS, *_LATER, ("unused", "u1", 11 - len(_LATER))], align=True)
"""The record of a game."""


def action_set(*actions: int) -> np.uint64:
    """Return the set of the given actions."""
    return np.uint64(sum(1 << action for action in actions))


COLOR_CARDS = np.array(
    [action_set(*range(NUM_SYMBOLS * c, NUM_SYMBOLS * (c + 1))) for c in range(NUM_COLORS)],
    np.uint64,
)

SYMBOL_CARDS = np.array(
    [action_set(*range(s, NUM_COLORED, NUM_SYMBOLS)) for s in range(NUM_SYMBOLS)] + [ZERO],
    np.uint64,
)
"""Cards of each leading symbol; the empty set for `NO_SYMBOL`."""

CHANGE_COLORS = action_set(*range(CHANGE_COLOR, DRAW))

COLORLESS_CARDS = action_set(*range(SUPER_TAKI, DRAW))

BREAKER_BIT, KING_BIT, SUPER_TAKI_BIT = (
    action_set(BREAKER),
    action_set(KING),
    action_set(SUPER_TAKI),
)

DRAW_BIT, CLOSE_BIT, PASS_BIT = action_set(DRAW), action_set(CLOSE_TAKI), action_set(PASS)

CALLS = action_set(SAY_LAST_CARD, PASS)
"""The actions of phase `last_card`."""

STACK_ANSWERS = SYMBOL_CARDS[PLUS_TWO] | KING_BIT
"""The cards that may be played on a +2 stack."""


@inlined
def count_held(s: State, seat: Int, cards: np.uint64) -> Int:
    """Return how many of the given cards a seat holds; `cards` must not contain Change Colors."""
    return count_bits(s["holds"][seat, ONCE] & cards) + count_bits(s["holds"][seat, TWICE] & cards)


@inner
def add_card(s: State, seat: Int, card: Int) -> None:
    """Add a card to a hand."""
    s["hand_sizes"][seat] += 1
    if card == CHANGE_COLOR:
        s["change_colors"][seat] += 1
        s["holds"][seat, ONCE] |= CHANGE_COLORS
    else:
        bit = bit_of(card)
        s["holds"][seat, TWICE] |= s["holds"][seat, ONCE] & bit
        s["holds"][seat, ONCE] |= bit


@inner
def remove_card(s: State, seat: Int, card: Int) -> None:
    """Remove a card from a hand."""
    s["hand_sizes"][seat] -= 1
    if card == CHANGE_COLOR:
        s["change_colors"][seat] -= 1
        if s["change_colors"][seat] == 0:
            s["holds"][seat, ONCE] &= ~CHANGE_COLORS
    else:
        bit = bit_of(card)
        twice = s["holds"][seat, TWICE] & bit
        s["holds"][seat, TWICE] ^= twice
        s["holds"][seat, ONCE] ^= bit ^ twice


@inner
def clear_hand(s: State, seat: Int) -> None:
    """Remove all cards from a hand; they go nowhere."""
    s["holds"][seat, ONCE] = ZERO
    s["holds"][seat, TWICE] = ZERO
    s["change_colors"][seat] = 0
    s["hand_sizes"][seat] = 0


@inner
def discard_card(s: State, seat: Int, card: Int) -> None:
    """Move a card from a hand to the discard pile."""
    remove_card(s, seat, card)
    if card == CHANGE_COLOR:
        s["discard_change_colors"] += 1
    else:
        bit = bit_of(card)
        s["discard_two"] |= s["discard_one"] & bit
        s["discard_one"] |= bit


@inner
def use_preset_order(s: State, size: Int) -> None:
    """Make a draw pile of the last `size` entries of the array, where a caller has put them."""
    first = s["draw_pile"].size - size
    for place in range(size):
        s["draw_pile"][place] = s["draw_pile"][first + place]
    s["draw_size"] = size


@inlined
def _insert(s: State, size: Int, card: Int, word: Word) -> Word:
    """Add a card at a random place of a draw pile of `size`; return the random word used."""
    word = next_random(word)
    place = random_below(word, size + 1)
    s["draw_pile"][size] = s["draw_pile"][place]
    s["draw_pile"][place] = card
    return word


@inner
def shuffle(s: State, one: np.uint64, two: np.uint64, change_colors: Int) -> None:
    """Make the draw pile a random order of the given cards (Fisher-Yates, inside out).

    If the random word is 0, use the preset order at the end of the array instead: OpenSpiel's
    chance nodes choose the cards there.
    """
    word = s["rng"]
    if word == ZERO:
        use_preset_order(s, count_bits(one) + count_bits(two) + change_colors)
        return
    size = 0
    while one != ZERO:
        card = lowest(one)
        bit = one & (~one + ONE)
        one ^= bit
        for _ in range(2 if two & bit else 1):
            word = _insert(s, size, card, word)
            size += 1
    for _ in range(change_colors):
        word = _insert(s, size, CHANGE_COLOR, word)
        size += 1
    s["draw_size"] = size
    s["rng"] = word


@inner
def set_discard(s: State, card: Int) -> None:
    """Make the discard pile one card."""
    is_change = card == CHANGE_COLOR
    s["discard_one"] = ZERO if is_change else bit_of(card)
    s["discard_two"] = ZERO
    s["discard_change_colors"] = 1 if is_change else 0


@inner
def refill(s: State) -> None:
    """Shuffle all played cards except the leading one into a new draw pile (section 8)."""
    lead = np.int64(s["lead"])
    one, two, change_colors = s["discard_one"], s["discard_two"], s["discard_change_colors"]
    if lead == CHANGE_COLOR:
        change_colors -= 1
    else:
        bit = bit_of(lead)
        twice = two & bit
        two ^= twice
        one ^= bit ^ twice
    set_discard(s, lead)
    shuffle(s, one, two, change_colors)


@inner
def draw_cards(s: State, seat: Int, count: Int) -> None:
    """Draw `count` cards, or fewer if all other cards are in hands (section 8)."""
    for _ in range(count):
        if s["draw_size"] == 0:
            refill(s)
            if s["draw_size"] == 0:
                return
        s["draw_size"] -= 1
        add_card(s, seat, np.int64(s["draw_pile"][s["draw_size"]]))
