"""Show a recorded game (docs/records.md): ``python -m agents.replay FILE --html game.html``.

The page is one self-contained file. Without ``--html`` the game is printed as text.

    python -m agents.replay FILE --line 3 --seat 0 --html game.html
    python -m agents.replay FILE --check
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

import tyro
from rich.progress import track

import agents
from agents import Agent
from agents.cli import check_folder, make_console, run
from agents.files import replacing
from agents.table.analyze import Analyst, Predictor, analysis
from agents.table.page import page
from agents.table.record_files import RecordedGame, read_game, read_records
from agents.table.replay_text import text
from taki_env import Game
from taki_env.core.outcome import loser_reward

T = TypeVar("T")


@dataclass(frozen=True)
class ReplayArgs:
    """Show a recorded game as a page or as text."""

    file: Annotated[Path, tyro.conf.Positional]
    """File of records, one game per line, as written by --record."""
    line: int = 1
    """Line number of the game."""
    seat: int | None = None
    """Seat whose view is shown; by default all hands are shown."""
    html: Path | None = None
    """Output file for the page; without it the game is printed as text."""
    values: str | None = None
    """Agent whose expected returns are shown at each step, such as search or policy:PATH."""
    check: bool = False
    """Check all games of the file instead of showing one."""


def prepare(args: ReplayArgs) -> Callable[[], None]:
    """Check the arguments, read the game, and return the function to execute."""
    check_folder("--html", args.html, suffix=".html")
    if args.check:
        games = sum(1 for _ in in_progress(read_records(args.file), "games"))
        count = "1 game is valid" if games == 1 else f"all {games:,} games are valid"
        return lambda: print(f"{args.file}: {count}")
    game = read_game(args.file, args.line)
    seen, players = game.record["seat"], game.record["num_players"]
    if seen is not None and (args.values or args.seat not in (None, seen)):
        raise ValueError(f"{args.file}, line {args.line} holds only what seat {seen} saw")
    if args.seat is not None and not 0 <= args.seat < players:
        raise ValueError(f"--seat must be 0 to {players - 1}, got {args.seat}")
    agent = agents.load(args.values) if args.values else None
    if agent:
        check_values(agent)
    return lambda: execute(args, game, agent)


def execute(args: ReplayArgs, game: RecordedGame, agent: Agent | None) -> None:
    """Write the page or print the game."""
    if agent:
        game = with_values(game, agent)
    if args.seat is not None and game.games:
        game = seen_by(game, args.seat)
    if args.html is None:
        print(text(game), end="")
        return
    with replacing(args.html) as temporary:
        temporary.write_text(page(game), encoding="utf-8", errors="xmlcharrefreplace")
    print(f"{args.html}: {len(game.record['steps']):,} steps; open it in a browser")


def seen_by(game: RecordedGame, seat: int) -> RecordedGame:
    """Return what one seat saw of a full record."""
    values = [step.get("value") for step in game.record["steps"]]
    return RecordedGame.of(game.games[-1].record(seat, game.record["names"], values))


def with_values(game: RecordedGame, agent: Agent) -> RecordedGame:
    """Return a full record with the return that an agent expects for the actor of each step.

    Args:
        game: a game with a full record.
        agent: an agent that predicts, such as a network, or that analyzes, such as search.

    Raises:
        ValueError: the agent only chooses actions.
        AgentError: the agent failed.
    """
    check_values(agent)
    steps = []
    games = in_progress(game.games[:-1], "steps")
    for step, before in zip(game.record["steps"], games, strict=True):
        value = expected_return(before, agent)
        steps.append(step if value is None else {**step, "value": value})
    return replace(game, record={**game.record, "steps": steps})


def check_values(agent: Agent) -> None:
    """Raise ValueError unless an agent can estimate returns."""
    if not isinstance(agent, Analyst | Predictor):
        raise ValueError(f"{agent.name} only chooses actions: it does not estimate returns")


def in_progress(items: Iterable[T], what: str) -> Iterable[T]:
    """Return an iterable over items that shows a progress bar on a terminal."""
    return track(items, what, console=make_console(stderr=True), transient=True)


def expected_return(game: Game, agent: Agent) -> float | None:
    """Return the actor's expected return, -1/(n-1) to 1, or None if the agent has no estimate."""
    found = analysis(game, agent)
    if "candidates" in found:
        wins = found["candidates"][0]["value"]
        lost = loser_reward(game.num_players)
        return None if wins is None else float(wins + (1 - wins) * lost)
    return float(found["value"])


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ReplayArgs)))
