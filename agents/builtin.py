"""The compiled policies of `taki_env` as agents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taki_env import View
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert_many


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


class ExpertAgent:
    """Plays by the best rules of thumb known here, weighed by evolution.

    - The card that the rest of the hand connects to least goes first; cards that share color or
      symbol with others can be laid later.
    - A TAKI takes along as many cards as it can; the run ends on the card whose symbol is held in
      other colors, or on a stop or +2 when the next player is about to go out, and on a plus only
      with a second card in hand.
    - Stop, +2 and +3 gain worth as the next player runs out of cards; a Change Direction as the
      player before does.
    - King, +3 and Change Color are kept for when there is hardly anything else to play; the King is
      laid at once when it goes out.
    - A Breaker answers every +3, and is laid early otherwise: a hand that keeps one cannot go out.
    - The color named is one of many cards in hand, more so with its TAKI, and of few elsewhere.
    - A +2 answers a +2; the last card is always called.

    Source: the rules of thumb are the authors'; their weights come from `training.tune_expert`.
    """

    name = "expert"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the expert's action for each game, (B,)."""
        actions = np.zeros(len(view), np.int64)
        states = view.sample_states(1, self._rng)[:, 0]  # nothing hidden gets here
        choose_expert_many(states, view.legal, DEFAULT_WEIGHTS, actions)
        return actions
