"""Games in which the caller plays every seat: the interface for self-play."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_arrays, check_integer
from taki_env.base.types import Integers, Words
from taki_env.core.outcome import rewards_of
from taki_env.core.rules import Rules
from taki_env.envs.seated import SeatedGames
from taki_env.game.batch import Batch
from taki_env.game.view import View


class Credits(NamedTuple):
    """Rewards of ended games: one row for each seat that has decided in its game, C in all."""

    games: Integers
    """Indices of the games, (C,)."""
    seats: Integers
    """Seats, (C,)."""
    decisions: Integers
    """Call of `SelfPlay.step`, counted from 0, of each seat's last decision, (C,)."""
    rewards: npt.NDArray[np.float64]
    """+1 for the winner, -1/(n-1) for the others, 0 in truncated games, (C,)."""
    truncated: npt.NDArray[np.bool_]
    """Whether the game was truncated, (C,)."""


class SelfPlay(SeatedGames):
    """`num_games` games in which the caller plays every seat; ended games are dealt again at once.

    Args:
        num_games: Number of games, at least 1.
        num_players: Seats of every game, or an array (num_games,) of them.
        rules: The rule options; standard rules by default.
        max_decisions: Decisions of all seats after which a game is truncated.
        seed: Random seed for the deals; see `Batch`.
        keep_actions: Keep the actions of all games (`Batch.keep_actions`), for agents that use
            `View.memory`.

    Raises:
        ValueError: A value is out of range; the message says what is allowed.
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
        super().__init__(Batch(num_games, num_players, rules, seed), max_decisions)
        if keep_actions:
            self.batch.keep_actions(max_decisions)
        self.steps = 0
        """Number of calls of `step`."""
        self._all = np.arange(num_games)
        self._last = np.full((num_games, int(self.batch.num_players.max())), -1)

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
            actions: Action ids, (num_games,).

        Returns:
            the rewards of all seats of the games that ended with this decision.

        Raises:
            IllegalActionError: Names the first game with an illegal action. Nothing was changed.
            ValueError: There is not one integer per game.
        """
        actors = self.batch.actors
        self.batch.step(actions)
        self._last[self._all, actors] = self.steps
        self.steps += 1
        self.advance(self._all)  # finds the ended games
        return self._credit(np.flatnonzero(self.ended))

    def _credit(self, ended: Integers) -> Credits:
        """Return the rewards of ended games and deal new ones."""
        rows, seats = np.nonzero(self._last[ended] >= 0)
        games, rewards = ended[rows], rewards_of(self.batch.states[ended])
        credits = Credits(
            games, seats, self._last[games, seats], rewards[rows, seats], self.truncated[games]
        )
        if ended.size:
            self._last[ended] = -1
            self.deal(ended)
        return credits

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays that change in play; `steps` is not among them.

        Keys: those of `Batch.state_dict`, and `last` (num_games, most players), the step of each
        seat's last decision or -1.
        """
        return self.batch.state_dict() | {"last": self._last.copy()}

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]], steps: int) -> None:
        """Resume from the `state_dict` and `steps` of games made with the same arguments.

        Raises:
            ValueError: The arrays do not fit these games. Nothing was changed.
        """
        check_arrays(state, self.state_dict())
        check_integer("steps", steps, 0)
        seated = np.arange(self._last.shape[1]) < self.batch.num_players[:, None]
        if np.any((state["last"] < -1) | (state["last"] >= np.where(seated, steps, 0))):
            raise ValueError(
                f"the state of the games has decisions outside of steps 0 to {steps - 1}, or of "
                "seats that are not at the table"
            )
        self.batch.load_state_dict(state)
        self._last[:] = state["last"]
        self.steps = steps
