"""The rules of TAKI, compiled (RULES.md). Nothing outside this module knows a rule.

A game is one record of `GAME_DTYPE`; functions take a record, or an array of records where the
name ends in `_many`. A set of actions is one `uint64` with bit `a` for action `a`; a hand is kept
in the same bits, as a plane of what is held at least once and a plane of what is held twice, so
that a legal set is a hand ANDed with a pattern. Change Color, of which there are four, is counted
aside and shows as its four actions in the first plane.

Functions do not check their arguments: `Game` and `Batch` do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env._jit import inlined, inner
from taki_env.cards import (
    BREAKER,
    CHANGE_COLOR,
    CHANGE_DIRECTION,
    CLOSE_TAKI,
    DRAW,
    KING,
    KING_PHASE,
    LAST_CARD,
    MAX_PLAYERS,
    NO_SYMBOL,
    NUM_COLORED,
    NUM_COLORS,
    NUM_SYMBOLS,
    OVER,
    PASS,
    PLAY,
    PLUS,
    PLUS_PHASE,
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

Record: TypeAlias = Any
"""One element of a `GAME_DTYPE` array; Numba and NumPy give it different types."""
Word: TypeAlias = Any
"""One `uint64`, to the compiler."""
Int: TypeAlias = int | np.int64
Records: TypeAlias = npt.NDArray[np.void]
Words: TypeAlias = npt.NDArray[np.uint64]

NOBODY = -1
ONCE, TWICE = 0, 1
"""Planes of a hand: what is held at least once, and what is held twice."""
BREAKER_PENALTY = 3
PLUS_THREE_DRAWS = 3
SILENCE_PENALTY = 4

CACHE_LINE = 64
GAME_DTYPE = np.dtype(
    [
        # what most decisions read comes first: two cache lines in a game of few players
        ("rng", "u8"),
        ("decisions", "u4"),
        ("pending_draw", "u2"),
        ("num_players", "u1"),
        ("turn", "u1"),
        ("actor", "u1"),
        ("phase", "u1"),
        ("direction", "i1"),
        ("color", "u1"),
        ("symbol", "u1"),
        ("lead", "u1"),
        ("open_taki", "u1"),
        ("can_close", "u1"),
        ("skip_next", "u1"),
        ("plus_three_by", "i1"),
        ("winner", "i1"),
        ("draw_size", "u1"),
        ("voluntary_draw", "u1"),
        ("full_runs", "u1"),
        ("auto_last_card", "u1"),
        ("tournament", "u1"),
        ("hand_sizes", "u1", MAX_PLAYERS),
        ("change_colors", "u1", MAX_PLAYERS),
        ("stages", "u1", MAX_PLAYERS),
        ("discard_change_colors", "u1"),
        ("hand_size", "u1"),
        ("discard_one", "u8"),
        ("discard_two", "u8"),
        ("holds", "u8", (MAX_PLAYERS, 2)),  # a seat's planes ONCE and TWICE
        ("deck_one", "u8"),
        ("deck_two", "u8"),
        ("draw_pile", "u1", sum(STANDARD_DECK)),  # drawn from the end
        ("deck_change_colors", "u1"),
        ("unused", "u1", 11),  # no gaps, whole cache lines: copies are equal byte for byte
    ],
    align=True,
)


def _word(*actions: int) -> np.uint64:
    return np.uint64(sum(1 << action for action in actions))


ZERO, ONE = np.uint64(0), np.uint64(1)
COLOR_CARDS = np.array(
    [_word(*range(NUM_SYMBOLS * c, NUM_SYMBOLS * (c + 1))) for c in range(NUM_COLORS)], np.uint64
)
SYMBOL_CARDS = np.array(
    [_word(*range(s, NUM_COLORED, NUM_SYMBOLS)) for s in range(NUM_SYMBOLS)] + [ZERO], np.uint64
)
"""Cards of each leading symbol; none for `NO_SYMBOL`."""
CHANGE_COLORS = _word(*range(CHANGE_COLOR, DRAW))
COLORLESS_CARDS = _word(*range(SUPER_TAKI, DRAW))
BREAKER_BIT, KING_BIT, SUPER_TAKI_BIT = _word(BREAKER), _word(KING), _word(SUPER_TAKI)
DRAW_BIT, CLOSE_BIT, PASS_BIT = _word(DRAW), _word(CLOSE_TAKI), _word(PASS)
CALLS = _word(SAY_LAST_CARD, PASS)
STACK_ANSWERS = SYMBOL_CARDS[PLUS_TWO] | KING_BIT

# Bits and random words -----------------------------------------------------------------------

_M1, _M2, _M4 = (np.uint64(m) for m in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_BYTES = np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = (np.uint64(k) for k in (1, 2, 4, 56))
_X13, _X7, _X17, _X32 = (np.uint64(k) for k in (13, 7, 17, 32))


@inlined
def bit_of(action: Int) -> np.uint64:
    """Return the set that holds `action` alone."""
    return ONE << np.uint64(action)


@inlined
def count_bits(word: np.uint64) -> Int:
    """Return how many actions a set holds (the compiler makes it one instruction)."""
    word = word - ((word >> _S1) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    return np.int64((word * _BYTES) >> _S56)


@inlined
def lowest(word: np.uint64) -> Int:
    """Return the lowest action of a set that is not empty."""
    return count_bits((word & (~word + ONE)) - ONE)


@inlined
def next_random(word: Word) -> Word:
    """Return the next word of a generator (Marsaglia 2003, xorshift64: never 0)."""
    word = word ^ (word << _X13)
    word = word ^ (word >> _X7)
    return word ^ (word << _X17)


@inlined
def below(word: np.uint64, bound: Int) -> Int:
    """Return a number in [0, bound) from the high half of a random word (Lemire 2019)."""
    return np.int64(((word >> _X32) * np.uint64(bound)) >> _X32)


@inlined
def sample_action(legal: np.uint64, word: np.uint64) -> Int:
    """Return a uniformly random action of a set that is not empty."""
    for _ in range(below(word, count_bits(legal))):
        legal = legal & (legal - ONE)
    return lowest(legal)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_X30, _X27, _X31 = (np.uint64(k) for k in (30, 27, 31))
_C30, _C27 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def _mixed(word: Word) -> Word:
    """Scatter the bits of a word (Steele et al. 2014, SplitMix64)."""
    word = (word ^ (word >> _X30)) * _C30
    word = (word ^ (word >> _X27)) * _C27
    return word ^ (word >> _X31)


@inlined
def _mixed_in(word: Word, number: Word) -> Word:
    return _mixed(word + (number + ONE) * _GOLDEN)


@inlined
def seed_word(base: Word, index: Word, episode: Word) -> Word:
    """Return the random word of a game's episode, from the `base_word` of a seed; never 0."""
    word = _mixed_in(_mixed_in(base, index), episode)
    return word + np.uint64(word == ZERO) * _GOLDEN  # a bare bool would make it signed


