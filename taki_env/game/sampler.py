"""Uniformly random legal actions for many games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_at_least_one, check_out, checked_seed
from taki_env.base.threads import each_chunk
from taki_env.base.types import Words
from taki_env.core.bits import seed_words
from taki_env.core.loops import sample_many


class UniformSampler:
    """Draws uniformly random legal actions, with a generator for each game.

    Args:
        num_games: Number of games, at least 1.
        seed: Seed of the generators. Game i draws from (seed, i), whatever the number of games.
        threads: Number of threads for the loop. Affects speed only.
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
            legal: Sets of actions, uint64 (num_games,).
            out: Output array, int64 (num_games,); a new one by default.

        Raises:
            ValueError: `legal` or `out` has another shape or type.
        """
        words = self._words
        if legal.shape != words.shape or legal.dtype != np.uint64:
            raise ValueError(f"legal must be uint64 {words.shape}, got {legal.dtype} {legal.shape}")
        actions = np.empty(words.size, np.int64) if out is None else out
        check_out(actions, words.shape, np.int64)

        def sample(chunk: slice) -> None:
            sample_many(legal[chunk], words[chunk], actions[chunk])

        each_chunk(self._threads, words.size, sample)
        return actions
