"""Who plays the seats beside the learner's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from taki_env.base.errors import did_you_mean
from taki_env.core.policies.builtin import POLICIES
from taki_env.game.view import View


@runtime_checkable
class Agent(Protocol):
    """Anything that chooses actions for a batch of games.

    One that asks for `View.memory` has an attribute `remembers` that is true.
    """

    name: str

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return a legal action for each game of the view, (B,)."""


Opponent: TypeAlias = str | Agent
Opponents: TypeAlias = Opponent | Sequence[Opponent] | Mapping[Any, float]
"""One opponent for every seat; or one a seat, in seat order after the learner; or weights by
which each seat's opponent is drawn anew every game."""


def remembers(opponent: Opponent) -> bool:
    """Tell whether an opponent asks for what was done before (`View.memory`)."""
    return bool(getattr(opponent, "remembers", False))


class Seating:
    """Opponents by number: the built-in policies first, then agents as they come."""

    def __init__(self, opponents: Opponents, num_players: Iterable[int]) -> None:
        self.agents: list[Opponent] = list(POLICIES)
        self._num_players = sorted(set(num_players))
        self.change(opponents)

    def change(self, opponents: Opponents) -> None:
        """Take other opponents for games that are dealt from now on.

        Raises:
            ValueError: an unknown name, not one opponent or one for each other seat, or weights
                that are none. Nothing was changed.
            TypeError: something that is no opponent. Nothing was changed.
        """
        if isinstance(opponents, Mapping):
            chosen, weights = list(opponents), _checked_weights(list(opponents.values()))
        elif isinstance(opponents, str) or not isinstance(opponents, Sequence):
            chosen, weights = [opponents], [1.0]
        else:
            chosen, weights = list(opponents), []
        if not chosen:
            raise ValueError("opponents is empty: name at least one")
        for players in self._num_players:
            if not weights and len(chosen) != players - 1:
                raise ValueError(
                    f"opponents must be one, or {players - 1} for {players} players, "
                    f"not {len(chosen)}"
                )
        self._numbers = np.array([self._number(opponent) for opponent in chosen])
        self._bounds = np.cumsum(weights) / sum(weights) if weights else None

    def _number(self, opponent: Any) -> int:
        if isinstance(opponent, str) and opponent not in POLICIES:
            hint = did_you_mean(opponent, POLICIES)
            raise ValueError(
                f"unknown opponent {opponent!r}{hint} (names: {', '.join(POLICIES)}; others are "
                "passed as objects with a method act(view))"
            )
        if not isinstance(opponent, str) and not callable(getattr(opponent, "act", None)):
            raise TypeError(f"an opponent is a name or an object with act(view), not {opponent!r}")
        if opponent not in self.agents:
            self.agents.append(opponent)
        return self.agents.index(opponent)

    def draw(self, uniform: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the opponents' numbers for random numbers in [0, 1), (games, other seats)."""
        if self._bounds is None:
            return np.broadcast_to(self._numbers, uniform.shape)
        picks = np.searchsorted(self._bounds, uniform, side="right")
        return self._numbers[np.minimum(picks, len(self._numbers) - 1)]


def _checked_weights(weights: list[Any]) -> list[float]:
    numbers = all(isinstance(w, Real) and 0 <= float(w) < np.inf for w in weights)
    if not numbers or (weights and sum(weights) <= 0):
        raise ValueError(f"weights of opponents must be 0 or more, and some above 0: {weights}")
    return [float(w) for w in weights]
