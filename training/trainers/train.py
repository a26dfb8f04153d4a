"""Train with MaskablePPO against a mix of opponents: ``python -m training.train``.

The learner has one seat, drawn again for every game; random, greedy and frozen snapshots of the
learner have the others. Stable-Baselines3 plays the rollouts and updates the network.

    python -m training.train                           the default run: two players, a few minutes
    python -m training.train --players 4 --seed 1
    python -m training.train --resume runs/2p-seed0    resume exactly where it stopped
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
from typing import Any, ClassVar

import numpy as np
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure

from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import DESCRIPTION, describe
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env.base.types import Integers
from taki_env.core.rules import Rules
from taki_env.envs.sb3 import TakiVecEnv
from training.cli import stopping
from training.trainers.checkpoints import as_arrays, as_tensors, prepare_run, save
from training.trainers.evaluation import evaluate, finish
from training.trainers.options import Options, annealed, plain
from training.trainers.progress import progress_bar
from training.trainers.run_folder import read_arguments
from training.trainers.sb3_policy import TakiPolicy

EPISODES = 100
"""Number of last episodes that Stable-Baselines3 averages in its log."""


@dataclass(frozen=True)
class PPOArgs(Options):
    """Train an agent with MaskablePPO against random, greedy and snapshots of itself."""

    players: int = 2
    """Number of players, 2 to 10."""
    steps: int = 1_100_000
    """Decisions of the learner to train on, rounded up to whole rollouts."""
    envs: int = 256
    """Number of games played in parallel."""
    batch_size: int = 2048
    """Decisions per gradient step."""
    epochs: int = 4
    """Passes over each rollout."""
    gae_lambda: float = 0.95
    """Lambda of the generalized advantage estimate; returns are not discounted."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""
    random_weight: float = 0.3
    """Share of the opponents that play at random."""
    greedy_weight: float = 0.4
    """Share of the opponents that play greedy."""
    self_weight: float = 0.3
    """Share of the opponents that are snapshots of the learner, once there are any."""
    snapshot_every: int = 8
    """Rollouts between two snapshots."""
    pool: int = 5
    """Number of most recent snapshots that serve as opponents."""
    evaluate_every: int = 8
    """Rollouts between two evaluations, and between two checkpoints."""

    MAY_BE_0: ClassVar = (
        *("seed", "entropy", "gae_lambda", "random_weight", "greedy_weight", "self_weight"),
    )

    @property
    def table_sizes(self) -> Integers:
        """The one number of players, (1,)."""
        return np.array([self.players])

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return f"{self.players}p-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value of the wrong type or out of range; names the option."""
        super().check()
        Rules.from_words(self.rules).check_players(self.players)
        if not self.random_weight + self.greedy_weight > 0:
            raise ValueError("--random-weight or --greedy-weight must be above 0")
        if self.batch_size < 2 or self.envs * self.rollout % self.batch_size:
            raise ValueError(
                f"--batch-size must be at least 2 and divide a rollout of "
                f"{self.envs} x {self.rollout} decisions, got {self.batch_size}"
            )


class LearningRate:
    """The learning rate as a schedule of Stable-Baselines3, set by the trainer.

    SB3's own schedules follow the progress of one call of `learn`, which is one rollout here.
    """

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, progress_remaining: float) -> float:
        """Return the current learning rate."""
        return self.value


