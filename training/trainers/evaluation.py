"""Evaluation of training runs in the arena, and their results file."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console

from agents.files import provenance, write_json
from agents.network.checkpoint import describe
from agents.network.policy import PolicyAgent
from taki_env.core.rules import Rules
from training.arena.tournament import play
from training.trainers.learning_curve import plot_learning_curve
from training.trainers.options import plain
from training.trainers.run_folder import CURVE_FILE, RESULTS_FILE, Run

YARDSTICKS = ("random", "greedy", "expert")
"""Opponents in evaluations."""


def matches(run: Run, games: int, seed: int) -> list[dict[str, Any]]:
    """Play the network's most likely actions against each opponent at each table size.

    The opponent has all other seats.

    Args:
        run: the run to evaluate.
        games: games per table size and opponent.
        seed: random seed for the deals.

    Returns:
        An entry per table size and opponent with the figures of the arena's report.
    """
    results = []
    learner = PolicyAgent(run.network, "learner", threads=run.args.threads)
    for num_players, opponent in product(np.unique(run.args.table_sizes).tolist(), YARDSTICKS):
        report = play(
            [learner, *(opponent,) * (num_players - 1)], num_players, games, seed,
            lineup=True, time_limit=math.inf, rules=Rules.from_words(run.args.rules),
        )  # fmt: skip
        results.append({
            "opponent": opponent,
            "num_players": num_players,
            **asdict(report.lineups[0].rates[learner.name]),
            "capped": report.capped,
            "mean_decisions": report.lengths.mean if report.lengths else math.nan,
        })  # fmt: skip
    return results


def evaluate(run: Run) -> dict[str, float]:
    """Evaluate the network, add the results to the history, and return win rates by name."""
    results = matches(run, run.args.evaluation_games, run.args.seed + 1)
    run.history.extend({"steps": run.steps, "seconds": run.seconds, **r} for r in results)
    name = "eval/{num_players}p_win_rate_against_{opponent}"
    return {name.format(**result): result["win_rate"] for result in results}


def finish(run: Run, console: Console, command: str) -> None:
    """Run the final evaluation, and write results and learning curve.

    A run that was stopped early is not evaluated again: its results are those of the last
    evaluation.

    Args:
        run: the run.
        console: where to print the results.
        command: module of the command that resumes the run.

    Raises:
        KeyboardInterrupt: Ctrl-C stopped the training or this evaluation; all files are written.
    """
    finished = run.steps >= run.total
    results = [entry for entry in run.history if entry["steps"] == run.steps]
    try:
        if finished:
            results = matches(run, run.args.final_games, run.args.seed + 2)
    except KeyboardInterrupt:
        console.print("the evaluation was stopped")
        finished = False
    report = {
        **provenance(),
        **describe(run.args),
        "configuration": plain(run.args),
        "finished": finished,
        "steps": run.steps,
        "training_seconds": round(run.seconds, 1),
        "history": run.history,
        "evaluation": results,
    }
    write_json(run.folder / RESULTS_FILE, report)
    print_results(results, console)
    plot_learning_curve(run.history, run.title, run.folder / CURVE_FILE)
    console.print(f"{run.steps:,} decisions in {run.seconds:.0f} s; results in {run.folder}")
    if not finished:
        console.print(f"resume with: python -m {command} --resume {run.folder}")
        raise KeyboardInterrupt


def print_results(results: list[dict[str, Any]], console: Console) -> None:
    """Print a line for each opponent and table size."""
    for result in results:
        low, high = result["interval"]
        console.print(
            f"{result['win_rate']:.1%} [{low:.1%}, {high:.1%}] of {result['games']} games against "
            f"{result['opponent']}, {result['num_players']} players "
            f"(parity {1 / result['num_players']:.1%})",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