def seed_words(
    seed: int, indices: npt.ArrayLike, episodes: npt.ArrayLike = 0, stream: int = 0
) -> Words:
    """Return a random word for each game index and episode, shape (num_games,).

    A word depends on nothing else, so neither batch size nor play changes a later deal. Words of
    another `stream` are independent: 0 deals the cards, others are for policies.
    """
    numbers = (np.atleast_1d(number).astype(np.uint64) for number in (indices, episodes))
    words: Words = seed_word(base_word(seed, stream), *numbers)
    return words


@lru_cache(maxsize=1024)
def base_word(seed: int, stream: int = 0) -> np.uint64:
    """Return the word from which those of all games of a seed are made."""
    words = np.random.SeedSequence(seed, spawn_key=(stream,)).generate_state(1, np.uint64)
    return np.uint64(words[0])


def spread_words(words: Words, count: int) -> Words:
    """Return `count` independent words for each word, shape (num_games, count)."""
    spread: Words = _mixed(
        words[:, np.newaxis] + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    )
    return spread


# Cards: from the draw pile to a hand to the discard pile --------------------------------------


@inlined
def held(s: Record, seat: Int, cards: np.uint64) -> Int:
    """Return how many of some cards, Change Color aside, a seat holds."""
    return count_bits(s["holds"][seat, ONCE] & cards) + count_bits(s["holds"][seat, TWICE] & cards)


