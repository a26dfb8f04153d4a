"""Reading and writing positions, the JSON-ready form of a state (RULES.md section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_integer, check_one_of, is_integer
from taki_env.base.errors import did_you_mean
from taki_env.core.cards import (
    BREAKER,
    CARD_INDEX,
    CARDS,
    CHANGE_COLOR,
    COLORS,
    KING,
    KING_PHASE,
    LAST_CARD,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_SYMBOL,
    NUM_CARDS,
    NUM_COLORED,
    NUM_SYMBOLS,
    OVER,
    PHASES,
    PLAY,
    PLUS,
    PLUS_PHASE,
    PLUS_THREE,
    PLUS_TWO,
    RESPOND,
    RUN,
    STOP,
    SUPER_TAKI,
    SYMBOLS,
    TAKI,
    Position,
)
from taki_env.core.rules import SWITCHES, Rules
from taki_env.core.state import (
    CACHE_LINE,
    CHANGE_COLORS,
    GAME_DTYPE,
    NOBODY,
    ONCE,
    TWICE,
    State,
    States,
)

FLAGS = ("open_taki", "can_close", "skip_next")
KEYS = (
    *("rules", "hands", "draw_pile", "discard_pile", "color", "symbol", "direction", "turn"),
    *("actor", "phase", "pending_draw", *FLAGS, "plus_three_by", "stages", "winner"),
)
MAX_PENDING = 1000
_CHECKED = set(GAME_DTYPE.names or ()) - {"rng", "decisions", "draw_pile", "unused"}
"""Fields of a record that its position determines; its draw pile is copied as it is."""
Counts = npt.NDArray[np.int64]
"""Copies of each card type, (57,)."""


# States and collections of cards -----------------------------------------------------------------


def new_states(num_games: int, num_players: npt.ArrayLike, rules: Rules) -> States:
    """Return records (num_games,) with players and rules set, and no cards dealt.

    Args:
        num_games: number of records.
        num_players: players of all games, or of each, (num_games,).
        rules: options of all games.
    """
    states = _aligned(num_games)
    states["num_players"] = num_players
    one, two, change_colors = _planes(np.array(rules.deck))
    states["deck_one"], states["deck_two"], states["deck_change_colors"] = one, two, change_colors
    for option in (*SWITCHES, "hand_size"):
        states[option] = getattr(rules, option)
    return states


def _aligned(num_games: int) -> States:
    """Return records of zeros, aligned to cache lines."""
    size = num_games * GAME_DTYPE.itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size].view(GAME_DTYPE)


def _planes(counts: Counts) -> tuple[int, int, int]:
    """Return counts in the engine's form: set held once, set held twice, Change Colors."""
    one = sum(1 << card for card in range(CHANGE_COLOR) if counts[card] >= 1)
    two = sum(1 << card for card in range(CHANGE_COLOR) if counts[card] >= 2)
    return one, two, int(counts[CHANGE_COLOR])


def _cards(one: int, two: int, change_colors: int) -> list[int]:
    """Return the card types of cards in the engine's form, sorted, with repetitions."""
    cards, left = [], int(one) & ((1 << CHANGE_COLOR) - 1)
    while left:
        bit = left & -left
        cards += [bit.bit_length() - 1] * (2 if int(two) & bit else 1)
        left ^= bit
    return cards + [CHANGE_COLOR] * int(change_colors)


def hand_cards(s: State, seat: int) -> list[int]:
    """Return the card types of a hand, sorted."""
    once, twice = s["holds"][seat].tolist()
    return _cards(once, twice, s["change_colors"][seat])


def discard_cards(s: State) -> list[int]:
    """Return the card types of the discard pile, with the leading card, sorted."""
    return _cards(s["discard_one"], s["discard_two"], s["discard_change_colors"])


def hand_names(s: State, seat: int) -> list[str]:
    """Return the card names of a hand, sorted by card index."""
    return [CARDS[card] for card in hand_cards(s, seat)]


def symbol_name(s: State) -> str | None:
    """Return the name of the leading symbol, or None."""
    return None if s["symbol"] == NO_SYMBOL else SYMBOLS[s["symbol"]]


def seat_or_none(seat: int) -> int | None:
    """Return a seat as an int, or None for `NOBODY`."""
    return None if seat == NOBODY else int(seat)


# Writing ------------------------------------------------------------------------------------------


