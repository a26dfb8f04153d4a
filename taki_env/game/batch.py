"""Many games at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import (
    check_arrays,
    check_at_least_one,
    check_per_game,
    checked_actions,
    checked_seed,
)
from taki_env.base.errors import IllegalActionError
from taki_env.base.threads import each_chunk
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import illegal_action_message, observe_states, unpack_masks
from taki_env.core.bits import base_word
from taki_env.core.cards import OVER
from taki_env.core.history import Deal, History
from taki_env.core.loops import apply_many, deal_many, first_illegal, legal_many
from taki_env.core.outcome import rewards_of
from taki_env.core.rules import Rules, checked_rules
from taki_env.game.game import Game
from taki_env.game.view import View
from taki_env.records.position import check_states, new_states


class Batch:
    """`num_games` games side by side.

    Args:
        num_games: Number of games, at least 1.
        num_players: Players of every game, or an array (num_games,) of numbers.
        rules: The options; standard rules by default.
        seed: Seed of the deals. Game i is dealt from (seed, i) and later from (seed, i, episode),
            whatever the number of games; game 0 is ``Game(num_players, rules, seed)``.
        deals: Indices (num_games,) to deal from in place of i, for the same deal in many games.
        threads: Number of threads for the compiled loops. Affects speed only.

    Raises:
        ValueError: A number of games, players or threads is invalid, or the deck is too small.
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
        self.deals: Integers = np.array(check_per_game("deals", chosen, num_games), np.int64)
        self.episodes = np.zeros(num_games, np.int64)
        """How often each game was reset, (num_games,)."""
        self.actions: npt.NDArray[np.uint8] | None = None
        """Actions of each game since its deal, (num_games, most); None if they are not kept."""
        self._all = np.arange(num_games)
        self._deal(self._all)

    def _deal(self, games: Integers) -> None:
        states, deals, episodes, legal = self.states, self.deals, self.episodes, self.legal
        base = base_word(self.seed)

        def deal(chunk: slice) -> None:
            deal_many(states, games[chunk], base, deals, episodes, legal)

        each_chunk(self.threads, games.size, deal)

    def __len__(self) -> int:
        """Return the number of games."""
        return self.legal.size

    @property
    def num_players(self) -> Integers:
        """Number of players of each game, (num_games,)."""
        return self.states["num_players"].astype(np.int64)

    @property
    def actors(self) -> Integers:
        """The seat that decides in each game, (num_games,); the winner of a finished game."""
        return self.states["actor"].astype(np.int64)

    @property
    def done(self) -> npt.NDArray[np.bool_]:
        """Which games are over, (num_games,)."""
        return np.asarray(self.states["phase"] == OVER)

    @property
    def decisions(self) -> Integers:
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

    def view(self, games: Integers, words: Words | None = None) -> View:
        """Return what the actors of some games see; the games must not be over.

        The view has a memory if the actions are kept.

        Args:
            games: Indices (B,).
            words: Random words that are not 0, uint64 (B,), used in place of an agent's generator.
        """
        history = None if self.actions is None else self.history(games)
        return View(self.states[games], self.legal[games], words, history)

    def history(self, games: Integers) -> History:
        """Return how some games came to be, by the actions that are kept.

        A game whose actions were not all kept starts at its current state. After `keep_actions` in
        the middle of a game, or states from elsewhere, a history need not lead to its game's
        state: see `History.leads_to`.

        Args:
            games: Indices (B,).
        """
        lengths, starts = self.decisions[games], self.states[games]
        actions = np.zeros((len(self), 0), np.uint8) if self.actions is None else self.actions
        is_kept = lengths <= actions.shape[1]
        lengths[~is_kept] = 0
        deal_many(
            starts, np.flatnonzero(is_kept), base_word(self.seed), self.deals[games],
            self.episodes[games], np.zeros(games.size, np.uint64),
        )  # fmt: skip
        return History(starts, actions[games, : lengths.max(initial=0)], lengths)

    def keep_actions(self, most: int, midway: bool = False) -> None:
        """Keep the actions of all games from now on, so that `game` and `view` know their history.

        Args:
            most: Actions kept of a game; one byte of memory each.
            midway: Accept games that have started. Their history stays unknown until they are
                dealt again.

        Raises:
            ValueError: `most` is less than 1, or games have started and `midway` is false.
        """
        check_at_least_one("most", most)
        if not midway and self.decisions.any():
            raise ValueError("keep_actions must be called before the first action of any game")
        self.actions = np.zeros((len(self), most), np.uint8)

    def game(self, index: int) -> Game:
        """Return a copy of one game.

        Its history, for `Game.record`, starts with the deal if all actions since were kept, and
        with the current state otherwise.

        Raises:
            IndexError: The game does not exist.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"game must be 0 to {len(self) - 1}, got {index}")
        state = self.states[index : index + 1]
        if self.actions is None or self.decisions[index] > self.actions.shape[1]:
            return Game._of(state, self.rules)
        history = self.history(np.array([index]))
        if not history.leads_to(state).all():
            return Game._of(state, self.rules)
        deal = Deal(self.seed, int(self.deals[index]), int(self.episodes[index]))
        actions = bytearray(history.actions[0])
        return Game._of(state, self.rules, history.starts, deal, actions, len(actions))

    def step(self, actions: npt.ArrayLike) -> None:
        """Carry out one decision in every game; finished games are left as they are.

        Args:
            actions: Action ids (num_games,).

        Raises:
            IllegalActionError: An action is illegal; names the first such game. Nothing was
                changed.
            ValueError: The actions are not one integer per game.
        """
        chosen = checked_actions(actions, len(self))
        wrong = first_illegal(self.legal, chosen)
        if wrong >= 0:
            raise IllegalActionError(
                f"game {wrong}: {illegal_action_message(chosen[wrong], self.legal[wrong])}"
            )
        self.step_some(self._all, chosen)

    def step_some(self, games: Integers, actions: Integers) -> None:
        """Carry out legal actions, which are not checked, in games of the given indices (B,)."""
        states, legal = self.states, self.legal
        if self.actions is not None:
            taken = states["decisions"][games]
            kept = (legal[games] != 0) & (taken < self.actions.shape[1])
            self.actions[games[kept], taken[kept]] = actions[kept]

        def apply(chunk: slice) -> None:
            apply_many(states, games[chunk], actions[chunk], legal)

        each_chunk(self.threads, games.size, apply)

    def reseed(self, seed: int) -> None:
        """Deal all games from another seed, as a new batch would."""
        self.seed = checked_seed(seed)
        self.episodes[:] = 0
        self._deal(self._all)

    def reset(self, where: npt.ArrayLike | None = None) -> None:
        """Deal new games: all of them, or those given by a mask or indices.

        Raises:
            IndexError: A game does not exist, or the mask has another length.
        """
        games = self._all if where is None else self._chosen(np.asarray(where))
        self.episodes[games] += 1
        self._deal(games)

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays that change in play.

        Keys: `states`, `legal` and `episodes`, each (num_games,), and `actions` (num_games, most)
        if actions are kept.
        """
        state = {"states": self.states, "legal": self.legal, "episodes": self.episodes}
        if self.actions is not None:
            state["actions"] = self.actions
        return {name: array.copy() for name, array in state.items()}

    def load_state_dict(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Resume from the `state_dict` of a batch that was made with the same arguments.

        Extra keys are ignored, and so are actions if this batch keeps none.

        Raises:
            ValueError: The arrays do not fit this batch, or a state is invalid. Nothing was
                changed.
        """
        check_arrays(state, self.state_dict())
        check_states(state["states"], self.states, self.rules)
        if np.any(state["episodes"] < 0):
            raise ValueError("episodes must be 0 or more in every game")
        self.states[:], self.episodes[:] = state["states"], state["episodes"]
        if self.actions is not None:
            self.actions[:] = state["actions"]
        legal_many(self.states, self.legal)

    def _chosen(self, where: npt.NDArray[Any]) -> Integers:
        """Return the indices of the games given by a mask or indices."""
        if where.dtype == np.bool_ and where.shape != self.legal.shape:
            raise IndexError(f"a mask must have shape {self.legal.shape}, got {where.shape}")
        if where.ndim > 1:
            raise IndexError(f"indices must have at most one dimension, got shape {where.shape}")
        return np.atleast_1d(self._all[where if where.size else where.astype(np.int64)])
