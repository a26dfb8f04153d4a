"""Train on rollouts of the expert: ``python -m training.rollouts``.

The network and the expert share the seats of every table. At every decision with a choice, each
legal action is tried in games that are re-dealt from what the actor sees and played to the end by
the expert. The network learns which action won more, averaged over many similar positions, and so
plays better than the expert at the price of one forward pass. (Rollouts of a base policy: Tesauro
and Galperin 1996; learning in the states that the learner itself reaches: Ross, Gordon and Bagnell
2011.)

    python -m training.rollouts --players 2 3 4 --shares 2 1 1     one agent for three table sizes
    python -m training.rollouts --start FOLDER --beliefs           start from another run's network
    python -m training.rollouts --resume runs/rollouts-seed0       resume exactly where it stopped
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
import tyro
from rich.console import Console
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from agents.beliefs.features import BELIEF_SIZE
from agents.builtin import ExpertAgent
from agents.cli import run
from agents.files import provenance
from agents.network.checkpoint import save_network
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from agents.search.rollouts import evaluate_actions
from taki_env import SelfPlay, View
from taki_env.base.threads import each_chunk
from taki_env.base.types import Integers
from taki_env.core.bits import ONE, spread_words
from taki_env.core.cards import MAX_PLAYERS, NUM_ACTIONS
from taki_env.core.memory import Memory
from taki_env.core.rules import Rules
from training.cli import stopping
from training.trainers import checkpoints
from training.trainers.evaluation import evaluate, finish
from training.trainers.options import TableOptions, annealed, plain
from training.trainers.progress import log_figures, progress_bar
from training.trainers.run_folder import read_arguments

SHARPNESS = 40
"""Logits per return: the network samples an action that is 0.025 better e times as often."""
GAIN_WEIGHT = 0.3
"""Weight of the expected gain of the network's own choices in the loss."""


@dataclass(frozen=True)
class RolloutArgs(TableOptions):
    """Train one network to choose what wins most in rollouts of the expert."""

    steps: int = 4_000_000
    """Decisions of all seats to play, rounded up to whole rollouts."""
    rollout: int = 16
    """Decisions per game between two updates."""
    learning_rate: float = 3e-3
    """Initial learning rate; it falls linearly to a twentieth."""
    batch_size: int = 512
    """Decisions per gradient step."""
    deals: int = 16
    """Re-deals in which each action of a decision is tried."""
    network_share: Annotated[float, tyro.conf.arg(aliases=["--own"])] = 0.5
    """Share of the seats that the network has, drawn for every game; the expert has the rest."""
    beliefs: bool = False
    """Give the network inferred hands of the others, and re-deal by them; decisions take longer."""

    MAY_BE_0: ClassVar = ("seed", "network_share")

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return f"{'beliefs' if self.beliefs else 'rollouts'}-seed{self.seed}"


