"""Does self-play approach an equilibrium? ``python -m training.approach mini-1``.

Trains by self-play (`training.selfplay`) on a small deck, and tells at several budgets what could
be gained against the network, exactly, over all information states.
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
from training.studies.game_tree import GameTree, shares_of, small_game
from training.trainers import selfplay

ROLLOUT = 16
"""Decisions of each game between two updates."""


@dataclass(frozen=True)
class ConvergenceArgs:
    """Train on a small deck, and measure exploitability at several budgets."""

    deck: Annotated[str, tyro.conf.Positional] = "mini-1"
    """Of `taki_env.core.decks`; the last card is called automatically."""
    steps: int = 300_000
    """Decisions of all seats to train on."""
    evaluations: int = 10
    """Budgets at which to measure, up to all steps, each the same factor above the one before."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """A training run each."""
    games: int = 128
    """Games side by side."""
    hidden: int = 64
    """Width of the network's layers."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    json: Path | None = None
    """File for the results."""

    def of_training(self, seed: int) -> selfplay.SelfPlayArgs:
        """Return the configuration of a training run."""
        return selfplay.SelfPlayArgs(
            rules=(f"deck={self.deck}", "auto_last_card"), steps=self.steps, games=self.games,
            hidden=self.hidden, entropy=self.entropy, seed=seed, rollout=ROLLOUT, batch_size=512,
            threads=1,
        )  # fmt: skip

    @property
    def budgets(self) -> list[int]:
        """Decisions before each measurement, in whole rollouts; none before the first."""
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
        raise ValueError("--seeds needs a number")
    check_folder("--json", args.json)
    return lambda: work(args)


def work(args: ConvergenceArgs) -> list[dict[str, Any]]:
    """Train and measure, print what is found, and write it to the file if asked to.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it early; what was measured by then is written.
    """
    console, rows = make_console(), []
    tree = GameTree(small_game(args.deck))
    with (
        stopping(console, "measurement") as stopped,
        Progress(transient=True, console=make_console(stderr=True)) as bar,
    ):
        total = len(args.seeds) * len(args.budgets)
        for row in bar.track(measured(args, tree), total=total, description=args.deck):
            rows.append(row)
            if stopped():
                break
    table = new_table("seed", "decisions", "seconds", "drawing", "most likely actions")
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


def measured(args: ConvergenceArgs, tree: GameTree) -> Iterator[dict[str, Any]]:
    """Yield the exploitability of each run's network at each budget, drawing or not."""
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
    """Return half of what both seats could gain against the network, in returns."""
    agent = PolicyAgent(training.network, "learner", sample)
    return tree.nash_conv(tree.policy(shares_of(tree, agent))) / 2


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ConvergenceArgs)))
