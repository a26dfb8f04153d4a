"""Reading records: a full one is played again, a seat's is followed card by card (docs/records.md).

Whatever a record says is checked, as far as the cards that it shows allow.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from taki_env.base.checks import is_integer
from taki_env.base.errors import RecordError, did_you_mean
from taki_env.base.version import ENV_ID
from taki_env.core.cards import (
    ACTIONS,
    BREAKER,
    CARDS,
    CHANGE_COLOR,
    COLORS,
    DRAW,
    PASS,
    PHASES,
    SYMBOLS,
)
from taki_env.core.rules import Rules
from taki_env.game.game import ACTION_INDEX, Game
from taki_env.records.position import CARD_INDEX, FLAGS, read_position
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
    drawn,
    is_value,
    result_of,
    word_of,
)

PASSING = ("run", "king", "respond", "last_card")
"""Phases in which there is something to pass on."""


def positions_of(record: Mapping[str, Any]) -> list[JsonDict]:
    """Return the positions before the first step of a record and after each.

    Those of a seat's record hold None for the cards that it does not see, and for the actor who
    is asked to answer a +3. Such a record is checked as far as one can without the hidden cards.

    Raises:
        RecordError: the record is none, or says what cannot have happened.
    """
    if isinstance(record, Mapping) and record.get("seat") is not None:
        return list(_seen_positions(record))
    return [game.to_dict() for game in replayed(record)]


def replayed(record: Mapping[str, Any]) -> list[Game]:
    """Return the games before the first step of a full record and after each; see `Game.replay`."""
    _check_keys("the record", record, {**COMMON_KEYS, "seat": ""})
    if record["seat"] is not None:
        raise RecordError(
            f"this is what seat {record['seat']!r} saw: only a full record can be played again"
        )
    _check_head(record, {**COMMON_KEYS, **FULL_KEYS, **PLAY_KEYS})
    games = [_first_game(record)]
    for number, step in enumerate(record["steps"], 1):
        with _told(f"step {number}"):
            _check_step(step, changes=False)
            games.append(_next_game(games[-1], step))
    _check_result(record["result"], result_of(games[-1]))
    return games


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Say where in the record an error is."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise RecordError(f"{where}: {error}") from error


def _check_keys(what: str, part: Any, keys: Mapping[str, str], optional: Any = ()) -> None:
    if not isinstance(part, Mapping):
        raise RecordError(f"{what} must be a mapping of names to values, not {_brief(part)}")
    for key in keys:
        if key not in part and key not in optional:
            raise RecordError(f"{what} lacks the key {key!r}")


def _check_unknown(what: str, part: Mapping[str, Any], keys: Mapping[str, str]) -> None:
    for key in part:
        if key not in keys:
            raise RecordError(f"unknown key {key!r} in {what}{did_you_mean(key, keys)}")


def _brief(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:59]}…"


def _check_head(record: Mapping[str, Any], keys: Mapping[str, str]) -> None:
    """Check everything but what happened."""
    _check_keys("the record", record, keys)
    _check_unknown("the record", record, keys)
    if not _is_number(record["format"]) or record["format"] != FORMAT:
        raise RecordError(f"format must be {FORMAT}, not {_brief(record['format'])}")
    if record["env"] != ENV_ID:
        raise RecordError(f"the game is one of {_brief(record['env'])}, not of {ENV_ID!r}")
    if not isinstance(record["version"], str):
        raise RecordError(f"version must be a string, not {_brief(record['version'])}")
    if not isinstance(record["steps"], list):
        raise RecordError(f"steps must be a list, not {_brief(record['steps'])}")
    _check_table(record)


def _check_table(record: Mapping[str, Any]) -> None:
    """Check players, names, and that rules and first position agree with them."""
    players, first = record["num_players"], record["first"]
    with _told("rules"):
        rules = Rules.from_dict(record["rules"])
    if not _is_number(players):
        raise RecordError(f"num_players must be a number, not {_brief(players)}")
    if record["names"] is not None and not are_names(record["names"], players):
        raise RecordError(f"names must be null or {players} strings, one a seat")
    _check_keys("first", first, dict.fromkeys(POSITION_KEYS, ""))
    with _told("first: rules"):
        if Rules.from_dict(first["rules"]) != rules:
            raise RecordError("they are not those of the record")
    if not isinstance(first["hands"], list) or len(first["hands"]) != players:
        raise RecordError(f"first: hands must be those of {players} players")


def _is_number(value: Any) -> bool:
    return is_integer(value)


def _first_game(record: Mapping[str, Any]) -> Game:
    """Return the game that the first position and the word describe, as the seed deals it."""
    word = record["word"]
    if not isinstance(word, str) or len(word) != 16 or set(word) - set("0123456789abcdef"):
        raise RecordError(f"word must be 16 hexadecimal digits, not {_brief(word)}")
    if not int(word, 16):
        raise RecordError("word must not be 0")
    if record["note"] is not None and not isinstance(record["note"], str):
        raise RecordError(f"note must be null or words, not {_brief(record['note'])}")
    if not isinstance(record["first"]["draw_pile"], list):
        raise RecordError("first: draw_pile must be a list of cards")
    with _told("first"):
        game = Game._of(*read_position(record["first"], np.uint64(int(word, 16))))
    numbers = [record[key] for key in ("seed", "deal", "episode")]
    if numbers != [None] * 3:
        game._dealt = _checked_deal(game, numbers)
    return game


def _checked_deal(game: Game, numbers: list[Any]) -> tuple[int, int, int]:
    """Return seed, deal and episode if they deal this game."""
    if not all(_is_number(number) and number >= 0 for number in numbers):
        raise RecordError("seed, deal and episode must be numbers of 0 or more, or all null")
    seed, deal, episode = numbers
    if max(deal, episode) >= 2**63:
        raise RecordError("deal and episode must be below 2 to the 63rd")
    with _told("first"):
        dealt = Game(game.num_players, game.rules, seed)
    dealt._deal(seed, episode, deal)
    if dealt.to_dict() != game.to_dict() or word_of(dealt._beginning()) != word_of(
        game._beginning()
    ):
        raise RecordError(
            f"first and word are not what seed {seed} deals (deal {deal}, episode {episode})"
        )
    return seed, deal, episode


def _check_step(step: Any, changes: bool) -> None:
    keys = {key: words for key, words in STEP_KEYS.items() if changes or key != "changes"}
    _check_keys("the step", step, keys, OPTIONAL)
    _check_unknown("the step", step, keys)


def _next_game(game: Game, step: Mapping[str, Any]) -> Game:
    """Return the game after a step that is as the rules have it."""
    after = game.clone()
    if not _is_number(step["actor"]) or step["actor"] != game.actor:
        raise RecordError(f"the actor is seat {game.actor}, not {_brief(step['actor'])}")
    action = step["action"]
    if not isinstance(action, str):
        raise RecordError(f"the action must be a name, not {_brief(action)}")
    after.apply(action)
    draws = [[*draw] for draw in drawn(game._states, after._states, ACTION_INDEX[action])]
    if step.get("draws", []) != draws:
        told = _brief(step.get("draws", []))
        raise RecordError(f"the draws are {_brief(draws)}, not {told}")
    _check_value(step)
    return after


def _check_value(step: Mapping[str, Any]) -> None:
    if "value" in step and not is_value(step["value"]):
        raise RecordError(f"value must be a finite number, not {_brief(step['value'])}")


def _check_result(told: Any, result: JsonDict) -> None:
    _check_keys("result", told, result)
    _check_unknown("result", told, result)
    for key, value in result.items():
        if told[key] != value or type(told[key]) is not type(value):
            raise RecordError(f"result: {key} is {value!r}, not {_brief(told[key])}")


# Reading what one seat saw ------------------------------------------------------------------------


def _seen_positions(record: Mapping[str, Any]) -> Iterator[JsonDict]:
    _check_head(record, {**COMMON_KEYS, **PLAY_KEYS})
    seat, players = record["seat"], record["num_players"]
    if not _is_number(seat) or not 0 <= seat < players:
        raise RecordError(f"seat must be null or 0 to {players - 1}, not {_brief(seat)}")
    position = copy.deepcopy(dict(record["first"]))
    with _told("first"):
        _check_unknown("the position", position, dict.fromkeys(POSITION_KEYS, ""))
        _check_seen_cards(position, seat)
        _check_seen_values(position, players)
    yield position
    for number, step in enumerate(record["steps"], 1):
        with _told(f"step {number}"):
            position = _next_seen(position, step, seat)
        yield position
    _check_seen_result(record["result"], position)


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
    """Check that values of a position are of the right kind; hands and piles aside."""
    seats: list[Any] = [*range(players)]
    allowed: dict[str, Callable[[Any], bool]] = {
        "color": lambda value: value in COLORS,
        "symbol": lambda value: value is None or value in SYMBOLS,
        "phase": lambda value: value in PHASES,
        "direction": lambda value: _is_number(value) and value in (1, -1),
        "turn": lambda value: _is_number(value) and value in seats,
        "pending_draw": lambda value: _is_number(value) and value >= 0,
        "stages": lambda value: value is None or (
            isinstance(value, list) and len(value) == players and all(map(_is_number, value))
        ),
        **dict.fromkeys(FLAGS, lambda value: isinstance(value, bool)),
        **dict.fromkeys(
            ("actor", "plus_three_by", "winner"),
            lambda value: value is None or (_is_number(value) and value in seats),
        ),
    }  # fmt: skip
    for key, value in values.items():
        if key not in CARRIED and not allowed[key](value):
            raise RecordError(f"{key} cannot be {_brief(value)}")


def _next_seen(position: JsonDict, step: Any, seat: int) -> JsonDict:
    """Return what a seat sees after a step: cards go where it says, and the rest is told."""
    _check_step(step, changes=True)
    players = len(position["hands"])
    if not _is_number(step["actor"]) or step["actor"] not in range(players):
        raise RecordError(f"the actor must be 0 to {players - 1}, not {_brief(step['actor'])}")
    if not isinstance(step["action"], str) or step["action"] not in ACTION_INDEX:
        raise RecordError(f"{_brief(step['action'])} is not the name of an action")
    if step["action"] == ACTIONS[PASS] and position["phase"] not in PASSING:
        raise RecordError(f"nobody can pass in phase {position['phase']!r}")
    _check_value(step)
    after = {**position, "hands": [list(hand) for hand in position["hands"]]}
    _lay(after, step["actor"], ACTION_INDEX[step["action"]])
    _take(after, step.get("draws", []), seat)
    told = step["changes"]
    _check_keys("changes", told, {})
    _check_unknown("changes", told, dict.fromkeys(set(POSITION_KEYS) - set(CARRIED), ""))
    _check_seen_values(told, players)
    return {**after, **told}


def _lay(position: JsonDict, actor: int, action: int) -> None:
    """Move the card that an action plays, if any, from a hand to the discard pile."""
    if action >= DRAW:
        return
    card, hand = CARDS[min(action, CHANGE_COLOR)], position["hands"][actor]
    known = None if None in hand else card
    if known not in hand:
        raise RecordError(f"seat {actor} holds no {card!r}")
    hand.remove(known)
    *under, lead = position["discard_pile"]
    if card == CARDS[BREAKER]:
        card, lead = lead, card
    position["discard_pile"] = [*_in_order([*under, lead]), card]


def _in_order(cards: list[str]) -> list[str]:
    return sorted(cards, key=CARD_INDEX.__getitem__)


def _take(position: JsonDict, draws: Any, seat: int) -> None:
    """Move drawn cards to the hands; where there are too few, the discard pile is shuffled in."""
    players = len(position["hands"])
    if not _are_draws(draws, players, seat):
        raise RecordError(f"draws must be seats with the cards that seat {seat} sees of theirs")
    left = len(position["draw_pile"]) - sum(len(cards) for _, cards in draws)
    if left < 0:
        *under, lead = position["discard_pile"]
        left, position["discard_pile"] = left + len(under), [lead]
    if left < 0:
        raise RecordError("more cards are drawn than there are")
    position["draw_pile"] = [None] * left
    for drawer, cards in draws:
        hand = position["hands"][drawer] + cards
        position["hands"][drawer] = _in_order(hand) if drawer == seat else hand


def _are_draws(draws: Any, players: int, seat: int) -> bool:
    return isinstance(draws, list) and all(
        isinstance(draw, list)
        and len(draw) == 2
        and _is_number(draw[0])
        and draw[0] in range(players)
        and isinstance(draw[1], list)
        and all(_is_card(card) if draw[0] == seat else card is None for card in draw[1])
        for draw in draws
    )


def _check_seen_result(told: Any, position: JsonDict) -> None:
    winner, players = position["winner"], len(position["hands"])
    rewards = [0.0] * players
    if winner is not None:
        rewards = [1.0 if seat == winner else -1 / (players - 1) for seat in range(players)]
    _check_result(told, {"winner": winner, "rewards": rewards, "truncated": winner is None})
