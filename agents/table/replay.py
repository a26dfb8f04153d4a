"""Show a recorded game (docs/records.md): ``python -m agents.replay FILE --html game.html``.

The page is one file that needs nothing else; without ``--html`` the game is printed in words.

    python -m agents.replay FILE --line 3 --seat 0 --html game.html
    python -m agents.replay FILE --check
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro
from rich.progress import track

import agents
from agents import Agent
from agents.cli import check_folder, make_console, run
from agents.files import replacing
from agents.table.analyze import Analyst, Predictor, analysis
from agents.table.record_files import Record, read_record, read_records
from taki_env import ACTIONS, CARDS, Game, Rules
from taki_env.core.cards import DRAW
from taki_env.records.position import CARD_INDEX
from taki_env.records.read import positions_of
from taki_env.records.write import CARRIED, is_hidden
from taki_env.render.words import action_phrase, card_count, state_notes, table_text

T = TypeVar("T")
HIDDEN = -1
IFRAME = (
    '<iframe title="{title}" srcdoc="{page}" width="100%" height="{height}" '
    'style="border: 0" allow="fullscreen"></iframe>'
)


# What happened, in words --------------------------------------------------------------------------


def step_words(record: Record, step: Mapping[str, Any], position: Mapping[str, Any]) -> list[str]:
    """Return what a step did in a position: the action, and who drew what."""
    words = action_words(step, position)
    told = [f"{player(record, step['actor'])} {words}"] if words else []
    return told + [draw_words(*draw) for draw in step.get("draws", [])]


def action_words(step: Mapping[str, Any], position: Mapping[str, Any]) -> str:
    """Return what the actor of a step did, nothing if its draws say it all."""
    if step["action"] != ACTIONS[DRAW]:
        return action_phrase(position, step["action"])
    if position["pending_draw"]:
        return "took the +2 stack"
    return "" if "draws" in step else "found no card left"


def draw_words(seat: int, cards: Sequence[str | None]) -> str:
    """Return who drew what; of hidden cards, how many."""
    hidden = None in cards
    return f"seat {seat} drew {card_count(len(cards)) if hidden else ', '.join(map(str, cards))}"


def player(record: Record, seat: int) -> str:
    """Return a seat with the name of its player, if there is one."""
    return f"seat {seat}, {record['names'][seat]}" if record["names"] else f"seat {seat}"


def result_words(record: Record) -> str:
    """Return how the game ended."""
    winner = record["result"]["winner"]
    return "The game is not over." if winner is None else f"{player(record, winner)} has won."


def facts(record: Record) -> str:
    """Return where the game comes from, and its rules, in a line."""
    default = Rules().to_dict()
    options = record["rules"].items()
    changed = [f"{key} {value}" for key, value in options if default.get(key, value) != value]
    origin = [f"{key} {record[key]}" for key in ("seed", "deal") if record.get(key) is not None]
    deck = ["a deck of its own"] if "deck" in record["rules"] else []
    return ", ".join((record["env"], f"{record['num_players']} players", *changed, *deck, *origin))


def text(record: Record) -> str:
    """Return a game step by step: what happened, and the table after it."""
    positions, steps, seat = positions_of(record), record["steps"], record["seat"]
    parts = [f"{facts(record)}\n\n{table_text(positions[0], seat)}"]
    for number, (step, before, after) in enumerate(
        zip(steps, positions, positions[1:], strict=False), 1
    ):
        words = step_words(record, step, before)
        if "value" in step:
            words.append(f"expected {step['value']:+.2f}")
        parts.append(f"step {number} of {len(steps)}: {'; '.join(words)}\n")
        parts.append(table_text(after, seat))
    note = record.get("note")
    return "\n".join((*parts, result_words(record), *([note] if note else []))) + "\n"


# The page -----------------------------------------------------------------------------------------


def page(record: Record) -> str:
    """Return a game as a page of HTML that needs nothing else, to be written to a file.

    Raises:
        RecordError: the record says what cannot have happened.
    """
    title = html.escape(page_title(record))
    game = json.dumps(page_data(record), separators=(",", ":")).replace("<", "\\u003c")
    template = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    return template.replace("__TITLE__", title).replace("__GAME__", game)


def page_title(record: Record) -> str:
    """Return who played, as in "greedy, 3 random"."""
    counts = Counter(record["names"] or ["unnamed"] * record["num_players"])
    players = [f"{count} {name}" if count > 1 else name for name, count in counts.items()]
    return f"TAKI: {', '.join(players)}"


def page_data(record: Record) -> dict[str, Any]:
    """Return what the page shows."""
    positions = positions_of(record)
    steps = list(zip(record["steps"], positions, strict=False))
    return {
        "cards": CARDS,
        "names": record["names"],
        "seat": record["seat"],
        "facts": facts(record),
        "note": record.get("note") or "",
        "result": result_words(record),
        "changes": page_changes(positions),
        "steps": [page_step(step, position) for step, position in steps],
        "secret": [
            number
            for number, (step, position) in enumerate(steps, 1)
            if is_hidden(step, position["phase"], HIDDEN)
        ],
    }


def page_changes(positions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return of every position the hands and the parts of the table that the one before had not."""
    changes, old = [], {"hands": {}, "table": {}}
    for position in positions:
        hands = dict(enumerate(map(ids, position["hands"])))
        new = {"hands": hands, "table": page_table(position)}
        changes.append({part: changed(new[part], old[part]) for part in new})
        old = new
    return changes


