"""Train by self-play: ``python -m training.selfplay``. PPO in plain torch.

One network plays every seat of every table, and observes it from the actor's seat. Every decision
with a choice is a training sample, with the result of its own seat. Tables of several sizes are
played together; at some of them, past snapshots or other agents have all seats but one.

    python -m training.selfplay                                    two players, a few minutes
    python -m training.selfplay --players 2 3 4 --shares 2 1 1     one agent for three table sizes
    python -m training.selfplay --resume runs/selfplay-seed0       resume exactly where it stopped
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

import agents
from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import save_network
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env import OBSERVATION_SIZE, SelfPlay
from taki_env.base.types import Integers
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.rules import Rules
from taki_env.envs.opponents import Agent, remembers
from taki_env.envs.selfplay import Credits
from training.cli import stopping
from training.trainers import checkpoints
from training.trainers.evaluation import evaluate, finish
from training.trainers.options import TableOptions, annealed, plain
from training.trainers.progress import log_figures, progress_bar
from training.trainers.run_folder import read_arguments


@dataclass(frozen=True)
class SelfPlayArgs(TableOptions):
    """Train one network for every seat by PPO self-play."""

    steps: int = 4_000_000
    """Decisions of all seats to train on, rounded up to whole rollouts."""
    epochs: int = 2
    """Passes over each rollout."""
    gae_lambda: float = 0.95
    """Lambda of the generalized advantage estimate; returns are not discounted."""
    clip: float = 0.2
    """PPO clipping: bound on the relative change of an action's probability per update."""
    entropy: float = 0.01
    """Weight of the entropy bonus; it falls with the learning rate."""
    value_weight: float = 0.5
    """Weight of the value error in the loss."""
    max_gradient: float = 0.5
    """Maximum norm of the gradient."""
    past_games: float = 0.2
    """Share of the games in which a past snapshot has all seats but one."""
    snapshot_every: int = 20
    """Rollouts between two snapshots."""
    pool: int = 8
    """Number of most recent snapshots that take turns as past selves."""
    opponents: tuple[str, ...] = ()
    """Agents, such as expert, that take turns in all seats but one of some games."""
    opponent_games: float = 0.2
    """Share of the games in which they play."""

    MAY_BE_0: ClassVar = ("seed", "entropy", "past_games", "opponent_games", "gae_lambda")

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return f"selfplay-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value of the wrong type or out of range; names the option."""
        super().check()
        if self.past_games + self.opponent_games > 1:
            raise ValueError("--past-games and --opponent-games must sum to at most 1")
        if self.batch_size < 2:
            raise ValueError(f"--batch-size must be at least 2, got {self.batch_size}")
        for name in self.opponents:
            agents.load(name)


class Rollout:
    """Samples of a rollout; all arrays are (rollout, games, ...)."""

    def __init__(self, steps: int, games: int) -> None:
        self.observations = np.empty((steps, games, OBSERVATION_SIZE), np.float32)
        self.masks = np.empty((steps, games, NUM_ACTIONS), np.int8)
        self.actors, self.actions = np.empty((2, steps, games), np.int64)
        self.log_probabilities, self.values = np.zeros((2, steps, games), np.float32)
        self.advantages, self.returns = np.zeros((2, steps, games), np.float32)
        self.learned = np.empty((steps, games), np.bool_)
        """Decisions of the network that had a choice; others are not training samples."""


