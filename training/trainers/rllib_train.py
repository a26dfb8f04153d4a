"""Train by self-play on Ray RLlib: ``python -m training.rllib_train``.

PPO on RLlib's new API stack. One network plays every seat; in a share of the games a frozen
snapshot of it has all seats but one. Env runners play on all cores and machines of the Ray cluster
(docs/rllib.md); one learner, in this process, updates the network.

    python -m training.rllib_train --num-env-runners 2                   a local Ray
    python -m training.rllib_train --num-env-runners 64 --address auto   this machine's cluster
    python -m training.rllib_train --resume runs/rllib-2p-seed0          resume from a checkpoint
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import save_network
from agents.network.network import TakiNetwork
from taki_env.base.types import Integers
from taki_env.core.rules import Rules
from training.cli import stopping
from training.trainers.checkpoints import prepare_run, save
from training.trainers.evaluation import evaluate, finish
from training.trainers.options import FINAL_FACTOR, Options, plain
from training.trainers.progress import log_figures, progress_bar
from training.trainers.run_folder import read_arguments

LEARNER, PAST = "learner", "past"
"""Names of the modules: the network that is trained, and its snapshot."""
FIGURES = ("policy_loss", "vf_loss", "entropy")
"""RLlib's names of the figures to log."""


@dataclass(frozen=True)
class RLlibArgs(Options):
    """Train one network for every seat by PPO self-play on Ray RLlib."""

    num_env_runners: int = 2
    """Number of processes that play, with one core each; 0 plays in the learner's process."""
    address: str | None = None
    """Address of a Ray cluster, or auto for this machine's cluster; a local Ray by default."""
    players: int = 2
    """Number of players, 2 to 10."""
    rollout: int = 8192
    """Decisions of all seats between two updates, rounded up to whole games."""
    batch_size: int = 1024
    """Decisions per gradient step."""
    epochs: int = 4
    """Passes over each rollout."""
    gae_lambda: float = 0.95
    """Lambda of the generalized advantage estimate; returns are not discounted."""
    clip: float = 0.2
    """PPO clipping: bound on the relative change of an action's probability per update."""
    entropy: float = 0.01
    """Weight of the entropy bonus; it falls linearly to a twentieth."""
    value_weight: float = 0.5
    """Weight of the value error in the loss."""
    max_gradient: float = 0.5
    """Maximum norm of the gradient."""
    past_games: float = 0.3
    """Share of the games in which the snapshot has all seats but one."""
    snapshot_every: int = 10
    """Rollouts between two updates of the snapshot."""
    evaluate_every: int = 10
    """Rollouts between two evaluations, and between two checkpoints."""

    MAY_BE_0: ClassVar = ("seed", "entropy", "past_games", "gae_lambda")

    @property
    def table_sizes(self) -> Integers:
        """The one number of players, (1,)."""
        return np.array([self.players])

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return f"rllib-{self.players}p-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value of the wrong type or out of range; names the option."""
        super().check()
        Rules.from_words(self.rules).check_players(self.players)
        if self.num_env_runners < 0:
            raise ValueError(f"--num-env-runners must be 0 or more, got {self.num_env_runners}")
        if not 2 <= self.batch_size <= self.rollout:
            raise ValueError(f"--batch-size must be 2 to --rollout, got {self.batch_size}")


def module_of(agent: str, episode: Any, players: int, past_games: float, **_: Any) -> str:
    """Return the module that plays a seat: the learner, or the snapshot in some games."""
    draw = zlib.crc32(episode.id_.encode())
    own = f"player_{draw % players}"
    return LEARNER if draw >= past_games * 2**32 or agent == own else PAST


def configuration(args: RLlibArgs) -> Any:
    """Return RLlib's PPOConfig of a run."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from training.trainers.rllib_env import TakiMultiAgentEnv, TakiRLModule, WholeGames

    network = {"hidden": args.hidden, "symmetric": args.symmetric}
    specs = {
        name: RLModuleSpec(module_class=TakiRLModule, model_config=network)
        for name in (LEARNER, PAST)
    }
    table = {"num_players": args.players, "rules": Rules.from_words(args.rules)}
    mapping = partial(module_of, players=args.players, past_games=args.past_games)
    return (
        PPOConfig()
        .environment(
            TakiMultiAgentEnv, env_config=table,
            disable_env_checking=True,  # RLlib's check takes actions that the mask forbids
        )
        .env_runners(
            env_runner_cls=WholeGames, num_env_runners=args.num_env_runners,
            batch_mode="complete_episodes", sample_timeout_s=None,
        )
        .multi_agent(policies={*specs}, policy_mapping_fn=mapping, policies_to_train=[LEARNER])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=specs))
        .training(
            train_batch_size_per_learner=args.rollout, minibatch_size=args.batch_size,
            num_epochs=args.epochs, gamma=1.0, lambda_=args.gae_lambda, use_kl_loss=False,
            clip_param=args.clip, vf_loss_coeff=args.value_weight, grad_clip=args.max_gradient,
            lr=falling(args.learning_rate, args.steps),
            entropy_coeff=falling(args.entropy, args.steps),
        )
        .debugging(seed=None if args.resume else args.seed)  # a resumed run plays other games
    )  # fmt: skip


def falling(value: float, steps: int) -> list[list[float]]:
    """Return RLlib's schedule of a value that falls linearly to a twentieth."""
    return [[0, value], [steps, value * FINAL_FACTOR]]


