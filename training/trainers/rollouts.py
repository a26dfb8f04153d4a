"""Learn from rollouts: ``python -m training.rollouts``. What wins if the expert plays on.

The network plays, and beside it the expert; at every decision each legal action is tried in games
that are re-dealt from what the actor sees and played to their ends by the expert. The network
learns which action won more, averaged over many positions that are alike, and so plays better than
the expert at the price of one look. (Rollouts of a base policy: Tesauro and Galperin 1996; learning
where the learner itself gets to: Ross, Gordon and Bagnell 2011.)

    python -m training.rollouts --players 2 3 4 --shares 2 1 1     one agent for three table sizes
    python -m training.rollouts --start FOLDER --beliefs           goes on with what others did
    python -m training.rollouts --resume runs/rollouts-seed0       goes on exactly where it stopped
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from agents.beliefs.features import BELIEF_SIZE
from agents.builtin import ExpertAgent
from agents.cli import run
from agents.network.checkpoint import MODEL_FILE
from agents.network.policy import PolicyAgent
from agents.search.rollouts import evaluate_actions
from taki_env import View
from taki_env.base.threads import each_chunk
from taki_env.base.types import Integers
from taki_env.core.bits import ONE, spread_words
from taki_env.core.cards import MAX_PLAYERS, NUM_ACTIONS
from taki_env.core.memory import Memory
from training.trainers import run_folder as runs
from training.trainers.seat_tables import TableOptions, TableTrainer

SHARPNESS = 40
"""Logits per return: the network samples an action that is 0.025 better e times as often."""
GAIN_WEIGHT = 0.3
"""Of what the network's own choices win, in the loss."""


@dataclass(frozen=True)
class RolloutArgs(TableOptions):
    """Train one network to choose what wins most in rollouts of the expert."""

    steps: int = 4_000_000
    """Decisions of all seats to go through, rounded up to whole rollouts."""
    rollout: int = 16
    """Decisions of each game between two updates."""
    learning_rate: float = 3e-3
    """At the start; it falls in a straight line to a twentieth."""
    batch_size: int = 512
    """Decisions in a gradient step."""
    deals: int = 16
    """Re-deals in which the actions of a decision are tried."""
    own: float = 0.5
    """Share of the seats that the network takes, drawn anew every game; the expert has the rest."""
    beliefs: bool = False
    """Let the network see what the others are expected to hold after what they did, and re-deal by
    that. A decision takes longer, then and later."""

    may_be_0: ClassVar = ("seed", "own")

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return f"{'beliefs' if self.beliefs else 'rollouts'}-seed{self.seed}"

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        super().check()
        if self.own > 1:
            raise ValueError(f"--own must be at most 1, not {self.own}")


class RolloutTrainer(TableTrainer):
    """A training run: all that it takes to go on exactly."""

    def __init__(self, args: RolloutArgs, folder: Path) -> None:
        super().__init__(args, folder, "Rollouts of the expert")
        self.own_seats = self.rng.random((args.games, MAX_PLAYERS)) < args.own
        """Which seats of each game are the network's, (games, 10)."""

    def play(self) -> list[Tensor]:
        """Play a rollout; return the inputs, masks and action values of its choices."""
        seen: list[tuple[np.ndarray, ...]] = []
        seed = int(self.rng.integers(2**32))
        network = PolicyAgent(self.network, "network", sample=True, seed=seed)
        expert = ExpertAgent(seed)
        for _ in range(self.args.rollout):
            masks = self.table.action_masks()
            actions = masks.argmax(1)  # the only one, where there is no choice
            choice = np.flatnonzero(masks.sum(1) > 1)
            view = self.table.view(choice)
            inputs, values = self.try_actions(view, choice)
            seen.append((inputs, view.action_masks, values))
            own = self.own_seats[choice, self.table.actors[choice]]
            if own.any():
                chosen = network.choose(torch.from_numpy(inputs[own]), self.table.view(choice[own]))
                actions[choice[own]] = chosen
            if not own.all():
                actions[choice[~own]] = expert.act(self.table.view(choice[~own]))
            ended = np.unique(self.table.step(actions).games)
            self.own_seats[ended] = self.rng.random((ended.size, MAX_PLAYERS)) < self.args.own
        return [torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*seen, strict=True)]

    def try_actions(self, view: View, games: Integers) -> tuple[np.ndarray, np.ndarray]:
        """Return the network's inputs and what each legal action returns in rollouts, (B, 64)."""
        values = np.zeros((len(view), NUM_ACTIONS), np.float32)
        beliefs = np.zeros((len(view), BELIEF_SIZE), np.float32)
        states = view.sample_states(1, self.rng)[:, 0]
        words = spread_words(view.random_words(self.rng), 1)[:, 0] | ONE

        def evaluate(chunk: slice) -> None:
            memory = self.table.view(games[chunk]).memory or Memory.empty(states[chunk])
            evaluate_actions(
                states[chunk], words[chunk], self.args.deals, memory.arrays(),
                values[chunk], beliefs[chunk],
            )  # fmt: skip

        each_chunk(self.args.threads, len(view), evaluate)
        known = [view.observations, beliefs] if self.args.beliefs else [view.observations]
        return np.hstack(known), values

    def iterate(self) -> None:
        """Play a rollout and learn from it."""
        start = time.perf_counter()
        self.anneal()
        data = self.play()
        order = torch.from_numpy(self.rng.permutation(len(data[0])))
        parts = order.tensor_split(max(1, len(order) // self.args.batch_size))
        for part in parts if len(order) else ():  # nobody may have had a choice
            loss = self.loss(*(array[part] for array in data))
            if not loss.isfinite():
                raise FloatingPointError(f"the loss is {loss.item()}: lower --learning-rate")
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
        self.iteration += 1
        self.seconds += time.perf_counter() - start

    def loss(self, inputs: Tensor, masks: Tensor, values: Tensor) -> Tensor:
        """Return the squared errors of the advantages and of the value, less what choices win.

        The squared error teaches all advantages, far from the network's choices too; what its
        choices win over the mean of the legal actions is what it is to be good at. The value is
        that of the likeliest action.
        """
        logits, value = self.network(inputs)
        advantages = centered(values, masks)
        error = centered(logits, masks) / SHARPNESS - advantages
        policy = torch.softmax(logits.masked_fill(masks == 0, -torch.inf), 1)
        gain = (policy * advantages).sum(1).mean()
        best = policy.argmax(1, keepdim=True)
        of_advantages = error.square().sum(1).mean()
        of_values = (value - values.gather(1, best)).square().mean()
        self.figures = {
            "train/advantage_loss": of_advantages.item(),
            "train/explained": (1 - of_advantages / advantages.square().sum(1).mean()).item(),
            "train/value_loss": of_values.item(),
            "train/gain": gain.item(),
        }
        return of_advantages + of_values - GAIN_WEIGHT * gain


def centered(values: Tensor, masks: Tensor) -> Tensor:
    """Return values less their mean over the legal actions, 0 for all others."""
    mean = (values * masks).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return (values - mean) * masks


def prepare(args: RolloutArgs) -> Callable[[], runs.Run]:
    """Return the work of a new run, or of going on with one."""
    return runs.prepare(args, RolloutTrainer, MODEL_FILE, "training.rollouts")


def main() -> None:
    """Run the command."""
    run(lambda: prepare(runs.read_arguments(RolloutArgs, sys.argv[1:])))
