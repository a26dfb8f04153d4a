"""Play agents against each other: ``python -m training.arena random greedy policy:runs/2p-seed0``.

Every deal is played by every lineup and from every seat; see `training.arena.tournament`.

    python -m training.arena random greedy --players 4 --json FILE --csv FILE --plot FILE
    python -m training.arena greedy random random --players 3 --lineup
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import taki_env
from agents.cli import check_different, check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from agents.table.record_files import RECORDED, recording
from taki_env.base.checks import check_at_least_one
from training.arena.heatmap import plot_matrix
from training.arena.report import Rate, Report
from training.arena.tournament import BATCH, GAMES, MAX_DECISIONS, TIME_LIMIT, Tournament, play
from training.cli import stopping

__all__ = ["Report", "play"]

Titled: TypeAlias = tuple[str, Table]


@dataclass(frozen=True)
class ArenaArgs:
    """Play agents against each other: each in one seat against each other in all other seats."""

    agents: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Who plays, such as greedy, search:simulations=500, policy:PATH; two or more."""
    players: int = 2
    """Seats at the table, 2 to 10."""
    games: int = GAMES
    """Games of every lineup, rounded up to whole deals."""
    seed: int = 0
    """Of the deals and of what agents draw."""
    lineup: bool = False
    """The agents are one lineup, an agent for each seat; it may name an agent twice."""
    batch: int = BATCH
    """Games at once. Bears on speed alone."""
    max_decisions: int = MAX_DECISIONS
    """A game is cut off after so many decisions, and nobody wins it."""
    time_limit: float = TIME_LIMIT
    """Seconds that an agent has for a decision; inf for no limit."""
    json: Path | None = None
    """File for the report."""
    csv: Path | None = None
    """File for the lineups, a row each."""
    plot: Path | None = None
    """PNG file for a heat map of the win rates."""
    record: Path | None = None
    """File for the games, one a line; see `agents.table.replay`."""
    recorded: int = RECORDED
    """Games to record at most: the first ones."""


def prepare(args: ArenaArgs) -> Callable[[], Report]:
    """Check the arguments, load the agents, and return the tournament to play."""
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
        raise ValueError("--plot shows every pairing, which --lineup does not play")
    return lambda: work(args, tournament)


def work(args: ArenaArgs, tournament: Tournament) -> Report:
    """Play, print the report and write it to files if asked to.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the tournament early; the report is of what was played.
    """
    with recording(args.record) as tournament.record:
        tournament.recorded = args.recorded if args.record else 0
        interrupted = play_on(tournament, make_console(stderr=True))
    if interrupted and not tournament.whole_deals:
        raise KeyboardInterrupt
    report = tournament.report()
    if args.json:
        write_json(args.json, {**provenance(), **as_json(report), "arguments": plain(args)})
    if args.csv:
        write_csv(report, args.csv)
    if args.plot:
        plot_matrix(report, args.plot)
    show(report, make_console())
    if interrupted:
        raise KeyboardInterrupt
    return report


def play_on(tournament: Tournament, console: Console) -> bool:
    """Play to the end; returns True if Ctrl-C came first, after the batch in progress."""
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} games"), BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    start = time.perf_counter()
    with stopping(console, "batch") as stopped, Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=tournament.total, rate=0)
        try:
            while not stopped() and tournament.play_batch():
                rate = tournament.played / (time.perf_counter() - start)
                bar.update(task, completed=tournament.played, rate=rate)
        except KeyboardInterrupt:  # pressed twice: the batch in progress does not count
            return True
    return tournament.played < tournament.total


def plain(args: ArenaArgs) -> dict[str, Any]:
    """Return the arguments as JSON has them."""
    return {k: str(v) if isinstance(v, Path) else v for k, v in asdict(args).items()}


def as_json(report: Report) -> dict[str, Any]:
    """Return a report for a file."""
    return {"env": taki_env.ENV_ID, **asdict(report)}


def write_csv(report: Report, path: Path) -> None:
    """Write a row a lineup, with the win rate of its first agent."""
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


# What is printed --------------------------------------------------------------------------------


def show(report: Report, console: Console) -> None:
    """Print the tables of a report."""
    for title, table in tables(report):
        console.print(title, table, highlight=False, markup=False)
    if report.interrupted:
        console.print("interrupted: these are the deals that every lineup has played")