@inner
def give(s: Record, seat: Int, card: Int) -> None:
    """Put a card into a hand."""
    s["hand_sizes"][seat] += 1
    if card == CHANGE_COLOR:
        s["change_colors"][seat] += 1
        s["holds"][seat, ONCE] |= CHANGE_COLORS
    else:
        bit = bit_of(card)
        s["holds"][seat, TWICE] |= s["holds"][seat, ONCE] & bit
        s["holds"][seat, ONCE] |= bit


@inner
def take(s: Record, seat: Int, card: Int) -> None:
    """Take a card out of a hand."""
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
def _discard(s: Record, seat: Int, card: Int) -> None:
    """Move a card from a hand to the discard pile."""
    take(s, seat, card)
    if card == CHANGE_COLOR:
        s["discard_change_colors"] += 1
    else:
        bit = bit_of(card)
        s["discard_two"] |= s["discard_one"] & bit
        s["discard_one"] |= bit


@inner
def _take_ready(s: Record, size: Int) -> None:
    first = s["draw_pile"].size - size
    for place in range(size):
        s["draw_pile"][place] = s["draw_pile"][first + place]
    s["draw_size"] = size


@inner
def shuffle(s: Record, one: np.uint64, two: np.uint64, change_colors: Int) -> None:
    """Make the draw pile a random order of the given cards (Fisher-Yates, inside out).

    Without a random word, 0, the order is the one that lies ready at the end of the array.
    """
    word = s["rng"]
    if word == ZERO:
        _take_ready(s, count_bits(one) + count_bits(two) + change_colors)
        return
    size = 0
    while one != ZERO:
        card = lowest(one)
        bit = one & (~one + ONE)
        one ^= bit
        for _ in range(2 if two & bit else 1):
            word = next_random(word)
            place = below(word, size + 1)
            s["draw_pile"][size] = s["draw_pile"][place]
            s["draw_pile"][place] = card
            size += 1
    for _ in range(change_colors):
        word = next_random(word)
        place = below(word, size + 1)
        s["draw_pile"][size] = s["draw_pile"][place]
        s["draw_pile"][place] = CHANGE_COLOR
        size += 1
    s["draw_size"] = size
    s["rng"] = word


@inner
def _set_discard(s: Record, card: Int) -> None:
    """Make the discard pile one card, or none for a negative one."""
    is_change = card == CHANGE_COLOR
    s["discard_one"] = ZERO if is_change or card < 0 else bit_of(card)
    s["discard_two"] = ZERO
    s["discard_change_colors"] = 1 if is_change else 0


@inner
def _refill(s: Record) -> None:
    """Shuffle all played cards but the leading one into a new draw pile (section 8)."""
    lead = np.int64(s["lead"])
    one, two, change_colors = s["discard_one"], s["discard_two"], s["discard_change_colors"]
    if lead == CHANGE_COLOR:
        change_colors -= 1
    else:
        bit = bit_of(lead)
        twice = two & bit
        two ^= twice
        one ^= bit ^ twice
    _set_discard(s, lead)
    shuffle(s, one, two, change_colors)


@inner
def _draw(s: Record, seat: Int, count: Int) -> None:
    """Draw up to `count` cards; fewer when all others are in hands (section 8)."""
    for _ in range(count):
        if s["draw_size"] == 0:
            _refill(s)
            if s["draw_size"] == 0:
                return
        s["draw_size"] -= 1
        give(s, seat, np.int64(s["draw_pile"][s["draw_size"]]))


