"""A tournament's report as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from training.arena.report import Rate, Report

Titled: TypeAlias = tuple[str, Table]


def show(report: Report, console: Console) -> None:
    """Print the tables of a report."""
    for title, table in tables(report):
        console.print(title, table, highlight=False, markup=False)
    if report.interrupted:
        console.print("interrupted: the report covers the deals that every lineup has played")


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
    """Return a table with a first column of text and other columns of numbers."""
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
    others = "the other seat" if report.num_players == 2 else "all other seats"
    title = (
        f"Win rate of the row's agent in one seat against the column's in {others}, "
        f"95% intervals; {report.num_players} players, parity {1 / report.num_players:.1%}, "
        f"{report.games:,} games"
    )
    table = new_table("", *report.agents)
    for one in report.agents:
        rates = [report.matrix.get(one, {}).get(other) for other in report.agents]
        table.add_row(one, *(percent(rate) if rate else "" for rate in rates))
    return title, table


def lineup_table(report: Report) -> Titled:
    """Return the win rates of the agents of one lineup."""
    (lineup,) = report.lineups
    parity = 1 / report.num_players
    title = f"{' '.join(lineup.agents)}: wins per game and seat, parity {parity:.1%}"
    table = new_table("agent", "seats", "wins", "games", "win rate, 95% interval")
    for agent, rate in lineup.rates.items():
        table.add_row(agent, f"{rate.seats}", f"{rate.wins:,g}", f"{rate.games:,}", percent(rate))
    return title, table


def ratings_table(report: Report) -> Titled:
    """Return the ratings."""
    title = f"Bradley-Terry ratings, {report.zero} fixed at 0"
    table = new_table("agent", "Elo points", "95% interval")
    for rating in report.ratings:
        low, high = rating.interval
        table.add_row(rating.agent, f"{rating.elo:+.0f}", f"{low:+.0f} to {high:+.0f}")
    return title, table


def seats_table(report: Report) -> Titled:
    """Return the win rate of each seat."""
    table = new_table("seat", "win rate, 95% interval")
    for seat, rate in enumerate(report.seats):
        table.add_row(f"{seat}", percent(rate))
    return "Seats, whoever sits there", table


def lengths_table(report: Report) -> Titled:
    """Return the lengths of games."""
    table = new_table("games", "mean", "median", "95th percentile", "longest", "capped")
    if lengths := report.lengths:
        table.add_row(
            f"{lengths.games:,}", f"{lengths.mean:.1f}", f"{lengths.median:g}",
            f"{lengths.percentile_95:.0f}", f"{lengths.longest:,}",
            f"{report.capped:,} at {report.max_decisions:,}",
        )  # fmt: skip
    return "Lengths of games in decisions", table


def forfeits_table(report: Report) -> Titled:
    """Return the forfeited games by agent and reason."""
    title = "Forfeited games: lost, and shared equally by the other seats"
    table = new_table("agent", "games", "reason", "first example")
    for row in report.forfeits:
        table.add_row(row.agent, f"{row.games:,}", row.reason, row.example)
    return title, table


def timing_table(report: Report) -> Titled:
    """Return the decision times."""
    table = new_table("agent", "decisions", "mean", "95th percentile")
    for row in report.timing:
        names = ", ".join(row.agents)
        table.add_row(names, f"{row.decisions:,}", brief(row.mean), brief(row.percentile_95))
    return "Time per decision in milliseconds", table


def brief(value: float) -> str:
    """Return a time with its significant digits."""
    return f"{value:.3g}" if value >= 0.001 else f"{value:.6f}"
