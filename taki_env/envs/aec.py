"""TAKI as a PettingZoo AEC environment.

Seats are the agents `player_0` … . One step is one decision: `agent_selection` stays with a player
during a TAKI run, a Plus and a King, and moves out of turn order to whoever may answer a +3.

Observation: a dict of `observation`, float32 (OBSERVATION_SIZE,) in [0, 1] (see
`taki_env.LAYOUT`), and `action_mask`, int8 (64,), all zero for agents that are not to move. The
mask is in `infos[agent]` as well. Actions: `Discrete(64)`, the names in `taki_env.ACTIONS`.

Rewards come at the end: +1 for the winner, -1/(n-1) for each other agent. A game is truncated
with zero rewards after `max_decisions`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from taki_env.base.checks import check_at_least_one, checked_seed
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.rules import Rules, checked_rules
from taki_env.envs.spaces import ActionSpace, observation_box
from taki_env.game.game import Game
from taki_env.render.renderer import RENDER_FPS, RENDER_MODES, Frame, Renderer


def env(**options: Any) -> AECEnv[str, Any, Any]:
    """Return the environment with the guards of PettingZoo's classic ones.

    An illegal action warns, costs its agent 1 and ends the game. Options: those of `raw_env`.
    """
    return GuardedEnv(raw_env(**options))


def parallel_env(**options: Any) -> ParallelEnv[str, Any, Any]:
    """Return `env` as a parallel environment, in which only the agent to move matters."""
    return turn_based_aec_to_parallel(env(**options))


class raw_env(AECEnv[str, Any, Any]):  # type: ignore[misc]  # noqa: N801 - PettingZoo's name
    """The environment without wrappers.

    Args:
        num_players: 2 to 10.
        rules: the options; standard rules by default.
        render_mode: None, "ansi" (a string), "rgb_array" (a picture, uint8 (height, width, 3)) or
            "human" (a window that shows every decision).
        max_decisions: a game is truncated after so many decisions.
        reveal: "all" shows every hand; "actor" shows what the seat to act may see.

    Raises:
        ValueError: a value out of its range; says what is allowed.
        ModuleNotFoundError: the render mode draws, and pygame is not installed.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo's form
        "render_modes": RENDER_MODES,
        "name": "taki_v0",
        "is_parallelizable": True,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        num_players: int = 2,
        rules: Rules | None = None,
        render_mode: str | None = None,
        max_decisions: int = 2000,
        reveal: str = "all",
    ) -> None:
        super().__init__()
        self.rules = checked_rules(rules)
        self.rules.check_players(num_players)
        check_at_least_one("max_decisions", max_decisions)
        self._renderer = Renderer(render_mode, reveal)
        self.render_mode = render_mode
        self.max_decisions = max_decisions
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._seed, self._episode = checked_seed(None), -1

    @cached_property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of each agent's observations."""
        return {agent: _observation_space() for agent in self.possible_agents}

    @cached_property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of each agent's actions."""
        return {agent: ActionSpace() for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: deals the game of ``Game(num_players, rules, seed)``; later resets without a
                seed deal the next games of the same seed.
            options: not used.
        """
        if seed is not None:
            self._seed, self._episode = checked_seed(seed), -1
        self._episode += 1
        self.game = Game.from_deal(
            len(self.possible_agents), self.rules, self._seed, episode=self._episode
        )
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": _no_action()} for agent in self.agents}
        self._skip_agent_selection = None
        self._renderer.last[0].clear()
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        """Hand the move to the game's actor."""
        self.agent_selection = self.possible_agents[self.game.actor]
        self.infos[self.agent_selection] = {"action_mask": self.game.action_mask()}

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees, and its action mask: all zero unless it is to move."""
        seat = self._seats[agent]
        to_move = seat == self.game.actor and not self.terminations.get(agent, True)
        mask = self.infos[agent]["action_mask"].copy() if to_move else _no_action()
        return {"observation": self.game.observation(seat), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Carry out the action of `agent_selection`.

        Raises:
            IllegalActionError: the action is not legal now. Nothing was changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._apply(action)
        self.infos[agent] = {"action_mask": _no_action()}
        if self.game.is_over:
            self._end(self.terminations, self.game.rewards().tolist())
        elif self.game.decisions >= self.max_decisions:
            self._end(self.truncations, [0.0] * len(self.agents))
        else:
            self._select()
        if self.render_mode == "human":
            self.render()

    def _apply(self, action: Any) -> None:
        """Carry out an action; one that will be shown is told in words."""
        if self.render_mode is None:
            self.game.apply(action)
            return
        before = self.game.to_dict()
        self.game.apply(action)
        self._renderer.last[0].note(before, action, self.game.to_dict(), only=True)

    def is_legal(self, action: Any) -> bool:
        """Return whether `agent_selection` may take an action of the space now."""
        return bool(self.infos[self.agent_selection]["action_mask"][action])

    def forfeit(self) -> None:
        """End the game with -1 for `agent_selection` and 0 for the others."""
        self._renderer.last[0].lines = [f"seat {self.game.actor} took an illegal action"]
        rewards = [-1.0 if agent == self.agent_selection else 0.0 for agent in self.agents]
        self.truncations = dict.fromkeys(self.agents, True)
        self.infos[self.agent_selection] = {"action_mask": _no_action()}
        self._end(self.terminations, rewards)
        self.agent_selection = self.agents[0]
        if self.render_mode == "human":
            self.render()

    def _end(self, endings: dict[str, bool], rewards: list[float]) -> None:
        for agent, reward in zip(self.agents, rewards, strict=True):
            endings[agent] = True
            self.rewards[agent] = reward
        self._accumulate_rewards()
        self.agent_selection = self.possible_agents[self.game.actor]

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def render(self) -> Frame:
        """Return the table ("ansi", "rgb_array"), show it ("human"), or warn without a mode."""
        fps = self.metadata["render_fps"]
        return self._renderer.render(self.game.to_dict(), self.game.actor, fps)


class GuardedEnv(OrderEnforcingWrapper[str, Any, Any]):  # type: ignore[misc]
    """PettingZoo's three guards in one wrapper, at a fraction of the time.

    Calls before `reset` and after the end are refused or warned of (`OrderEnforcingWrapper`), an
    action outside of the space fails an assertion (`AssertOutOfBoundsWrapper`), and an illegal one
    ends the game with -1 for its agent (`TerminateIllegalWrapper`).
    """

    env: raw_env

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, ends and info of the agent to act."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)  # type: ignore[no-any-return]

    def step(self, action: Any) -> None:
        """Carry out the action of `agent_selection`; an illegal one ends the game."""
        game = self.env
        if not self._has_reset or not game.agents:
            super().step(action)
            return
        self._has_updated = True
        agent = game.agent_selection
        if not (game.terminations[agent] or game.truncations[agent]):
            assert game.action_spaces[agent].contains(action), "action is not in action space"
            if not game.is_legal(action):
                EnvLogger.warn_on_illegal_move()
                game.forfeit()
                return
        game.step(action)

    def __str__(self) -> str:
        """Return the environment's name."""
        return str(self.env)


def _no_action() -> np.ndarray[Any, np.dtype[np.int8]]:
    return np.zeros(NUM_ACTIONS, np.int8)


def _observation_space() -> spaces.Space[Any]:
    return spaces.Dict(
        {
            "observation": observation_box(),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )
