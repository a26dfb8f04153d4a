"""TAKI as one Gymnasium `VectorEnv` of many games: ``gymnasium.make_vec("Taki-v0", num_envs=N)``.

Observations, actions, masks, rewards and terminations are those of `TakiEnv`, one row per game:
observations float32 (num_envs, OBSERVATION_SIZE), actions (num_envs,), and masks
int8 (num_envs, 64) in ``infos["action_mask"]``. `autoreset_mode` decides when a new game replaces
an ended one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from taki_env.base.checks import checked_actions, checked_seed
from taki_env.base.errors import IllegalActionError
from taki_env.base.types import Integers
from taki_env.core.arrays import illegal_action_message, unpack_masks
from taki_env.core.bits import ZERO
from taki_env.core.rules import Rules
from taki_env.envs.gymnasium_env import checked_illegal_action
from taki_env.envs.learners import LearnerGames
from taki_env.envs.narrator import Narrator
from taki_env.envs.opponents import Opponents
from taki_env.envs.seated import Flags, are_legal
from taki_env.envs.spaces import ActionSpace, observation_box
from taki_env.render.renderer import RENDER_FPS, RENDER_MODES, Frame, Renderer

Step: TypeAlias = tuple[
    npt.NDArray[np.float32], npt.NDArray[np.float64], Flags, Flags, dict[str, Any]
]

VECTOR_RENDER_MODES = [mode for mode in RENDER_MODES if mode != "human"]
"""`gymnasium.wrappers.vector.HumanRendering` shows pictures in one window."""


class TakiVectorEnv(VectorEnv[npt.NDArray[np.float32], npt.NDArray[np.int64], Any]):
    """`num_envs` games with one learner each, stepped together; every array returned is new.

    Args:
        num_envs: Number of games, at least 1.
        num_players: Number of players, 2 to 10, or an array (num_envs,) of such numbers.
        learner_seat: The learner's seat, an array (num_envs,) of seats, or None for a random one in
            each game.
        render_mode: None, "ansi" or "rgb_array"; `render()` returns one table per game.
        autoreset_mode: NEXT_STEP deals a new game in the step after the end, which ignores the
            game's action. SAME_STEP deals it in the step of the end and returns the end in
            ``infos["final_obs"]`` and ``infos["final_info"]``. DISABLED waits for
            ``reset(options={"reset_mask": mask})``.
        rules, opponents, illegal_action, max_decisions, reveal: See `TakiEnv`.

    Raises:
        ValueError: A value is out of range; the message says what is allowed.
        ModuleNotFoundError: The render mode draws, and pygame is not installed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int | npt.ArrayLike = 2,
        rules: Rules | None = None,
        opponents: Opponents = "greedy",
        learner_seat: int | npt.ArrayLike | None = None,
        illegal_action: str = "terminate",
        render_mode: str | None = None,
        max_decisions: int = 2000,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        reveal: str = "all",
    ) -> None:
        self.num_envs = num_envs
        self.illegal_action = checked_illegal_action(illegal_action)
        self._renderer = Renderer(render_mode, reveal, VECTOR_RENDER_MODES, num_envs)
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {
            "render_modes": VECTOR_RENDER_MODES,
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        narrator = Narrator(self._renderer.last) if render_mode else None
        self.games = LearnerGames(
            num_envs, num_players, rules, opponents, learner_seat, max_decisions,
            narrator=narrator, start=False,
        )  # fmt: skip
        self.single_observation_space = observation_box()
        self.single_action_space = ActionSpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over: Flags = np.ones(num_envs, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Deal new games, each with its learner to move.

        Args:
            seed: Deals game i from (seed, i). None deals the next games of the previous seed.
            options: ``{"reset_mask": mask}``, bool (num_envs,), resets only the masked games.

        Raises:
            ValueError: An invalid mask, or a mask combined with a seed.
        """
        mask = (options or {}).get("reset_mask")
        if mask is None:
            self.games.restart(None if seed is None else checked_seed(seed))
            self._over[:] = False
        else:
            self._reset_some(mask, seed)
        return self.games.observations(), self._infos()

    def _reset_some(self, mask: Any, seed: int | None) -> None:
        chosen = np.asarray(mask)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_ or not chosen.any():
            raise ValueError(f"reset_mask must be bool ({self.num_envs},) with at least one True")
        if seed is not None:
            raise ValueError("reset_mask cannot be combined with a seed, which deals all games")
        self._deal(np.flatnonzero(chosen))

    def _deal(self, games: Integers) -> None:
        self.games.reset(games)
        self.games.replace_ended(games)
        self._over[games] = False

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the learners' legal actions as ones, int8 (num_envs, 64)."""
        return unpack_masks(np.where(self._over, ZERO, self.games.legal))

    def _infos(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": everywhere,
            "learner_seat": self.games.seats.copy(),
            "_learner_seat": everywhere.copy(),
        }

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Carry out the learners' actions and let the opponents play up to their next moves.

        Args:
            actions: Action ids, (num_envs,); ignored for games that are dealt in this step.

        Raises:
            IllegalActionError: An action is illegal and `illegal_action` is "raise"; names the
                first such game. Nothing was changed.
            gymnasium.error.ResetNeeded: A game has ended, and `autoreset_mode` does not reset it.
            ValueError: There is not one integer per game.
        """
        chosen = checked_actions(actions, self.num_envs)
        resetting = self._over.copy()
        if resetting.any() and self.autoreset_mode != AutoresetMode.NEXT_STEP:
            raise gymnasium.error.ResetNeeded("games have ended: call reset() before step()")
        illegal = ~resetting & ~are_legal(self.games.batch.legal, chosen)
        if self.illegal_action == "raise" and illegal.any():
            first = int(np.argmax(illegal))
            message = illegal_action_message(chosen[first], self.games.batch.legal[first])
            raise IllegalActionError(f"game {first}: {message}")
        self._deal(np.flatnonzero(resetting))
        played = np.flatnonzero(~resetting & ~illegal)
        self.games.step_legal(chosen[played], played)
        terminated = (self.games.terminated & ~resetting) | illegal
        truncated = self.games.truncated & ~terminated & ~resetting
        rewards = np.where(illegal, -1.0, self.games.rewards)
        self._over = terminated | truncated
        return self._finish(rewards, terminated, truncated, illegal, chosen)

    def _finish(
        self,
        rewards: npt.NDArray[np.float64],
        terminated: Flags,
        truncated: Flags,
        illegal: Flags,
        actions: npt.NDArray[np.int64],
    ) -> Step:
        """Return a step's results; in SAME_STEP mode replace ended games."""
        ended: dict[str, Any] = {}
        if illegal.any():
            ended = {"illegal_action": np.where(illegal, actions, 0), "_illegal_action": illegal}
        over = np.flatnonzero(self._over)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.size:
            final_obs = np.full(self.num_envs, None, dtype=object)
            final_obs[over] = list(self.games.observations(over))
            flags = self._over.copy()
            ended = {
                "final_obs": final_obs,
                "_final_obs": flags,
                "final_info": {**self._infos(), **ended},
                "_final_info": flags.copy(),
            }
            self._deal(over)
        infos = {**self._infos(), **ended}
        return self.games.observations(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return each table ("ansi", "rgb_array"), or warn without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render_mode")
            return None
        return tuple(map(self._render_game, range(self.num_envs)))

    def _render_game(self, game: int) -> Frame:
        position, seat = self.games.game(game).to_dict(), int(self.games.seats[game])
        return self._renderer.render(position, seat, game=game)
