"""The compiled policies of `taki_env` as agents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taki_env import View


class RandomAgent:
    """Plays uniformly at random among the legal actions."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return a random legal action for each game, (B,)."""
        return view.built_in("random", self._rng)


class GreedyAgent:
    """Plays by plain rules of thumb.

    Long runs first, the strongest action last on them; a +2 answers a +2; wild cards are kept as
    long as something else can be played; the color named is the one held most of; a Breaker or a
    King answers a +3; the last card is always called.
    """

    name = "greedy"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the rule of thumb's action for each game, (B,)."""
        return view.built_in("greedy", self._rng)
