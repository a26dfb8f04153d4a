"""Train an agent with MaskablePPO against a mix of opponents: ``python -m training.train``.

One learner's seat, drawn anew every game, plays against random, greedy and frozen snapshots of
itself. The network treats the four colors alike (`agents.network`). Everything is in the run
folder at the end, and on Ctrl-C: model, configuration, results and learning curve.

    python -m training.train                        the default run: two players, a few minutes
    python -m training.train --players 4 --seed 1
    python -m training.train --resume runs/2p-seed0    goes on exactly where it stopped
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure

from agents.checkpoint import DESCRIPTION, MODEL_FILE, CheckpointError, describe
from agents.policy import PolicyAgent
from taki_env.rules import check_num_players
from taki_env.sb3 import TakiVecEnv
from training.cli import make_console, run, stopping
from training.curve import plot_learning_curve
from training.evaluate import Result, evaluate
from training.files import new_run_folder, provenance, replacing, write_json
from training.policy import TakiPolicy

CONFIG_FILE, CHECKPOINT_FILE, RESULTS_FILE = "config.json", "checkpoint.pt", "results.json"
CURVE_FILE = "learning_curve.png"
YARDSTICKS = ("random", "greedy")


@dataclass(frozen=True)
class Args:
    """Train an agent with MaskablePPO against random, greedy and snapshots of itself."""

    players: int = 2
    """Seats at the table, 2 to 10."""
    steps: int = 1_100_000
    """Decisions of the learner to train on, rounded up to whole rollouts."""
    seed: int = 0
    """Of the network, the games and the sampling."""
    envs: int = 256
    """Games side by side."""
    rollout: int = 64
    """Decisions of each game between two updates."""
    batch_size: int = 2048
    """Decisions in a gradient step."""
    epochs: int = 4
    """Passes over a rollout."""
    learning_rate: float = 1e-3
    """At the start; it falls in a straight line, to a twentieth at the least."""
    gae_lambda: float = 0.95
    """Of the generalized advantage estimate; returns are not discounted."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    hidden: int = 128
    """Width of the network's layers."""
    random_weight: float = 0.3
    """Share of the opponents that play at random."""
    greedy_weight: float = 0.4
    """Share that play greedy."""
    self_weight: float = 0.3
    """Share that are snapshots of the learner, once there are any."""
    snapshot_every: int = 8
    """Rollouts between two snapshots."""
    pool: int = 5
    """Latest snapshots that serve as opponents; a new one takes the place of the oldest."""
    evaluate_every: int = 8
    """Rollouts between two evaluations, and between two checkpoints."""
    evaluation_games: int = 1000
    """Games against each of random and greedy in an evaluation during training."""
    final_games: int = 4000
    """Games against each of random and greedy at the end, seats rotated."""
    threads: int = 2
    """Threads of torch. The same seed and threads give the same run."""
    runs: Path = Path("runs")
    """Folder for run folders."""
    resume: Path | None = None
    """Run folder to go on in; its configuration holds."""

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        check_num_players(self.players)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "seed" or field.name.endswith("_weight") or field.name == "entropy":
                allowed, words = value >= 0, "0 or more"
            elif isinstance(value, int | float):
                allowed, words = value > 0, "above 0"
            else:
                continue
            if not allowed:
                raise ValueError(f"--{field.name.replace('_', '-')} must be {words}, not {value}")
        if self.seed >= 2**32:
            raise ValueError(f"--seed must be below 2**32, as NumPy's generator asks: {self.seed}")
        if not self.random_weight + self.greedy_weight > 0:
            raise ValueError("--random-weight or --greedy-weight must be above 0")
        if self.batch_size < 2 or self.envs * self.rollout % self.batch_size:
            raise ValueError(
                f"--batch-size must be 2 or more and divide a rollout of "
                f"{self.envs} x {self.rollout} decisions, not {self.batch_size}"
            )

    @property
    def whole_steps(self) -> int:
        """Decisions of the learner in whole rollouts."""
        rollout = self.envs * self.rollout
        return -(-self.steps // rollout) * rollout


# What can be taken from a run and put back --------------------------------------------------------


class Run:
    """A training run: the model, its opponents, and all that it takes to go on exactly."""

    def __init__(self, args: Args, folder: Path) -> None:
        self.args, self.folder = args, folder
        torch.set_num_threads(args.threads)
        self.env = TakiVecEnv(args.envs, args.players, opponents=self.opponents([]))
        self.model = MaskablePPO(
            TakiPolicy, self.env, n_steps=args.rollout, batch_size=args.batch_size,
            n_epochs=args.epochs, gamma=1.0, gae_lambda=args.gae_lambda, ent_coef=args.entropy,
            learning_rate=args.learning_rate, seed=args.seed, device="cpu",
            policy_kwargs={"hidden": args.hidden},
        )  # fmt: skip
        setattr(self.model, DESCRIPTION, describe(args.hidden))
        self.model.made_by = {**provenance(), "configuration": plain(args)}
        self.model.set_logger(configure(str(folder), ["tensorboard"]))
        self.snapshots: list[PolicyAgent] = []
        self.history: list[dict[str, Any]] = []
        self.iteration, self.taken, self.seconds = 0, 0, 0.0

    @property
    def steps(self) -> int:
        """The learner's decisions so far."""
        return int(self.model.num_timesteps)

    def opponents(self, snapshots: list[PolicyAgent]) -> dict[Any, float]:
        """Return the weights by which each opponent's seat is filled."""
        args = self.args
        weights: dict[Any, float] = {"random": args.random_weight, "greedy": args.greedy_weight}
        return weights | {snapshot: args.self_weight / len(snapshots) for snapshot in snapshots}

    def agent(self) -> PolicyAgent:
        """Return the learner as it plays now, by its most likely actions."""
        return PolicyAgent(self.model.policy.network, "learner")

    def iterate(self) -> None:
        """Play a rollout and learn from it; at intervals, take a snapshot as an opponent."""
        start = time.perf_counter()
        fraction = max(0.05, 1 - self.steps / self.args.steps)
        self.model.learning_rate = self.args.learning_rate * fraction
        self.model._setup_lr_schedule()
        self.model.learn(self.args.envs * self.args.rollout, reset_num_timesteps=False)
        self.iteration += 1
        if self.iteration % self.args.snapshot_every == 0:
            self.take_snapshot()
        self.seconds += time.perf_counter() - start

    def take_snapshot(self) -> None:
        """Freeze a copy of the network as an opponent, in place of the oldest if need be."""
        place = self.taken % self.args.pool
        if place == len(self.snapshots):
            self.add_opponent()
        weights = self.model.policy.network.state_dict()
        self.snapshots[place].network.load_state_dict(weights)
        self.taken += 1

    def add_opponent(self) -> None:
        """Add a network to the pool, which plays by sampling."""
        network = copy.deepcopy(self.model.policy.network).eval()
        number = len(self.snapshots) + 1
        name, seed = f"snapshot {number}", self.args.seed + number
        self.snapshots.append(PolicyAgent(network, name, sample=True, seed=seed))
        self.env.games.change_opponents(self.opponents(self.snapshots))

    def evaluate(self) -> None:
        """Play some games against each yardstick for the learning curve."""
        for opponent in YARDSTICKS:
            seed = self.args.seed + 1  # not the deals of training
            result = evaluate(
                self.agent(), opponent, self.args.evaluation_games, self.args.players, seed
            )
            self.history.append({"steps": self.steps, "seconds": self.seconds, **asdict(result)})
            self.model.logger.record(f"eval/win_rate_against_{opponent}", result.win_rate)
            length = f"eval/decisions_a_game_against_{opponent}"
            self.model.logger.record(length, result.mean_decisions)
        self.model.logger.dump(self.steps)

    def state(self) -> dict[str, Any]:
        """Return everything that changes in training, as tensors and plain values."""
        model, numpy_state = self.model, np.random.get_state(legacy=False)
        games = self.env.games.state_dict()
        return {
            DESCRIPTION: describe(self.args.hidden),
            "made_by": model.made_by,
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "counters": [model.num_timesteps, model._n_updates, self.iteration, self.taken],
            "seconds": self.seconds,
            "last": [torch.tensor(model._last_obs), torch.tensor(model._last_episode_starts)],
            "episodes": list(model.ep_info_buffer),
            "torch": torch.get_rng_state(),
            "numpy": json.dumps(numpy_state, default=np.ndarray.tolist),
            "games": {name: torch.tensor(array.view(np.uint8)) for name, array in games.items()},
            "games_seed": self.env.games.batch.seed,
            "lengths": torch.tensor(self.env.lengths),
            "snapshots": [agent.network.state_dict() for agent in self.snapshots],
            "snapshot_generators": [agent.rng.bit_generator.state for agent in self.snapshots],
            "history": self.history,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model.num_timesteps, model._n_updates, self.iteration, self.taken = state["counters"]
        self.seconds = state["seconds"]
        model._last_obs, model._last_episode_starts = (last.numpy() for last in state["last"])
        for weights, generator in zip(
            state["snapshots"], state["snapshot_generators"], strict=True
        ):
            self.add_opponent()
            self.snapshots[-1].network.load_state_dict(weights)
            self.snapshots[-1].rng.bit_generator.state = generator
        games = self.env.games
        games.batch.seed = state["games_seed"]
        games.load_state_dict(
            {name: state["games"][name].numpy().view(array.dtype).reshape(array.shape)
             for name, array in games.state_dict().items()}
        )  # fmt: skip
        self.env.lengths[:] = state["lengths"].numpy()
        self.history = state["history"]
        model.ep_info_buffer = deque(state["episodes"], maxlen=model._stats_window_size)
        model.ep_success_buffer = deque(maxlen=model._stats_window_size)
        torch.set_rng_state(state["torch"])
        np.random.set_state(json.loads(state["numpy"]))

    def save(self) -> None:
        """Write checkpoint and model, each whole or not at all."""
        with replacing(self.folder / CHECKPOINT_FILE) as beside:
            torch.save(self.state(), beside)
        with replacing(self.folder / MODEL_FILE) as beside:
            self.model.save(beside)


# Starting, going on, finishing --------------------------------------------------------------------


def start(args: Args) -> Run:
    """Return a new run in a new folder."""
    args.check()
    folder = new_run_folder(args.runs, f"{args.players}p-seed{args.seed}")
    write_json(folder / CONFIG_FILE, {**describe(args.hidden), "arguments": plain(args)})
    return Run(args, folder)


def plain(args: Args) -> dict[str, Any]:
    """Return the configuration as plain values, without where it lies."""
    return {k: v for k, v in asdict(args).items() if k not in ("runs", "resume")}


def read_config(folder: Path) -> Args:
    """Return the configuration of a run folder.

    Raises:
        FileNotFoundError: it is no run folder.
        CheckpointError: the file is broken, or of another environment version.
    """
    file = folder / CONFIG_FILE
    if not file.exists():
        raise FileNotFoundError(f"{folder} is no run folder: it has no {CONFIG_FILE}")
    try:
        config = json.loads(file.read_text())
        arguments = config.pop("arguments")
        args = Args(**arguments, runs=folder.parent, resume=folder)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(f"{file} is no configuration: {error}") from error
    check_description(file, config, args)
    return args


def check_description(file: Path, found: Any, args: Args) -> None:
    """Raise CheckpointError unless a file is of this environment and network."""
    expected = describe(args.hidden)
    if found != expected:
        raise CheckpointError(f"{file} is of {found}; this is {expected}")


def resume(args: Args, folder: Path) -> Run:
    """Return the run of a folder as it was at its last checkpoint."""
    file = folder / CHECKPOINT_FILE
    if not file.exists():
        raise FileNotFoundError(f"{folder} has no {CHECKPOINT_FILE}: start the run anew")
    try:
        state = torch.load(file, weights_only=True)
    except Exception as error:  # torch raises many kinds for broken files
        raise CheckpointError(f"{file} is truncated or no checkpoint: {error}") from error
    check_description(file, state.get(DESCRIPTION) if isinstance(state, dict) else None, args)
    try:
        check_configuration(args, state["made_by"]["configuration"])
        training = Run(args, folder)
        training.restore(state)
    except (KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{file} lacks what it takes to go on: {error!r}") from error
    return training


def check_configuration(args: Args, saved: dict[str, Any]) -> None:
    """Raise ValueError unless the arguments are those that a run began with."""
    for name, value in plain(args).items():
        if value != saved[name]:
            raise ValueError(
                f"--{name.replace('_', '-')} {value} is not the run's {saved[name]}: "
                "a run goes on with its own configuration"
            )


def train(training: Run, console: Console) -> bool:
    """Train to the end; returns False if Ctrl-C ended it early, after the rollout in progress."""
    args = training.args
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.fields[score]}"),
    )  # fmt: skip
    with stopping(console, "rollout") as stopped, Progress(*columns, console=console) as bar:
        total = args.whole_steps
        task = bar.add_task("", total=total, rate=0, score="", completed=training.steps)
        if not training.history:
            training.evaluate()  # where the learner starts from
        while training.steps < args.steps and not stopped():
            training.iterate()
            rate = training.steps / training.seconds
            done = training.steps >= args.steps
            bar.update(task, completed=training.steps, rate=rate)
            if training.iteration % args.evaluate_every == 0 or done or stopped():
                training.evaluate()
                training.save()
                bar.update(task, score=score(training.history))
                if not console.is_terminal:  # a file shows no bar until the end
                    words = f"{training.steps:,} decisions: {score(training.history)}"
                    console.print(words, highlight=False)
        return not stopped()


def score(history: list[dict[str, Any]]) -> str:
    """Return the last win rates in words."""
    last = {entry["opponent"]: entry["win_rate"] for entry in history}
    return ", ".join(f"{rate:.0%} against {opponent}" for opponent, rate in last.items())


def finish(training: Run, finished: bool, console: Console) -> None:
    """Evaluate, and write results and learning curve."""
    args, folder = training.args, training.folder
    results: list[Result] = []
    report = {
        **provenance(),
        **describe(args.hidden),
        "configuration": plain(args),
        "opponents": list(map(str, YARDSTICKS)),
        "finished": finished,
        "steps": training.steps,
        "training_seconds": round(training.seconds, 1),
        "history": training.history,
    }
    try:
        for opponent in YARDSTICKS:
            seed = args.seed + 2  # neither the deals of training nor of the learning curve
            results.append(
                evaluate(training.agent(), opponent, args.final_games, args.players, seed)
            )
            console.print(str(results[-1]), highlight=False, soft_wrap=True)
    except KeyboardInterrupt:
        console.print("the evaluation was stopped")
    write_json(folder / RESULTS_FILE, report | {"evaluation": [asdict(r) for r in results]})
    title = f"MaskablePPO, {args.players} players, seed {args.seed}"
    plot_learning_curve(training.history, args.players, title, folder / CURVE_FILE)
    console.print(f"{training.steps:,} decisions in {training.seconds:.0f} s; all is in {folder}")
    if not finished:
        console.print(f"go on with: python -m training.train --resume {folder}")


def prepare(args: Args) -> Callable[[], Run]:
    """Return the work of a new run, or of going on with one."""
    training = resume(args, args.resume) if args.resume else start(args)

    def work() -> Run:
        console = make_console()
        finish(training, train(training, console), console)
        return training

    return work


def read_arguments(words: list[str]) -> Args:
    """Return the arguments; with `--resume`, the run's own, and no others.

    Raises:
        ValueError: an argument differs from the run's configuration.
    """
    args = tyro.cli(Args, args=words)
    if args.resume is None:
        return args
    saved = read_config(args.resume)
    given = tyro.cli(Args, args=words, default=replace(saved, resume=None))
    check_configuration(given, plain(saved))
    if given.runs != saved.runs:
        raise ValueError("--runs is for new runs: --resume names the folder to go on in")
    return saved


if __name__ == "__main__":
    run(lambda: prepare(read_arguments(sys.argv[1:])))
