"""A recorded game as an HTML page, also for notebooks."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.table.record_files import Record, RecordedGame
from agents.table.replay_text import facts, result_text, step_action, text
from taki_env import CARDS
from taki_env.core.cards import CARD_INDEX
from taki_env.core.seen import is_hidden_step
from taki_env.records.write import CARRIED
from taki_env.render.words import state_notes

HIDDEN = -1
"""Index of a hidden card."""
IFRAME = (
    '<iframe title="{title}" srcdoc="{page}" width="100%" height="{height}" '
    'style="border: 0" allow="fullscreen"></iframe>'
)


class Replay:
    """A recorded game, which notebooks show as a page and terminals as text."""

    def __init__(self, game: RecordedGame, height: int) -> None:
        self.game, self.height = game, height

    def _repr_html_(self) -> str:
        title, inner = html.escape(page_title(self.game.record)), html.escape(page(self.game))
        return IFRAME.format(title=title, page=inner, height=self.height)

    def __str__(self) -> str:
        """Return the game step by step."""
        return text(self.game)


def show(record: Record, height: int = 900) -> Replay:
    """Return a game for display in a notebook.

    Args:
        record: from `Game.record` or `agents.table.record_files.read_record`.
        height: height of the page in pixels.

    Raises:
        RecordError: an invalid or impossible record.
    """
    return Replay(RecordedGame.of(record), height)


def page(game: RecordedGame) -> str:
    """Return a game as a self-contained HTML page."""
    title = html.escape(page_title(game.record))
    data = json.dumps(page_data(game), separators=(",", ":")).replace("<", "\\u003c")
    template = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    return template.replace("__TITLE__", title).replace("__GAME__", data)


def page_title(record: Record) -> str:
    """Return the players, as in "TAKI: greedy, 3 random"."""
    counts = Counter(record["names"] or ["unnamed"] * record["num_players"])
    players = [f"{count} {name}" if count > 1 else name for name, count in counts.items()]
    return f"TAKI: {', '.join(players)}"


def page_data(game: RecordedGame) -> dict[str, Any]:
    """Return the data that the page's script reads, ready for JSON."""
    record = game.record
    steps = list(zip(record["steps"], game.positions[:-1], strict=True))
    return {
        "cards": CARDS,
        "names": record["names"],
        "seat": record["seat"],
        "facts": facts(record),
        "note": record.get("note") or "",
        "result": result_text(record),
        "changes": page_changes(game.positions),
        "steps": [page_step(step, position) for step, position in steps],
        "secret": [
            number
            for number, (step, position) in enumerate(steps, 1)
            if is_hidden_step(step, position["phase"], HIDDEN)
        ],
    }


def page_changes(positions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each position the hands and table entries that differ from the previous one."""
    changes: list[dict[str, Any]] = []
    old_hands: dict[int, list[int]] = {}
    old_table: dict[str, Any] = {}
    for position in positions:
        hands, table = dict(enumerate(map(card_ids, position["hands"]))), page_table(position)
        changes.append({"hands": changed(hands, old_hands), "table": changed(table, old_table)})
        old_hands, old_table = hands, table
    return changes


def page_table(position: Mapping[str, Any]) -> dict[str, Any]:
    """Return a position without hands; of the piles, their sizes and the leading card."""
    table = {key: value for key, value in position.items() if key not in CARRIED}
    discard = position["discard_pile"]
    sizes = {"draw_pile": len(position["draw_pile"]), "discard_pile": len(discard)}
    lead = CARD_INDEX[discard[-1]]
    return {**table, **sizes, "lead": lead, "notes": state_notes(position)}


def page_step(step: Mapping[str, Any], position: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step with its action as text and its drawn cards as indices."""
    shown = {"actor": step["actor"], "words": step_action(step, position)}
    if "draws" in step:
        shown["draws"] = [[seat, card_ids(cards)] for seat, cards in step["draws"]]
    if "value" in step:
        shown["value"] = step["value"]
    return shown


def card_ids(cards: Sequence[str | None]) -> list[int]:
    """Return the indices of cards, -1 for hidden ones."""
    return [HIDDEN if card is None else CARD_INDEX[card] for card in cards]


def changed(new: Mapping[Any, Any], old: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the entries of `new` that are missing from `old` or differ."""
    return {key: value for key, value in new.items() if key not in old or old[key] != value}
