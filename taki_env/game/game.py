"""One game, for people, tests and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_integer, checked_seed
from taki_env.base.errors import IllegalActionError
from taki_env.base.types import Words
from taki_env.core.actions import action_id, action_ids, refusal
from taki_env.core.bits import seed_words
from taki_env.core.cards import ACTIONS, NUM_ACTIONS, PHASES
from taki_env.core.history import Deal, History, copy_states, deal_game
from taki_env.core.loops import apply_many, determinize_many, legal_many, observe_many
from taki_env.core.observation import OBSERVATION_SIZE
from taki_env.core.outcome import seat_rewards
from taki_env.core.rules import Rules, checked_rules
from taki_env.core.state import States
from taki_env.game.view import View
from taki_env.records.position import new_states, read_position, seat_or_none, write_position
from taki_env.records.read import read_full
from taki_env.records.write import Values, write_record
from taki_env.render.words import table_text

_FIRST = np.zeros(1, np.int64)
_AS_ARRAY = [np.array([action]) for action in range(NUM_ACTIONS)]
"""Each action as compiled functions take it; faster than a new array for every call."""


class Game:
    """A game of TAKI between `num_players` seats.

    Args:
        num_players: Number of players, 2 to 10.
        rules: The options; standard rules by default.
        seed: An integer of at least 0. The same seed deals the same game. None draws a seed from
            the operating system.

    Raises:
        ValueError: The number of players is invalid, or the deck is too small for them.
    """

    def __init__(
        self, num_players: int = 2, rules: Rules | None = None, seed: int | None = None
    ) -> None:
        self._start_with(Deal(checked_seed(seed)), num_players, checked_rules(rules))

    def _start_with(self, deal: Deal, num_players: int, rules: Rules) -> None:
        rules.check_players(num_players)
        start = deal_game(new_states(1, num_players, rules), deal)
        self._set(start, rules, start, deal, bytearray(), 0)

    def _set(
        self, states: States, rules: Rules, start: States, deal: Deal | None,
        actions: bytearray, length: int,
    ) -> None:  # fmt: skip
        """Set a copy of the state (1,) and the history that leads to it.

        Games share `start` (1,), which never changes, and the buffer `actions`, of which `length`
        count. A game whose actions are not the whole buffer copies them before it adds one.
        """
        self._states, self._legal = copy_states(states), np.zeros(1, np.uint64)
        legal_many(self._states, self._legal)
        self.rules, self._start, self._deal = rules, start, deal
        self._actions, self._length = actions, length

    @classmethod
    def _of(
        cls, states: States, rules: Rules, start: States | None = None, deal: Deal | None = None,
        actions: bytearray | None = None, length: int = 0,
    ) -> Game:  # fmt: skip
        """Return a game at a state (1,), by default one that starts there; see `_set`."""
        game = cls.__new__(cls)
        start = copy_states(states) if start is None else start
        game._set(states, rules, start, deal, bytearray() if actions is None else actions, length)
        return game

    @classmethod
    def from_dict(cls, position: Mapping[str, Any], seed: int = 0) -> Game:
        """Return the game that a position describes (RULES.md section 10).

        Args:
            position: The mapping that `to_dict` returns, or one written by hand.
            seed: Seed of every refill, and of the draw pile if the position leaves it open.

        Raises:
            ValueError: The position is impossible; the message says why.
        """
        word = seed_words(checked_seed(seed), 0)
        return cls._of(*read_position(position, word[0]))

    @classmethod
    def from_deal(
        cls, num_players: int, rules: Rules, seed: int, deal: int = 0, episode: int = 0
    ) -> Game:
        """Return the game that a `Batch` of the seed plays as game `deal` after `episode` resets.

        Raises:
            ValueError: See `Game`.
        """
        game = cls.__new__(cls)
        game._start_with(Deal(seed, deal, episode), num_players, rules)
        return game

    @classmethod
    def replay(cls, record: Mapping[str, Any]) -> list[Game]:
        """Return the games before the first action of a record and after each (docs/records.md).

        Every action is carried out again; actors, drawn cards and result must match the record.
        The games continue as the recorded one: they draw and shuffle the same cards.

        Raises:
            RecordError: The record is invalid or impossible, or shows what one seat saw. The
                message names the step and the error.
        """
        rules, deal, states, actions = read_full(record)
        start, buffer = states[0], bytearray(actions)
        return [cls._of(one, rules, start, deal, buffer, k) for k, one in enumerate(states)]

    def record(
        self,
        seat: int | None = None,
        names: Sequence[str] | None = None,
        values: Values | None = None,
        note: str | None = None,
    ) -> dict[str, Any]:
        """Return the game with everything that happened since it started (docs/records.md).

        The record is ready for JSON. It starts with the deal, or with the position of `from_dict`,
        `determinize` or `Batch.game`; a clone has the history of its original.

        Args:
            seat: Leave out everything that this seat cannot see; None for a full record.
            names: Names of the players, one per seat.
            values: Expected return of each action's actor, one per action; None where unknown.
            note: Free text about the game.

        Raises:
            ValueError: The seat does not exist, or there is not one name per seat or one value per
                action.
        """
        view = None if seat is None else self._checked_seat(seat)
        return write_record(self.rules, self.history, self._deal, view, names, values, note)

    @property
    def history(self) -> History:
        """How the game came to be: a history of one game, B = 1."""
        actions = np.frombuffer(bytes(self._actions[: self._length]), np.uint8)[np.newaxis]
        return History(copy_states(self._start), actions, np.array([self._length]))

    @property
    def deal(self) -> Deal | None:
        """The deal that the history starts with; None if it starts otherwise."""
        return self._deal

    @property
    def state(self) -> States:
        """A copy of the state, `GAME_DTYPE` (1,); it shows hidden cards and the random word."""
        return copy_states(self._states)

    def to_dict(self) -> dict[str, Any]:
        """Return the position, ready for JSON (RULES.md section 10)."""
        return write_position(self._states[0], self.rules)

    @property
    def num_players(self) -> int:
        """Number of players."""
        return int(self._states["num_players"][0])

    @property
    def actor(self) -> int:
        """The seat that decides now; the winner when the game is over."""
        return int(self._states["actor"][0])

    @property
    def turn(self) -> int:
        """The seat whose turn it is; not the actor while a +3 is answered."""
        return int(self._states["turn"][0])

    @property
    def phase(self) -> str:
        """One of `taki_env.PHASES`."""
        return PHASES[self._states["phase"][0]]

    @property
    def is_over(self) -> bool:
        """Whether a seat has won."""
        return self.winner is not None

    @property
    def winner(self) -> int | None:
        """The seat that has won, or None."""
        return seat_or_none(self._states["winner"][0])

    @property
    def decisions(self) -> int:
        """Actions applied since the deal, or since the position was read."""
        return int(self._states["decisions"][0])

    def legal_actions(self) -> list[int]:
        """Return the actor's legal actions, ascending; empty when the game is over."""
        return action_ids(int(self._legal[0]))

    def legal_names(self) -> list[str]:
        """Return the names of the legal actions, in the order of their ids."""
        return [ACTIONS[action] for action in self.legal_actions()]

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Return the actor's legal actions as ones, int8 (64,)."""
        return np.unpackbits(self._legal.view(np.uint8), bitorder="little").view(np.int8)

    def apply(self, action: int | str) -> None:
        """Carry out an action of the actor.

        Args:
            action: An id, 0 to 63, or a name of `taki_env.ACTIONS`.

        Raises:
            IllegalActionError: The action is not legal now. Nothing was changed.
        """
        index = action_id(action)
        if index is None or not int(self._legal[0]) >> index & 1:
            raise IllegalActionError(refusal(self._states[0], int(self._legal[0]), action))
        apply_many(self._states, _FIRST, _AS_ARRAY[index], self._legal)
        if len(self._actions) != self._length:  # another game added its own to the shared buffer
            self._actions = self._actions[: self._length]
        self._actions.append(index)
        self._length += 1

    def rewards(self) -> npt.NDArray[np.float64]:
        """Return +1 for the winner and -1/(n-1) for the others, float (num_players,).

        All are 0 before the end; their sum is always 0.
        """
        return np.array(seat_rewards(self.winner, self.num_players))

    def observation(self, seat: int | None = None) -> npt.NDArray[np.float32]:
        """Return what a seat sees, float32 (OBSERVATION_SIZE,); the actor's view by default.

        Raises:
            ValueError: The seat does not exist.
        """
        seats = self._states["actor"] if seat is None else [self._checked_seat(seat)]
        out = np.empty(OBSERVATION_SIZE, np.float32)
        observe_many(self._states, np.array(seats, np.int64), out[np.newaxis])
        return out

    def view(self, words: Words | None = None, remember: bool = False) -> View:
        """Return what the actor sees as agents get it: a view of one game.

        Args:
            words: Random words that are not 0, uint64 (1,), used in place of an agent's generator.
            remember: The actor also knows the history of the game, in `View.memory`.

        Raises:
            ValueError: The game is over.
        """
        if self.is_over:
            raise ValueError(f"the game is over, seat {self.winner} has won")
        history = self.history if remember else None
        return View(self.state, self._legal.copy(), words, history)

    def clone(self) -> Game:
        """Return an independent copy, which will draw and shuffle the same cards."""
        return self._of(
            self._states, self.rules, self._start, self._deal, self._actions, self._length
        )

    def determinize(self, seat: int, seed: int) -> Game:
        """Return a copy in which everything that `seat` cannot see is dealt again.

        The other hands, the draw pile and the future shuffles change; what `seat` observes and
        may do does not. A player who is asked to answer a +3 keeps a card to answer with.
        `decisions` starts at 0 again, and the history is empty.

        Raises:
            ValueError: The seat or the seed is invalid.
        """
        start = self.state
        seats = np.array([self._checked_seat(seat)])
        determinize_many(start, seats, seed_words(checked_seed(seed), 0))
        return self._of(start, self.rules)

    def _checked_seat(self, seat: int) -> int:
        check_integer("seat", seat, 0, self.num_players - 1)
        return int(seat)

    def __repr__(self) -> str:
        """Return the state of play in a line."""
        if self.is_over:
            return f"<Game: {self.num_players} players, seat {self.winner} has won>"
        return f"<Game: {self.num_players} players, phase {self.phase!r}, seat {self.actor} acts>"

    def __str__(self) -> str:
        """Return the table as text, with all hands shown."""
        return table_text(self.to_dict())