class SelfPlayTrainer:
    """A self-play run.

    Args:
        args: the configuration.
        folder: the run folder.
    """

    def __init__(self, args: SelfPlayArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        self.title = f"Self-play, {' '.join(map(str, args.players))} players, seed {args.seed}"
        torch.manual_seed(args.seed)
        torch.set_num_threads(args.threads)
        self.rng = np.random.default_rng(args.seed)
        self.network = TakiNetwork(args.hidden, args.symmetric)
        if args.start and not args.resume:
            self.network.load_state_dict(checkpoints.start_weights(args))
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.learning_rate, eps=1e-5)
        self.players = args.table_sizes
        self.table = SelfPlay(
            args.games, self.players, Rules.from_words(args.rules), seed=args.seed,
            keep_actions=any(remembers(agents.load(name)) for name in args.opponents),
        )  # fmt: skip
        self.data = Rollout(args.rollout, args.games)
        self.past: list[TakiNetwork] = []
        self.own_seats = self.rng.integers(0, self.players)
        """The network's seat in games with rivals, (games,)."""
        spread = np.arange(args.games) * 0.618034 % 1  # spreads rivals evenly over table sizes
        self.with_past = spread < args.past_games
        self.with_opponents = (spread >= 1 - args.opponent_games) & bool(args.opponents)
        self.iteration, self.seconds, self.decay = 0, 0.0, 1.0
        self.history: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.writer = SummaryWriter(str(folder))

    @property
    def steps(self) -> int:
        """Decisions of all seats so far."""
        return self.iteration * self.args.rollout * self.args.games

    @property
    def total(self) -> int:
        """Decisions of the whole run, in whole rollouts."""
        rollout = self.args.rollout * self.args.games
        return math.ceil(self.args.steps / rollout) * rollout

    # The training loop ----------------------------------------------------------------------------

    def train(self, console: Console) -> None:
        """Train to the end, with evaluations and checkpoints when due.

        Raises:
            KeyboardInterrupt: Ctrl-C stopped the run after the rollout in progress.
        """
        with stopping(console, "rollout") as stopped, progress_bar(self, console) as show:
            if not self.history:
                checkpoints.save(self)  # from here on the run can be resumed
                log_figures(self.writer, evaluate(self) | self.figures, self.steps)
            while self.steps < self.total and not stopped():
                self.iterate()
                due = self.seconds - self.history[-1]["seconds"] >= self.args.evaluate_seconds
                if due or self.steps >= self.total or stopped():
                    log_figures(self.writer, evaluate(self) | self.figures, self.steps)
                    checkpoints.save(self)
                show()
        finish(self, console, "training.selfplay")

    def iterate(self) -> None:
        """Play a rollout and learn from it; take a snapshot when due."""
        start, args = time.perf_counter(), self.args
        self.decay = annealed(self.steps, args.steps)
        self.optimizer.param_groups[0]["lr"] = args.learning_rate * self.decay
        credits = self.play()
        self.estimate(credits)
        self.learn()
        self.iteration += 1
        if self.iteration % args.snapshot_every == 0:
            self.past = [*self.past, copy.deepcopy(self.network).eval()][-args.pool :]
        self.seconds += time.perf_counter() - start

    # 1. Play a rollout ----------------------------------------------------------------------------

    def play(self) -> list[Credits]:
        """Fill the rollout; return the rewards of the games that ended, per decision."""
        data, credits, rivals = self.data, [], self.rivals()
        for t in range(self.args.rollout):
            self.table.observations(data.observations[t])
            self.table.action_masks(data.masks[t])
            data.actors[t] = self.table.actors
            actions = data.masks[t].argmax(1)  # the only one where there is no choice
            choice = data.masks[t].sum(1) > 1
            data.learned[t] = choice
            for agent, at in rivals:
                theirs = np.flatnonzero(choice & at & (data.actors[t] != self.own_seats))
                data.learned[t, theirs] = False
                if theirs.size:
                    actions[theirs] = agent.act(self.table.view(theirs))
            self.act(t, np.flatnonzero(data.learned[t]), actions)
            data.actions[t] = actions
            credits.append(self.table.step(actions))
            ended = np.unique(credits[-1].games)
            self.own_seats[ended] = self.rng.integers(0, self.players[ended])
        return credits

    def rivals(self) -> list[tuple[Agent, npt.NDArray[np.bool_]]]:
        """Return this rollout's rivals, each with the games in which it plays, (games,)."""
        turn, rivals = self.iteration, list[tuple[Agent, npt.NDArray[np.bool_]]]()
        seed = int(np.random.default_rng([self.args.seed, turn]).integers(2**32))
        if self.past:
            past = PolicyAgent(self.past[turn % len(self.past)], "past", sample=True, seed=seed)
            rivals.append((past, self.with_past))
        if names := self.args.opponents:
            agent = agents.load(names[turn % len(names)], seed)
            rivals.append((agent, self.with_opponents))
        return rivals

    @torch.inference_mode()
    def act(self, t: int, games: Integers, actions: Integers) -> None:
        """Sample the network's actions in some games, and write them to `actions`, (games,)."""
        data = self.data
        logits, values = self.network(torch.from_numpy(data.observations[t, games]))
        logits[torch.from_numpy(data.masks[t, games]) == 0] = -torch.inf
        distribution = torch.distributions.Categorical(logits=logits, validate_args=False)
        sampled: Tensor = distribution.sample()
        log_probabilities: Tensor = distribution.log_prob(sampled)
        actions[games] = sampled.numpy()
        data.log_probabilities[t, games] = log_probabilities.numpy()
        data.values[t, games] = values[:, 0].numpy()

    # 2. Compute targets ---------------------------------------------------------------------------

    def estimate(self, credits: list[Credits]) -> None:
        """Compute advantages and returns backward in time, for each seat along its own decisions.

        This is the generalized advantage estimate (Schulman et al. 2016) without discount. A seat's
        decision is followed by its next decision, or by its reward at the end of the game.
        """
        data, gae_lambda = self.data, self.args.gae_lambda
        next_values = self.current_values()
        next_advantages = np.zeros_like(next_values)
        for t in reversed(range(self.args.rollout)):
            ended = credits[t]
            next_values[ended.games, ended.seats] = ended.rewards
            next_advantages[ended.games, ended.seats] = 0
            games = np.flatnonzero(data.learned[t])
            seats = data.actors[t, games]
            error = next_values[games, seats] - data.values[t, games]
            advantages = error + gae_lambda * next_advantages[games, seats]
            data.advantages[t, games] = advantages
            data.returns[t, games] = advantages + data.values[t, games]
            next_values[games, seats] = data.values[t, games]
            next_advantages[games, seats] = advantages

    @torch.inference_mode()
    def current_values(self) -> npt.NDArray[np.float32]:
        """Return each seat's value of the games after the rollout, (games, most players)."""
        values = np.zeros((len(self.players), self.players.max()), np.float32)
        for seat in range(values.shape[1]):
            at = self.players > seat
            seen = self.table.batch.observations(seats=np.where(at, seat, 0))[at]
            values[at, seat] = self.network.value(torch.from_numpy(seen))[:, 0].numpy()
        return values

    # 3. Update the network ------------------------------------------------------------------------

    def learn(self) -> None:
        """Take gradient steps on the rollout."""
        args, chosen = self.args, np.flatnonzero(self.data.learned)
        names = ("observations", "masks", "actions", "log_probabilities", "advantages", "returns")
        arrays = [getattr(self.data, name).reshape(args.rollout * args.games, -1) for name in names]
        flat = [torch.from_numpy(array).squeeze(1) for array in arrays]
        for _ in range(args.epochs):
            if len(chosen) < 2:  # the advantages have no standard deviation
                return
            order = torch.from_numpy(self.rng.permutation(chosen))
            for part in order.tensor_split(max(1, len(order) // args.batch_size)):
                loss = self.loss(*(array[part] for array in flat))
                if not loss.isfinite():
                    raise FloatingPointError(f"the loss is {loss.item()}: lower --learning-rate")
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), args.max_gradient)
                self.optimizer.step()

    def loss(
        self, observations: Tensor, masks: Tensor, actions: Tensor,
        old: Tensor, advantages: Tensor, returns: Tensor,
    ) -> Tensor:  # fmt: skip
        """Return the clipped loss of PPO (Schulman et al. 2017), with value and entropy terms.

        Arguments have one row per decision, (B,) or (B, size); `old` holds the log probabilities
        at the time of acting.
        """
        args = self.args
        logits, values = self.network(observations)
        logs = torch.log_softmax(logits.masked_fill(masks == 0, -1e9), 1)
        ratio = torch.exp(logs.gather(1, actions[:, None])[:, 0] - old)
        gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        bounded = ratio.clamp(1 - args.clip, 1 + args.clip)
        policy_loss: Tensor = -torch.min(gain * ratio, gain * bounded).mean()
        value_loss: Tensor = (values[:, 0] - returns).square().mean()
        entropy: Tensor = -(logs.exp() * logs).sum(1).mean()
        self.figures = {
            "train/policy_loss": policy_loss.item(),
            "train/value_loss": value_loss.item(),
            "train/entropy": entropy.item(),
            "train/clipped": (ratio != bounded).float().mean().item(),
        }
        return policy_loss + args.value_weight * value_loss - args.entropy * self.decay * entropy

    # Saving and resuming -------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that changes during training, as tensors and plain values."""
        past = [network.state_dict() for network in self.past]
        return checkpoints.table_state(self) | {"past": past}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a `state`."""
        for weights in state["past"]:
            network = copy.deepcopy(self.network).eval()
            network.load_state_dict(weights)
            self.past.append(network)
        checkpoints.restore_table(self, state)

    def save_model(self, path: Path) -> None:
        """Write the file that ``agents.load("policy:PATH")`` plays."""
        made_by = {**provenance(), "configuration": plain(self.args)}
        save_network(path, self.network, made_by)


def prepare(args: SelfPlayArgs) -> Callable[[], SelfPlayTrainer]:
    """Return the work of a new run or of a resumed one."""
    return checkpoints.prepare_run(args, SelfPlayTrainer)


def main() -> None:
    """Run the command."""
    run(lambda: prepare(read_arguments(SelfPlayArgs, sys.argv[1:])))
