"""Games with one learner each: the core of the Gymnasium and SB3 environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_arrays, checked_actions
from taki_env.base.errors import IllegalActionError
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import illegal_action_message, observe_states
from taki_env.core.bits import ZERO, seed_words, spread_words
from taki_env.core.cards import MAX_PLAYERS
from taki_env.core.loops import first_illegal
from taki_env.core.rules import Rules
from taki_env.envs.narrator import Narrator
from taki_env.envs.opponents import OpponentPool, Opponents
from taki_env.envs.seated import BUILT_IN, CALLER, SeatedGames
from taki_env.game.batch import Batch

_UNIT = 2.0**-64
SAVED_POLICIES = (0, 1, -2)
"""Numbers of the built-in policies in saved states, where agents have the numbers from 2 on: the
format is older than the third policy."""


class LearnerGames(SeatedGames):
    """`num_games` games with one learner each; the learner is the caller.

    Args:
        num_games: Number of games, at least 1.
        num_players: Seats of every game, or an array (num_games,) of them.
        rules: The rule options; standard rules by default.
        opponents: See `taki_env.envs.opponents.Opponents`.
        learner_seat: The learner's seat, or one per game (num_games,), or None for a random seat
            in each game.
        max_decisions: Decisions of all seats after which a game is truncated.
        seed: Random seed for the deals, the learners' seats and the opponents.
        deals: See `Batch`.
        keep_actions: Keep the actions of all games (`Batch.keep_actions`). Otherwise they are kept
            only if an opponent uses them.
        narrator: Describes every decision as text, for rendering.
        start: Play up to the learners' first moves at once. Otherwise `restart` does, so that
            agents decide in no game that is dealt again before it is used.

    Raises:
        ValueError: A value is out of range; the message says what is allowed.
    """

    def __init__(
        self,
        num_games: int,
        num_players: int | npt.ArrayLike = 2,
        rules: Rules | None = None,
        opponents: Opponents = "greedy",
        learner_seat: int | npt.ArrayLike | None = None,
        max_decisions: int = 2000,
        seed: int | None = None,
        deals: npt.ArrayLike | None = None,
        keep_actions: bool = False,
        narrator: Narrator | None = None,
        start: bool = True,
    ) -> None:
        batch = Batch(num_games, num_players, rules, seed, deals)
        self.opponents = OpponentPool(opponents, batch.num_players.tolist())
        observer = None if narrator is None else narrator.note
        super().__init__(batch, max_decisions, self.opponents.agents, observer)
        if keep_actions:
            batch.keep_actions(max_decisions)
        self.keep_history(self.agents)
        if learner_seat is not None:
            check_learner_seat(learner_seat, batch.num_players)
        self._fixed_seats = None if learner_seat is None else np.array(learner_seat, np.int64)
        self._narrator = narrator
        self.seats: Integers = np.zeros(num_games, np.int64)
        """The learner's seat in each game, (num_games,)."""
        self._fresh = True
        self._all = np.arange(num_games)
        self._assign_seats(self._all)
        if start:
            self.play()

    def reset(self, games: Integers | None = None) -> None:
        """Deal new games, all or those of the given indices, and play up to the learner's move."""
        games = self._all if games is None else games
        self.deal(games)
        self._assign_seats(games)
        self.play(games)

    def restart(self, seed: int | None = None) -> None:
        """Start a new game everywhere, with the learner to move.

        Args:
            seed: Deals the first games of this seed. None deals the next games, or the first ones
                if none were started.
        """
        if seed is not None:
            self.batch.reseed(seed)
            self._assign_seats(self._all)
        elif not self._fresh:
            self.reset()
        self._fresh = False
        self.play()
        self.replace_ended()

    def replace_ended(self, games: Integers | None = None) -> None:
        """Deal new games in place of ended ones until every learner is to move.

        Args:
            games: Indices of the games to replace if they have ended; all by default.

        Raises:
            ValueError: `max_decisions` is so low that games are truncated before the learner moves.
        """
        games = self._all if games is None else games
        games = games[self.ended[games]]
        while games.size:
            self.reset(games)
            if np.any(self.truncated[games]):
                raise ValueError(
                    f"max_decisions {self.max_decisions} truncates games before the learner moves"
                )
            games = games[self.terminated[games]]

    def change_opponents(self, opponents: Opponents) -> None:
        """Use other opponents in games that are dealt from now on; see `OpponentPool.change`."""
        self.opponents.change(opponents)
        self.keep_history(self.agents)

    def _assign_seats(self, games: Integers) -> None:
        """Draw the seats of learners and opponents in new games."""
        if self._narrator is not None:
            self._narrator.clear(games)
        deals, episodes = self.batch.deals[games], self.batch.episodes[games]
        words = seed_words(self.batch.seed, deals, episodes, stream=1)
        players = self.batch.num_players[games]
        uniform = (spread_words(words, MAX_PLAYERS) * _UNIT).astype(np.float64)
        self.words[games] = words
        seats = np.minimum((uniform[:, 0] * players).astype(np.int64), players - 1)
        if self._fixed_seats is not None:
            seats = np.broadcast_to(self._fixed_seats, len(self))[games]
        self.seats[games] = seats
        self.controllers[games, seats] = CALLER
        for num_players in np.unique(players).tolist():
            at = players == num_players
            drawn = self.opponents.draw(uniform[at, 1:num_players])
            for after in range(1, num_players):
                seat = (seats[at] + after) % num_players
                self.controllers[games[at], seat] = drawn[:, after - 1]

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays that change in play.

        Keys: those of `Batch.state_dict`, `seats` and `words` (num_games,), and `controllers`
        (num_games, MAX_PLAYERS).
        """
        own = {"seats": self.seats.copy(), "words": self.words.copy()}
        own["controllers"] = self._saved_numbers()[self.controllers]
        return self.batch.state_dict() | own

    def _saved_numbers(self) -> Integers:
        """Return the number of each controller in saved states; the caller's is the last."""
        agents = np.arange(len(self.agents) - BUILT_IN) + 2
        return np.array([*SAVED_POLICIES, *agents, CALLER])

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Resume from the `state_dict` of games made with the same arguments and opponents.

        Raises:
            ValueError: The arrays do not fit these games. Nothing was changed.
        """
        check_arrays(state, self.state_dict())
        check_learner_seat(state["seats"], self.batch.num_players)
        matches = state["controllers"][..., np.newaxis] == self._saved_numbers()
        if not matches.any(-1).all() or not np.all(state["words"]):
            raise ValueError("the state of the games has opponents that these games lack")
        self.batch.load_state_dict(state)
        self.seats[:], self.words[:] = state["seats"], state["words"]
        if self._narrator is not None:
            self._narrator.clear(self._all)
        controllers = matches.argmax(-1)
        self.controllers[:] = np.where(controllers == len(self.agents), CALLER, controllers)
        self.play()  # every learner is to move: this finds the ended games

    @property
    def legal(self) -> Words:
        """The learner's legal actions as words, uint64 (num_games,); 0 where a game has ended."""
        return np.where(self.ended, ZERO, self.batch.legal)

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """The learner's reward, (num_games,): +1, -1/(n-1), or 0 before the end."""
        winners = self.batch.states["winner"]
        lost = -1 / (self.batch.num_players - 1)
        return np.where(self.terminated, np.where(winners == self.seats, 1, lost), 0)

    def observations(self, games: Integers | None = None) -> npt.NDArray[np.float32]:
        """Return what the learners see, in all games or those of the given indices.

        Returns:
            float32 (games, OBSERVATION_SIZE), a new array.
        """
        if games is None:
            return observe_states(self.batch.states, self.seats)
        return observe_states(self.batch.states[games], self.seats[games])

    def step(self, actions: npt.ArrayLike, games: Integers | None = None) -> None:
        """Carry out the learners' actions and play up to their next decisions.

        Args:
            actions: Action ids, one per game.
            games: Indices of games that have not ended; all by default.

        Raises:
            IllegalActionError: Names the first game with an illegal action. Nothing was changed.
            ValueError: There is not one integer per game.
        """
        games = self._all if games is None else games
        chosen = checked_actions(actions, games.size)
        wrong = first_illegal(self.batch.legal[games], chosen)
        if wrong >= 0:
            message = illegal_action_message(chosen[wrong], self.batch.legal[games[wrong]])
            raise IllegalActionError(f"game {games[wrong]}: {message}")
        self.step_legal(chosen, games)

    def step_legal(self, actions: Integers, games: Integers) -> None:
        """Do the same with actions that are known to be legal."""
        self.apply(games, actions)
        self.play(games)


def check_learner_seat(learner_seat: npt.ArrayLike, num_players: npt.ArrayLike) -> None:
    """Raise ValueError unless the seats are at the tables."""
    seats, players = np.asarray(learner_seat), np.asarray(num_players)
    whole = np.issubdtype(seats.dtype, np.integer)
    if not whole or np.any((seats < 0) | (seats >= players)):
        most = int(players.min()) - 1
        raise ValueError(f"learner_seat must be 0 to {most} or None, got {learner_seat!r}")