# Setup (section 3) ------------------------------------------------------------------------------


@inner
def deal(s: Record, word: np.uint64) -> None:
    """Start a new game with the rules and players of the record and a random word."""
    s["rng"] = word
    for seat in range(MAX_PLAYERS):
        s["holds"][seat, ONCE] = ZERO
        s["holds"][seat, TWICE] = ZERO
        s["change_colors"][seat] = 0
        s["hand_sizes"][seat] = 0
        s["stages"][seat] = 0
    shuffle(s, s["deck_one"], s["deck_two"], s["deck_change_colors"])
    for seat in range(np.int64(s["num_players"])):
        _draw(s, seat, np.int64(s["hand_size"]))
        if s["tournament"]:
            s["stages"][seat] = s["hand_size"]
    _turn_over_lead(s)
    s["decisions"] = 0
    s["pending_draw"] = 0
    s["turn"] = 0
    s["actor"] = 0
    s["direction"] = 1
    s["phase"] = PLAY
    s["open_taki"] = 0
    s["can_close"] = 0
    s["skip_next"] = 0
    s["plus_three_by"] = NOBODY
    s["winner"] = NOBODY


@inner
def _turn_over_lead(s: Record) -> None:
    """Turn the top card over; a colorless one goes to the bottom first."""
    top = np.int64(s["draw_size"]) - 1
    while s["draw_pile"][top] >= NUM_COLORED:
        card = s["draw_pile"][top]
        for place in range(top, 0, -1):
            s["draw_pile"][place] = s["draw_pile"][place - 1]
        s["draw_pile"][0] = card
    lead = np.int64(s["draw_pile"][top])
    s["draw_size"] = top
    s["lead"] = lead
    s["color"] = lead // NUM_SYMBOLS
    s["symbol"] = lead % NUM_SYMBOLS
    _set_discard(s, lead)


# Legal actions (sections 4 to 8) ------------------------------------------------------------------


@inlined
def next_seat(s: Record, seat: Int) -> Int:
    """Return the seat after `seat` in the direction of play."""
    following = np.int64(seat) + s["direction"]
    if following < 0:
        return np.int64(s["num_players"]) - 1
    return 0 if following >= s["num_players"] else following


@inner
def _legal_play(s: Record, hand: np.uint64) -> Word:
    if s["pending_draw"]:
        return (hand & STACK_ANSWERS) | DRAW_BIT
    plays = hand & (COLOR_CARDS[s["color"]] | SYMBOL_CARDS[s["symbol"]] | COLORLESS_CARDS)
    may_draw = (plays & ~BREAKER_BIT) == ZERO or (s["voluntary_draw"] and s["phase"] == PLAY)
    return plays | DRAW_BIT if may_draw else plays


@inner
def _legal_run(s: Record, hand: np.uint64) -> Word:
    colored = hand & COLOR_CARDS[s["color"]]
    plays = colored | (hand & SUPER_TAKI_BIT)
    if s["full_runs"] and colored != ZERO:
        return plays
    return plays | PASS_BIT | (CLOSE_BIT if s["can_close"] else ZERO)


@inner
def answers(s: Record, seat: Int) -> Word:
    """Return the cards with which `seat` can answer a +3 (section 7)."""
    kings = KING_BIT if seat == next_seat(s, s["turn"]) else ZERO
    return s["holds"][seat, ONCE] & (BREAKER_BIT | kings)


@inlined
def legal_actions(s: Record) -> Word:
    """Return the set of actions that the actor may take; empty when the game is over."""
    phase = s["phase"]
    hand = s["holds"][s["actor"], ONCE]
    if phase == PLAY or phase == PLUS_PHASE:
        return _legal_play(s, hand)
    if phase == RUN:
        return _legal_run(s, hand)
    if phase == LAST_CARD:
        return CALLS
    if phase == KING_PHASE:
        return hand | PASS_BIT
    if phase == RESPOND:
        return answers(s, np.int64(s["actor"])) | PASS_BIT
    return ZERO


