"""Play all agents of the project against each other, as ``make leaderboard`` does.

Writes the reports behind the tables of `docs/leaderboard.md`, which `tools/docs.py` generates, and
one heat map per number of players.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from agents.cli import check_folder, make_console, run
from training.arena.command import play_all, write_results
from training.arena.heatmap import plot_matrix
from training.arena.report import Report
from training.arena.tables import show
from training.arena.tournament import BATCH, GAMES, Tournament

DOCS = Path(__file__).parents[2] / "docs"
PLAYERS = (2, 3, 4, 6)
ENTRIES = {
    "random": GAMES,
    "greedy": GAMES,
    "expert": GAMES,
    "pretrained": 2000,
    "search:simulations=500": 600,
}
"""Agents of the leaderboard, with the maximum number of games per lineup; fewer for slow agents."""


@dataclass(frozen=True)
class LeaderboardArgs:
    """Play all agents of the project against each other."""

    games: int = GAMES
    """Number of games per lineup; lineups with slow agents play fewer."""
    seed: int = 0
    """Random seed for deals and agents."""
    json: Path = DOCS / "results" / "leaderboard.json"
    """Output file for the JSON reports."""
    images: Path = DOCS / "images"
    """Output folder for the heat maps."""


def prepare(args: LeaderboardArgs) -> Callable[[], list[Report]]:
    """Check the arguments, load the agents, and return the function that plays."""
    check_folder("--json", args.json)
    check_folder("--images", args.images / "leaderboard.png")
    tournaments = [
        Tournament(list(ENTRIES), players, args.games, args.seed, BATCH, most_games=ENTRIES)
        for players in PLAYERS
    ]
    return lambda: work(args, tournaments)


def work(args: LeaderboardArgs, tournaments: list[Tournament]) -> list[Report]:
    """Play all tournaments, write the files, and print the reports.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the play early. The files and the printed reports cover the
            deals that were played, if there are any.
    """
    interrupted = play_all(tournaments, make_console(stderr=True))
    reports = [tournament.report() for tournament in tournaments if tournament.whole_deals]
    if interrupted and not reports:
        raise KeyboardInterrupt
    made_by = {"games": args.games, "seed": args.seed, "interrupted": interrupted}
    write_results(args.json, {**made_by, "tables": [asdict(report) for report in reports]})
    console = make_console()
    for report in reports:
        plot_matrix(report, args.images / f"leaderboard_{report.num_players}p.png")
    for report in reports:
        show(report, console)
    if interrupted:
        raise KeyboardInterrupt
    return reports


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(LeaderboardArgs)))
