"""One game, for people, tests and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_integer, checked_seed, is_integer
from taki_env.base.errors import IllegalActionError, did_you_mean
from taki_env.base.types import Words
from taki_env.core.bits import base_word, seed_words
from taki_env.core.cards import ACTIONS, NUM_ACTIONS, PHASES
from taki_env.core.loops import (
    apply_many,
    deal_many,
    determinize_many,
    legal_many,
    observe_many,
)
from taki_env.core.observation import OBSERVATION_SIZE
from taki_env.core.rules import Rules, checked_rules
from taki_env.core.state import GAME_DTYPE, States
from taki_env.records.position import new_states, read_position, seat_or_none, write_position

if TYPE_CHECKING:
    from taki_env.game.view import View

_FIRST = np.zeros(1, np.int64)
ACTION_INDEX = {name: index for index, name in enumerate(ACTIONS)}


class Game:
    """A game of TAKI between `num_players` seats.

    Args:
        num_players: 2 to 10.
        rules: the options; standard rules by default.
        seed: a whole number; the same seed deals the same game. None draws one from the system.

    Raises:
        ValueError: the number of players, or a deck that cannot be dealt to them.
    """

    def __init__(
        self, num_players: int = 2, rules: Rules | None = None, seed: int | None = None
    ) -> None:
        self.rules = checked_rules(rules)
        self.rules.check_players(num_players)
        self._states = new_states(1, num_players, self.rules)
        self._legal = np.zeros(1, np.uint64)
        self._deal(checked_seed(seed))

    def _deal(self, seed: int, episode: int = 0, deal: int = 0) -> None:
        """Deal anew what game `deal` of a `Batch` of this seed plays after `episode` resets."""
        numbers = np.array([deal]), np.array([episode])
        deal_many(self._states, _FIRST, base_word(seed), *numbers, self._legal)
        self._begin((seed, deal, episode))

    def _begin(self, dealt: tuple[int, int, int] | None = None) -> None:
        """Start the history: what a record begins with, and the actions since.

        `dealt` is the seed, deal and episode that this is the first state of, if it is one.
        """
        self._first, self._dealt = self._states.tobytes(), dealt
        self._actions: list[int] = []

    def _beginning(self) -> States:
        """Return the state with which the history starts, (1,)."""
        return copy_states(self._first)

    @classmethod
    def from_dict(cls, position: Mapping[str, Any], seed: int = 0) -> Game:
        """Return the game that a position describes (RULES.md section 10).

        Args:
            position: the mapping that `to_dict` returns, or one written by hand.
            seed: shuffles the draw pile if the position leaves it open, and every refill.

        Raises:
            ValueError: the position is impossible; the message says why.
        """
        word = seed_words(checked_seed(seed), 0)
        return cls._of(*read_position(position, word[0]))

    @classmethod
    def _of(cls, states: States, rules: Rules) -> Game:
        """Return the game of a copy of a record (1,)."""
        game = cls.__new__(cls)
        game._states, game.rules = copy_states(states.tobytes()), rules
        game._legal = np.zeros(1, np.uint64)
        legal_many(game._states, game._legal)
        game._begin()
        return game

    @classmethod
    def replay(cls, record: Mapping[str, Any]) -> list[Game]:
        """Return the games before the first action of a record and after each (docs/records.md).

        Every action is carried out anew, and actors, drawn cards and result have to be those of
        the record. The games go on as the recorded one did: they draw and shuffle the same cards.

        Raises:
            RecordError: the record is none, is one seat's, or says what cannot have happened; the
                message names the step and what is wrong with it.
        """
        from taki_env.records.read import replayed

        return replayed(record)

    def record(
        self,
        seat: int | None = None,
        names: Sequence[str] | None = None,
        values: Sequence[float | None] | None = None,
        note: str | None = None,
    ) -> dict[str, Any]:
        """Return the game with all that happened since it began, ready for JSON (docs/records.md).

        It begins with the deal, or with the position of `from_dict`, `determinize` or
        `Batch.game`; a clone has the history of its original.

        Args:
            seat: leave out all that this seat cannot see; None for everything.
            names: of the players, one a seat.
            values: the return that each action's actor expected, as it saw it, one an action; None
                where it is not known.
            note: any words about the game.

        Raises:
            ValueError: there is no such seat, or not a name a seat, or not a value an action.
        """
        from taki_env.records.write import write_record

        return write_record(self, seat, names, values, note)

    def to_dict(self) -> dict[str, Any]:
        """Return the position, ready for JSON (RULES.md section 10)."""
        return write_position(self._states[0], self.rules)

    @property
    def num_players(self) -> int:
        """Number of seats."""
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
        """Return the actor's legal actions, ascending; none when the game is over."""
        word = int(self._legal[0])
        return [action for action in range(NUM_ACTIONS) if word >> action & 1]

    def legal_names(self) -> list[str]:
        """Return the names of the legal actions, in the order of their ids."""
        return [ACTIONS[action] for action in self.legal_actions()]

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Return the actor's legal actions as ones, int8 (64,)."""
        return np.unpackbits(self._legal.view(np.uint8), bitorder="little").view(np.int8)

    def apply(self, action: int | str) -> None:
        """Carry out an action of the actor.

        Args:
            action: an id of 0 to 63, or a name of `taki_env.ACTIONS`.

        Raises:
            IllegalActionError: the action is not legal now. Nothing was changed.
        """
        index = self._action_index(action)
        if index is None or not int(self._legal[0]) >> index & 1:
            raise IllegalActionError(self._refusal(action, index))
        apply_many(self._states, _FIRST, np.array([index]), self._legal)
        self._actions.append(index)

    def _go_on(self, actions: Sequence[int], end: Game) -> bool:
        """Carry out actions; return whether all are legal, and lead to the same game as `end`."""
        for action in actions:
            if action not in self.legal_actions():
                return False
            self.apply(action)
        return self._states.tobytes() == end._states.tobytes()

    def _action_index(self, action: object) -> int | None:
        if type(action) is int or type(action) is np.int64:  # the rest is rare, and slow
            return int(action) if 0 <= action < NUM_ACTIONS else None
        if isinstance(action, str):
            return ACTION_INDEX.get(action)
        if isinstance(action, np.ndarray) and action.shape == ():
            action = action[()]
        if not is_integer(action):
            return None
        return int(action) if int(action) in range(NUM_ACTIONS) else None

    def _refusal(self, action: object, index: int | None) -> str:
        if index is None:
            hint = did_you_mean(action, ACTIONS) if isinstance(action, str) else ""
            what = f"{action!r} is not an action{hint} (ids 0 to {NUM_ACTIONS - 1} or their names)"
        else:
            what = f"{ACTIONS[index]!r} ({index}) is not legal"
        if self.is_over:
            return f"{what}: the game is over, seat {self.winner} has won"
        names = ", ".join(f"{ACTIONS[legal]!r} ({legal})" for legal in self.legal_actions())
        return f"{what} for seat {self.actor} in phase {self.phase!r}; legal: {names}"

    def rewards(self) -> npt.NDArray[np.float64]:
        """Return +1 for the winner and -1/(n-1) for the others, float (num_players,).

        All are 0 before the end; their sum is always 0.
        """
        rewards = np.zeros(self.num_players)
        if self.winner is not None:
            rewards[:] = -1 / (self.num_players - 1)
            rewards[self.winner] = 1
        return rewards

    def observation(self, seat: int | None = None) -> npt.NDArray[np.float32]:
        """Return what a seat sees, float32 (OBSERVATION_SIZE,); the actor's by default.

        Raises:
            ValueError: there is no such seat.
        """
        seats = self._states["actor"] if seat is None else [self._checked_seat(seat)]
        out = np.empty(OBSERVATION_SIZE, np.float32)
        observe_many(self._states, np.array(seats, np.int64), out[np.newaxis])
        return out

    def view(self, words: Words | None = None, remember: bool = False) -> View:
        """Return what the actor sees as agents get it: a view of one game.

        Args:
            words: uint64 (1,), not 0, from which agents draw in place of their own generators.
            remember: the actor also knows what was done since the game began, in `View.memory`.

        Raises:
            ValueError: the game is over, and nobody acts.
        """
        from taki_env.game.view import View

        if self.is_over:
            raise ValueError(f"the game is over, seat {self.winner} has won")
        actions = np.array([self._actions], np.uint8)
        past = self._beginning(), actions, np.array([len(self._actions)])
        return View(
            self._states.copy(), self._legal.copy(), words, (lambda: past) if remember else None
        )

    def clone(self) -> Game:
        """Return an independent copy, which will draw and shuffle the same cards."""
        game = self._of(self._states, self.rules)
        game._first, game._dealt, game._actions = self._first, self._dealt, self._actions.copy()
        return game

    def determinize(self, seat: int, seed: int) -> Game:
        """Return a copy in which all that `seat` cannot see is dealt anew.

        The other hands, the draw pile and the future shuffles change; what `seat` observes and
        may do does not. A player who is asked to answer a +3 keeps a card to answer with.
        `decisions` starts at 0 again.

        Raises:
            ValueError: there is no such seat, or no such seed.
        """
        game = self.clone()
        seats = np.array([self._checked_seat(seat)])
        determinize_many(game._states, seats, seed_words(checked_seed(seed), 0))
        legal_many(game._states, game._legal)
        game._begin()
        return game

    def _checked_seat(self, seat: int) -> int:
        check_integer("seat", seat, 0, self.num_players - 1)
        return int(seat)

    def __repr__(self) -> str:
        """Return the state of play in a line."""
        if self.is_over:
            return f"<Game: {self.num_players} players, seat {self.winner} has won>"
        return f"<Game: {self.num_players} players, phase {self.phase!r}, seat {self.actor} acts>"

    def __str__(self) -> str:
        """Return the table in words, all hands shown."""
        from taki_env.render.words import table_text

        return table_text(self.to_dict())


def copy_states(memory: bytes) -> States:
    """Return records of their own from a copy of memory; NumPy copies them field by field."""
    return np.frombuffer(bytearray(memory), GAME_DTYPE)
