"""Reading records: full ones are replayed, a seat's are followed card by card (docs/records.md).

Everything in a record is checked, as far as the cards that it shows allow.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from taki_env.base.checks import is_integer
from taki_env.base.errors import RecordError, did_you_mean
from taki_env.base.types import Words
from taki_env.base.version import ENV_ID
from taki_env.core.actions import refusal
from taki_env.core.cards import (
    ACTION_INDEX,
    ACTIONS,
    CARD_INDEX,
    COLORS,
    PASS,
    PHASES,
    SYMBOLS,
)
from taki_env.core.history import Deal, copy_states, deal_game
from taki_env.core.loops import apply_many, legal_many
from taki_env.core.rules import Rules
from taki_env.core.seen import PASSING_PHASES, play_card, take_cards
from taki_env.core.state import States
from taki_env.records.position import (
    FLAGS,
    new_states,
    read_position,
    seat_or_none,
    write_position,
)
from taki_env.records.position import KEYS as POSITION_KEYS
from taki_env.records.write import (
    CARRIED,
    COMMON_KEYS,
    FORMAT,
    FULL_KEYS,
    OPTIONAL,
    PLAY_KEYS,
    STEP_KEYS,
    JsonDict,
    are_names,
    is_value,
    named_draws,
    result_of,
    word_of,
)

_FIRST = np.zeros(1, np.int64)


class FullRecord(NamedTuple):
    """A full record, read and checked."""

    rules: Rules
    deal: Deal | None
    """Deal that the game started with, if it started with one."""
    states: list[States]
    """States before the first action and after each, (1,) each."""
    actions: list[int]


def positions_of(record: Mapping[str, Any]) -> list[JsonDict]:
    """Return the positions before the first step of a record and after each.

    Those of a seat's record hold None for each card that the seat does not see, and for the actor
    while another seat is asked to answer a +3. Such a record is checked as far as possible without
    the hidden cards.

    Raises:
        RecordError: The record is invalid or impossible.
    """
    if isinstance(record, Mapping) and record.get("seat") is not None:
        return list(_seen_positions(record))
    game = read_full(record)
    return [write_position(states[0], game.rules) for states in game.states]


def read_full(record: Mapping[str, Any]) -> FullRecord:
    """Replay a full record; see `Game.replay`.

    Raises:
        RecordError: The record is invalid or impossible, or shows what one seat saw.
    """
    _check_keys("the record", record, {**COMMON_KEYS, "seat": ""})
    if record["seat"] is not None:
        raise RecordError(
            f"the record shows what seat {record['seat']!r} saw; only a full record can be replayed"
        )
    _check_head(record, {**COMMON_KEYS, **FULL_KEYS, **PLAY_KEYS})
    start, rules, deal = _read_start(record)
    states, legal = [start], np.zeros(1, np.uint64)
    legal_many(start, legal)
    for number, step in enumerate(record["steps"], 1):
        with _errors_at(f"step {number}"):
            _check_step(step, changes=False)
            states.append(_next_states(states[-1], legal, step))
    winner = seat_or_none(states[-1]["winner"][0])
    _check_result(record["result"], result_of(winner, record["num_players"]))
    actions = [ACTION_INDEX[step["action"]] for step in record["steps"]]
    return FullRecord(rules, deal, states, actions)


@contextmanager
def _errors_at(where: str) -> Iterator[None]:
    """Prefix errors with their place in the record."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise RecordError(f"{where}: {error}") from error


def _check_keys(what: str, part: Any, keys: Mapping[str, Any], optional: Any = ()) -> None:
    if not isinstance(part, Mapping):
        raise RecordError(f"{what} must be a mapping of names to values, got {_shortened(part)}")
    for key in keys:
        if key not in part and key not in optional:
            raise RecordError(f"{what} lacks the key {key!r}")


def _check_unknown(what: str, part: Mapping[str, Any], keys: Mapping[str, Any]) -> None:
    for key in part:
        if key not in keys:
            raise RecordError(f"unknown key {key!r} in {what}{did_you_mean(key, keys)}")


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _check_head(record: Mapping[str, Any], keys: Mapping[str, str]) -> None:
    """Check everything but the steps and the result."""
    _check_keys("the record", record, keys)
    _check_unknown("the record", record, keys)
    if not is_integer(record["format"]) or record["format"] != FORMAT:
        raise RecordError(f"format must be {FORMAT}, got {_shortened(record['format'])}")
    if record["env"] != ENV_ID:
        raise RecordError(f"env must be {ENV_ID!r}, got {_shortened(record['env'])}")
    if not isinstance(record["version"], str):
        raise RecordError(f"version must be a string, got {_shortened(record['version'])}")
    if not isinstance(record["steps"], list):
        raise RecordError(f"steps must be a list, got {_shortened(record['steps'])}")
    _check_table(record)


