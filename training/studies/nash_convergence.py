"""Measure whether self-play approaches an equilibrium: ``python -m training.approach mini-1``.

The command trains by self-play (`training.selfplay`) on a small deck, and measures the exact
exploitability of the network at several budgets, over all information states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import tyro
from rich.progress import Progress

from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from agents.network.policy import PolicyAgent
from taki_env.base.checks import check_at_least_one
from training.arena.tables import new_table
from training.cli import stopping
from training.studies.game_tree import GameTree, action_probabilities, small_game
from training.trainers import selfplay

ROLLOUT = 16
"""Decisions of each game between updates."""


@dataclass(frozen=True)
class ConvergenceArgs:
    """Train on a small deck, and measure exploitability at several budgets."""

    deck: Annotated[str, tyro.conf.Positional] = "mini-1"
    """Name of a deck in `taki_env.core.decks`; the last card is called automatically."""
    steps: int = 300_000
    """Number of decisions of all seats to train on."""
    evaluations: int = 10
    """Number of budgets at which to measure, up to all steps, in geometric progression."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Random seeds; each is a training run."""
    games: int = 128
    """Number of games played in parallel."""
    hidden: int = 64
    """Width of the network's layers."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    json: Path | None = None
    """Output file for the JSON report."""

    def of_training(self, seed: int) -> selfplay.SelfPlayArgs:
        """Return the configuration of a training run."""
        return selfplay.SelfPlayArgs(
            rules=(f"deck={self.deck}", "auto_last_card"), steps=self.steps, games=self.games,
            hidden=self.hidden, entropy=self.entropy, seed=seed, rollout=ROLLOUT, batch_size=512,
            threads=1,
        )  # fmt: skip

    @property
    def budgets(self) -> list[int]:
        """Decisions before each measurement, in whole rollouts, starting with 0."""
        rollout = ROLLOUT * self.games
        last = max(rollout, self.steps)
        spread = np.geomspace(rollout, last, self.evaluations) if self.evaluations > 1 else [last]
        return [0, *np.unique(np.ceil(np.divide(spread, rollout)).astype(int) * rollout).tolist()]


def prepare(args: ConvergenceArgs) -> Callable[[], list[dict[str, Any]]]:
    """Check the arguments and return the work."""
    small_game(args.deck)
    check_at_least_one("--evaluations", args.evaluations)
    for seed in args.seeds:
        args.of_training(seed).check()
    if not args.seeds:
        raise ValueError("--seeds needs at least one number")
    check_folder("--json", args.json)
    return lambda: execute(args)


def execute(args: ConvergenceArgs) -> list[dict[str, Any]]:
    """Train and measure; print the results, and write the file if one is given.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the command early; the measurements so far are written.
    """
    console, rows = make_console(), []
    tree = GameTree(small_game(args.deck))
    with (
        stopping(console, "measurement") as stopped,
        Progress(transient=True, console=make_console(stderr=True)) as bar,
    ):
        total = len(args.seeds) * len(args.budgets)
        for row in bar.track(measurements(args, tree), total=total, description=args.deck):
            rows.append(row)
            if stopped():
                break
    table = new_table("seed", "decisions", "seconds", "sampling", "most likely actions")
    for row in rows:
        table.add_row(
            f"{row['seed']}", f"{row['steps']:,}", f"{row['seconds']:.1f}",
            f"{row['drawing']:.4f}", f"{row['most_likely']:.4f}",
        )  # fmt: skip
    console.print(f"{args.deck}: exploitability of the network, in returns", table)
    if args.json:
        arguments = {**asdict(args), "json": str(args.json)}
        write_json(args.json, {**provenance(), "arguments": arguments, "rows": rows})
    if len(rows) < total:
        raise KeyboardInterrupt
    return rows


def measurements(args: ConvergenceArgs, tree: GameTree) -> Iterator[dict[str, Any]]:
    """Yield the exploitability of each run's network at each budget, sampling or not."""
    for seed in args.seeds:
        with TemporaryDirectory() as folder:
            training = selfplay.SelfPlayTrainer(args.of_training(seed), Path(folder))
            training.table.max_decisions = tree.game.max_decisions
            for budget in args.budgets:
                while training.steps < budget:
                    training.iterate()
                yield {
                    "seed": seed,
                    "steps": training.steps,
                    "seconds": round(training.seconds, 2),
                    "drawing": exploitability(tree, training, sample=True),
                    "most_likely": exploitability(tree, training, sample=False),
                }
            training.writer.close()


def exploitability(tree: GameTree, training: selfplay.SelfPlayTrainer, sample: bool) -> float:
    """Return the exploitability of the network, in returns."""
    agent = PolicyAgent(training.network, "learner", sample)
    return tree.nash_conv(tree.policy(action_probabilities(tree, agent))) / 2


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ConvergenceArgs)))
