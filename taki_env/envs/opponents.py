"""Agents, and the opponents that take the seats next to a learner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from taki_env.base.errors import did_you_mean
from taki_env.base.types import Integers
from taki_env.core.policies import POLICIES
from taki_env.game.view import View


@runtime_checkable
class Agent(Protocol):
    """Anything that chooses actions for a batch of games.

    An agent that uses `View.memory` has a true attribute `remembers`.
    """

    name: str

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return a legal action for each game of the view, (B,)."""


Opponent: TypeAlias = str | Agent
"""The name of a built-in policy, another spelling of `agents.load`, or an agent.

Spellings need the package `agents` of the repository. A spelled agent has its default seed, 0,
whatever the seed of the environment.
"""
Opponents: TypeAlias = Opponent | Sequence[Opponent] | Mapping[Any, float]
"""One opponent for every seat; one per seat, in seat order after the learner; or weights by which
each seat's opponent is drawn in every game."""


def remembers(opponent: object) -> bool:
    """Return whether an opponent uses the history of its games (`View.memory`)."""
    return bool(getattr(opponent, "remembers", False))


def load_agent(spelling: str) -> Agent:
    """Return the agent that `agents.load` makes of a spelling.

    Raises:
        ValueError: There is no such agent, or the package `agents` cannot be imported.
    """
    try:
        load = import_module("agents").load
    except (ModuleNotFoundError, AttributeError) as error:  # another package may have the name
        if isinstance(error, ModuleNotFoundError) and error.name != "agents":
            raise
        raise ValueError(
            f"unknown opponent {spelling!r}{did_you_mean(spelling, POLICIES)} (names: "
            f"{', '.join(POLICIES)}; other agents are in the package agents of the project's "
            "repository: run from a checkout, or pass an object with a method act(view))"
        ) from None
    agent: Agent = load(spelling)
    return agent


class OpponentPool:
    """The opponents of learner games by controller number, and how they are drawn for seats.

    Args:
        opponents: See `Opponents`.
        num_players: Numbers of players at the tables.
    """

    def __init__(self, opponents: Opponents, num_players: Iterable[int]) -> None:
        self.agents: list[Opponent] = list(POLICIES)
        """Opponents by controller number: the built-in policies, then agents as they come."""
        self._spelled: dict[str, Agent] = {}
        self._num_players = sorted(set(num_players))
        self.change(opponents)

    def change(self, opponents: Opponents) -> None:
        """Use other opponents in games that are dealt from now on.

        Raises:
            ValueError: An unknown name, a wrong number of opponents, or invalid weights. The
                opponents stay as they were.
            TypeError: Something that is not an opponent. The opponents stay as they were.
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
                    f"got {len(chosen)}"
                )
        self._numbers = np.array([self._number(opponent) for opponent in chosen])
        self._bounds = np.cumsum(weights) / sum(weights) if weights else None

    def _number(self, opponent: Any) -> int:
        """Return the controller number of an opponent, which is added if it is new."""
        if isinstance(opponent, str) and opponent not in POLICIES:
            if opponent not in self._spelled:
                self._spelled[opponent] = load_agent(opponent)
            opponent = self._spelled[opponent]
        if not isinstance(opponent, str) and not callable(getattr(opponent, "act", None)):
            raise TypeError(
                f"an opponent must be a name or an object with act(view), got {opponent!r}"
            )
        if opponent not in self.agents:
            self.agents.append(opponent)
        return self.agents.index(opponent)

    def draw(self, uniform: npt.NDArray[np.float64]) -> Integers:
        """Return opponents' numbers for random numbers in [0, 1), both (games, other seats)."""
        if self._bounds is None:
            return np.broadcast_to(self._numbers, uniform.shape)
        picks = np.searchsorted(self._bounds, uniform, side="right")
        return self._numbers[np.minimum(picks, len(self._numbers) - 1)]


def _checked_weights(weights: list[Any]) -> list[float]:
    numbers = all(isinstance(w, Real) and 0 <= float(w) < np.inf for w in weights)
    if not numbers or (weights and sum(weights) <= 0):
        raise ValueError(
            f"weights of opponents must be 0 or more, with at least one above 0, got {weights}"
        )
    return [float(w) for w in weights]