def _check_table(record: Mapping[str, Any]) -> None:
    """Check players and names, and that the rules and the first position agree with them."""
    players, first = record["num_players"], record["first"]
    with _errors_at("rules"):
        rules = Rules.from_dict(record["rules"])
    if not is_integer(players):
        raise RecordError(f"num_players must be an integer, got {_shortened(players)}")
    if record["names"] is not None and not are_names(record["names"], players):
        raise RecordError(f"names must be null or {players} strings, one per seat")
    _check_keys("first", first, dict.fromkeys(POSITION_KEYS, ""))
    with _errors_at("first: rules"):
        if Rules.from_dict(first["rules"]) != rules:
            raise RecordError("they differ from the rules of the record")
    if not isinstance(first["hands"], list) or len(first["hands"]) != players:
        raise RecordError(f"first: hands must be a list of {players} hands, one per player")


def _read_start(record: Mapping[str, Any]) -> tuple[States, Rules, Deal | None]:
    """Return the state (1,) that the first position and the word describe, rules and deal."""
    word = record["word"]
    if not isinstance(word, str) or len(word) != 16 or set(word) - set("0123456789abcdef"):
        raise RecordError(f"word must be 16 hexadecimal digits, got {_shortened(word)}")
    if not int(word, 16):
        raise RecordError("word must not be 0")
    if record["note"] is not None and not isinstance(record["note"], str):
        raise RecordError(f"note must be null or a string, got {_shortened(record['note'])}")
    if not isinstance(record["first"]["draw_pile"], list):
        raise RecordError("first: draw_pile must be a list of cards")
    with _errors_at("first"):
        start, rules = read_position(record["first"], np.uint64(int(word, 16)))
    numbers = [record[key] for key in Deal._fields]
    if numbers == [None] * 3:
        return start, rules, None
    if not all(is_integer(number) and number >= 0 for number in numbers):
        raise RecordError("seed, deal and episode must be integers of at least 0, or all null")
    deal = Deal(*numbers)
    _check_deal(start, rules, deal)
    return start, rules, deal


def _check_deal(start: States, rules: Rules, deal: Deal) -> None:
    """Check that a deal gives the first state of a record."""
    if max(deal.deal, deal.episode) >= 2**63:
        raise RecordError("deal and episode must be less than 2**63")
    num_players = int(start["num_players"][0])
    with _errors_at("first"):
        rules.check_players(num_players)
    dealt = deal_game(new_states(1, num_players, rules), deal)
    one, other = (write_position(states[0], rules) for states in (dealt, start))
    if one != other or word_of(dealt) != word_of(start):
        raise RecordError(
            f"first and word differ from what seed {deal.seed} deals "
            f"(deal {deal.deal}, episode {deal.episode})"
        )


def _check_step(step: Any, changes: bool) -> None:
    keys = {key: meaning for key, meaning in STEP_KEYS.items() if changes or key != "changes"}
    _check_keys("the step", step, keys, OPTIONAL)
    _check_unknown("the step", step, keys)


def _next_states(states: States, legal: Words, step: Mapping[str, Any]) -> States:
    """Return the state (1,) after a step that follows the rules; updates `legal` (1,)."""
    actor, action = int(states["actor"][0]), step["action"]
    if not is_integer(step["actor"]) or step["actor"] != actor:
        raise RecordError(f"the actor is seat {actor}, not {_shortened(step['actor'])}")
    if not isinstance(action, str):
        raise RecordError(f"the action must be a name, got {_shortened(action)}")
    index = ACTION_INDEX.get(action)
    if index is None or not int(legal[0]) >> index & 1:
        raise RecordError(refusal(states[0], int(legal[0]), action))
    after = copy_states(states)
    apply_many(after, _FIRST, np.array([index]), legal)
    draws = named_draws(states, index, after)
    if step.get("draws", []) != draws:
        found = _shortened(step.get("draws", []))
        raise RecordError(f"the draws are {_shortened(draws)}, not {found}")
    _check_value(step)
    return after


def _check_value(step: Mapping[str, Any]) -> None:
    if "value" in step and not is_value(step["value"]):
        raise RecordError(f"value must be a finite number, got {_shortened(step['value'])}")


def _check_result(found: Any, result: JsonDict) -> None:
    _check_keys("result", found, result)
    _check_unknown("result", found, result)
    for key, value in result.items():
        if found[key] != value or type(found[key]) is not type(value):
            raise RecordError(f"result: {key} is {value!r}, not {_shortened(found[key])}")


