"""Records: a game with all that happened in it, as JSON-ready words, and back (docs/records.md).

A full record can be played again, and is checked by doing so. A record of what one seat saw holds
None for each card that the seat cannot see, and what the table showed after every step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, TypeAlias

import numpy as np

from taki_env.base.version import ENV_ID, __version__
from taki_env.core.cards import ACTIONS, CARDS, CHANGE_COLOR, DRAW, PHASES
from taki_env.core.loops import apply_many
from taki_env.core.state import State, States
from taki_env.game.game import Game, copy_states
from taki_env.records.position import KEYS as POSITION_KEYS
from taki_env.records.position import write_position

JsonDict: TypeAlias = dict[str, Any]
"""A part of a record, ready for JSON."""
Draws: TypeAlias = list[tuple[int, list[str | None]]]
"""Who drew which cards, in order; None for a card that cannot be seen."""

FORMAT = 1
COMMON_KEYS = {
    "format": f"{FORMAT}, the version of this format",
    "env": "id of the environment, whose version is that of the rules",
    "version": "of the package that wrote the record",
    "seat": "whose view this is, or null for a full record",
    "num_players": "2 to 10",
    "rules": "every option by name, as in `Rules.to_dict`",
    "names": "of the players, one a seat, or null",
}
FULL_KEYS = {
    "seed": "that the game was dealt from, or null if it began otherwise",
    "deal": "index of the deal of that seed, as in `Batch`; null without a seed",
    "episode": "how often that deal was dealt anew, as in `Batch`; null without a seed",
    "word": "the random word of the first position, 16 hexadecimal digits: all refills follow",
    "note": "any words, such as why the game was broken off, or null",
}
PLAY_KEYS = {
    "first": "the position at the beginning ([RULES.md](RULES.md), section 10)",
    "steps": "what happened, a step for every action",
    "result": "`winner`, a seat or null; `rewards`, one a seat; `truncated`, true before the end",
}
STEP_KEYS = {
    "actor": "the seat that acted",
    "action": "its name",
    "draws": "who drew which cards, in order: `[[seat, [card, …]], …]`; absent without any",
    "value": "the return that the actor expected before it acted, if it is known",
    "changes": "in a seat's record: the new values of keys of the position, hands and piles aside",
}
OPTIONAL = ("draws", "value")
CARRIED = ("rules", "hands", "draw_pile", "discard_pile")
"""Keys of a position that `changes` leaves out: rules stay, and cards go where the step says."""

_FIRST = np.zeros(1, np.int64)
_RESPOND = PHASES.index("respond")


# Writing ------------------------------------------------------------------------------------------


def write_record(
    game: Game,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    values: Sequence[float | None] | None = None,
    note: str | None = None,
) -> JsonDict:
    """Return the record of a game; see `Game.record`."""
    view = None if seat is None else game._checked_seat(seat)
    _check_arguments(game, names, values, note)
    return {
        "format": FORMAT,
        "env": ENV_ID,
        "version": __version__,
        "seat": view,
        "num_players": game.num_players,
        "rules": game.rules.to_dict(),
        "names": None if names is None else list(names),
        **({} if view is not None else _origin(game, note)),
        **(_full_play(game, values) if view is None else _seen_play(game, values, view)),
        "result": result_of(game),
    }


def _check_arguments(game: Game, names: Any, values: Any, note: Any) -> None:
    if names is not None and not are_names(list(names), game.num_players):
        raise ValueError(f"names must be {game.num_players} strings, one a seat, not {names!r}")
    if values is not None and not (
        len(values) == len(game._actions) and all(v is None or is_value(v) for v in values)
    ):
        raise ValueError(f"values must be {len(game._actions)} numbers or None, one an action")
    if note is not None and not isinstance(note, str):
        raise ValueError(f"note must be words, not {note!r}")


def are_names(names: Any, num_players: int) -> bool:
    """Return whether names are a string for each seat."""
    return (
        isinstance(names, list)
        and len(names) == num_players
        and all(isinstance(name, str) for name in names)
    )


def is_value(value: Any) -> bool:
    """Return whether something is a finite number."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < math.inf


def _origin(game: Game, note: str | None) -> JsonDict:
    """Return what a seat must not know."""
    numbers = dict(zip(("seed", "deal", "episode"), game._dealt or (None,) * 3, strict=True))
    return {**numbers, "word": word_of(game._beginning()), "note": note}


def word_of(states: States) -> str:
    """Return the random word of a game as a record has it."""
    return f"{int(states['rng'][0]):016x}"


def result_of(game: Game) -> JsonDict:
    """Return the result as far as the game has been played."""
    rewards = game.rewards().tolist()
    return {"winner": game.winner, "rewards": rewards, "truncated": not game.is_over}


def _full_play(game: Game, values: Sequence[float | None] | None) -> JsonDict:
    steps = [step for step, *_ in _play(game, values)]
    return {"first": write_position(game._beginning()[0], game.rules), "steps": steps}


