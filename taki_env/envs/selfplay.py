"""Many games in which the caller decides for every seat: the interface for self-play."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_arrays, check_at_least_one, check_integer
from taki_env.base.types import Integers, Words
from taki_env.core.outcome import rewards_of
from taki_env.core.rules import Rules
from taki_env.game.batch import Batch
from taki_env.game.view import View


class Credits(NamedTuple):
    """What the seats of ended games receive, one row for each seat that has decided, (C,)."""

    games: Integers
    """Indices of the games."""
    seats: Integers
    """The seats."""
    decisions: Integers
    """In which call of `SelfPlay.step`, counted from 0, each seat decided last."""
    rewards: npt.NDArray[np.float64]
    """+1 for the winner, -1/(n-1) for the others; 0 where the game was cut off."""
    truncated: npt.NDArray[np.bool_]
    """Whether the game was cut off."""


class SelfPlay:
    """`num_games` games, each waiting for whoever acts next; ended games are dealt anew at once.

    Args:
        max_decisions: a game is truncated after so many decisions of all seats.
        keep_actions: keep those of all games, as `Batch.keep_actions` does, for agents that
            remember.
        num_games, num_players, rules, seed: see `Batch`.

    Raises:
        ValueError: a value out of its range; says what is allowed.
    """

    def __init__(
        self,
        num_games: int,
        num_players: int | npt.ArrayLike = 2,
        rules: Rules | None = None,
        max_decisions: int = 2000,
        seed: int | None = None,
        keep_actions: bool = False,
    ) -> None:
        check_at_least_one("max_decisions", max_decisions)
        self.batch = Batch(num_games, num_players, rules, seed)
        if keep_actions:
            self.batch.keep_actions(max_decisions)
        self.max_decisions = max_decisions
        self.steps = 0
        """Calls of `step` so far."""
        self._last = np.full((num_games, int(self.batch.num_players.max())), -1)

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.batch)

    @property
    def actors(self) -> Integers:
        """The seat that decides in each game, (num_games,)."""
        return self.batch.actors

    @property
    def legal(self) -> Words:
        """Legal actions of each actor, uint64 (num_games,)."""
        return self.batch.legal

    def observations(self, out: npt.NDArray[np.float32] | None = None) -> npt.NDArray[np.float32]:
        """Return what the actors see, float32 (num_games, OBSERVATION_SIZE)."""
        return self.batch.observations(out)

    def action_masks(self, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
        """Return the actors' legal actions as ones, int8 (num_games, 64)."""
        return self.batch.action_masks(out)

    def view(self, games: Integers) -> View:
        """Return what the actors of some games see, for agents."""
        return self.batch.view(games)

    def step(self, actions: npt.ArrayLike) -> Credits:
        """Carry out one decision in every game.

        Args:
            actions: action ids (num_games,).

        Returns:
            the rewards of all seats of the games that ended with this decision.

        Raises:
            IllegalActionError: names the first game with an illegal action. Nothing was changed.
            ValueError: there is not one whole number a game.
        """
        actors = self.batch.actors
        self.batch.step(actions)
        self._last[np.arange(len(self)), actors] = self.steps
        self.steps += 1
        ended = np.flatnonzero(self.batch.done | (self.batch.decisions >= self.max_decisions))
        return self._credit(ended)

    def _credit(self, ended: Integers) -> Credits:
        rows, seats = np.nonzero(self._last[ended] >= 0)
        rewards = rewards_of(self.batch.states[ended])
        credits = Credits(
            ended[rows], seats, self._last[ended[rows], seats],
            rewards[rows, seats], ~self.batch.done[ended[rows]],
        )  # fmt: skip
        if ended.size:
            self._last[ended] = -1
            self.batch.reset(ended)
        return credits

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that changes in play but `steps`, as copies of arrays."""
        state = {name: getattr(self.batch, name) for name in ("states", "legal", "episodes")}
        state["last"] = self._last
        if self.batch.actions is not None:
            state["actions"] = self.batch.actions
        return {name: array.copy() for name, array in state.items()}

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]], steps: int) -> None:
        """Go on from a `state_dict` and `steps` of games made with the same arguments.

        Raises:
            ValueError: the arrays are not of these games.
        """
        current = self.state_dict()
        check_arrays(state, current)
        check_integer("steps", steps, 0)
        seated = np.arange(self._last.shape[1]) < self.batch.num_players[:, None]
        if np.any((state["last"] < -1) | (state["last"] >= np.where(seated, steps, 0))):
            raise ValueError("the state of the games has decisions that nobody has taken")
        self.batch.load_states(state["states"], state["episodes"])
        self.batch.actions = state["actions"].copy() if "actions" in current else None
        self._last[:] = state["last"]
        self.steps = steps
