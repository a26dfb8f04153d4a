"""Options of training runs: the fields that trainers share, and their validation."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from agents.network.checkpoint import MAX_HIDDEN
from taki_env.base.types import Integers
from taki_env.core.rules import Rules

NOT_CONFIGURATION = ("runs", "resume", "address", "num_env_runners")
"""Fields that say where a run is stored and executed; they do not change its results."""
RENAMED = {"own": "network_share"}
"""Fields that configuration files of earlier versions have under another name."""
AT_MOST_1 = ("gae_lambda", "past_games", "opponent_games", "network_share")
"""Numeric fields that are at most 1."""
MAX_SEED = 2**32 - 1
"""Largest seed of NumPy's legacy generator, which Stable-Baselines3 seeds."""
FINAL_FACTOR = 0.05
"""Learning rate at the end of a run, relative to the initial one."""


@dataclass(frozen=True)
class Options(ABC):
    """Options that all trainers share."""

    steps: int = 1_000_000
    """Decisions to train on, rounded up to whole rollouts."""
    seed: int = 0
    """Random seed for the network, the games and the sampling of actions."""
    rules: tuple[str, ...] = ()
    """Rule options, such as tournament or hand_size=5; the standard rules by default."""
    rollout: int = 64
    """Decisions per game between two updates."""
    learning_rate: float = 1e-3
    """Initial learning rate; it falls linearly to a twentieth."""
    hidden: int = 128
    """Width of the network's layers."""
    symmetric: bool = True
    """Use a network that treats the four colors alike."""
    evaluation_games: int = 2000
    """Games against each of random, greedy and expert per table size, during training."""
    final_games: int = 10_000
    """Games against each opponent in the final evaluation, on other deals."""
    threads: int = 2
    """Threads of torch and of compiled loops. The same seed and threads give the same run."""
    runs: Path = Path("runs")
    """Parent folder of new run folders."""
    resume: Path | None = None
    """Run folder to resume; a resumed run keeps its configuration."""

    MAY_BE_0: ClassVar[tuple[str, ...]] = ("seed",)
    """Numeric fields that may be 0; all others must be above 0."""

    @property
    def beliefs(self) -> bool:
        """Whether the network takes beliefs as inputs."""
        return False

    @property
    @abstractmethod
    def table_sizes(self) -> Integers:
        """Numbers of players to train and evaluate with."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the run folder."""

    def check(self) -> None:
        """Raise ValueError for a value of the wrong type or out of range; names the option."""
        check_types(self)
        check_numbers(self, self.MAY_BE_0)
        if self.hidden > MAX_HIDDEN:
            raise ValueError(f"--hidden must be at most {MAX_HIDDEN}, got {self.hidden}")
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError(f"--seed must be 0 to {MAX_SEED}, got {self.seed}")


@dataclass(frozen=True)
class TableOptions(Options):
    """Options of trainers in which the network plays many seats of many tables."""

    players: tuple[int, ...] = (2,)
    """Table sizes, 2 to 10 seats each; several sizes are trained together."""
    shares: tuple[float, ...] = ()
    """Relative number of tables of each size; equal shares by default."""
    games: int = 512
    """Number of games played in parallel."""
    batch_size: int = 4096
    """Decisions per gradient step."""
    start: str = ""
    """Run folder or checkpoint with the initial network; an untrained network by default."""
    evaluate_seconds: float = 60
    """Seconds of training between two evaluations, and between two checkpoints."""

    def check(self) -> None:
        """Raise ValueError for a value of the wrong type or out of range; names the option."""
        super().check()
        for players in self.players:
            Rules.from_words(self.rules).check_players(players)
        if not self.players or (self.shares and len(self.shares) != len(self.players)):
            raise ValueError("--players needs at least one size, and --shares one number for each")
        if not set(self.players) <= set(self.table_sizes.tolist()):
            raise ValueError(f"--games {self.games} and --shares leave a size without a table")

    @property
    def table_sizes(self) -> Integers:
        """Number of players of each game, (games,)."""
        shares = np.array(self.shares or [1.0] * len(self.players))
        bounds = np.round(np.cumsum(shares) / shares.sum() * self.games).astype(int)
        return np.repeat(np.array(self.players), np.diff(bounds, prepend=0))


def annealed(steps: int, total: int) -> float:
    """Return the factor of the learning rate after `steps` of `total` decisions, 1 down to 0.05."""
    return max(FINAL_FACTOR, 1 - steps / total)


def plain(args: Options) -> dict[str, Any]:
    """Return a configuration as plain values, without where the run is stored and executed."""
    return {k: v for k, v in asdict(args).items() if k not in NOT_CONFIGURATION}


def with_current_names(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the current names of renamed fields."""
    return {RENAMED.get(name, name): value for name, value in configuration.items()}


def option(name: str) -> str:
    """Return the command-line spelling of a field."""
    return f"--{name.replace('_', '-')}"


def check_types(args: Options) -> None:
    """Raise ValueError unless every value has the type of its field."""
    kinds = get_type_hints(type(args))
    for name, value in plain(args).items():
        several = get_origin(kinds[name]) is tuple
        kind = get_args(kinds[name])[0] if several else kinds[name]
        allowed = (int, float) if kind is float else (kind,)
        values = value if several and isinstance(value, tuple) else (value,)
        if several != isinstance(value, tuple) or any(type(v) not in allowed for v in values):
            expected = f"a list of {kind.__name__}" if several else kind.__name__
            raise ValueError(f"{option(name)} must be {expected}, got {value!r}")


def check_numbers(args: Options, may_be_0: tuple[str, ...]) -> None:
    """Raise ValueError unless all numbers are finite and in the range of their field."""
    for name, value in plain(args).items():
        numbers = value if isinstance(value, tuple) else (value,)
        least = 0 if name in may_be_0 else math.ulp(0)
        most = 1 if name in AT_MOST_1 else sys.float_info.max
        if not all(least <= n <= most for n in numbers if type(n) in (int, float)):
            low = "0 or more" if name in may_be_0 else "above 0"
            high = "at most 1" if name in AT_MOST_1 else "finite"
            raise ValueError(f"{option(name)} must be {low} and {high}, got {value}")
