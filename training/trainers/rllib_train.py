"""Train by self-play on Ray RLlib: ``python -m training.rllib_train``.

PPO on RLlib's new API stack. One network plays every seat; in a share of the games a frozen
snapshot of it, renewed at intervals, takes all seats but one. Env runners play on as many cores
and machines as there are (docs/rllib.md); one learner, in this process, learns.

    python -m training.rllib_train --num-env-runners 2                   a local Ray
    python -m training.rllib_train --num-env-runners 64 --address auto   the cluster it runs on
    python -m training.rllib_train --resume runs/rllib-2p-seed0          goes on from its checkpoint
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
from typing import Any

import torch
from torch.utils.tensorboard import SummaryWriter

from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import MODEL_FILE, save_network
from agents.network.network import TakiNetwork
from taki_env.core.rules import Rules
from training.trainers import run_folder as runs

LEARNER, PAST = "learner", "past"
FIGURES = ("policy_loss", "vf_loss", "entropy")  # RLlib's names


@dataclass(frozen=True)
class RLlibArgs(runs.PPOOptions):
    """Train one network for every seat by PPO self-play on Ray RLlib."""

    num_env_runners: int = 2
    """Processes that play, of one core each; 0 plays in the learner's."""
    address: str | None = None
    """Of a running Ray cluster, or auto for the one on this machine; a local Ray by default."""
    players: int = 2
    """Seats at the table, 2 to 10."""
    rollout: int = 8192
    """Decisions of all seats between two updates, rounded up to whole games."""
    batch_size: int = 1024
    """Decisions in a gradient step."""
    epochs: int = 4
    """Passes over a rollout."""
    clip: float = 0.2
    """Bound on how far an update moves the probability of an action."""
    value_weight: float = 0.5
    """Weight of the value's error in the loss."""
    max_gradient: float = 0.5
    """Norm to which gradients are cut."""
    past_games: float = 0.3
    """Share of the games in which the snapshot takes all seats but one."""
    snapshot_every: int = 10
    """Rollouts between two renewals of the snapshot."""
    evaluate_every: int = 10
    """Rollouts between two evaluations, and between two checkpoints."""

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """The one number of players."""
        return (self.players,)

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return f"rllib-{self.players}p-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        Rules.from_words(self.rules).check_players(self.players)
        runs.check_numbers(self, ("seed", "entropy", "past_games", "gae_lambda"))
        if self.num_env_runners < 0:
            raise ValueError(f"--num-env-runners must be 0 or more, not {self.num_env_runners}")
        if self.past_games > 1:
            raise ValueError(f"--past-games must be at most 1, not {self.past_games}")
        if not 2 <= self.batch_size <= self.rollout:
            raise ValueError(f"--batch-size must be 2 to --rollout, not {self.batch_size}")


def module_of(agent: str, episode: Any, players: int, past_games: float, **_: Any) -> str:
    """Return who plays a seat: the learner, or the snapshot at all seats but one of some games."""
    draw = zlib.crc32(episode.id_.encode())
    own = f"player_{draw % players}"
    return LEARNER if draw >= past_games * 2**32 or agent == own else PAST


def configuration(args: RLlibArgs) -> Any:
    """Return the run as RLlib's PPOConfig."""
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
    """Return RLlib's schedule of a value that falls in a straight line to a twentieth."""
    return [[0, value], [steps, value * runs.LOWEST_RATE]]


class RLlibTrainer:
    """A training run: RLlib's algorithm, evaluated and kept as other runs are."""

    def __init__(self, args: RLlibArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        torch.set_num_threads(args.threads)
        self.algorithm = configuration(args).build_algo()
        self.iteration, self.steps, self.seconds = 0, 0, 0.0
        self.history: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.title = f"RLlib self-play, {args.players} players, seed {args.seed}"
        self.writer = SummaryWriter(str(folder))

    @property
    def total(self) -> int:
        """Decisions in all; the last rollout may go beyond."""
        return self.args.steps

    @property
    def checkpoint(self) -> str:
        """The name of RLlib's checkpoint of this moment."""
        return f"rllib-{self.iteration}"

    @property
    def network(self) -> TakiNetwork:
        """What the learner has learned, as the driver's copy."""
        return self.algorithm.get_module(LEARNER).network

    def iterate(self) -> None:
        """Play a rollout and learn from it; at intervals, renew the snapshot."""
        start = time.perf_counter()
        results = self.algorithm.train()
        self.steps += int(results["env_runners"]["num_env_steps_sampled"])
        learned = results["learners"][LEARNER]
        self.figures = {f"train/{name}": float(learned[name]) for name in FIGURES}
        self.iteration += 1
        if self.iteration % self.args.snapshot_every == 0:
            self.renew_snapshot()
        self.seconds += time.perf_counter() - start

    def renew_snapshot(self) -> None:
        """Give the snapshot the learner's weights, in the learner and on every env runner.

        These take weights only with a number higher than that of their last, or with none.
        """
        weights = {"rl_module": {PAST: self.algorithm.get_module(LEARNER).get_state()}}
        self.algorithm.learner_group.set_state({"learner": weights})
        runners = self.algorithm.env_runner_group
        runners.foreach_env_runner(lambda runner: runner.set_state(weights))

    def is_due(self) -> bool:
        """Tell whether it is time for an evaluation and a checkpoint."""
        return self.iteration % self.args.evaluate_every == 0

    def log(self, figures: dict[str, float]) -> None:
        """Write figures of an evaluation, and of the last update, for TensorBoard."""
        for name, figure in (figures | self.figures).items():
            self.writer.add_scalar(name, figure, self.steps)
        self.writer.flush()

    def state(self) -> dict[str, Any]:
        """Write RLlib's checkpoint, a folder; return its name and what RLlib does not know."""
        self.algorithm.save_to_path((self.folder / self.checkpoint).resolve())
        return {"rllib": self.checkpoint, "iteration": self.iteration, "steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`: with its weights, optimizer and schedules, in other games."""
        self.algorithm.restore_from_path((self.folder / state["rllib"]).resolve())
        self.iteration, self.steps = state["iteration"], state["steps"]

    def save_model(self, path: Path) -> None:
        """Write the file that ``agents.load("policy:PATH")`` plays, without Ray."""
        made_by = {**provenance(), "configuration": runs.plain(self.args)}
        save_network(path, self.network, made_by)
        for folder in self.folder.glob("rllib-*"):
            if folder.name != self.checkpoint:  # the one before was kept until this one was whole
                shutil.rmtree(folder)


def connect(args: RLlibArgs) -> None:
    """Connect to the cluster, or start a local Ray, unless this process has one already.

    Raises:
        ValueError: Ray is not installed, or has fewer cores than it would wait for.
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


def prepare(args: RLlibArgs) -> Callable[[], runs.Run]:
    """Return the work of a new run, or of going on with one."""
    args.check()
    connect(args)
    return runs.prepare(args, RLlibTrainer, MODEL_FILE, "training.rllib_train")


def main() -> None:
    """Run the command."""
    run(lambda: prepare(runs.read_arguments(RLlibArgs, sys.argv[1:])))
