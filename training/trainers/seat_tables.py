"""Training at tables where the network itself plays: what `selfplay` and `rollouts` share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

from agents.files import provenance
from agents.network.checkpoint import CheckpointError, describe, load_network, save_network
from agents.network.network import TakiNetwork, with_beliefs
from taki_env import SelfPlay
from taki_env.core.rules import Rules
from training.trainers import run_folder as runs


@dataclass(frozen=True)
class TableOptions(runs.Options):
    """What training at tables is told."""

    players: tuple[int, ...] = (2,)
    """Seats at the tables, 2 to 10; several sizes stand side by side."""
    shares: tuple[float, ...] = ()
    """How much of the tables each size has; equal shares by default."""
    games: int = 512
    """Games side by side."""
    batch_size: int = 4096
    """Decisions in a gradient step."""
    start: str = ""
    """Run folder or checkpoint whose network to begin with; an untrained one by default."""
    evaluate_seconds: float = 60
    """Seconds of training between two evaluations, and between two checkpoints."""

    may_be_0: ClassVar[tuple[str, ...]]
    """Names of the numbers that may be 0."""

    def check(self) -> None:
        """Raise ValueError for a value out of its range."""
        for players in self.players:
            Rules.from_words(self.rules).check_players(players)
        if not self.players or (self.shares and len(self.shares) != len(self.players)):
            raise ValueError("--players needs a number, and --shares one for each of them or none")
        runs.check_numbers(self, self.may_be_0)
        if not set(self.players) <= set(self.table_sizes.tolist()):
            raise ValueError(f"--games {self.games} and --shares leave a size without a table")

    @property
    def remembers(self) -> bool:
        """Whether any player asks for what was done before."""
        return self.beliefs

    @property
    def table_sizes(self) -> np.ndarray:
        """The number of players of each game, (games,)."""
        shares = np.array(self.shares or [1.0] * len(self.players))
        bounds = np.round(np.cumsum(shares) / shares.sum() * self.games).astype(int)
        return np.repeat(self.players, np.diff(bounds, prepend=0))


class TableTrainer:
    """A training run: all that it takes to go on exactly.

    `own_seats` says which seats are the network's own, and `iterate` plays and learns.

    Args:
        args: its configuration.
        folder: its run folder.
        words: what training it is.
    """

    own_seats: np.ndarray

    def __init__(self, args: Any, folder: Path, words: str) -> None:
        self.args, self.folder = args, folder
        torch.manual_seed(args.seed)
        torch.set_num_threads(args.threads)
        self.rng = np.random.default_rng(args.seed)
        self.network = TakiNetwork(args.hidden, args.symmetric, args.beliefs)
        if args.start and not args.resume:
            self.network.load_state_dict(start_weights(args))
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.learning_rate, eps=1e-5)
        self.players = args.table_sizes
        rules = Rules.from_words(args.rules)
        self.table = SelfPlay(
            args.games, self.players, rules, seed=args.seed, keep_actions=args.remembers
        )
        self.iteration, self.seconds, self.left = 0, 0.0, 1.0
        self.history: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.title = f"{words}, {' '.join(map(str, args.players))} players, seed {args.seed}"
        self.writer = SummaryWriter(str(folder))

    @property
    def steps(self) -> int:
        """Decisions of all seats so far."""
        return self.iteration * self.args.rollout * self.args.games

    @property
    def total(self) -> int:
        """Decisions in all, in whole rollouts."""
        rollout = self.args.rollout * self.args.games
        return math.ceil(self.args.steps / rollout) * rollout

    def is_due(self) -> bool:
        """Tell whether it is time for an evaluation and a checkpoint."""
        return self.seconds - self.history[-1]["seconds"] >= self.args.evaluate_seconds

    def anneal(self) -> None:
        """Lower the learning rate, in a straight line over the run."""
        self.left = max(runs.LOWEST_RATE, 1 - self.steps / self.args.steps)
        self.optimizer.param_groups[0]["lr"] = self.args.learning_rate * self.left

    def log(self, figures: dict[str, float]) -> None:
        """Write figures of an evaluation, and of the last update, for TensorBoard."""
        for name, figure in (figures | self.figures).items():
            self.writer.add_scalar(name, figure, self.steps)
        self.writer.flush()

    def state(self) -> dict[str, Any]:
        """Return everything that changes in training, as tensors and plain values."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "iteration": self.iteration,
            "own_seats": torch.tensor(self.own_seats),
            "generator": self.rng.bit_generator.state,
            "torch": torch.get_rng_state(),
            "games": runs.as_tensors(self.table.state_dict()),
            "games_steps": self.table.steps,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.iteration, own_seats = state["iteration"], state["own_seats"].numpy()
        if (own_seats.shape, own_seats.dtype) != (self.own_seats.shape, self.own_seats.dtype):
            raise ValueError("the network's seats are not those of the games")
        self.own_seats = own_seats
        self.rng.bit_generator.state = state["generator"]
        games = runs.as_arrays(state["games"], self.table.state_dict())
        self.table.load_state_dict(games, state["games_steps"])
        torch.set_rng_state(state["torch"])

    def save_model(self, path: Path) -> None:
        """Write the file that ``agents.load("policy:PATH")`` plays."""
        made_by = {**provenance(), "configuration": runs.plain(self.args)}
        save_network(path, self.network, made_by)


def start_weights(args: TableOptions) -> dict[str, torch.Tensor]:
    """Return the weights to begin with; those for beliefs are 0 if the network had none.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        CheckpointError: it is broken, or of another network than the arguments ask for.
    """
    network = load_network(args.start)
    if args.beliefs and not network.beliefs:
        network = with_beliefs(network)
    found, expected = describe(network), describe(args)
    if found != expected:
        raise CheckpointError(f"--start {args.start} is of {found}; this is {expected}")
    return network.state_dict()
