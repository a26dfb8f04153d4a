"""Play all agents of the project against each other: what ``make leaderboard`` runs.

Writes the reports that `tools/docs.py` makes the tables of `docs/leaderboard.md` from, and a
picture for each number of players.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import Progress

import taki_env
from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from training.arena.command import show
from training.arena.heatmap import plot_matrix
from training.arena.report import Report
from training.arena.tournament import BATCH, GAMES, Tournament
from training.cli import stopping

DOCS = Path(__file__).parents[2] / "docs"
PLAYERS = (2, 3, 4, 6)


@dataclass(frozen=True)
class Entry:
    """An agent of the leaderboard."""

    agent: str
    """Its spelling, see `agents.load`."""
    most_games: int = GAMES
    """Games of each of its lineups at most; fewer for a slow agent."""


ENTRIES = (
    Entry("random"),
    Entry("greedy"),
    Entry("expert"),
    Entry("pretrained", most_games=2000),
    Entry("search:simulations=500", most_games=600),
)


@dataclass(frozen=True)
class LeaderboardArgs:
    """Play all agents of the project against each other."""

    games: int = GAMES
    """Games of every lineup; a slow agent's are fewer."""
    seed: int = 0
    """Of the deals and of what agents draw."""
    json: Path = DOCS / "results" / "leaderboard.json"
    """File for the reports."""
    images: Path = DOCS / "images"
    """Folder for the pictures."""


def prepare(args: LeaderboardArgs) -> Callable[[], list[Report]]:
    """Check the arguments, load the agents, and return the tournaments to play."""
    check_folder("--json", args.json)
    check_folder("--images", args.images / "leaderboard.png")
    names = [entry.agent for entry in ENTRIES]
    most_games = {entry.agent: entry.most_games for entry in ENTRIES}
    tournaments = [
        Tournament(names, players, args.games, args.seed, BATCH, most_games=most_games)
        for players in PLAYERS
    ]
    return lambda: work(args, tournaments)


def work(args: LeaderboardArgs, tournaments: list[Tournament]) -> list[Report]:
    """Play all tournaments; then write the files and print the reports.

    Raises:
        KeyboardInterrupt: Ctrl-C came first; files and reports are of the deals that were played.
    """
    interrupted = play_on(tournaments, make_console(stderr=True))
    reports = [tournament.report() for tournament in tournaments if tournament.whole_deals]
    if interrupted and not reports:
        raise KeyboardInterrupt
    write_json(args.json, as_json(args, reports, interrupted))
    for report in reports:
        plot_matrix(report, args.images / f"leaderboard_{report.num_players}p.png")
    console = make_console()
    for report in reports:
        show(report, console)
    if interrupted:
        raise KeyboardInterrupt
    return reports


def play_on(tournaments: list[Tournament], console: Console) -> bool:
    """Play to the end; returns True if Ctrl-C came first, after the batch in progress."""
    with stopping(console, "batch") as stopped, Progress(console=console) as bar:
        try:
            for tournament in tournaments:
                task = bar.add_task(f"{tournament.num_players} players", total=tournament.total)
                while not stopped() and (games := tournament.play_batch()):
                    bar.advance(task, games)
        except KeyboardInterrupt:  # pressed twice: the batch in progress does not count
            return True
    return any(tournament.played < tournament.total for tournament in tournaments)


def as_json(args: LeaderboardArgs, reports: list[Report], interrupted: bool) -> dict[str, Any]:
    """Return the reports for a file, with what made them."""
    made_by = {**provenance(), "env": taki_env.ENV_ID, "games": args.games, "seed": args.seed}
    return {**made_by, "interrupted": interrupted, "tables": [asdict(report) for report in reports]}


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(LeaderboardArgs)))