def tables(report: Report) -> Iterator[Titled]:
    """Yield the tables of a report that are not empty."""
    pairs = len(report.agents) * (len(report.agents) - 1)
    complete = report.matrix and sum(map(len, report.matrix.values())) == pairs
    yield matrix_table(report) if complete else lineup_table(report)
    yield ratings_table(report)
    yield seats_table(report)
    if report.lengths:
        yield lengths_table(report)
    if report.forfeits:
        yield forfeits_table(report)
    yield timing_table(report)


def new_table(*columns: str) -> Table:
    """Return a table whose first column is for words and whose others are for numbers."""
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def percent(rate: Rate) -> str:
    """Return a win rate with its interval."""
    low, high = rate.interval
    return f"{rate.win_rate:.1%} [{low:.1%}, {high:.1%}]"


def matrix_table(report: Report) -> Titled:
    """Return the win rates of each agent in one seat against each other in all other seats."""
    against = "the other seat" if report.num_players == 2 else "all other seats"
    title = (
        f"Win rate of the row's agent against the column's in {against}, 95 % intervals; "
        f"{report.num_players} players, parity {1 / report.num_players:.1%}, {report.games:,} games"
    )
    table = new_table("", *report.agents)
    for one in report.agents:
        rates = [report.matrix.get(one, {}).get(other) for other in report.agents]
        table.add_row(one, *(percent(rate) if rate else "" for rate in rates))
    return title, table


def lineup_table(report: Report) -> Titled:
    """Return the win rates of the agents of one lineup."""
    (lineup,) = report.lineups
    title = f"{' '.join(lineup.agents)}: wins a game and seat, parity {1 / report.num_players:.1%}"
    table = new_table("agent", "seats", "wins", "games", "win rate, 95 % interval")
    for agent, rate in lineup.rates.items():
        table.add_row(agent, f"{rate.seats}", f"{rate.wins:,g}", f"{rate.games:,}", percent(rate))
    return title, table


def ratings_table(report: Report) -> Titled:
    """Return the ratings."""
    title = f"Bradley-Terry ratings, {report.zero} fixed at 0"
    table = new_table("agent", "Elo points", "95 % interval")
    for rating in report.ratings:
        low, high = rating.interval
        table.add_row(rating.agent, f"{rating.elo:+.0f}", f"{low:+.0f} to {high:+.0f}")
    return title, table


def seats_table(report: Report) -> Titled:
    """Return how often each seat won."""
    table = new_table("seat", "win rate, 95 % interval")
    for seat, rate in enumerate(report.seats):
        table.add_row(f"{seat}", percent(rate))
    return "Seats, in the order of the table", table


def lengths_table(report: Report) -> Titled:
    """Return the lengths of games."""
    columns = ("games", "mean", "median", "95th percentile", "longest", "cut off")
    table = new_table(*columns)
    if lengths := report.lengths:
        table.add_row(
            f"{lengths.games:,}", f"{lengths.mean:.1f}", f"{lengths.median:g}",
            f"{lengths.percentile_95:.0f}", f"{lengths.longest:,}",
            f"{report.capped:,} at {report.max_decisions:,}",
        )  # fmt: skip
    return "Lengths of games, in decisions", table


def forfeits_table(report: Report) -> Titled:
    """Return which agents forfeited games, and why."""
    title = "Forfeited games: lost, and won by the others in equal shares"
    table = new_table("agent", "games", "reason", "first example")
    for row in report.forfeits:
        table.add_row(row.agent, f"{row.games:,}", row.reason, row.example)
    return title, table


def brief(value: float) -> str:
    """Return a time with the digits that count."""
    return f"{value:.3g}" if value >= 0.001 else f"{value:.6f}"


def timing_table(report: Report) -> Titled:
    """Return how long decisions took."""
    columns = ("agent", "decisions", "mean", "95th percentile")
    table = new_table(*columns)
    for row in report.timing:
        names = ", ".join(row.agents)
        table.add_row(names, f"{row.decisions:,}", brief(row.mean), brief(row.percentile_95))
    return "Time of a decision in milliseconds", table


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ArenaArgs)))