def write_position(s: State, rules: Rules) -> dict[str, Any]:
    """Return the position of one game."""
    num_players = int(s["num_players"])
    beneath = discard_cards(s)
    beneath.remove(s["lead"])
    pile = s["draw_pile"][: s["draw_size"]][::-1]
    stages = [int(stage) for stage in s["stages"][:num_players]]
    return {
        "rules": rules.to_dict(),
        "hands": [hand_names(s, seat) for seat in range(num_players)],
        "draw_pile": [CARDS[card] for card in pile],
        "discard_pile": [CARDS[card] for card in (*beneath, s["lead"])],
        "color": COLORS[s["color"]],
        "symbol": symbol_name(s),
        "direction": int(s["direction"]),
        "turn": int(s["turn"]),
        "actor": int(s["actor"]),
        "phase": PHASES[s["phase"]],
        "pending_draw": int(s["pending_draw"]),
        **{flag: bool(s[flag]) for flag in FLAGS},
        "plus_three_by": seat_or_none(s["plus_three_by"]),
        "stages": stages if rules.tournament else None,
        "winner": seat_or_none(s["winner"]),
    }


# Reading ------------------------------------------------------------------------------------------


def check_states(states: States, like: States, rules: Rules) -> None:
    """Raise ValueError unless records from outside are valid games.

    Args:
        states: records to check, (num_games,), for example from a checkpoint.
        like: valid records with the expected numbers of players, (num_games,).
        rules: options of all games.
    """
    for game, s in enumerate(states):
        try:
            position = write_position(s, rules)
            ((again,), _) = read_position(position, s["rng"])
        except (ValueError, IndexError) as error:
            raise ValueError(f"game {game} is invalid: {error}") from error
        same = s["rng"] and s["num_players"] == like[game]["num_players"]
        if not same or any(np.any(again[name] != s[name]) for name in _CHECKED):
            raise ValueError(f"game {game} is invalid: its state is inconsistent")


def read_position(position: Position, word: np.uint64) -> tuple[States, Rules]:
    """Return the record of a position, (1,), and its rules.

    Args:
        position: a position.
        word: random word that shuffles an unknown draw pile and all refills.

    Raises:
        ValueError: the position is invalid (section 10).
    """
    _check_keys(position)
    rules = _read_rules(position["rules"])
    hands = [_read_cards(f"hand {seat}", hand) for seat, hand in enumerate(_read_hands(position))]
    discard = _read_cards("discard_pile", position["discard_pile"])
    if not discard:
        raise ValueError("discard_pile is empty: its last entry is the leading card")
    pile = _read_pile(position["draw_pile"], [*hands, discard], rules)
    states = new_states(1, len(hands), rules)
    s = states[0]
    for seat, hand in enumerate(hands):
        one, two, s["change_colors"][seat] = _planes(_count(hand))
        s["holds"][seat, ONCE] = one | (int(CHANGE_COLORS) if s["change_colors"][seat] else 0)
        s["holds"][seat, TWICE] = two
        s["hand_sizes"][seat] = len(hand)
    _place_discard(s, discard)
    _place_pile(s, pile, word, shuffled=position["draw_pile"] is None)
    _read_table(s, position)
    _check_lead(s)
    if s["phase"] == OVER:
        _read_end(s, position, rules)
    else:
        _read_turn(s, position, rules)
    return states, rules


def _check_keys(position: Position) -> None:
    if not isinstance(position, Mapping):
        raise ValueError(f"a position must be a mapping, got {position!r}")
    for key in position:
        if key not in KEYS:
            raise ValueError(f"unknown key {key!r} in the position{did_you_mean(key, KEYS)}")
    for key in KEYS:
        if key not in position:
            raise ValueError(f"the position lacks the key {key!r}")


def _read_rules(options: Any) -> Rules:
    try:
        return Rules.from_dict(options)
    except TypeError as error:
        raise ValueError(f"rules: {error}") from error


def _read_hands(position: Position) -> list[Any]:
    hands = position["hands"]
    if not isinstance(hands, list | tuple) or not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
        raise ValueError(f"hands must be {MIN_PLAYERS} to {MAX_PLAYERS} lists of cards")
    return list(hands)


def _read_cards(where: str, names: Any) -> list[int]:
    if not isinstance(names, list | tuple):
        raise ValueError(f"{where} must be a list of card names, got {names!r}")
    for name in names:
        if not isinstance(name, str) or name not in CARD_INDEX:
            raise ValueError(f"unknown card {name!r} in {where}{did_you_mean(name, CARDS)}")
    return [CARD_INDEX[name] for name in names]


