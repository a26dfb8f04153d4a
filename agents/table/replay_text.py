"""A recorded game as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.table.record_files import Record, RecordedGame
from taki_env import ACTIONS, Rules
from taki_env.core.cards import DRAW
from taki_env.render.words import action_phrase, card_count, table_text


def text(game: RecordedGame) -> str:
    """Return a game step by step: what happened, and the table after it."""
    record, positions = game.record, game.positions
    steps, seat = record["steps"], record["seat"]
    parts = [f"{facts(record)}\n\n{table_text(positions[0], seat)}"]
    for number, (step, before, after) in enumerate(
        zip(steps, positions[:-1], positions[1:], strict=True), 1
    ):
        events = step_events(record, step, before)
        parts.append(f"step {number} of {len(steps)}: {'; '.join(events)}\n")
        parts.append(table_text(after, seat))
    note = record.get("note")
    return "\n".join((*parts, result_text(record), *([note] if note else []))) + "\n"


def facts(record: Record) -> str:
    """Return environment, players, changed rules and origin of a game in one line."""
    default = Rules().to_dict()
    options = record["rules"].items()
    changed = [f"{key} {value}" for key, value in options if default.get(key, value) != value]
    origin = [f"{key} {record[key]}" for key in ("seed", "deal") if record.get(key) is not None]
    deck = ["custom deck"] if "deck" in record["rules"] else []
    return ", ".join((record["env"], f"{record['num_players']} players", *changed, *deck, *origin))


def step_events(record: Record, step: Mapping[str, Any], position: Mapping[str, Any]) -> list[str]:
    """Return the events of a step: the action, each draw, and the expected return."""
    action = step_action(step, position)
    events = [f"{player(record, step['actor'])} {action}"] if action else []
    events += [draw_text(*draw) for draw in step.get("draws", [])]
    return events + ([f"expected {step['value']:+.2f}"] if "value" in step else [])


def step_action(step: Mapping[str, Any], position: Mapping[str, Any]) -> str:
    """Return what the actor did, or an empty string if its draws describe it."""
    if step["action"] != ACTIONS[DRAW]:
        return action_phrase(position, step["action"])
    if position["pending_draw"]:
        return "took the +2 stack"
    return "" if "draws" in step else "found no card left"


def draw_text(seat: int, cards: Sequence[str | None]) -> str:
    """Return which cards a seat drew, or how many if they are hidden."""
    hidden = None in cards
    return f"seat {seat} drew {card_count(len(cards)) if hidden else ', '.join(map(str, cards))}"


def player(record: Record, seat: int) -> str:
    """Return a seat and its player's name, if it has one."""
    return f"seat {seat}, {record['names'][seat]}" if record["names"] else f"seat {seat}"


def result_text(record: Record) -> str:
    """Return how the game ended."""
    winner = record["result"]["winner"]
    return "The game is not over." if winner is None else f"{player(record, winner)} has won."