def _play(
    game: Game, values: Sequence[float | None] | None
) -> Iterator[tuple[JsonDict, States, States]]:
    """Yield every step with the state before it and after it."""
    states, legal = game._beginning(), np.ones(1, np.uint64)
    for number, action in enumerate(game._actions):
        before = copy_states(states.tobytes())
        apply_many(states, _FIRST, np.array([action]), legal)
        step: JsonDict = {"actor": int(before["actor"][0]), "action": ACTIONS[action]}
        if draws := drawn(before, states, action):
            step["draws"] = [[seat, cards] for seat, cards in draws]
        if values is not None and (value := values[number]) is not None:
            step["value"] = float(value)
        yield step, before, states


def drawn(before: States, after: States, action: int) -> Draws:
    """Return who drew which cards as a consequence of an action, in order.

    Args:
        before: the state in which it was carried out, (1,).
        after: the state that followed, (1,).
        action: its id.
    """
    sizes = after["hand_sizes"][0].astype(np.int64) - before["hand_sizes"][0]
    if action < DRAW:
        sizes[before["actor"][0]] += 1
    seats = np.flatnonzero(sizes)
    if not seats.size:
        return []
    cards = _cards_drawn(before[0], after[0], int(sizes.sum()))
    if seats.size == 1:
        return [(int(seats[0]), [*cards])]
    by = zip(_drawers(before, action, len(cards)), cards, strict=True)
    return [(seat, [card for _, card in own]) for seat, own in groupby(by, lambda pair: pair[0])]


def _cards_drawn(before: State, after: State, count: int) -> list[str]:
    """Return the cards in the order in which they were drawn.

    Beyond its size the draw pile still holds the cards drawn from it; one action refills it once
    at most, since all cards that it plays are played before it draws.
    """
    old, new = int(before["draw_size"]), int(after["draw_size"])
    top = before["draw_pile"][max(0, old - count) : old][::-1]
    refilled = after["draw_pile"][new : new + max(0, count - old)][::-1]
    return [CARDS[card] for card in (*top, *refilled)]


def _drawers(before: States, action: int, count: int) -> list[int]:
    """Return who drew each of `count` cards, by marking each in turn with a Change Color.

    Of a hand the engine counts these one by one, and whom an action makes draw depends on no card
    that it draws.
    """
    probes = np.repeat(before, count + 1)
    probes["draw_size"] = count
    probes["draw_pile"][:, :count] = 0
    marked = np.arange(count)
    probes["draw_pile"][marked, count - 1 - marked] = CHANGE_COLOR
    everyone = np.arange(count + 1)
    apply_many(probes, everyone, np.full(count + 1, action), np.ones(count + 1, np.uint64))
    held = probes["change_colors"].astype(np.int64)
    drawers: list[int] = (held[:-1] - held[-1]).argmax(1).tolist()
    return drawers


# What one seat sees -------------------------------------------------------------------------------


def seen(position: Mapping[str, Any], seat: int) -> JsonDict:
    """Return a position as a seat sees it, with None for every card that it does not.

    Nor does it see who is asked to answer a +3, unless it is itself (section 7).
    """
    hands = [
        list(hand) if holder == seat else [None] * len(hand)
        for holder, hand in enumerate(position["hands"])
    ]
    asked = position["phase"] == "respond" and position["actor"] != seat
    return {
        **position,
        "hands": hands,
        "draw_pile": [None] * len(position["draw_pile"]),
        "actor": None if asked else position["actor"],
    }


def _seen_play(game: Game, values: Sequence[float | None] | None, seat: int) -> JsonDict:
    """Return the first position and the steps as a seat sees them.

    That another seat lets a +3 stand is no step: what follows from it belongs to the step before.
    """
    positions = [seen(write_position(game._beginning()[0], game.rules), seat)]
    steps: list[JsonDict] = []
    for step, before, after in _play(game, values):
        position = seen(write_position(after[0], game.rules), seat)
        if is_hidden(step, PHASES[before["phase"][0]], seat):
            positions[-1] = position
            if steps:
                steps[-1]["draws"] += _seen_draws(step, seat)
        else:
            positions.append(position)
            steps.append({**step, "draws": _seen_draws(step, seat)})
    for step, (one, other) in zip(steps, pairwise(positions), strict=True):
        step["changes"] = changes(one, other)
        if not step["draws"]:
            del step["draws"]
        if step["actor"] != seat:
            step.pop("value", None)
    return {"first": positions[0], "steps": steps}


def is_hidden(step: JsonDict, phase: str, seat: int) -> bool:
    """Return whether a step in a phase is another seat's secret: it let a +3 stand."""
    return phase == PHASES[_RESPOND] and step["action"] == "pass" and step["actor"] != seat


def _seen_draws(step: JsonDict, seat: int) -> list[Any]:
    return [
        [drawer, cards if drawer == seat else [None] * len(cards)]
        for drawer, cards in step.get("draws", [])
    ]


def changes(one: Mapping[str, Any], other: Mapping[str, Any]) -> JsonDict:
    """Return the new values of the keys that differ, hands and piles aside."""
    keys = (key for key in POSITION_KEYS if key not in CARRIED)
    return {key: other[key] for key in keys if other[key] != one[key]}