# Consequences (sections 4 to 8) -------------------------------------------------------------------


@inner
def _win(s: Record, seat: Int) -> None:
    """End the game. What no longer matters is set to what it is between turns."""
    s["winner"] = seat
    s["turn"] = seat
    s["actor"] = seat
    s["phase"] = OVER
    s["pending_draw"] = 0
    s["open_taki"] = 0
    s["can_close"] = 0
    s["skip_next"] = 0
    s["plus_three_by"] = NOBODY
    s["stages"][seat] = 0


@inner
def _pass_turn(s: Record) -> None:
    """Play passes to the next seat, or to the one after it."""
    seat = next_seat(s, s["turn"])
    if s["skip_next"]:
        seat = next_seat(s, seat)
        s["skip_next"] = 0
    s["turn"] = seat
    s["actor"] = seat
    s["phase"] = PLAY


@inner
def _ask(s: Record, seat: Int) -> None:
    """Ask the next who can answer the +3, from `seat` on; if nobody can, the others draw."""
    turn = np.int64(s["turn"])
    while seat != turn:
        if answers(s, seat) != ZERO:
            s["actor"] = seat
            s["phase"] = RESPOND
            return
        seat = next_seat(s, seat)
    s["plus_three_by"] = NOBODY
    seat = next_seat(s, turn)
    while seat != turn:
        _draw(s, seat, PLUS_THREE_DRAWS)
        seat = next_seat(s, seat)
    _pass_turn(s)


@inner
def _effects(s: Record) -> None:
    """What a turn does to the others, once its own player's hand is settled."""
    if s["plus_three_by"] >= 0:
        _ask(s, next_seat(s, s["turn"]))
    else:
        _pass_turn(s)


@inner
def _break_plus_three(s: Record) -> None:
    """The player of a broken +3 draws; play goes on with the seat after that player."""
    _draw(s, np.int64(s["turn"]), PLUS_THREE_DRAWS)
    _pass_turn(s)


@inner
def _hand_settled(s: Record, seat: Int) -> bool:
    """Settle a hand after playing: False if that ended the game or calls for a last-card call."""
    size = s["hand_sizes"][seat]
    if size > 1:
        return True
    if size == 1:
        if s["auto_last_card"]:
            return True
        s["phase"] = LAST_CARD
        return False
    if s["stages"][seat] <= 1:
        _win(s, seat)
        return False
    s["stages"][seat] -= 1
    _draw(s, seat, np.int64(s["stages"][seat]))
    return True


@inner
def _end_turn(s: Record) -> None:
    """End a turn that did not end by drawing."""
    s["can_close"] = 0
    if _hand_settled(s, np.int64(s["turn"])):
        _effects(s)


# What follows carries out an action and returns whether it ends the turn by playing, so that
# `apply_action` ends it in one place.


@inner
def _act(s: Record) -> bool:
    """Carry out the leading symbol as the last card of a turn."""
    symbol = s["symbol"]
    if symbol == STOP:
        s["skip_next"] = 1
    elif symbol == PLUS_TWO:
        s["pending_draw"] += 2
    elif symbol == CHANGE_DIRECTION:
        s["direction"] = -s["direction"]
    return True


@inner
def _open_run(s: Record, seat: Int) -> bool:
    """Open a TAKI; as an only card it stays open (section 6)."""
    s["symbol"] = TAKI
    s["open_taki"] = 1
    s["phase"] = RUN
    return bool(s["hand_sizes"][seat] == 0)


@inner
def _close_run(s: Record) -> bool:
    """Close a run and carry out the action of its final card."""
    s["open_taki"] = 0
    s["can_close"] = 0
    if s["symbol"] == PLUS:
        s["phase"] = PLUS_PHASE
        return False
    return _act(s)