def _count(cards: Iterable[int]) -> Counts:
    return np.bincount(np.array([*cards], np.int64), minlength=NUM_CARDS)


def _read_pile(names: Any, placed: list[list[int]], rules: Rules) -> list[int]:
    """Return the draw pile; if it is unknown, the rest of the deck, sorted."""
    rest = np.array(rules.deck) - sum(map(_count, placed), np.zeros(NUM_CARDS, np.int64))
    known = names is not None
    pile = _read_cards("draw_pile", names) if known else _expand(rest)
    rest -= _count(pile)
    for card in range(NUM_CARDS):
        if rest[card] < 0 or (known and rest[card] > 0):
            much = "too many" if rest[card] < 0 else "missing"
            raise ValueError(
                f"the hands and piles are not the deck: {abs(rest[card])} {CARDS[card]!r} {much}"
            )
    return pile


def _expand(counts: Counts) -> list[int]:
    return [card for card in range(NUM_CARDS) for _ in range(max(0, counts[card]))]


def _place_discard(s: State, discard: list[int]) -> None:
    one, two, change_colors = _planes(_count(discard))
    s["discard_one"], s["discard_two"], s["discard_change_colors"] = one, two, change_colors
    s["lead"] = discard[-1]


def _place_pile(s: State, pile: list[int], word: np.uint64, shuffled: bool) -> None:
    if shuffled:
        generator = np.random.default_rng(int(word))
        pile = [pile[place] for place in generator.permutation(len(pile))]
    s["rng"] = word
    s["draw_size"] = len(pile)
    s["draw_pile"][: len(pile)] = pile[::-1]


def _choice(position: Position, key: str, allowed: tuple[str, ...]) -> int:
    check_one_of(key, position[key], allowed)
    return allowed.index(position[key])


def _number(position: Position, key: str, high: int) -> int:
    check_integer(key, position[key], 0, high)
    return int(position[key])


def _read_direction(value: Any) -> int:
    if not is_integer(value) or value not in (1, -1):
        raise ValueError(f"direction must be 1 or -1, got {value!r}")
    return int(value)


def _read_table(s: State, position: Position) -> None:
    s["color"] = _choice(position, "color", COLORS)
    s["symbol"] = NO_SYMBOL if position["symbol"] is None else _choice(position, "symbol", SYMBOLS)
    s["phase"] = _choice(position, "phase", PHASES)
    s["direction"] = 1
    s["plus_three_by"] = s["winner"] = NOBODY


def _check_lead(s: State) -> None:
    """Raise ValueError unless the active color and the symbol are those of the leading card."""
    lead = int(s["lead"])
    if lead < NUM_COLORED:
        expected, symbol = lead // NUM_SYMBOLS, lead % NUM_SYMBOLS
        if s["color"] != expected:
            raise ValueError(f"color must be {COLORS[expected]!r}: {CARDS[lead]!r} leads")
    elif lead == BREAKER:
        raise ValueError("a '+3 breaker' never leads: it lies beneath the leading card")
    else:
        symbol = TAKI if lead == SUPER_TAKI else NO_SYMBOL
    if s["symbol"] != symbol:
        words = (*SYMBOLS, None)
        raise ValueError(f"symbol must be {words[symbol]!r}: {CARDS[lead]!r} leads")


def _read_stages(s: State, position: Position, rules: Rules, winner: int | None) -> None:
    stages, num_players = position["stages"], int(s["num_players"])
    if not rules.tournament:
        if stages is not None:
            raise ValueError("stages must be null without the option tournament")
        return
    if not isinstance(stages, list | tuple) or len(stages) != num_players:
        raise ValueError(f"stages must be a list of {num_players} integers in a tournament")
    for seat, stage in enumerate(stages):
        low, high = (0, 0) if seat == winner else (1, rules.hand_size)
        check_integer(f"the stage of seat {seat}", stage, low, high)
        s["stages"][seat] = stage


def _read_end(s: State, position: Position, rules: Rules) -> None:
    """Read the fields that have a meaning in phase `over`; ignore the others."""
    winner = _number(position, "winner", int(s["num_players"]) - 1)
    if s["hand_sizes"][winner]:
        raise ValueError(f"seat {winner} cannot have won with cards in hand")
    s["turn"] = s["actor"] = s["winner"] = winner
    s["direction"] = -1 if position["direction"] == -1 else 1
    _read_stages(s, position, rules, winner)