class PPOTrainer:
    """A MaskablePPO run: the model, its games and its opponents.

    Args:
        args: the configuration.
        folder: the run folder.
    """

    def __init__(self, args: PPOArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.title = f"MaskablePPO, {args.players} players, seed {args.seed}"
        torch.set_num_threads(args.threads)
        self.snapshots: list[PolicyAgent] = []
        rules = Rules.from_words(args.rules)
        self.env = TakiVecEnv(args.envs, args.players, rules, self.opponents())
        self.learning_rate = LearningRate(args.learning_rate)
        self.model = MaskablePPO(
            TakiPolicy, self.env, n_steps=args.rollout, batch_size=args.batch_size,
            n_epochs=args.epochs, gamma=1.0, gae_lambda=args.gae_lambda, ent_coef=args.entropy,
            learning_rate=self.learning_rate, seed=args.seed, device="cpu",
            stats_window_size=EPISODES,
            policy_kwargs={"hidden": args.hidden, "symmetric": args.symmetric},
        )  # fmt: skip
        made_by = {**provenance(), "configuration": plain(args)}
        for name, value in {DESCRIPTION: describe(args), "made_by": made_by}.items():
            setattr(self.model, name, value)  # SB3 writes attributes to the model file
        self.model.set_logger(configure(str(folder), ["tensorboard"]))
        self.history: list[dict[str, Any]] = []
        self.iteration, self.taken, self.seconds = 0, 0, 0.0

    @property
    def steps(self) -> int:
        """The learner's decisions so far."""
        return self.model.num_timesteps

    @property
    def total(self) -> int:
        """The learner's decisions of the whole run, in whole rollouts."""
        rollout = self.args.envs * self.args.rollout
        return math.ceil(self.args.steps / rollout) * rollout

    @property
    def network(self) -> TakiNetwork:
        """The network in its current state."""
        policy = self.model.policy
        assert isinstance(policy, TakiPolicy)
        return policy.network

    # The training loop ----------------------------------------------------------------------------

    def train(self, console: Console) -> None:
        """Train to the end, with evaluations and checkpoints when due.

        Raises:
            KeyboardInterrupt: Ctrl-C stopped the run after the rollout in progress.
        """
        with stopping(console, "rollout") as stopped, progress_bar(self, console) as show:
            if not self.history:
                save(self)  # from here on the run can be resumed
                self.log(evaluate(self))
            while self.steps < self.total and not stopped():
                self.iterate()
                if self.is_due() or self.steps >= self.total or stopped():
                    self.log(evaluate(self))
                    save(self)
                show()
        finish(self, console, "training.train")

    def iterate(self) -> None:
        """Play a rollout and learn from it; take a snapshot when due."""
        start, args = time.perf_counter(), self.args
        self.learning_rate.value = args.learning_rate * annealed(self.steps, args.steps)
        self.model.learn(args.envs * args.rollout, reset_num_timesteps=False)
        self.iteration += 1
        if self.iteration % args.snapshot_every == 0:
            self.take_snapshot()
        self.seconds += time.perf_counter() - start

    def is_due(self) -> bool:
        """Return whether it is time for an evaluation and a checkpoint."""
        return self.iteration % self.args.evaluate_every == 0

    def log(self, figures: dict[str, float]) -> None:
        """Write figures of an evaluation, and SB3's of the last update, for TensorBoard."""
        for name, figure in figures.items():
            self.model.logger.record(name, figure)
        self.model.logger.dump(self.steps)

    # Opponents ------------------------------------------------------------------------------------

    def opponents(self) -> dict[Any, float]:
        """Return the weights by which each opponent's seat is filled."""
        args = self.args
        weights: dict[Any, float] = {"random": args.random_weight, "greedy": args.greedy_weight}
        share = args.self_weight / max(1, len(self.snapshots))
        return weights | dict.fromkeys(self.snapshots, share)

    def take_snapshot(self) -> None:
        """Freeze a copy of the network as an opponent; it replaces the oldest of a full pool."""
        place = self.taken % self.args.pool
        if place == len(self.snapshots):
            self.add_opponent()
        self.snapshots[place].network.load_state_dict(self.network.state_dict())
        self.taken += 1

    def add_opponent(self) -> None:
        """Add a copy of the network to the pool; it samples its actions."""
        network = copy.deepcopy(self.network).eval()
        number = len(self.snapshots) + 1
        name, seed = f"snapshot {number}", self.args.seed + number
        self.snapshots.append(PolicyAgent(network, name, sample=True, seed=seed))
        self.env.games.change_opponents(self.opponents())

    # Saving and resuming --------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that changes during training, as tensors and plain values."""
        model, numpy_state = self.model, np.random.get_state(legacy=False)
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "counters": [model.num_timesteps, self.iteration, self.taken],
            "episodes": list(model.ep_info_buffer or []),
            "torch": torch.get_rng_state(),
            "numpy": json.dumps(numpy_state, default=np.ndarray.tolist),
            "games": as_tensors(self.env.games.state_dict()),
            "games_seed": self.env.games.batch.seed,
            "lengths": torch.tensor(self.env.lengths),
            "snapshots": [agent.network.state_dict() for agent in self.snapshots],
            "snapshot_generators": [agent.rng.bit_generator.state for agent in self.snapshots],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a `state`."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        # earlier versions have four counters, with SB3's number of updates in second place
        model.num_timesteps, *_, self.iteration, self.taken = state["counters"]
        for weights, generator in zip(
            state["snapshots"], state["snapshot_generators"], strict=True
        ):
            self.add_opponent()
            self.snapshots[-1].network.load_state_dict(weights)
            self.snapshots[-1].rng.bit_generator.state = generator
        games = self.env.games
        games.batch.seed = state["games_seed"]
        games.load_state_dict(as_arrays(state["games"], games.state_dict()))
        self.env.lengths[:] = state["lengths"].numpy()
        self.env.keep_games = self.iteration > 0  # SB3 resets the environment before it plays
        model.ep_info_buffer = deque(state["episodes"], maxlen=EPISODES)
        model.ep_success_buffer = deque(maxlen=EPISODES)
        torch.set_rng_state(state["torch"])
        np.random.set_state(json.loads(state["numpy"]))

    def save_model(self, path: Path) -> None:
        """Write the model as Stable-Baselines3 does; ``agents.load("policy:PATH")`` plays it."""
        self.model.save(path)


def prepare(args: PPOArgs) -> Callable[[], PPOTrainer]:
    """Return the work of a new run or of a resumed one."""
    return prepare_run(args, PPOTrainer)


def main() -> None:
    """Run the command."""
    run(lambda: prepare(read_arguments(PPOArgs, sys.argv[1:])))
