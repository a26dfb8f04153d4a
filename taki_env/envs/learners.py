"""One learner's seat in each of many games: the core of the Gymnasium and SB3 environments.

Opponents act in batches until every game waits for its learner or has ended.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_arrays, check_at_least_one, checked_actions
from taki_env.base.errors import IllegalActionError
from taki_env.base.jit import entry
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import illegal_action_message, observe_states
from taki_env.core.bits import ZERO, next_random, seed_words, spread_words
from taki_env.core.cards import MAX_PLAYERS
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.loops import ask_ahead, first_illegal
from taki_env.core.memory import MOST_ACTIONS
from taki_env.core.policies.builtin import POLICIES, choose
from taki_env.core.rules import Rules
from taki_env.core.state import States
from taki_env.envs.opponents import Opponents, Seating, remembers
from taki_env.game.batch import Batch
from taki_env.game.game import Game

Flags: TypeAlias = npt.NDArray[np.bool_]
LEARNER = -1
BUILT_IN = len(POLICIES)
_UNIT = 2.0**-64


@entry
def advance_many(
    states: States,
    legal: Words,
    games: Integers,
    controllers: npt.NDArray[np.int64],
    words: Words,
    max_decisions: int,
    movers: npt.NDArray[np.int64],
    terminated: Flags,
    truncated: Flags,
    actions: Any,
) -> None:
    """Let built-in policies act until another controller is to move, or the game has ended.

    Writes to `movers` who is to move in each of `games`: `LEARNER` also where a game has ended;
    whether each game has, to `terminated` and `truncated`; and what was played to `actions`, those
    of `Batch`, which costs nothing where it is None.
    """
    for k in range(games.size):
        ask_ahead(states, games, k)
        i = games[k]
        s = states[i]
        mover = controllers[i, s["actor"]]
        while 0 <= mover < BUILT_IN and legal[i] != ZERO and s["decisions"] < max_decisions:
            words[i] = next_random(words[i])
            action = choose(mover, s, legal[i], words[i])
            if actions is not None:  # compiled only for a type of `actions` that is not None
                if s["decisions"] < actions.shape[1]:
                    actions[i, s["decisions"]] = action
            apply_action(s, action)
            legal[i] = legal_actions(s)
            mover = controllers[i, s["actor"]]
        terminated[i] = legal[i] == ZERO
        truncated[i] = not terminated[i] and s["decisions"] >= max_decisions
        movers[k] = LEARNER if terminated[i] or truncated[i] else mover


class LearnerGames:
    """`num_games` games with a learner's seat in each.

    Args:
        num_games: 1 or more.
        num_players: seats of every game, or an array (num_games,) of them.
        rules: the options; standard rules by default.
        opponents: see `taki_env.envs.opponents.Opponents`.
        learner_seat: the learner's seat, one for each game (num_games,), or None for a random one
            each game.
        max_decisions: a game is truncated after so many decisions of all seats.
        seed: of the deals, the learner's seats and the opponents.
        deals: see `Batch`.
        keep_actions: keep those of all games, as `Batch.keep_actions` does; otherwise so many as
            opponents remember, if any does.

    Raises:
        ValueError: a value out of its range; says what is allowed.
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
    ) -> None:
        check_at_least_one("max_decisions", max_decisions)
        self.batch = Batch(num_games, num_players, rules, seed, deals)
        if keep_actions:
            self.batch.keep_actions(max_decisions)
        self.seating = Seating(opponents, self.batch.num_players.tolist())
        if learner_seat is not None:
            check_learner_seat(learner_seat, self.batch.num_players)
        self._fixed_seats = None if learner_seat is None else np.array(learner_seat, np.int64)
        self.max_decisions = max_decisions
        self._keep_what_is_remembered()
        self.seats: Integers = np.zeros(num_games, np.int64)
        """The learner's seat in each game, (num_games,)."""
        self.terminated: Flags = np.zeros(num_games, np.bool_)
        """Which games are over, (num_games,)."""
        self.truncated: Flags = np.zeros(num_games, np.bool_)
        """Which games were cut off at `max_decisions`, (num_games,)."""
        self._controllers = np.zeros((num_games, MAX_PLAYERS), np.int64)
        self._words: Words = np.zeros(num_games, np.uint64)
        self._fresh = True
        self._seat_learners(np.arange(num_games))

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.batch)

    def reset(self, games: Integers | None = None) -> None:
        """Deal new games, all or those of the given indices, and play up to the learner's move."""
        games = np.arange(len(self)) if games is None else games
        self.batch.reset(games)
        self._seat_learners(games)

    def restart(self, seed: int | None = None) -> None:
        """Start all games anew, each with its learner to move.

        Args:
            seed: deals the first games of that seed; None deals the next ones, the first time the
                first ones.
        """
        if seed is not None:
            self.batch.reseed(seed)
            self._seat_learners(np.arange(len(self)))
        elif not self._fresh:
            self.reset()
        self._fresh = False
        self.replace_ended()

    def replace_ended(self, games: Integers | None = None) -> None:
        """Deal new games for those that have ended, until each has its learner to move.

        Args:
            games: indices to look at; all by default.

        Raises:
            ValueError: `max_decisions` is so low that games are cut off before the learner moves.
        """
        games = np.arange(len(self)) if games is None else games
        games = games[self.ended[games]]
        while games.size:
            self.reset(games)
            if np.any(self.truncated[games]):
                raise ValueError(
                    f"max_decisions {self.max_decisions} cuts games off before the learner moves"
                )
            games = games[self.terminated[games]]

    def change_opponents(self, opponents: Opponents) -> None:
        """Take other opponents for games that are dealt from now on; see `Seating.change`."""
        self.seating.change(opponents)
        self._keep_what_is_remembered()

    def _keep_what_is_remembered(self) -> None:
        if self.batch.actions is None and any(map(remembers, self.seating.agents)):
            self.batch.keep_actions(min(self.max_decisions, MOST_ACTIONS), midway=True)

    def _seat_learners(self, games: Integers) -> None:
        """Draw the learner's seats and the opponents of new games; the others move first."""
        deals, episodes = self.batch.deals[games], self.batch.episodes[games]
        words = seed_words(self.batch.seed, deals, episodes, stream=1)
        players = self.batch.num_players[games]
        uniform = (spread_words(words, MAX_PLAYERS) * _UNIT).astype(np.float64)
        self._words[games] = words
        seats = np.minimum((uniform[:, 0] * players).astype(np.int64), players - 1)
        if self._fixed_seats is not None:
            seats = np.broadcast_to(self._fixed_seats, len(self))[games]
        self.seats[games] = seats
        self._controllers[games, self.seats[games]] = LEARNER
        for others in np.unique(players).tolist():
            self._seat_opponents(games[players == others], others, uniform[players == others, 1:])
        self._advance(games)

    def _seat_opponents(
        self, games: Integers, num_players: int, uniform: npt.NDArray[np.float64]
    ) -> None:
        drawn = self.seating.draw(uniform[:, : num_players - 1])
        for after in range(1, num_players):
            seat = (self.seats[games] + after) % num_players
            self._controllers[games, seat] = drawn[:, after - 1]

    def _advance(self, games: Integers) -> None:
        """Let the opponents act until each of `games` waits for its learner or has ended."""
        batch = self.batch
        while games.size:
            movers = np.empty(games.size, np.int64)
            advance_many(
                batch.states, batch.legal, games, self._controllers,
                self._words, self.max_decisions, movers, self.terminated, self.truncated,
                batch.actions,
            )  # fmt: skip
            for number in np.unique(movers[movers >= BUILT_IN]).tolist():
                self._ask(number, games[movers == number])
            games = games[movers >= BUILT_IN]

    def _ask(self, number: int, games: Integers) -> None:
        """Carry out what an agent chooses in the games in which it is to move."""
        agent: Any = self.seating.agents[number]
        legal = self.batch.legal[games]
        actions = np.asarray(agent.act(self.batch.view(games)))
        if actions.shape != games.shape or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"{agent!r} must return {games.size} action ids, one a game")
        wrong = first_illegal(legal, actions.astype(np.int64))
        if wrong >= 0:
            raise IllegalActionError(
                f"{agent!r}: {illegal_action_message(actions[wrong], legal[wrong])}"
            )
        self._carry_out(games, actions.astype(np.int64))

    def _carry_out(self, games: Integers, actions: npt.NDArray[np.int64]) -> None:
        """Apply legal actions, one in each of `games`."""
        self.batch.step_some(games, actions)

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that changes in play, as copies of arrays; see `load_state_dict`."""
        own = {"seats": self.seats, "controllers": self._controllers, "words": self._words}
        return self.batch.state_dict() | {name: array.copy() for name, array in own.items()}

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from a `state_dict` of games made with the same arguments and opponents.

        Raises:
            ValueError: the arrays are not of these games.
        """
        check_arrays(state, self.state_dict())
        check_learner_seat(state["seats"], self.batch.num_players)
        controllers = state["controllers"]
        known = (controllers >= LEARNER) & (controllers < len(self.seating.agents))
        if not known.all() or not np.all(state["words"]):
            raise ValueError("the state of the games has opponents that are not here")
        self.batch.load_state_dict(state)
        self.seats[:], self._controllers[:] = state["seats"], controllers
        self._words[:] = state["words"]
        self._advance(np.arange(len(self)))  # all wait for their learners: this sees who has ended

    @property
    def ended(self) -> Flags:
        """Which games are over or cut off, (num_games,)."""
        return self.terminated | self.truncated

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

    def game(self, index: int) -> Game:
        """Return a copy of a game, with all hands."""
        return self.batch.game(index)

    def observations(self, games: Integers | None = None) -> npt.NDArray[np.float32]:
        """Return what the learners see, in all games or those of the given indices.

        Returns:
            float32 (games, OBSERVATION_SIZE), a new array.
        """
        if games is None:
            return observe_states(self.batch.states, self.seats)
        return observe_states(self.batch.states[games], self.seats[games])

    def step(self, actions: npt.ArrayLike, games: Integers | None = None) -> None:
        """Carry out the learner's legal actions in games that have not ended, all by default.

        Raises:
            IllegalActionError: names the first game with an illegal action. Nothing was changed.
            ValueError: there is not one whole number a game.
        """
        games = np.arange(len(self)) if games is None else games
        chosen = checked_actions(actions, games.size)
        wrong = first_illegal(self.batch.legal[games], chosen)
        if wrong >= 0:
            words = illegal_action_message(chosen[wrong], self.batch.legal[games[wrong]])
            raise IllegalActionError(f"game {games[wrong]}: {words}")
        self._carry_out(games, chosen)
        self._advance(games)


def check_learner_seat(learner_seat: npt.ArrayLike, num_players: npt.ArrayLike) -> None:
    """Raise ValueError unless the seats are at the tables."""
    seats, players = np.asarray(learner_seat), np.asarray(num_players)
    whole = np.issubdtype(seats.dtype, np.integer)
    if not whole or np.any((seats < 0) | (seats >= players)):
        most = int(players.min()) - 1
        raise ValueError(f"learner_seat must be 0 to {most} or None, not {learner_seat!r}")