def _read_turn(s: State, position: Position, rules: Rules) -> None:
    last = int(s["num_players"]) - 1
    if position["winner"] is not None:
        raise ValueError("winner must be null before phase 'over'")
    _read_stages(s, position, rules, None)
    s["turn"] = _number(position, "turn", last)
    s["actor"] = _number(position, "actor", last)
    s["direction"] = _read_direction(position["direction"])
    s["pending_draw"] = _number(position, "pending_draw", MAX_PENDING)
    for flag in FLAGS:
        if not isinstance(position[flag], bool):
            raise ValueError(f"{flag} must be true or false, got {position[flag]!r}")
        s[flag] = position[flag]
    if position["plus_three_by"] is not None:
        s["plus_three_by"] = _number(position, "plus_three_by", last)
    for allowed, rule in _turn_rules(s):
        if not allowed:
            raise ValueError(f"phase {PHASES[s['phase']]!r}: {rule}")


def _turn_rules(s: State) -> list[tuple[bool, str]]:
    """Return the conditions on a position before phase `over`, each with its error message."""
    phase, symbol, turn, actor = s["phase"], s["symbol"], s["turn"], s["actor"]
    size = s["hand_sizes"][actor]
    answering = actor != turn
    after = turn + s["direction"]
    answers = {BREAKER, KING} if actor == after % s["num_players"] else {BREAKER}
    can_answer = any(int(s["holds"][actor, ONCE]) >> card & 1 for card in answers)
    awaiting = s["plus_three_by"] != NOBODY
    called = phase != LAST_CARD or answering or s["open_taki"]  # else the last card has acted
    return [
        (not answering or phase in (RESPOND, LAST_CARD), "actor must be turn"),
        (phase != RESPOND or answering, "actor must be another seat than turn"),
        (phase != RESPOND or awaiting, "plus_three_by must be the seat whose +3 awaits answers"),
        (phase != RESPOND or can_answer, f"seat {actor} holds no card to answer a +3 with"),
        (not awaiting or s["plus_three_by"] == turn, "plus_three_by must be turn, or null"),
        (not awaiting or phase in (RESPOND, LAST_CARD), "plus_three_by must be null"),
        (not awaiting or s["lead"] == PLUS_THREE, "plus_three_by needs a '+3' to lead"),
        (phase not in (RUN, KING_PHASE) or size > 0, f"seat {actor} has no cards"),
        (phase != LAST_CARD or size == 1, f"seat {actor} must have exactly one card"),
        (phase != LAST_CARD or not answering or not awaiting, "the +3 was answered"),
        (phase != PLUS_PHASE or symbol == PLUS, "a plus must lead"),
        (phase != KING_PHASE or s["lead"] == KING, "a king must lead"),
        (not s["pending_draw"] or phase in (PLAY, LAST_CARD), "pending_draw must be 0"),
        (not s["pending_draw"] or not answering, "pending_draw must be 0"),
        (not s["pending_draw"] or not s["open_taki"], "a pending draw with an open TAKI"),
        (not s["pending_draw"] or symbol == PLUS_TWO, "a pending draw needs a '+2' to lead"),
        (s["pending_draw"] % 2 == 0, "pending_draw must be even: each +2 adds two"),
        (phase != RUN or bool(s["open_taki"]), "open_taki must be true"),
        (not s["open_taki"] or phase in (PLAY, RUN, LAST_CARD), "open_taki must be false"),
        (not s["open_taki"] or symbol != NO_SYMBOL, "an open TAKI has a leading symbol"),
        (not s["open_taki"] or not answering, "open_taki must be false"),
        (not s["can_close"] or phase == RUN, "can_close must be false"),
        (phase != RUN or bool(s["can_close"]) or symbol == TAKI, "can_close must be true"),
        (not s["skip_next"] or (phase == LAST_CARD and symbol == STOP), "skip_next must be false"),
        (not s["skip_next"] or not (s["open_taki"] or answering), "skip_next must be false"),
        (not answering or s["lead"] == PLUS_THREE, "an answer needs a '+3' to lead"),
        (called or s["lead"] != PLUS_THREE or awaiting, "plus_three_by must be the player's seat"),
        (called or symbol != PLUS, "a closed plus owes a second card before the call"),
        (called or symbol != STOP or bool(s["skip_next"]), "skip_next must be true after a stop"),
        (called or symbol != PLUS_TWO or s["pending_draw"] > 0, "a +2 leaves a pending draw"),
        (phase != LAST_CARD or not s["auto_last_card"], "auto_last_card leaves nothing to call"),
    ]
