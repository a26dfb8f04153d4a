"""Writing records: a game with everything that happened in it, ready for JSON (docs/records.md).

A full record can be replayed, and replaying checks it. A seat's record holds None for each card
that the seat does not see, and the visible changes of the table at every step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

from taki_env.base.version import ENV_ID, __version__
from taki_env.core.cards import ACTIONS, CARDS, PHASES
from taki_env.core.history import Deal, History, states_of
from taki_env.core.outcome import draws_of, seat_rewards
from taki_env.core.rules import Rules
from taki_env.core.seen import is_hidden_step, seen_position
from taki_env.core.state import States
from taki_env.records.position import KEYS as POSITION_KEYS
from taki_env.records.position import seat_or_none, write_position

JsonDict: TypeAlias = dict[str, Any]
"""A part of a record, ready for JSON."""
Values: TypeAlias = Sequence[float | None]
"""Expected returns, one for each action; None where it is unknown."""

FORMAT = 1
COMMON_KEYS = {
    "format": f"{FORMAT}, the version of this format",
    "env": "id of the environment; its version is the version of the rules",
    "version": "version of the package that wrote the record",
    "seat": "the seat that saw this, or null for a full record",
    "num_players": "number of players, 2 to 10",
    "rules": "every option by name, as in `Rules.to_dict`",
    "names": "names of the players, one per seat, or null",
}
FULL_KEYS = {
    "seed": "seed of the deal, or null if the game did not start with a deal",
    "deal": "index of the deal of that seed, as in `Batch`; null without a seed",
    "episode": "number of earlier resets of that deal, as in `Batch`; null without a seed",
    "word": "random word of the first position, 16 hexadecimal digits; it determines all refills",
    "note": "free text, such as why the game was stopped, or null",
}
PLAY_KEYS = {
    "first": "the first position ([RULES.md](RULES.md), section 10)",
    "steps": "list of steps, one per action",
    "result": "`winner`, a seat or null; `rewards`, one per seat; `truncated`, true before the end",
}
STEP_KEYS = {
    "actor": "the seat that acted",
    "action": "name of the action",
    "draws": "who drew which cards, in order: `[[seat, [card, …]], …]`; absent if nobody drew",
    "value": "return that the actor expected before it acted; absent if unknown",
    "changes": "in a seat's record: new values of the position's keys other than hands and piles",
}
OPTIONAL = ("draws", "value")
CARRIED = ("rules", "hands", "draw_pile", "discard_pile")
"""Keys of a position that `changes` leaves out: rules are constant, and steps move the cards."""


# Writing ------------------------------------------------------------------------------------------


def write_record(
    rules: Rules,
    history: History,
    deal: Deal | None = None,
    seat: int | None = None,
    names: Sequence[str] | None = None,
    values: Values | None = None,
    note: str | None = None,
) -> JsonDict:
    """Return the record of one game.

    Args:
        rules: Rules of the game.
        history: History of the game alone, B = 1.
        deal: Deal that the history starts with, if it starts with one.
        seat: An existing seat, for a record of what it saw; None for a full record.
        names: Names of the players, one per seat.
        values: Expected return of each action's actor.
        note: Free text about the game.

    Raises:
        ValueError: Names, values or the note are invalid.
    """
    states, actions = states_of(history), history.actions[0, : history.lengths[0]].tolist()
    num_players = int(states["num_players"][0])
    _check_arguments(num_players, len(actions), names, values, note)
    steps = _steps(states, actions, values)
    play = (
        _full_play(states, rules, steps, deal, note)
        if seat is None
        else _seen_play(states, rules, steps, seat)
    )
    return {
        "format": FORMAT,
        "env": ENV_ID,
        "version": __version__,
        "seat": seat,
        "num_players": num_players,
        "rules": rules.to_dict(),
        "names": None if names is None else list(names),
        **play,
        "result": result_of(seat_or_none(states["winner"][-1]), num_players),
    }


def _check_arguments(
    num_players: int, num_actions: int, names: Sequence[str] | None, values: Values | None,
    note: object,
) -> None:  # fmt: skip
    if names is not None and not are_names(list(names), num_players):
        raise ValueError(f"names must be {num_players} strings, one per seat, got {names!r}")
    if values is not None and not (
        len(values) == num_actions and all(v is None or is_value(v) for v in values)
    ):
        raise ValueError(f"values must be {num_actions} numbers or None, one per action")
    if note is not None and not isinstance(note, str):
        raise ValueError(f"note must be a string, got {note!r}")


def are_names(names: object, num_players: int) -> bool:
    """Return whether names are a string for each seat."""
    return (
        isinstance(names, list)
        and len(names) == num_players
        and all(isinstance(name, str) for name in names)
    )


def is_value(value: Any) -> bool:
    """Return whether a value is a finite number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf


