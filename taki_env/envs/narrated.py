"""Learners' games that are looked at: the same games, every decision of which is told in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.types import Integers
from taki_env.core.policies.builtin import choose_many
from taki_env.envs.learners import BUILT_IN, LearnerGames
from taki_env.render.renderer import Renderer


class NarratedGames(LearnerGames):
    """`LearnerGames` whose built-in opponents act one decision at a time, as other agents do.

    Args:
        renderer: is told of every decision: `last` of each game is what was done since its
            learner's last decision.
        num_games, others: see `LearnerGames`.
    """

    def __init__(self, renderer: Renderer, num_games: int, *others: Any) -> None:
        self._last = renderer.last
        self.on_decision: Callable[[], object] | None = None
        """Is called after every decision of which there is anything to tell."""
        super().__init__(num_games, *others)

    def _seat_learners(self, games: Integers) -> None:
        for game in games.tolist():
            self._last[game].clear()
        super()._seat_learners(games)

    def _seat_opponents(
        self, games: Integers, num_players: int, uniform: npt.NDArray[np.float64]
    ) -> None:
        """Number the opponents so that none is taken for one that acts by itself."""
        super()._seat_opponents(games, num_players, uniform)
        self._controllers[games] += BUILT_IN * (self._controllers[games] >= 0)

    def _ask(self, number: int, games: Integers) -> None:
        policy = number - BUILT_IN
        if policy >= BUILT_IN:
            super()._ask(policy, games)
            return
        actions, words = np.zeros(games.size, np.int64), self._words[games]
        choose_many(policy, self.batch.states[games], self.batch.legal[games], words, actions)
        self._words[games] = words
        self._carry_out(games, actions)

    def _carry_out(self, games: Integers, actions: npt.NDArray[np.int64]) -> None:
        for game, action in zip(games, actions, strict=True):
            before = self.game(game).to_dict()
            super()._carry_out(np.array([game]), np.array([action]))
            own = bool(before["actor"] == self.seats[game])
            after = self.game(game).to_dict()
            told = self._last[game].note(before, int(action), after, only=own)
            if told and self.on_decision:
                self.on_decision()


def learner_games(renderer: Renderer, num_games: int, *others: Any) -> LearnerGames:
    """Return learners' games, watched if they will be shown; arguments as of `LearnerGames`."""
    if renderer.mode is None:
        return LearnerGames(num_games, *others)
    return NarratedGames(renderer, num_games, *others)
