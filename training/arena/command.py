"""Play agents against each other: ``python -m training.arena random greedy policy:runs/2p-seed0``.

Every deal is played by every lineup and from every seat; see `training.arena.tournament`.

    python -m training.arena random greedy --players 4 --json FILE --csv FILE --plot FILE
    python -m training.arena greedy random random --players 3 --lineup
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import taki_env
from agents.cli import check_different, check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from agents.table.record_files import RECORDED, recording
from taki_env.base.checks import check_at_least_one
from training.arena.heatmap import plot_matrix
from training.arena.report import Report
from training.arena.tables import show
from training.arena.tournament import BATCH, GAMES, MAX_DECISIONS, TIME_LIMIT, Tournament
from training.cli import stopping


@dataclass(frozen=True)
class ArenaArgs:
    """Play agents against each other: each in one seat against each other in all other seats."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Two or more agents, such as greedy, search:simulations=500, policy:PATH."""
    players: int = 2
    """Number of players, 2 to 10."""
    games: int = GAMES
    """Number of games per lineup, rounded up to whole deals."""
    seed: int = 0
    """Random seed for deals and agents."""
    lineup: bool = False
    """Play one lineup of the agents, one per seat; an agent may be repeated."""
    batch: int = BATCH
    """Number of simultaneous games. Affects speed only."""
    max_decisions: int = MAX_DECISIONS
    """Decision cap; nobody wins a capped game."""
    time_limit: float = TIME_LIMIT
    """Time limit of an agent per decision, in seconds; inf for no limit."""
    json: Path | None = None
    """Output file for the JSON report."""
    csv: Path | None = None
    """Output CSV file, one row per lineup."""
    plot: Path | None = None
    """Output PNG file for a heat map of the win rates."""
    record: Path | None = None
    """Output file for game records, one per line; see `python -m agents.replay`."""
    recorded: int = RECORDED
    """Maximum number of games to record, from the first."""


def prepare(args: ArenaArgs) -> Callable[[], Report]:
    """Check the arguments, load the agents, and return the function that plays."""
    tournament = Tournament(
        args.agents, args.players, args.games, args.seed, args.batch, args.max_decisions,
        args.time_limit, args.lineup,
    )  # fmt: skip
    check_at_least_one("--recorded", args.recorded)
    files = {"--json": args.json, "--csv": args.csv, "--plot": args.plot, "--record": args.record}
    for option, file in files.items():
        check_folder(option, file, suffix=".png" if option == "--plot" else "")
    check_different(files)
    if args.plot and args.lineup:
        raise ValueError("--plot shows all pairings, but --lineup plays a single lineup")
    return lambda: work(args, tournament)


def work(args: ArenaArgs, tournament: Tournament) -> Report:
    """Play, write the requested files, and print the report.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the tournament early. The files and the printed report
            cover the deals that were played, if there are any.
    """
    with recording(args.record) as tournament.record:
        tournament.recorded = args.recorded if args.record else 0
        interrupted = play_all([tournament], make_console(stderr=True))
    if interrupted and not tournament.whole_deals:
        raise KeyboardInterrupt
    report = tournament.report()
    if args.json:
        write_results(args.json, {**asdict(report), "arguments": plain(args)})
    if args.csv:
        write_csv(report, args.csv)
    if args.plot:
        plot_matrix(report, args.plot)
    show(report, make_console())
    if interrupted:
        raise KeyboardInterrupt
    return report


def play_all(tournaments: Sequence[Tournament], console: Console) -> bool:
    """Play to the end with a progress bar; returns whether Ctrl-C ended the play early.

    The first Ctrl-C stops after the current batch. The second stops at once and discards it.
    """
    columns = (
        TextColumn("{task.description}  {task.completed:,}/{task.total:,} games"), BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with stopping(console, "batch") as stopped, Progress(*columns, console=console) as bar:
        try:
            for tournament in tournaments:
                name, start = f"{tournament.num_players} players", time.perf_counter()
                task = bar.add_task(name, total=tournament.total, rate=0)
                while not stopped() and tournament.play_batch():
                    rate = tournament.played / (time.perf_counter() - start)
                    bar.update(task, completed=tournament.played, rate=rate)
        except KeyboardInterrupt:
            return True
    return any(tournament.played < tournament.total for tournament in tournaments)


def write_results(path: Path, results: Mapping[str, object]) -> None:
    """Write results as JSON, with their provenance and the environment id."""
    write_json(path, {**provenance(), "env": taki_env.ENV_ID, **results})


def plain(args: ArenaArgs) -> dict[str, object]:
    """Return the arguments as JSON values."""
    return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(args).items()}


def write_csv(report: Report, path: Path) -> None:
    """Write one row per lineup, with the win rate of its first agent."""
    head = ("lineup", "players", "deals", "games", "agent", "wins", "win_rate", "low", "high")
    with replacing(path) as beside, beside.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow((*head, "capped", "forfeited"))
        for lineup in report.lineups:
            agent, rate = lineup.agents[0], lineup.rates[lineup.agents[0]]
            writer.writerow(
                (" ".join(lineup.agents), report.num_players, lineup.deals, lineup.games, agent,
                 rate.wins, rate.win_rate, *rate.interval, lineup.capped, lineup.forfeited)
            )  # fmt: skip


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ArenaArgs)))
