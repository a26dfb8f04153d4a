"""TAKI as a Gymnasium environment, `Taki-v0`: one learner against opponents.

Observation: float32 (OBSERVATION_SIZE,) in [0, 1], what the learner's seat sees (see
`taki_env.LAYOUT`).

Actions: `Discrete(64)`, the names in `taki_env.ACTIONS`. ``info["action_mask"]`` and the method
`action_masks()` give the mask of the legal ones, int8 (64,). The opponents move between two steps;
``info["learner_seat"]`` is the learner's seat.

Rewards: at the end of a game with n players, +1 for a win and -1/(n-1) for a loss; -1 for an
illegal action with ``illegal_action="terminate"``; otherwise 0.

Termination: when a seat has won, or after an illegal action. Games are truncated with reward 0
after `max_decisions` decisions of all seats.
"""

from __future__ import annotations

from typing import Any, SupportsInt

import gymnasium
import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_one_of, checked_seed
from taki_env.base.errors import IllegalActionError
from taki_env.core.arrays import illegal_action_message, unpack_masks
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.rules import Rules
from taki_env.envs.learners import LearnerGames
from taki_env.envs.narrator import Narrator
from taki_env.envs.opponents import Opponents
from taki_env.envs.spaces import ActionSpace, observation_box
from taki_env.game.game import Game
from taki_env.render.renderer import RENDER_FPS, RENDER_MODES, Frame, Renderer

ILLEGAL_ACTION = ("terminate", "raise")
_GAME = np.zeros(1, np.int64)
"""The index of the only game."""


def checked_illegal_action(choice: str) -> str:
    """Return what happens on an illegal action; ValueError names the allowed choices."""
    check_one_of("illegal_action", choice, ILLEGAL_ACTION)
    return choice


class TakiEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One learner against opponents.

    Args:
        num_players: Number of players, 2 to 10.
        rules: The rule options; standard rules by default.
        opponents: The name of a built-in policy ("random", "greedy" or "expert"), another spelling
            of `agents.load`, an agent, a sequence with one of these per seat, or weights by which
            they are drawn in every game; see `taki_env.envs.opponents.Opponents`.
        learner_seat: The learner's seat, or None for a random one in each game.
        illegal_action: "terminate" ends the game with reward -1 and puts the action into
            ``info["illegal_action"]``; "raise" raises `IllegalActionError` and changes nothing.
        render_mode: None, "ansi" (a string), "rgb_array" (a picture, uint8 (height, width, 3)) or
            "human" (a window that shows every decision, including the opponents').
        max_decisions: Decisions of all seats after which a game is truncated.
        reveal: "all" shows every hand; "actor" shows only what the learner may see.

    Raises:
        ValueError: A value is out of range; the message says what is allowed.
        ModuleNotFoundError: The render mode draws, and pygame is not installed.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        num_players: int = 2,
        rules: Rules | None = None,
        opponents: Opponents = "greedy",
        learner_seat: int | None = None,
        illegal_action: str = "terminate",
        render_mode: str | None = None,
        max_decisions: int = 2000,
        reveal: str = "all",
    ) -> None:
        self.illegal_action = checked_illegal_action(illegal_action)
        self._renderer = Renderer(render_mode, reveal)
        self.render_mode = render_mode
        self.observation_space = observation_box()
        self.action_space = ActionSpace()
        self._running = False
        narrator = Narrator(self._renderer.last, self._show) if render_mode else None
        self._games = LearnerGames(
            1, num_players, rules, opponents, learner_seat, max_decisions,
            narrator=narrator, start=False,
        )  # fmt: skip

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Deal a new game and let the opponents play up to the learner's first move.

        Args:
            seed: Deals the game of ``Game(num_players, rules, seed)``. Later resets without a seed
                deal the next games of the same seed.
            options: Not used.
        """
        super().reset(seed=seed)
        self._running = False
        self._games.restart(None if seed is None else checked_seed(seed))
        self._running = True
        self._show()
        return self._games.observations()[0], self._info()

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the learner's legal actions as ones, int8 (64,); all zero after the end."""
        legal = self._games.legal if self._running else np.zeros(1, np.uint64)
        return unpack_masks(legal).reshape(NUM_ACTIONS)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "learner_seat": int(self._games.seats[0])}

    def step(
        self, action: SupportsInt
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and let the opponents play up to its next move.

        Raises:
            IllegalActionError: The action is illegal and `illegal_action` is "raise". Nothing was
                changed.
            gymnasium.error.ResetNeeded: The game has ended, or none has been dealt.
        """
        if not self._running:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no game is running")
        if not self._is_legal(action):
            return self._refuse(action)
        games = self._games
        games.step_legal(np.array([int(action)]), _GAME)
        terminated, truncated = bool(games.terminated[0]), bool(games.truncated[0])
        self._running = not (terminated or truncated)
        reward = float(games.rewards[0])
        return games.observations()[0], reward, terminated, truncated, self._info()

    def _is_legal(self, action: Any) -> bool:
        return action in self.action_space and bool(
            int(self._games.batch.legal[0]) >> int(action) & 1
        )

    def _refuse(
        self, action: Any
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """End the game because of an illegal action, or raise."""
        if self.illegal_action == "raise":
            raise IllegalActionError(illegal_action_message(action, self._games.legal[0]))
        self._renderer.last[0].lines = [f"seat {self._games.seats[0]} took an illegal action"]
        self._show()
        self._running = False
        info = {**self._info(), "illegal_action": action}
        return self._games.observations()[0], -1.0, True, False, info

    @property
    def game(self) -> Game:
        """A copy of the current game, with all hands."""
        return self._games.game(0)

    def _show(self) -> None:
        """Show the current game in the window, if there is one."""
        if self.render_mode == "human" and self._running:
            self.render()

    def render(self) -> Frame:
        """Return the table ("ansi", "rgb_array"), show it ("human"), or warn without a mode."""
        fps = self.metadata["render_fps"]
        return self._renderer.render(self.game.to_dict(), int(self._games.seats[0]), fps)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()
