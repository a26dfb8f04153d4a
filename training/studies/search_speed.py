"""Measure the simulations a second of search: ``python -m training.search_speed``.

Search runs on one core from the first decisions of games, and plays every simulation to its end.
Each round measures all numbers of players and rollout policies; figures are medians over rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tyro
from rich.progress import Progress
from rich.table import Table

from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from agents.search.agent import SearchAgent
from agents.search.tree import ROLLOUTS
from taki_env import Batch
from taki_env.base.checks import check_at_least_one

PLAYERS = (2, 3, 4, 6, 10)


@dataclass(frozen=True)
class SearchSpeedArgs:
    """Measure the simulations a second of search on one core."""

    games: int = 10
    """Number of opening positions for each number of players."""
    simulations: int = 2000
    """Number of simulations at each position."""
    rounds: int = 5
    """Number of rounds; figures are medians over them."""
    seed: int = 0
    """Random seed for deals and searches."""
    json: Path | None = None
    """Output file for the JSON report."""


def prepare(args: SearchSpeedArgs) -> Callable[[], list[dict[str, Any]]]:
    """Check the arguments and return the measurement."""
    for name in ("games", "simulations", "rounds"):
        check_at_least_one(f"--{name}", getattr(args, name))
    check_folder("--json", args.json)
    return lambda: execute(args)


def execute(args: SearchSpeedArgs) -> list[dict[str, Any]]:
    """Measure; print the figures, and write the file if one is given."""
    cases = [(players, rollout) for players in PLAYERS for rollout in ROLLOUTS]
    rates: dict[tuple[int, str], list[float]] = {case: [] for case in cases}
    simulations_a_second(args, 2, ROLLOUTS[0], simulations=1)  # compiles
    with Progress(console=make_console(stderr=True)) as bar:
        for _ in bar.track(range(args.rounds), description="rounds"):
            for case in cases:
                rates[case].append(simulations_a_second(args, *case, args.simulations))
    rows = [
        {"players": players, "rollout": rollout, "median": median(found),
         "lowest": min(found), "highest": max(found)}
        for (players, rollout), found in rates.items()
    ]  # fmt: skip
    make_console().print(table_of(rows))
    if args.json:
        arguments = {**asdict(args), "json": str(args.json)}
        write_json(args.json, {**provenance(), "arguments": arguments, "rows": rows})
    return rows


def simulations_a_second(
    args: SearchSpeedArgs, players: int, rollout: str, simulations: int
) -> float:
    """Return the rate over the opening positions; no search stops early."""
    view = Batch(args.games, players, seed=args.seed).view(np.arange(args.games))
    agent = SearchAgent(simulations, rollout=rollout, seed=args.seed)
    start = time.perf_counter()
    agent.analyze(view)
    return args.games * simulations / (time.perf_counter() - start)


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return the table to print: a row for each number of players, a column for each rollout."""
    table = Table("players", title="Simulations a second, by rollout policy")
    for rollout in ROLLOUTS:
        table.add_column(rollout, justify="right")
    for players in PLAYERS:
        found = {row["rollout"]: row["median"] for row in rows if row["players"] == players}
        table.add_row(f"{players}", *(f"{found[rollout]:,.0f}" for rollout in ROLLOUTS))
    return table


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(SearchSpeedArgs)))