def _full_play(
    states: States, rules: Rules, steps: list[JsonDict], deal: Deal | None, note: str | None
) -> JsonDict:
    """Return the keys of a full record, some of which a seat must not know."""
    numbers = dict.fromkeys(Deal._fields) if deal is None else deal._asdict()
    origin = {**numbers, "word": word_of(states), "note": note}
    return {**origin, "first": write_position(states[0], rules), "steps": steps}


def word_of(states: States) -> str:
    """Return the random word of the first state as records write it."""
    return f"{int(states['rng'][0]):016x}"


def result_of(winner: int | None, num_players: int) -> JsonDict:
    """Return the result of a game that a seat has won, or that nobody has won yet."""
    rewards = seat_rewards(winner, num_players)
    return {"winner": winner, "rewards": rewards, "truncated": winner is None}


def _steps(states: States, actions: Sequence[int], values: Values | None) -> list[JsonDict]:
    """Return the full steps of the actions between `states` (len(actions) + 1,)."""
    steps = []
    for k, action in enumerate(actions):
        step: JsonDict = {"actor": int(states["actor"][k]), "action": ACTIONS[action]}
        if draws := named_draws(states[k : k + 1], action, states[k + 1 : k + 2]):
            step["draws"] = draws
        if values is not None and (value := values[k]) is not None:
            step["value"] = float(value)
        steps.append(step)
    return steps


def named_draws(before: States, action: int, after: States) -> list[list[Any]]:
    """Return who drew which cards because of an action, in order, as records write it.

    Args:
        before: State in which the action was taken, (1,).
        action: Action id.
        after: State that followed, (1,).
    """
    by_seat = groupby(draws_of(before, action, after), itemgetter(0))
    return [[seat, [CARDS[card] for _, card in drawn]] for seat, drawn in by_seat]


# What one seat sees -------------------------------------------------------------------------------


def _seen_play(states: States, rules: Rules, steps: Sequence[JsonDict], seat: int) -> JsonDict:
    """Return the first position and the steps as a seat sees them.

    A hidden pass on a +3 is not a step: what follows from it belongs to the step before.
    """
    positions = [seen_position(write_position(s, rules), seat) for s in states]
    phases = [PHASES[phase] for phase in states["phase"]]
    kept, seen_steps = [positions[0]], list[JsonDict]()
    for step, phase, after in zip(steps, phases, positions[1:], strict=False):
        draws = _seen_draws(step, seat)
        if is_hidden_step(step, phase, seat):
            kept[-1] = after
            if seen_steps:
                seen_steps[-1]["draws"] += draws
        else:
            kept.append(after)
            seen_steps.append({**step, "draws": draws})
    for step, (before, after) in zip(seen_steps, pairwise(kept), strict=True):
        step["changes"] = _changed_values(before, after)
        if not step["draws"]:
            del step["draws"]
        if step["actor"] != seat:
            step.pop("value", None)
    return {"first": kept[0], "steps": seen_steps}


def _seen_draws(step: JsonDict, seat: int) -> list[list[Any]]:
    return [
        [drawer, cards if drawer == seat else [None] * len(cards)]
        for drawer, cards in step.get("draws", [])
    ]


def _changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> JsonDict:
    """Return the new values of the keys that differ, other than hands and piles."""
    keys = (key for key in POSITION_KEYS if key not in CARRIED)
    return {key: after[key] for key in keys if after[key] != before[key]}
