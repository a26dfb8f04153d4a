"""Solve the games of small decks: ``python -m training.small_decks``.

For each deck, the command reports the size of its two-player game, the value at an equilibrium, and
the exploitability of agents, computed over all information states.

    python -m training.small_decks --decks mini-1 mini-2 --agents random greedy expert
    python -m training.small_decks --decks mini-1 --last-card --agents
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import Progress

import agents
from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from taki_env.base.checks import check_at_least_one
from taki_env.core.decks import DECKS
from training.arena.tables import new_table
from training.studies.game_tree import (
    GameTree,
    action_probabilities,
    best_response_gains,
    small_game,
    solve,
)


@dataclass(frozen=True)
class SmallDecksArgs:
    """Solve the games of small decks, and measure the exploitability of agents."""

    decks: tuple[str, ...] = tuple(name for name in DECKS if name != "standard")
    """Names of decks in `taki_env.core.decks`."""
    agents: tuple[str, ...] = (
        "random", "greedy", "expert", "search:simulations=20", "search:simulations=200",
        "search:simulations=2000",
    )  # fmt: skip
    """Agents to measure, such as greedy or policy:PATH,sample=true."""
    draws: int = 8
    """Number of actions of each agent at an information state, to estimate probabilities."""
    last_card: bool = False
    """Require the last-card call; the games are much larger."""
    target: float = 1e-4
    """Exploitability at which to stop, in returns."""
    iterations: int = 2000
    """Maximum number of iterations of CFR+."""
    json: Path | None = None
    """Output file for the JSON report."""


def prepare(args: SmallDecksArgs) -> Callable[[], list[dict[str, Any]]]:
    """Check the arguments and return the work."""
    for name in ("draws", "iterations"):
        check_at_least_one(f"--{name}", getattr(args, name))
    if not args.decks or not args.target > 0:
        raise ValueError("--decks needs at least one name, and --target must be above 0")
    for deck in args.decks:
        small_game(deck)
    for name in args.agents:
        agents.load(name)
    check_folder("--json", args.json)
    return lambda: execute(args)


def execute(args: SmallDecksArgs) -> list[dict[str, Any]]:
    """Solve the games; print the results, and write the file after each deck."""
    console, rows = make_console(), []
    for deck in args.decks:
        rows.append(solved(args, deck))
        show(rows[-1], console)
        if args.json:
            arguments = {**asdict(args), "json": str(args.json)}
            write_json(args.json, {**provenance(), "arguments": arguments, "decks": rows})
    return rows


def solved(args: SmallDecksArgs, deck: str) -> dict[str, Any]:
    """Return size and value of a deck's game, and the exploitability of the agents."""
    start = time.perf_counter()
    with Progress(transient=True, console=make_console(stderr=True)) as bar:
        task = bar.add_task(f"{deck}: histories", total=None)
        tree = GameTree(small_game(deck, args.last_card), lambda nodes: bar.advance(task, nodes))
        equilibrium, _ = solve(
            tree, args.target, args.iterations,
            lambda found: bar.update(task, description=f"{deck}: exploitability {found:.2g}"),
        )  # fmt: skip
        seconds = time.perf_counter() - start
        value, measured = sum(equilibrium.value) / 2, []
        for name in args.agents:
            bar.update(task, description=f"{deck}: {name}")
            probabilities = action_probabilities(tree, name, args.draws)
            measured.append(asdict(best_response_gains(tree, name, probabilities, value)))
    return {
        "deck": deck,
        "max_decisions": tree.game.max_decisions,
        **asdict(tree.counts),
        **asdict(equilibrium),
        "seconds": round(seconds, 1),
        "agents": measured,
    }


def show(row: dict[str, Any], console: Console) -> None:
    """Print the results of a deck."""
    low, high = row["value"]
    console.print(
        f"{row['deck']}: {row['histories']:,} histories, {row['information_states']:,} "
        f"information states, {row['choices']:,} with a choice; value for seat 0 {low:.4f} "
        f"to {high:.4f} ({row['iterations']:,} iterations, exploitability "
        f"{row['exploitability']:.2g}, {row['seconds']:.0f} s)",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    table = new_table("agent", "exploitability", "in seat 0", "in seat 1")
    for found in row["agents"]:
        gains = (found[key] for key in ("exploitability", "as_seat_0", "as_seat_1"))
        table.add_row(found["agent"], *(f"{gain:.4f}" for gain in gains))
    if row["agents"]:
        console.print(table)


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(SmallDecksArgs)))
