"""Train by self-play: ``python -m training.selfplay``. PPO in plain torch, read from top to bottom.

One network plays every seat of every table: it sees the table from the actor's seat, so what one
seat learns serves all. Every seat's decisions are learned from, each with its own seat's result.
Tables of several sizes stand side by side, and at some of them past selves take the other seats.
The network treats the four colors alike (`agents.network`).

    python -m training.selfplay                                    two players, a few minutes
    python -m training.selfplay --players 2 3 4 --shares 2 1 1     one agent for three table sizes
    python -m training.selfplay --resume runs/selfplay-seed0       goes on exactly where it stopped
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

import agents
from agents.cli import run
from agents.network.checkpoint import MODEL_FILE
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env import OBSERVATION_SIZE
from taki_env.core.cards import NUM_ACTIONS
from taki_env.envs.opponents import Agent, remembers
from training.trainers import run_folder as runs
from training.trainers.seat_tables import TableOptions, TableTrainer


@dataclass(frozen=True)
class SelfPlayArgs(TableOptions, runs.PPOOptions):
    """Train one network for every seat by PPO self-play."""

    steps: int = 4_000_000
    """Decisions of all seats to train on, rounded up to whole rollouts."""
    epochs: int = 2
    """Passes over a rollout."""
    clip: float = 0.2
    """Bound on how far an update moves the probability of an action."""
    value_weight: float = 0.5
    """Weight of the value's error in the loss."""
    max_gradient: float = 0.5
    """Norm to which gradients are cut."""
    past_games: float = 0.2
    """Share of the games in which a past self takes all seats but one."""
    snapshot_every: int = 20
    """Rollouts between two snapshots of past selves."""
    pool: int = 8
    """Latest snapshots that serve as past selves, in turn."""
    opponents: tuple[str, ...] = ()
    """Agents that take all seats but one in some more games, such as expert, in turn."""
    opponent_games: float = 0.2
    """Share of the games in which they do."""

    may_be_0: ClassVar = ("seed", "entropy", "past_games", "opponent_games", "gae_lambda")

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return f"selfplay-seed{self.seed}"

    @property
    def remembers(self) -> bool:
        """Whether any player asks for what was done before."""
        return any(remembers(agents.load(name)) for name in self.opponents)

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        super().check()
        if self.past_games + self.opponent_games > 1:
            raise ValueError("--past-games and --opponent-games must be at most 1 together")
        for name in self.opponents:
            agents.load(name)
        if self.batch_size < 2:
            raise ValueError(f"--batch-size must be 2 or more, not {self.batch_size}")


class Rollout:
    """What happened in `rollout` decisions of every game; first axis time, second games."""

    def __init__(self, steps: int, games: int) -> None:
        self.observations = np.empty((steps, games, OBSERVATION_SIZE), np.float32)
        self.masks = np.empty((steps, games, NUM_ACTIONS), np.int8)
        self.actors, self.actions = np.empty((2, steps, games), np.int64)
        self.log_probabilities, self.values = np.zeros((2, steps, games), np.float32)
        self.advantages, self.returns = np.zeros((2, steps, games), np.float32)
        self.learned = np.empty((steps, games), np.bool_)
        """Decisions of the network between several actions: others teach nothing."""