def page_table(position: Mapping[str, Any]) -> dict[str, Any]:
    """Return what lies on the table besides the hands; of the piles, what shows."""
    table = {key: value for key, value in position.items() if key not in CARRIED}
    discard = position["discard_pile"]
    sizes = {"draw_pile": len(position["draw_pile"]), "discard_pile": len(discard)}
    lead = CARD_INDEX[discard[-1]]
    return {**table, **sizes, "lead": lead, "notes": state_notes(position)}


def page_step(step: Mapping[str, Any], position: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step in words; cards by their indices."""
    made = {"actor": step["actor"], "words": action_words(step, position)}
    if "draws" in step:
        made["draws"] = [[seat, ids(cards)] for seat, cards in step["draws"]]
    if "value" in step:
        made["value"] = step["value"]
    return made


def ids(cards: Sequence[str | None]) -> list[int]:
    """Return the indices of cards, -1 for hidden ones."""
    return [HIDDEN if card is None else CARD_INDEX[card] for card in cards]


def changed(new: Mapping[Any, Any], old: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the entries that are new or have changed."""
    return {key: value for key, value in new.items() if key not in old or old[key] != value}


class Replay:
    """A game that a notebook shows as the page, and a terminal as text."""

    def __init__(self, record: Record, height: int) -> None:
        self.record, self.height = record, height

    def _repr_html_(self) -> str:
        title, inner = html.escape(page_title(self.record)), html.escape(page(self.record))
        return IFRAME.format(title=title, page=inner, height=self.height)

    def __str__(self) -> str:
        """Return the game step by step."""
        return text(self.record)


def show(record: Record, height: int = 900) -> Replay:
    """Return what a notebook shows as the page of a game.

    Args:
        record: of `Game.record`, or of a file (`agents.table.record_files.read_record`).
        height: of the page in the notebook, in pixels.

    Raises:
        RecordError: the record says what cannot have happened.
    """
    positions_of(record)
    return Replay(record, height)


# Views and values ---------------------------------------------------------------------------------


def seen_by(record: Record, seat: int) -> Record:
    """Return what one seat saw of a full record; ValueError if there is no such seat."""
    values = [step.get("value") for step in record["steps"]]
    return Game.replay(record)[-1].record(seat, record["names"], values)


def with_values(record: Record, agent: Agent) -> Record:
    """Return a full record with the return that an agent expects for the actor of every step.

    Args:
        record: a full one.
        agent: one that predicts, such as a network, or that analyzes, such as search.

    Raises:
        ValueError: the agent only chooses actions.
        AgentError: the agent failed.
    """
    check_values(agent)
    steps = []
    games = in_progress(Game.replay(record)[: len(record["steps"])], "steps")
    for step, game in zip(record["steps"], games, strict=True):
        value = expected_return(game, agent)
        steps.append(step if value is None else {**step, "value": value})
    return {**record, "steps": steps}


def check_values(agent: Agent) -> None:
    """Raise ValueError unless an agent says what it expects."""
    if not isinstance(agent, Analyst | Predictor):
        raise ValueError(f"{agent.name} only chooses actions: it does not say what it expects")


def in_progress(work: Iterable[T], what: str) -> Iterable[T]:
    """Return what is to be done, with a bar of progress on a terminal."""
    return track(work, what, console=make_console(stderr=True), transient=True)


def expected_return(game: Game, agent: Agent) -> float | None:
    """Return what an agent expects for the actor, -1/(n-1) to 1, or None if it did not look."""
    found = analysis(game, agent)
    if "candidates" in found:
        wins = found["candidates"][0]["value"]
        lost = -1 / (game.num_players - 1)
        return None if wins is None else float(wins + (1 - wins) * lost)
    return float(found["value"])


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReplayArgs:
    """Show a recorded game: as a page, or in words."""

    file: Annotated[Path, tyro.conf.Positional]
    """File of records, a game a line, as --record writes it."""
    line: int = 1
    """Which game: the number of its line."""
    seat: int | None = None
    """Show only what this seat sees; all hands otherwise."""
    html: Path | None = None
    """File for the page. Without it the game is printed in words."""
    values: str | None = None
    """Agent that says of every step what it expects, such as search, policy:PATH."""
    check: bool = False
    """Check all games of the file instead, and say how many there are."""


def prepare(args: ReplayArgs) -> Callable[[], None]:
    """Check the arguments, read the game, and return the work to do."""
    check_folder("--html", args.html, suffix=".html")
    if args.check:
        games = sum(1 for _ in in_progress(read_records(args.file), "games"))
        count = "1 game" if games == 1 else f"{games:,} games, all"
        return lambda: print(f"{args.file}: {count} as the rules have them")
    record = read_record(args.file, args.line)
    if record["seat"] is not None and (args.values or args.seat not in (None, record["seat"])):
        raise ValueError(f"{args.file}, line {args.line} is only what seat {record['seat']} saw")
    agent = agents.load(args.values) if args.values else None
    if agent:
        check_values(agent)
    if args.seat is not None and record["seat"] is None:
        seen_by(record, args.seat)
    return lambda: work(args, record, agent)


def work(args: ReplayArgs, record: Record, agent: Agent | None) -> None:
    """Write the page or print the game."""
    if agent:
        record = with_values(record, agent)
    if args.seat is not None and record["seat"] is None:
        record = seen_by(record, args.seat)
    if args.html is None:
        print(text(record), end="")
        return
    with replacing(args.html) as beside:
        beside.write_text(page(record), encoding="utf-8", errors="xmlcharrefreplace")
    print(f"{args.html}: {len(record['steps']):,} steps; open it in a browser")


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ReplayArgs)))