# Reading what one seat saw ------------------------------------------------------------------------


def _seen_positions(record: Mapping[str, Any]) -> Iterator[JsonDict]:
    _check_head(record, {**COMMON_KEYS, **PLAY_KEYS})
    seat, players = record["seat"], record["num_players"]
    if not is_integer(seat) or not 0 <= seat < players:
        raise RecordError(f"seat must be null or 0 to {players - 1}, got {_shortened(seat)}")
    position = copy.deepcopy(dict(record["first"]))
    with _errors_at("first"):
        _check_unknown("the position", position, dict.fromkeys(POSITION_KEYS, ""))
        _check_seen_cards(position, seat)
        _check_seen_values(position, players)
    yield position
    for number, step in enumerate(record["steps"], 1):
        with _errors_at(f"step {number}"):
            position = _next_seen(position, step, seat)
        yield position
    _check_result(record["result"], result_of(position["winner"], players))


def _check_seen_cards(position: JsonDict, seat: int) -> None:
    for holder, hand in enumerate(position["hands"]):
        if not isinstance(hand, list) or not all(
            _is_card(card) if holder == seat else card is None for card in hand
        ):
            raise RecordError(f"hand {holder} must be a list of cards that seat {seat} sees")
    pile, discard = position["draw_pile"], position["discard_pile"]
    if not isinstance(pile, list) or any(card is not None for card in pile):
        raise RecordError("draw_pile must be a list of null: no seat sees it")
    if not isinstance(discard, list) or not discard or not all(map(_is_card, discard)):
        raise RecordError("discard_pile must be a list of cards, the leading one last")


def _is_card(card: Any) -> bool:
    return isinstance(card, str) and card in CARD_INDEX


def _check_seen_values(values: Mapping[str, Any], players: int) -> None:
    """Check the types and ranges of a position's values, other than hands and piles."""
    seats: list[Any] = [*range(players)]
    allowed: dict[str, Callable[[Any], bool]] = {
        "color": lambda value: value in COLORS,
        "symbol": lambda value: value is None or value in SYMBOLS,
        "phase": lambda value: value in PHASES,
        "direction": lambda value: is_integer(value) and value in (1, -1),
        "turn": lambda value: is_integer(value) and value in seats,
        "pending_draw": lambda value: is_integer(value) and value >= 0,
        "stages": lambda value: value is None or (
            isinstance(value, list) and len(value) == players and all(map(is_integer, value))
        ),
        **dict.fromkeys(FLAGS, lambda value: isinstance(value, bool)),
        **dict.fromkeys(
            ("actor", "plus_three_by", "winner"),
            lambda value: value is None or (is_integer(value) and value in seats),
        ),
    }  # fmt: skip
    for key, value in values.items():
        if key not in CARRIED and not allowed[key](value):
            raise RecordError(f"{key} cannot be {_shortened(value)}")


def _next_seen(position: JsonDict, step: Any, seat: int) -> JsonDict:
    """Return what a seat sees after a step.

    The step moves the named cards; the other values come from its `changes`.
    """
    _check_step(step, changes=True)
    players = len(position["hands"])
    if not is_integer(step["actor"]) or step["actor"] not in range(players):
        raise RecordError(f"the actor must be 0 to {players - 1}, got {_shortened(step['actor'])}")
    if not isinstance(step["action"], str) or step["action"] not in ACTION_INDEX:
        raise RecordError(f"{_shortened(step['action'])} is not the name of an action")
    if step["action"] == ACTIONS[PASS] and position["phase"] not in PASSING_PHASES:
        raise RecordError(f"nobody can pass in phase {position['phase']!r}")
    _check_value(step)
    after = {**position, "hands": [list(hand) for hand in position["hands"]]}
    play_card(after, step["actor"], ACTION_INDEX[step["action"]])
    draws, changes = step.get("draws", []), step["changes"]
    if not _are_draws(draws, players, seat):
        raise RecordError(f"draws must be seats with the cards that seat {seat} sees of theirs")
    take_cards(after, draws, seat)
    _check_keys("changes", changes, {})
    _check_unknown("changes", changes, dict.fromkeys(set(POSITION_KEYS) - set(CARRIED), ""))
    _check_seen_values(changes, players)
    return {**after, **changes}


def _are_draws(draws: Any, players: int, seat: int) -> bool:
    return isinstance(draws, list) and all(
        isinstance(draw, list)
        and len(draw) == 2
        and is_integer(draw[0])
        and draw[0] in range(players)
        and isinstance(draw[1], list)
        and all(_is_card(card) if draw[0] == seat else card is None for card in draw[1])
        for draw in draws
    )
