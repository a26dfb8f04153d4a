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
import math
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure

from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import DESCRIPTION, MODEL_FILE, describe
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env.core.rules import Rules
from taki_env.envs.sb3 import TakiVecEnv
from training.trainers import run_folder as runs
from training.trainers.sb3_policy import TakiPolicy


@dataclass(frozen=True)
class PPOArgs(runs.PPOOptions):
    """Train an agent with MaskablePPO against random, greedy and snapshots of itself."""

    players: int = 2
    """Seats at the table, 2 to 10."""
    steps: int = 1_100_000
    """Decisions of the learner to train on, rounded up to whole rollouts."""
    envs: int = 256
    """Games side by side."""
    batch_size: int = 2048
    """Decisions in a gradient step."""
    epochs: int = 4
    """Passes over a rollout."""
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

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """The one number of players."""
        return (self.players,)

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return f"{self.players}p-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        Rules.from_words(self.rules).check_players(self.players)
        weights = ("random_weight", "greedy_weight", "self_weight")
        runs.check_numbers(self, ("seed", "entropy", "gae_lambda", *weights))
        if not self.random_weight + self.greedy_weight > 0:
            raise ValueError("--random-weight or --greedy-weight must be above 0")
        if self.batch_size < 2 or self.envs * self.rollout % self.batch_size:
            raise ValueError(
                f"--batch-size must be 2 or more and divide a rollout of "
                f"{self.envs} x {self.rollout} decisions, not {self.batch_size}"
            )


# What can be taken from a run and put back --------------------------------------------------------


class PPOTrainer:
    """A training run: the model, its opponents, and all that it takes to go on exactly."""

    def __init__(self, args: PPOArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        torch.set_num_threads(args.threads)
        rules, opponents = Rules.from_words(args.rules), self.opponents([])
        self.env = TakiVecEnv(args.envs, args.players, rules, opponents)
        self.model = MaskablePPO(
            TakiPolicy, self.env, n_steps=args.rollout, batch_size=args.batch_size,
            n_epochs=args.epochs, gamma=1.0, gae_lambda=args.gae_lambda, ent_coef=args.entropy,
            learning_rate=args.learning_rate, seed=args.seed, device="cpu",
            policy_kwargs={"hidden": args.hidden, "symmetric": args.symmetric},
        )  # fmt: skip
        setattr(self.model, DESCRIPTION, describe(args))
        self.model.made_by = {**provenance(), "configuration": runs.plain(args)}
        self.model.set_logger(configure(str(folder), ["tensorboard"]))
        self.snapshots: list[PolicyAgent] = []
        self.history: list[dict[str, Any]] = []
        self.iteration, self.taken, self.seconds = 0, 0, 0.0
        self.title = f"MaskablePPO, {args.players} players, seed {args.seed}"

    @property
    def steps(self) -> int:
        """The learner's decisions so far."""
        return int(self.model.num_timesteps)

    @property
    def total(self) -> int:
        """The learner's decisions in all, in whole rollouts."""
        rollout = self.args.envs * self.args.rollout
        return math.ceil(self.args.steps / rollout) * rollout

    @property
    def network(self) -> TakiNetwork:
        """What has been learned so far."""
        return self.model.policy.network

    def opponents(self, snapshots: list[PolicyAgent]) -> dict[Any, float]:
        """Return the weights by which each opponent's seat is filled."""
        args = self.args
        weights: dict[Any, float] = {"random": args.random_weight, "greedy": args.greedy_weight}
        return weights | {snapshot: args.self_weight / len(snapshots) for snapshot in snapshots}

    def iterate(self) -> None:
        """Play a rollout and learn from it; at intervals, take a snapshot as an opponent."""
        start = time.perf_counter()
        fraction = max(runs.LOWEST_RATE, 1 - self.steps / self.args.steps)
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
        weights = self.network.state_dict()
        self.snapshots[place].network.load_state_dict(weights)
        self.taken += 1

    def add_opponent(self) -> None:
        """Add a network to the pool, which plays by sampling."""
        network = copy.deepcopy(self.network).eval()
        number = len(self.snapshots) + 1
        name, seed = f"snapshot {number}", self.args.seed + number
        self.snapshots.append(PolicyAgent(network, name, sample=True, seed=seed))
        self.env.games.change_opponents(self.opponents(self.snapshots))

    def is_due(self) -> bool:
        """Tell whether it is time for an evaluation and a checkpoint."""
        return self.iteration % self.args.evaluate_every == 0

    def log(self, figures: dict[str, float]) -> None:
        """Write figures of an evaluation for TensorBoard."""
        for name, figure in figures.items():
            self.model.logger.record(name, figure)
        self.model.logger.dump(self.steps)

    def state(self) -> dict[str, Any]:
        """Return everything that changes in training, as tensors and plain values."""
        model, numpy_state = self.model, np.random.get_state(legacy=False)
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "counters": [model.num_timesteps, model._n_updates, self.iteration, self.taken],
            "last": [
                torch.tensor(last)
                for last in (model._last_obs, model._last_episode_starts)
                if last is not None  # as they are before the first rollout
            ],
            "episodes": list(model.ep_info_buffer or []),
            "torch": torch.get_rng_state(),
            "numpy": json.dumps(numpy_state, default=np.ndarray.tolist),
            "games": runs.as_tensors(self.env.games.state_dict()),
            "games_seed": self.env.games.batch.seed,
            "lengths": torch.tensor(self.env.lengths),
            "snapshots": [agent.network.state_dict() for agent in self.snapshots],
            "snapshot_generators": [agent.rng.bit_generator.state for agent in self.snapshots],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model.num_timesteps, model._n_updates, self.iteration, self.taken = state["counters"]
        if state["last"]:
            model._last_obs, model._last_episode_starts = (last.numpy() for last in state["last"])
        for weights, generator in zip(
            state["snapshots"], state["snapshot_generators"], strict=True
        ):
            self.add_opponent()
            self.snapshots[-1].network.load_state_dict(weights)
            self.snapshots[-1].rng.bit_generator.state = generator
        games = self.env.games
        games.batch.seed = state["games_seed"]
        games.load_state_dict(runs.as_arrays(state["games"], games.state_dict()))
        self.env.lengths[:] = state["lengths"].numpy()
        model.ep_info_buffer = deque(state["episodes"], maxlen=model._stats_window_size)
        model.ep_success_buffer = deque(maxlen=model._stats_window_size)
        torch.set_rng_state(state["torch"])
        np.random.set_state(json.loads(state["numpy"]))

    def save_model(self, path: Path) -> None:
        """Write the model as Stable-Baselines3 does."""
        self.model.save(path)


# Starting and going on ----------------------------------------------------------------------------


def prepare(args: PPOArgs) -> Callable[[], runs.Run]:
    """Return the work of a new run, or of going on with one."""
    return runs.prepare(args, PPOTrainer, MODEL_FILE, "training.train")


def main() -> None:
    """Run the command."""
    run(lambda: prepare(runs.read_arguments(PPOArgs, sys.argv[1:])))