class SelfPlayTrainer(TableTrainer):
    """A training run: all that it takes to go on exactly."""

    def __init__(self, args: SelfPlayArgs, folder: Path) -> None:
        super().__init__(args, folder, "Self-play")
        self.data = Rollout(args.rollout, args.games)
        self.past: list[TakiNetwork] = []
        self.own_seats = self.rng.integers(0, self.players)
        """The network's seat where rivals have the others, (games,)."""
        spread = np.arange(args.games) * 0.618034 % 1  # evenly among the tables of each size
        self.with_past = spread < args.past_games
        self.with_opponents = (spread >= 1 - args.opponent_games) & bool(args.opponents)

    # Play -----------------------------------------------------------------------------------------

    def rivals(self) -> list[tuple[Agent, np.ndarray]]:
        """Return who plays in this rollout beside the network, and in which games, (games,)."""
        turn, rivals = self.iteration, []
        seed = int(np.random.default_rng([self.args.seed, turn]).integers(2**32))
        if self.past:
            past = PolicyAgent(self.past[turn % len(self.past)], "past", sample=True, seed=seed)
            rivals.append((past, self.with_past))
        if names := self.args.opponents:
            agent = agents.load(names[turn % len(names)], seed)
            rivals.append((agent, self.with_opponents))
        return rivals

    def play(self) -> list[Any]:
        """Fill the rollout; return what the games that ended after each decision brought."""
        data, credits, rivals = self.data, [], self.rivals()
        for t in range(self.args.rollout):
            self.table.observations(data.observations[t])
            self.table.action_masks(data.masks[t])
            data.actors[t] = self.table.actors
            actions = data.masks[t].argmax(1)  # the only one, where there is no choice
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

    @torch.inference_mode()
    def act(self, t: int, games: np.ndarray, actions: np.ndarray) -> None:
        """Sample the network's actions in some games."""
        data = self.data
        logits, values = self.network(torch.from_numpy(data.observations[t, games]))
        logits[torch.from_numpy(data.masks[t, games]) == 0] = -torch.inf
        distribution = torch.distributions.Categorical(logits=logits, validate_args=False)
        sampled = distribution.sample()
        actions[games] = sampled.numpy()
        data.log_probabilities[t, games] = distribution.log_prob(sampled).numpy()
        data.values[t, games] = values[:, 0].numpy()

    # Learn ----------------------------------------------------------------------------------------

    @torch.inference_mode()
    def expected_values(self) -> np.ndarray:
        """Return the value of every game for each of its seats, (games, most players)."""
        values = np.zeros((len(self.players), self.players.max()), np.float32)
        for seat in range(values.shape[1]):
            at = self.players > seat
            seen = self.table.batch.observations(seats=np.where(at, seat, 0))[at]
            values[at, seat] = self.network.value(torch.from_numpy(seen))[:, 0].numpy()
        return values

    def estimate(self, credits: list[Any]) -> None:
        """Estimate advantages backward in time, for each seat along its own decisions.

        What comes after a seat's decision is its next one, or its reward at the end of the game.
        """
        data, decay = self.data, self.args.gae_lambda
        next_values = self.expected_values()
        next_advantages = np.zeros_like(next_values)
        for t in reversed(range(self.args.rollout)):
            ended = credits[t]
            next_values[ended.games, ended.seats] = ended.rewards
            next_advantages[ended.games, ended.seats] = 0
            games = np.flatnonzero(data.learned[t])
            seats = data.actors[t, games]
            error = next_values[games, seats] - data.values[t, games]
            advantages = error + decay * next_advantages[games, seats]
            data.advantages[t, games] = advantages
            data.returns[t, games] = advantages + data.values[t, games]
            next_values[games, seats] = data.values[t, games]
            next_advantages[games, seats] = advantages

    def learn(self) -> None:
        """Take gradient steps on the rollout."""
        args, chosen = self.args, np.flatnonzero(self.data.learned)
        names = ("observations", "masks", "actions", "log_probabilities", "advantages", "returns")
        flat = [
            torch.from_numpy(array.reshape(args.rollout * args.games, -1)).squeeze(1)
            for array in (getattr(self.data, name) for name in names)
        ]
        for _ in range(args.epochs):
            if len(chosen) < 2:  # advantages have no spread
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
        """Return the clipped loss of PPO (Schulman et al. 2017), with value and entropy."""
        args = self.args
        logits, values = self.network(observations)
        logs = torch.log_softmax(logits.masked_fill(masks == 0, -1e9), 1)
        ratio = torch.exp(logs.gather(1, actions[:, None])[:, 0] - old)
        gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        bounded = ratio.clamp(1 - args.clip, 1 + args.clip)
        policy_loss = -torch.min(gain * ratio, gain * bounded).mean()
        value_loss = (values[:, 0] - returns).square().mean()
        entropy = -(logs.exp() * logs).sum(1).mean()
        self.figures = {
            "train/policy_loss": policy_loss.item(),
            "train/value_loss": value_loss.item(),
            "train/entropy": entropy.item(),
            "train/clipped": (ratio != bounded).float().mean().item(),
        }
        return policy_loss + args.value_weight * value_loss - args.entropy * self.left * entropy

    def iterate(self) -> None:
        """Play a rollout and learn from it; at intervals, keep a snapshot as a past self."""
        start, args = time.perf_counter(), self.args
        self.anneal()
        self.estimate(self.play())
        self.learn()
        self.iteration += 1
        if self.iteration % args.snapshot_every == 0:
            self.past = [*self.past, copy.deepcopy(self.network).eval()][-args.pool :]
        self.seconds += time.perf_counter() - start

    # Keep, go on ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that changes in training, as tensors and plain values."""
        return {**super().state(), "past": [network.state_dict() for network in self.past]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        for weights in state["past"]:
            network = copy.deepcopy(self.network).eval()
            network.load_state_dict(weights)
            self.past.append(network)
        super().restore(state)


def prepare(args: SelfPlayArgs) -> Callable[[], runs.Run]:
    """Return the work of a new run, or of going on with one."""
    return runs.prepare(args, SelfPlayTrainer, MODEL_FILE, "training.selfplay")


def main() -> None:
    """Run the command."""
    run(lambda: prepare(runs.read_arguments(SelfPlayArgs, sys.argv[1:])))
