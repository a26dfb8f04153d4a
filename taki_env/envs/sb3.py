"""TAKI as a Stable-Baselines3 `VecEnv` of many games with one learner each.

Observations, actions, rewards and truncation are those of `TakiEnv`, one row per game. The masks of
all games come from one array: `action_masks()`, which `env_method("action_masks")` serves as well.
An illegal action raises `IllegalActionError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from taki_env.core.arrays import unpack_masks
from taki_env.core.rules import Rules
from taki_env.envs.learners import LearnerGames
from taki_env.envs.opponents import Opponents
from taki_env.envs.spaces import ActionSpace, observation_box


class TakiVecEnv(VecEnv):
    """`num_envs` games with one learner each, stepped together.

    A new game replaces an ended one in the same step. The `info` of the ended game holds
    `terminal_observation`, `TimeLimit.truncated`, and `episode` (the return "r" and the number of
    the learner's decisions "l").

    Args:
        num_envs: Number of games, at least 1.
        num_players, rules, opponents, learner_seat, max_decisions, seed: See
            `taki_env.envs.learners.LearnerGames`.

    Raises:
        ValueError: A value is out of range; the message says what is allowed.
    """

    def __init__(
        self,
        num_envs: int,
        num_players: int | npt.ArrayLike = 2,
        rules: Rules | None = None,
        opponents: Opponents = "greedy",
        learner_seat: int | None = None,
        max_decisions: int = 2000,
        seed: int | None = None,
    ) -> None:
        self.games = LearnerGames(
            num_envs, num_players, rules, opponents, learner_seat, max_decisions, seed, start=False
        )
        self.render_mode = None
        self.lengths = np.zeros(num_envs, np.int64)
        self.keep_games = False
        """Whether the next `reset` returns the current observations instead of dealing games."""
        self._actions: npt.NDArray[Any] = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, observation_box(), ActionSpace())

    def reset(self) -> npt.NDArray[np.float32]:
        """Deal new games, from the seed of `seed()` if one was set.

        Returns:
            float32 (num_envs, OBSERVATION_SIZE).
        """
        if self.keep_games:
            self.keep_games = False
            return self.games.observations()
        self.games.restart(self._seeds[0])
        self.lengths[:] = 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        return self.games.observations()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the learners' actions, (num_envs,), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Carry out the actions; return new arrays, which the caller may keep and change.

        Raises:
            IllegalActionError: Names the first game with an illegal action. Nothing was changed.
        """
        self.games.step(self._actions)
        self.lengths += 1
        rewards, dones = self.games.rewards.astype(np.float32), self.games.ended
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if ended.size:
            self._report(ended, rewards, infos)
            self.games.replace_ended()
            self.lengths[ended] = 0
        return self.games.observations(), rewards, dones, infos

    def _report(
        self, ended: npt.NDArray[np.int64], rewards: npt.NDArray[Any], infos: list[dict[str, Any]]
    ) -> None:
        truncated = self.games.truncated
        for game, observation in zip(ended.tolist(), self.games.observations(ended), strict=True):
            infos[game] = {
                "terminal_observation": observation,
                "TimeLimit.truncated": bool(truncated[game]),
                "episode": {"r": float(rewards[game]), "l": int(self.lengths[game])},
            }

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the learners' legal actions as ones, int8 (num_envs, 64)."""
        return unpack_masks(self.games.legal)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """Return rows of `action_masks()`, the only method of single games."""
        if method_name != "action_masks":
            raise AttributeError(f"method_name must be 'action_masks', got {method_name!r}")
        masks = self.action_masks()
        return [masks[index] for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this object, once per game."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError: all games share their settings."""
        raise AttributeError(f"{attr_name!r} cannot be set for single games")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for every game."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return None for every game; pictures are not supported."""
        return [None] * self.num_envs

    def close(self) -> None:
        """Do nothing; the games are plain arrays."""
