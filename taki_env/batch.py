"""Many games at once, and the view of them that agents get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.cards import ACTIONS, NUM_ACTIONS, OVER
from taki_env.engine import Records, Words, base_word, seed_words, spread_words
from taki_env.errors import IllegalActionError
from taki_env.game import Game, checked_rules, checked_seed
from taki_env.loops import (
    apply_many,
    deal_many,
    determinize_many,
    first_illegal,
    legal_many,
    masks_many,
    observe_many,
    sample_many,
)
from taki_env.memory import Memory, recall
from taki_env.observation import OBSERVATION_SIZE
from taki_env.policies import POLICIES, choose_many
from taki_env.position import check_states, new_states
from taki_env.rules import Rules
from taki_env.threads import each_chunk

Seats = npt.NDArray[np.int64]
Past = tuple[Records, npt.NDArray[np.uint8], Seats]
"""Games as they began (B,), the actions since (B, most), and how many of them count (B,)."""


def observe_states(
    states: Records, seats: Seats, out: npt.NDArray[np.float32] | None = None, threads: int = 1
) -> npt.NDArray[np.float32]:
    """Return what `seats` see, float32 (num_games, OBSERVATION_SIZE), written to `out` if given."""
    if out is None:
        out = np.empty((states.size, OBSERVATION_SIZE), np.float32)
    check_out(out, (states.size, OBSERVATION_SIZE), np.float32)
    each_chunk(threads, states.size, lambda c: observe_many(states[c], seats[c], out[c]))
    return out


def unpack_masks(legal: Words, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
    """Return sets of actions as int8 (num_games, 64), written to `out` if given."""
    if out is None:
        out = np.empty((legal.size, NUM_ACTIONS), np.int8)
    check_out(out, (legal.size, NUM_ACTIONS), np.int8)
    masks_many(legal, out)
    return out


def check_out(out: npt.NDArray[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    """Raise ValueError unless `out` is an array of that shape and type."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise ValueError(f"out must be {np.dtype(dtype)} {shape}, not {found}")
    if not out.flags.writeable:
        raise ValueError("out must be writable")


def rewards_of(states: Records) -> npt.NDArray[np.float64]:
    """Return the rewards of all seats, (num_games, most players); 0 for seats not at the table."""
    players = states["num_players"].astype(np.int64)[:, None]
    seats = np.arange(players.max(initial=0))
    lost = np.where(seats < players, -1 / (players - 1), 0)
    won = seats == states["winner"][:, None]
    done = states["phase"][:, None] == OVER
    return np.where(done, np.where(won, 1, lost), 0)


class View:
    """What the actors of some games see: all that an agent may base its actions on.

    B games, each with an actor that has an action to choose.
    """

    def __init__(
        self,
        states: Records,
        legal: Words,
        words: Words | None = None,
        past: Callable[[], Past] | None = None,
    ) -> None:
        self._states = states
        self.legal = legal
        """Legal actions as words, uint64 (B,): bit a for action a."""
        self._words = words
        self._past = past

    def random_words(self, rng: np.random.Generator) -> Words:
        """Return a random word that is not 0 for each game, uint64 (B,).

        They are drawn from `rng`, unless the games come with words of their own, as in the arena:
        then an agent that draws from nothing else plays the same in batches of any size.

        Raises:
            TypeError: `rng` is no generator of numpy.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a generator of numpy, not {rng!r}")
        if self._words is not None:
            return self._words.copy()
        return rng.integers(1, 2**64, len(self), np.uint64)

    def __len__(self) -> int:
        """Return B, the number of games."""
        return self.legal.size

    @cached_property
    def seats(self) -> Seats:
        """The seats to act, (B,)."""
        return self._states["actor"].astype(np.int64)

    @cached_property
    def num_players(self) -> Seats:
        """Seats at each table, (B,)."""
        return self._states["num_players"].astype(np.int64)

    @cached_property
    def observations(self) -> npt.NDArray[np.float32]:
        """What the actors see, float32 (B, OBSERVATION_SIZE)."""
        return observe_states(self._states, self.seats)

    @cached_property
    def action_masks(self) -> npt.NDArray[np.int8]:
        """Legal actions as ones, int8 (B, 64)."""
        return unpack_masks(self.legal)

    @cached_property
    def memory(self) -> Memory | None:
        """What the actors remember of what was done before; None where it is not kept.

        It is kept for agents with an attribute `remembers` that is true: in the arena, in
        evaluation, at the table of `agents.play`, for opponents in environments, in training.
        """
        return None if self._past is None else recall(self._states, *self._past(), self.seats)

    def built_in(self, policy: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the actions of a built-in policy, "random" or "greedy", (B,).

        Raises:
            ValueError: there is no such policy.
        """
        if policy not in POLICIES:
            raise ValueError(f"the built-in policies are {', '.join(POLICIES)}, not {policy!r}")
        actions = np.zeros(len(self), np.int64)
        words = self.random_words(rng)
        choose_many(POLICIES.index(policy), self._states, self.legal, words, actions)
        return actions

    def sample_states(self, k: int, rng: np.random.Generator) -> Records:
        """Return k re-deals of each game, records (B, k), in each of which its actor sees the same.

        See `Game.determinize`; the records are `GAME_DTYPE` of `taki_env.engine`.

        Raises:
            ValueError: `k` is no number of 1 or more.
            TypeError: `rng` is no generator of numpy.
        """
        check_at_least_one("k", k)
        samples = np.repeat(self._states, k)
        words = spread_words(self.random_words(rng), k).ravel()
        determinize_many(samples, np.repeat(self.seats, k), words)
        return samples.reshape(len(self), k)