@inner
def _lay_on_run(s: Record, seat: Int, card: Int) -> bool:
    s["symbol"] = TAKI if card == SUPER_TAKI else card % NUM_SYMBOLS
    s["can_close"] = 1
    s["phase"] = RUN
    return s["hand_sizes"][seat] == 0 and _close_run(s)


@inner
def _play_colored(s: Record, seat: Int, card: Int) -> bool:
    symbol = card % NUM_SYMBOLS
    s["color"] = card // NUM_SYMBOLS
    s["symbol"] = symbol
    if symbol == TAKI:
        return _open_run(s, seat)
    if symbol == PLUS:
        s["phase"] = PLUS_PHASE
        return False
    return _act(s)


@inner
def _play_colorless(s: Record, seat: Int, card: Int, action: Int) -> bool:
    if card == SUPER_TAKI:
        return _open_run(s, seat)
    s["symbol"] = NO_SYMBOL
    if card == KING:
        s["pending_draw"] = 0
        s["phase"] = KING_PHASE
        return bool(s["hand_sizes"][seat] == 0)
    if card == PLUS_THREE:
        s["plus_three_by"] = seat
    else:
        s["color"] = action - CHANGE_COLOR
    return True


@inner
def _play_breaker(s: Record, seat: Int) -> bool:
    """Lay a Breaker beneath the leading card: an answer to a +3, or a penalty (section 5)."""
    if s["phase"] == RESPOND:
        s["plus_three_by"] = NOBODY
        if _hand_settled(s, seat):
            _break_plus_three(s)
    else:
        s["open_taki"] = 0
        _draw(s, seat, BREAKER_PENALTY)
        _pass_turn(s)
    return False


@inlined
def _play(s: Record, action: Int) -> bool:
    seat = np.int64(s["actor"])
    card = min(action, CHANGE_COLOR)
    _discard(s, seat, card)
    if card == BREAKER:
        return _play_breaker(s, seat)
    s["lead"] = card
    if s["phase"] == RESPOND:  # a King: from here on it is that player's turn
        s["plus_three_by"] = NOBODY
        s["turn"] = seat
    of_run = card == SUPER_TAKI or (card < NUM_COLORED and card // NUM_SYMBOLS == s["color"])
    if s["open_taki"] and of_run:
        return _lay_on_run(s, seat, card)
    s["open_taki"] = 0
    if card < NUM_COLORED:
        return _play_colored(s, seat, card)
    return _play_colorless(s, seat, card, action)


@inner
def _take(s: Record) -> bool:
    """Draw one card or the whole +2 stack; the turn ends by drawing."""
    count = np.int64(s["pending_draw"]) or np.int64(1)
    s["pending_draw"] = 0
    _draw(s, np.int64(s["actor"]), count)
    _pass_turn(s)
    return False


@inner
def _answer_call(s: Record, action: Int) -> bool:
    """Say "last card" or pay for the silence; then the turn, or the answer to a +3, goes on."""
    seat = np.int64(s["actor"])
    if action == PASS:
        _draw(s, seat, SILENCE_PENALTY)
    if seat == s["turn"]:
        _effects(s)
    else:
        _break_plus_three(s)
    return False


@inlined
def _carry_out(s: Record, action: Int) -> bool:
    if action < DRAW:
        return _play(s, action)
    if action == DRAW:
        return _take(s)
    if action == CLOSE_TAKI:
        return _close_run(s)
    if s["phase"] == LAST_CARD:
        return _answer_call(s, action)
    if s["phase"] == RESPOND:
        _ask(s, next_seat(s, s["actor"]))
        return False
    return True  # the TAKI is left open, or a King's extra card declined


@inlined
def apply_action(s: Record, action: Int) -> None:
    """Carry out a legal action of the actor."""
    s["decisions"] += 1
    if _carry_out(s, action):
        _end_turn(s)
