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
    """Plays by simple rules of thumb.

    - Long runs come first, and end on the strongest action.
    - A +2 answers a +2; a Breaker or a King answers a +3.
    - Colorless cards are kept while another card can be played.
    - A Change Color names the most frequent color in the hand.
    - The last card is always called.
    """

    name = "greedy"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the action of the rules for each game, (B,)."""
        return view.built_in("greedy", self._rng)


class ExpertAgent:
    """Plays by weighted rules of thumb; the weights were tuned by evolution.

    - Cards that connect least to the rest of the hand are played first. Cards that share a color
      or symbol with others can be played later.
    - A TAKI run is made as long as possible. It ends on a card whose symbol the hand holds in
      other colors, on a Stop or +2 if the next player is about to go out, and on a Plus only if
      a second card is left.
    - Stop, +2 and +3 are worth more as the next player runs out of cards; Change Direction as the
      previous player does.
    - King, +3 and Change Color are kept until there is hardly anything else to play. A King that
      goes out is played at once.
    - A Breaker answers every +3. Otherwise it is played early: a hand that keeps one cannot go out.
    - Change Color names a color with many cards in the hand, preferably with its TAKI, and few
      elsewhere.
    - A +2 answers a +2. The last card is always called.

    Source: the rules of thumb are the authors'; their weights come from `training.tune_expert`.
    """

    name = "expert"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the expert's action for each game, (B,)."""
        return view.built_in("expert", self._rng)
