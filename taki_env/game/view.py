"""The view of games that agents get."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_at_least_one
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import observe_states, unpack_masks
from taki_env.core.bits import spread_words
from taki_env.core.history import History
from taki_env.core.loops import determinize_many
from taki_env.core.memory import Memory, recall
from taki_env.core.policies import POLICIES, choose_many
from taki_env.core.state import States


class View:
    """What the actors of B games see, and all that an agent may base its actions on.

    Each game has an actor who has an action to choose.

    Args:
        states: States of the games, `GAME_DTYPE` (B,). The view does not show them.
        legal: Legal actions, uint64 (B,).
        words: Random words that are not 0, uint64 (B,), used in place of an agent's generator.
        history: How the games came to be, for `memory`.
    """

    def __init__(
        self,
        states: States,
        legal: Words,
        words: Words | None = None,
        history: History | None = None,
    ) -> None:
        self._states = states
        self.legal = legal
        """Legal actions as words, uint64 (B,): bit a for action a."""
        self._words = words
        self._history = history

    def random_words(self, rng: np.random.Generator) -> Words:
        """Return a random word that is not 0 for each game, uint64 (B,).

        They are drawn from `rng` unless the games bring their own words, as in the arena. An agent
        that uses no other randomness then plays the same in batches of any size.

        Raises:
            TypeError: `rng` is not a NumPy generator.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r}")
        if self._words is not None:
            return self._words.copy()
        return rng.integers(1, 2**64, len(self), np.uint64)

    def __len__(self) -> int:
        """Return B, the number of games."""
        return self.legal.size

    @cached_property
    def seats(self) -> Integers:
        """The seats to act, (B,)."""
        return self._states["actor"].astype(np.int64)

    @cached_property
    def num_players(self) -> Integers:
        """Number of players of each game, (B,)."""
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
        """What the actors remember; None if no history is kept.

        A history is kept for agents with a true attribute `remembers`: in the arena, in evaluation,
        at the table of `agents.table.play`, for opponents in environments, and in training.
        """
        return None if self._history is None else recall(self._states, self._history, self.seats)

    def built_in(self, policy: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the actions of a built-in policy, one of `POLICIES`, (B,).

        Raises:
            ValueError: The policy does not exist.
        """
        if policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(POLICIES)}, got {policy!r}")
        actions = np.zeros(len(self), np.int64)
        words = self.random_words(rng)
        choose_many(POLICIES.index(policy), self._states, self.legal, words, actions)
        return actions

    def sample_states(self, k: int, rng: np.random.Generator) -> States:
        """Return k re-deals of each game, `GAME_DTYPE` (B, k); see `Game.determinize`.

        The actor of a game sees the same in each of its re-deals.

        Raises:
            ValueError: `k` is not an integer of at least 1.
            TypeError: `rng` is not a NumPy generator.
        """
        check_at_least_one("k", k)
        samples = np.repeat(self._states, k)
        words = spread_words(self.random_words(rng), k).ravel()
        determinize_many(samples, np.repeat(self.seats, k), words)
        return samples.reshape(len(self), k)