class RLlibTrainer:
    """A run of RLlib's algorithm.

    Args:
        args: the configuration.
        folder: the run folder.
    """

    def __init__(self, args: RLlibArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.title = f"RLlib self-play, {args.players} players, seed {args.seed}"
        torch.set_num_threads(args.threads)
        self.algorithm = configuration(args).build_algo()
        self.iteration, self.steps, self.seconds = 0, 0, 0.0
        self.history: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.writer = SummaryWriter(str(folder))

    @property
    def total(self) -> int:
        """Decisions of the whole run; the last rollout may exceed it."""
        return self.args.steps

    @property
    def checkpoint(self) -> str:
        """Name of RLlib's checkpoint after this rollout."""
        return f"rllib-{self.iteration}"

    @property
    def network(self) -> TakiNetwork:
        """The network in its current state, as this process's copy."""
        return cast(TakiNetwork, self.algorithm.get_module(LEARNER).network)

    # The training loop ----------------------------------------------------------------------------

    def train(self, console: Console) -> None:
        """Train to the end, with evaluations and checkpoints when due.

        Raises:
            KeyboardInterrupt: Ctrl-C stopped the run after the rollout in progress.
        """
        with stopping(console, "rollout") as stopped, progress_bar(self, console) as show:
            if not self.history:
                save(self)  # from here on the run can be resumed
                log_figures(self.writer, evaluate(self) | self.figures, self.steps)
            while self.steps < self.total and not stopped():
                self.iterate()
                due = self.iteration % self.args.evaluate_every == 0
                if due or self.steps >= self.total or stopped():
                    log_figures(self.writer, evaluate(self) | self.figures, self.steps)
                    save(self)
                show()
        finish(self, console, "training.rllib_train")

    def iterate(self) -> None:
        """Play a rollout and learn from it; update the snapshot when due."""
        start = time.perf_counter()
        results = self.algorithm.train()
        self.steps += int(results["env_runners"]["num_env_steps_sampled"])
        learned = results["learners"][LEARNER]
        self.figures = {f"train/{name}": float(learned[name]) for name in FIGURES}
        self.iteration += 1
        if self.iteration % self.args.snapshot_every == 0:
            self.update_snapshot()
        self.seconds += time.perf_counter() - start

    def update_snapshot(self) -> None:
        """Copy the learner's weights to the snapshot, in the learner and on every env runner.

        Env runners ignore weights with a sequence number that is not above their last one; these
        have none.
        """
        weights = {"rl_module": {PAST: self.algorithm.get_module(LEARNER).get_state()}}
        self.algorithm.learner_group.set_state({"learner": weights})
        runners = self.algorithm.env_runner_group
        runners.foreach_env_runner(lambda runner: runner.set_state(weights))

    # Saving and resuming --------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Write RLlib's checkpoint folder; return its name and the counters."""
        self.algorithm.save_to_path((self.folder / self.checkpoint).resolve())
        return {"rllib": self.checkpoint, "iteration": self.iteration, "steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a `state`: weights, optimizer and schedules, but other games."""
        self.algorithm.restore_from_path((self.folder / state["rllib"]).resolve())
        self.iteration, self.steps = state["iteration"], state["steps"]

    def save_model(self, path: Path) -> None:
        """Write the file that ``agents.load("policy:PATH")`` plays, without Ray."""
        made_by = {**provenance(), "configuration": plain(self.args)}
        save_network(path, self.network, made_by)
        for folder in self.folder.glob("rllib-*"):
            if folder.name != self.checkpoint:  # kept until this one was complete
                shutil.rmtree(folder)


def connect(args: RLlibArgs) -> None:
    """Connect to the cluster, or start a local Ray, unless this process has one already.

    Raises:
        ValueError: Ray is not installed, or has fewer cores than env runners.
        ConnectionError: there is no cluster at the address.
    """
    try:
        import ray
        import ray.rllib
    except ImportError as error:
        words = f'RLlib cannot be imported ({error}): pip install -e ".[rllib]"'
        raise ValueError(words) from error
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    if not ray.is_initialized():
        local = {"num_cpus": max(1, args.num_env_runners), "include_dashboard": False}
        options = {"address": args.address} if args.address else local
        ray.init(**options, logging_level=logging.ERROR, log_to_driver=False)
    if (cores := int(ray.cluster_resources().get("CPU", 0))) < args.num_env_runners:
        raise ValueError(f"--num-env-runners {args.num_env_runners}: Ray has {cores} cores")


def prepare(args: RLlibArgs) -> Callable[[], RLlibTrainer]:
    """Return the work of a new run or of a resumed one."""
    args.check()
    connect(args)
    return prepare_run(args, RLlibTrainer)


def main() -> None:
    """Run the command."""
    run(lambda: prepare(read_arguments(RLlibArgs, sys.argv[1:])))
