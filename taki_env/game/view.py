"""The view of games that agents get."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_at_least_one
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import observe_states, unpack_masks
from taki_env.core.bits import spread_words
from taki_env.core.loops import determinize_many
from taki_env.core.memory import Memory, recall
from taki_env.core.policies import POLICIES, choose_many
from taki_env.core.state import States

Past = tuple[States, npt.NDArray[np.uint8], Integers]
"""Games as they began (B,), the actions since (B, most), and how many of them count (B,)."""


class View:
    """What the actors of some games see: all that an agent may base its actions on.

    B games, each with an actor that has an action to choose.
    """

    def __init__(
        self,
        states: States,
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
    def seats(self) -> Integers:
        """The seats to act, (B,)."""
        return self._states["actor"].astype(np.int64)

    @cached_property
    def num_players(self) -> Integers:
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
        evaluation, at the table of `agents.table.play`, for opponents in environments, in training.
        """
        return None if self._past is None else recall(self._states, *self._past(), self.seats)

    def built_in(self, policy: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the actions of a built-in policy, one of `POLICIES`, (B,).

        Raises:
            ValueError: there is no such policy.
        """
        if policy not in POLICIES:
            raise ValueError(f"the built-in policies are {', '.join(POLICIES)}, not {policy!r}")
        actions = np.zeros(len(self), np.int64)
        words = self.random_words(rng)
        choose_many(POLICIES.index(policy), self._states, self.legal, words, actions)
        return actions

    def sample_states(self, k: int, rng: np.random.Generator) -> States:
        """Return k re-deals of each game, records (B, k), in each of which its actor sees the same.

        See `Game.determinize`; the records are `GAME_DTYPE` of `taki_env.core.engine`.

        Raises:
            ValueError: `k` is no number of 1 or more.
            TypeError: `rng` is no generator of numpy.
        """
        check_at_least_one("k", k)
        samples = np.repeat(self._states, k)
        words = spread_words(self.random_words(rng), k).ravel()
        determinize_many(samples, np.repeat(self.seats, k), words)
        return samples.reshape(len(self), k)