class RolloutTrainer:
    """A run that learns from rollouts of the expert.

    Args:
        args: the configuration.
        folder: the run folder.
    """

    def __init__(self, args: RolloutArgs, folder: Path) -> None:
        self.args, self.folder = args, folder
        players = " ".join(map(str, args.players))
        self.title = f"Rollouts of the expert, {players} players, seed {args.seed}"
        torch.manual_seed(args.seed)
        torch.set_num_threads(args.threads)
        self.rng = np.random.default_rng(args.seed)
        self.network = TakiNetwork(args.hidden, args.symmetric, args.beliefs)
        if args.start and not args.resume:
            self.network.load_state_dict(checkpoints.start_weights(args))
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.learning_rate, eps=1e-5)
        self.table = SelfPlay(
            args.games, args.table_sizes, Rules.from_words(args.rules), seed=args.seed,
            keep_actions=args.beliefs,
        )  # fmt: skip
        self.own_seats = self.rng.random((args.games, MAX_PLAYERS)) < args.network_share
        """Whether a seat is the network's, (games, MAX_PLAYERS)."""
        self.iteration, self.seconds = 0, 0.0
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
        finish(self, console, "training.rollouts")

    def iterate(self) -> None:
        """Play a rollout, in which actions are tried, and learn from it."""
        start, args = time.perf_counter(), self.args
        self.optimizer.param_groups[0]["lr"] = args.learning_rate * annealed(self.steps, args.steps)
        inputs, masks, values = self.play()
        self.learn(inputs, masks, values)
        self.iteration += 1
        self.seconds += time.perf_counter() - start

    # 1. Play a rollout, and try every action ------------------------------------------------------

    def play(self) -> list[Tensor]:
        """Play a rollout; return inputs, action masks and action values of decisions with a choice.

        Returns:
            tensors (B, input size), (B, 64) and (B, 64).
        """
        samples: list[tuple[npt.NDArray[Any], ...]] = []
        seed = int(self.rng.integers(2**32))
        network = PolicyAgent(self.network, "network", sample=True, seed=seed)
        expert = ExpertAgent(seed)
        for _ in range(self.args.rollout):
            masks = self.table.action_masks()
            actions = masks.argmax(1)  # the only one where there is no choice
            choice = np.flatnonzero(masks.sum(1) > 1)
            view = self.table.view(choice)
            inputs, values = self.try_actions(view, choice)
            samples.append((inputs, view.action_masks, values))
            own = self.own_seats[choice, self.table.actors[choice]]
            if own.any():
                chosen = network.choose(torch.from_numpy(inputs[own]), self.table.view(choice[own]))
                actions[choice[own]] = chosen
            if not own.all():
                actions[choice[~own]] = expert.act(self.table.view(choice[~own]))
            ended = np.unique(self.table.step(actions).games)
            seats = self.rng.random((ended.size, MAX_PLAYERS))
            self.own_seats[ended] = seats < self.args.network_share
        return [torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*samples, strict=True)]

    def try_actions(
        self, view: View, games: Integers
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the network's inputs, (B, input size), and each action's mean return, (B, 64)."""
        values = np.zeros((len(view), NUM_ACTIONS), np.float32)
        beliefs = np.zeros((len(view), BELIEF_SIZE), np.float32)
        states = view.sample_states(1, self.rng)[:, 0]
        words = spread_words(view.random_words(self.rng), 1)[:, 0] | ONE

        def evaluate_chunk(chunk: slice) -> None:
            memory = self.table.view(games[chunk]).memory or Memory.empty(states[chunk])
            evaluate_actions(
                states[chunk], words[chunk], self.args.deals, memory.arrays(),
                values[chunk], beliefs[chunk],
            )  # fmt: skip

        each_chunk(self.args.threads, len(view), evaluate_chunk)
        inputs = [view.observations, beliefs] if self.args.beliefs else [view.observations]
        return np.hstack(inputs), values

    # 2. Update the network ------------------------------------------------------------------------

    def learn(self, inputs: Tensor, masks: Tensor, values: Tensor) -> None:
        """Take gradient steps, one pass over the rollout; see `play` for the arguments."""
        if not len(inputs):  # no decision had a choice
            return
        order = torch.from_numpy(self.rng.permutation(len(inputs)))
        for part in order.tensor_split(max(1, len(order) // self.args.batch_size)):
            loss = self.loss(inputs[part], masks[part], values[part])
            if not loss.isfinite():
                raise FloatingPointError(f"the loss is {loss.item()}: lower --learning-rate")
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()

    def loss(self, inputs: Tensor, masks: Tensor, values: Tensor) -> Tensor:
        """Return the squared errors of advantages and value, less the expected gain of choices.

        The squared error teaches all advantages, including those of unlikely actions. The gain is
        what the network's choices win over the mean of the legal actions: what it is used for. The
        target of the value is the return of the most likely action.
        """
        logits, value = self.network(inputs)
        advantages = centered(values, masks)
        error = centered(logits, masks) / SHARPNESS - advantages
        policy = torch.softmax(logits.masked_fill(masks == 0, -torch.inf), 1)
        gain: Tensor = (policy * advantages).sum(1).mean()
        best = policy.argmax(1, keepdim=True)
        advantage_loss: Tensor = error.square().sum(1).mean()
        value_loss: Tensor = (value - values.gather(1, best)).square().mean()
        self.figures = {
            "train/advantage_loss": advantage_loss.item(),
            "train/explained": (1 - advantage_loss / advantages.square().sum(1).mean()).item(),
            "train/value_loss": value_loss.item(),
            "train/gain": gain.item(),
        }
        return advantage_loss + value_loss - GAIN_WEIGHT * gain

    # Saving and resuming --------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that changes during training, as tensors and plain values."""
        return checkpoints.table_state(self)

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a `state`."""
        checkpoints.restore_table(self, state)

    def save_model(self, path: Path) -> None:
        """Write the file that ``agents.load("policy:PATH")`` plays."""
        made_by = {**provenance(), "configuration": plain(self.args)}
        save_network(path, self.network, made_by)


def centered(values: Tensor, masks: Tensor) -> Tensor:
    """Return values less their mean over the legal actions, and 0 for illegal ones; (B, 64)."""
    mean = (values * masks).sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return (values - mean) * masks


def prepare(args: RolloutArgs) -> Callable[[], RolloutTrainer]:
    """Return the work of a new run or of a resumed one."""
    return checkpoints.prepare_run(args, RolloutTrainer)


def main() -> None:
    """Run the command."""
    run(lambda: prepare(read_arguments(RolloutArgs, sys.argv[1:])))