class UniformSampler:
    """Draws uniformly random legal actions, with a generator for each game.

    Args:
        num_games: 1 or more.
        seed: game i draws from (seed, i), whatever the number of games.
        threads: share the loop among so many threads; the actions stay the same.
    """

    def __init__(self, num_games: int, seed: int | None = None, threads: int = 1) -> None:
        check_at_least_one("num_games", num_games)
        check_at_least_one("threads", threads)
        self._words = seed_words(checked_seed(seed), np.arange(num_games), stream=2)
        self._threads = threads

    def __call__(
        self, legal: Words, out: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """Return an action of each set in `legal`, int64 (num_games,); 0 for an empty set.

        Args:
            legal: words, uint64 (num_games,).
            out: is written to if given.
        """
        words = self._words
        if legal.shape != words.shape or legal.dtype != np.uint64:
            raise ValueError(f"legal must be uint64 {words.shape}, not {legal.dtype} {legal.shape}")
        actions = np.empty(words.size, np.int64) if out is None else out
        check_out(actions, words.shape, np.int64)

        def sample(chunk: slice) -> None:
            sample_many(legal[chunk], words[chunk], actions[chunk])

        each_chunk(self._threads, words.size, sample)
        return actions


class Batch:
    """`num_games` games side by side.

    Args:
        num_games: 1 or more.
        num_players: seats of every game, or an array (num_games,) of them.
        rules: the options; standard rules by default.
        seed: game i is dealt from (seed, i) and later from (seed, i, episode), whatever the
            number of games; game 0 is that of ``Game(num_players, rules, seed)``.
        deals: indices (num_games,) to deal from in place of i, for the same deal in many games.
        threads: share the compiled loops among so many threads; the games stay the same.

    Raises:
        ValueError: a number of games or players, or a deck that cannot be dealt.
    """

    def __init__(
        self,
        num_games: int,
        num_players: int | npt.ArrayLike = 2,
        rules: Rules | None = None,
        seed: int | None = None,
        deals: npt.ArrayLike | None = None,
        threads: int = 1,
    ) -> None:
        check_at_least_one("threads", threads)
        self.threads = threads
        check_at_least_one("num_games", num_games)
        self.rules = checked_rules(rules)
        self.seed = checked_seed(seed)
        for players in np.unique(check_per_game("num_players", num_players, num_games)).tolist():
            self.rules.check_players(players)
        self.states = new_states(num_games, num_players, self.rules)
        self.legal: Words = np.zeros(num_games, np.uint64)
        """Legal actions of each actor, uint64 (num_games,); 0 where the game is over."""
        chosen = np.arange(num_games) if deals is None else deals
        self.deals: Seats = np.array(check_per_game("deals", chosen, num_games), np.int64)
        self.episodes = np.zeros(num_games, np.int64)
        """How often each game was dealt anew, (num_games,)."""
        self.actions: npt.NDArray[np.uint8] | None = None
        """The actions of every game since its deal, (num_games, most), if they are kept."""
        self._all = np.arange(num_games)
        self._deal(self._all)

    def _deal(self, games: Seats) -> None:
        states, deals, episodes, legal = self.states, self.deals, self.episodes, self.legal
        base = base_word(self.seed)

        def deal(chunk: slice) -> None:
            deal_many(states, games[chunk], base, deals, episodes, legal)

        each_chunk(self.threads, games.size, deal)

    def __len__(self) -> int:
        """Return the number of games."""
        return self.legal.size

    @property
    def num_players(self) -> Seats:
        """Seats of each game, (num_games,)."""
        return self.states["num_players"].astype(np.int64)

    @property
    def actors(self) -> Seats:
        """The seat that decides in each game, (num_games,); the winner of a finished game."""
        return self.states["actor"].astype(np.int64)

    @property
    def done(self) -> npt.NDArray[np.bool_]:
        """Which games are over, (num_games,)."""
        return np.asarray(self.states["phase"] == OVER)

    @property
    def decisions(self) -> Seats:
        """Actions applied since each deal, (num_games,)."""
        return self.states["decisions"].astype(np.int64)

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """+1 for a winner, -1/(n-1) for the others, 0 before the end; (num_games, most players)."""
        return rewards_of(self.states)

    def action_masks(self, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
        """Return the legal actions as ones, int8 (num_games, 64), written to `out` if given."""
        return unpack_masks(self.legal, out)

    def observations(
        self, out: npt.NDArray[np.float32] | None = None, seats: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float32]:
        """Return what `seats`, by default the actors, see.

        Returns:
            float32 (num_games, OBSERVATION_SIZE), written to `out` if given.
        """
        if seats is None:
            return observe_states(self.states, self.actors, out, self.threads)
        chosen = check_per_game("seats", seats, len(self))
        if np.any((chosen < 0) | (chosen >= self.states["num_players"])):
            raise ValueError("seats must be below the number of players of their games")
        return observe_states(self.states, chosen.astype(np.int64), out, self.threads)

    def view(self, games: Seats, words: Words | None = None) -> View:
        """Return what the actors of some games see; the games must not be over.

        They remember what was done before if the actions are kept.

        Args:
            games: indices (B,).
            words: uint64 (B,), not 0, from which agents draw in place of their own generators.
        """
        past = None if self.actions is None else self._past(self.actions, games)
        return View(self.states[games], self.legal[games], words, past)

    def _past(self, actions: npt.NDArray[np.uint8], games: Seats) -> Callable[[], Past]:
        """Return a function that returns the past of some games; it begins now if not all is kept.

        It is for the games as they are now, whenever it is called.
        """
        kept = self.decisions[games] <= actions.shape[1]
        lengths = np.where(kept, self.decisions[games], 0)
        taken = actions[games, : lengths.max(initial=0)]
        starts, deals, episodes = self.states[games], self.deals[games], self.episodes[games]
        base = base_word(self.seed)

        def past() -> Past:
            begun, legal = starts.copy(), np.zeros(starts.size, np.uint64)
            deal_many(begun, np.flatnonzero(kept), base, deals, episodes, legal)
            return begun, taken, lengths

        return past

    def keep_actions(self, most: int) -> None:
        """Keep the actions of all games from now on, so that `game` and `view` know their history.

        Args:
            most: of a game; one byte of memory each.

        Raises:
            ValueError: `most` is less than 1, or games have begun.
        """
        check_at_least_one("most", most)
        if self.decisions.any():
            raise ValueError("actions are kept from the deal on, and games have begun")
        self._keep_actions(most)

    def _keep_actions(self, most: int) -> None:
        """Keep the actions, also of games that have begun: their past stays unknown."""
        self.actions = np.zeros((len(self), most), np.uint8)

    def game(self, index: int) -> Game:
        """Return a copy of one game; IndexError if there is none of that index.

        Its history, for `Game.record`, begins with the deal if all actions since were kept, and
        now if not.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"game must be 0 to {len(self) - 1}, not {index}")
        game = Game._of(self.states[index : index + 1], self.rules)
        if self.actions is not None and game.decisions <= self.actions.shape[1]:
            dealt = Game(game.num_players, self.rules, self.seed)
            dealt._deal(self.seed, int(self.episodes[index]), int(self.deals[index]))
            if dealt._go_on(self.actions[index, : game.decisions].tolist(), game):
                return dealt
        return game

    def step(self, actions: npt.ArrayLike) -> None:
        """Carry out one decision in every game; finished games are left as they are.

        Args:
            actions: action ids (num_games,).

        Raises:
            IllegalActionError: names the first game with an illegal action. Nothing was changed.
            ValueError: there is not one whole number a game.
        """
        chosen = checked_actions(actions, len(self))
        wrong = first_illegal(self.legal, chosen)
        if wrong >= 0:
            raise IllegalActionError(f"game {wrong}: {refusal(chosen[wrong], self.legal[wrong])}")
        self.step_some(self._all, chosen)

    def step_some(self, games: Seats, actions: Seats) -> None:
        """Carry out legal actions, which are not checked, in the games of the given indices."""
        states, legal = self.states, self.legal
        if self.actions is not None:
            taken = states["decisions"][games]
            kept = (legal[games] != 0) & (taken < self.actions.shape[1])
            self.actions[games[kept], taken[kept]] = actions[kept]

        def apply(chunk: slice) -> None:
            apply_many(states, games[chunk], actions[chunk], legal)

        each_chunk(self.threads, games.size, apply)

    def reseed(self, seed: int) -> None:
        """Deal all games anew from another seed, as a new batch would."""
        self.seed = checked_seed(seed)
        self.episodes[:] = 0
        self._deal(self._all)

    def reset(self, where: npt.ArrayLike | None = None) -> None:
        """Deal new games: all of them, or those that a mask or indices name.

        Raises:
            IndexError: there is no such game, or the mask has another length.
        """
        games = self._all if where is None else self._chosen(np.asarray(where))
        self.episodes[games] += 1
        self._deal(games)

    def load_states(self, states: Records, episodes: Seats) -> None:
        """Go on from records (num_games,) of games at the same tables, dealt so often before.

        Raises:
            ValueError: the records are no sound games of these rules and tables.
        """
        check_states(states, self.states, self.rules)
        if np.any(episodes < 0):
            raise ValueError("games cannot have been dealt less than never")
        self.states[:], self.episodes[:] = states, episodes
        self.actions = None  # they are not of these games
        legal_many(self.states, self.legal)

    def _chosen(self, where: npt.NDArray[Any]) -> Seats:
        """Return the indices of the games that a mask or indices name."""
        if where.dtype == np.bool_ and where.shape != self.legal.shape:
            raise IndexError(f"a mask must be of shape {self.legal.shape}, not {where.shape}")
        if where.ndim > 1:
            raise IndexError(f"indices must be one or a list of them, not of shape {where.shape}")
        return np.atleast_1d(self._all[where if where.size else where.astype(np.int64)])


def check_arrays(state: Mapping[str, Any], current: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise ValueError unless a state of games has arrays like those of the current one."""
    for name, array in current.items():
        found = state.get(name)
        alike = isinstance(found, np.ndarray) and found.shape == array.shape
        if not alike or np.asarray(found).dtype != array.dtype:
            raise ValueError(
                f"the state of the games lacks {name!r} of {array.dtype}, shape {array.shape}"
            )


def check_at_least_one(name: str, value: Any) -> None:
    """Raise ValueError unless a value is a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be 1 or more, a whole number, not {value!r}")


def check_per_game(name: str, values: npt.ArrayLike, num_games: int) -> npt.NDArray[Any]:
    """Return one value for all games, or one for each, as an array (num_games,).

    Raises:
        ValueError: the values are no whole numbers, or of another length.
    """
    array = np.asarray(values)
    if array.shape not in ((), (num_games,)) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be a whole number, or {num_games} of them, one a game")
    return np.broadcast_to(array, num_games)


def checked_actions(actions: npt.ArrayLike, num_games: int) -> Seats:
    """Return actions as an array (num_games,); ValueError unless there is a whole number a game."""
    chosen = np.asarray(actions)
    if chosen.shape != (num_games,) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"actions must be {num_games} whole numbers, one a game")
    return chosen.astype(np.int64)


def refusal(action: Any, legal: int) -> str:
    """Return the words for an action outside a set of legal ones."""
    action = int(action) if isinstance(action, Integral) else action
    known = isinstance(action, int) and action in range(NUM_ACTIONS)
    name = repr(ACTIONS[action]) if known else "not an action"
    names = [f"{ACTIONS[a]!r} ({a})" for a in range(NUM_ACTIONS) if int(legal) >> a & 1]
    return f"{action!r} ({name}) is not legal; legal: {', '.join(names)}"
