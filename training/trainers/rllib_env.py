"""TAKI for RLlib: a multi-agent environment, the network as an RLModule, an env runner.

These are parts for RLlib's new API stack. They need Ray: ``pip install -e ".[rllib]"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from torch import Tensor

from agents.network.network import TakiNetwork
from taki_env import Game, Rules
from taki_env.core.cards import NUM_ACTIONS
from taki_env.envs.spaces import ActionSpace, observation_box

MASKED = -1e9
"""Logit of an illegal action: its probability is 0 in float32."""


class TakiMultiAgentEnv(MultiAgentEnv):
    """A table at which only a seat with a choice observes and acts.

    Decisions with a single legal action are carried out immediately. When the game ends, every seat
    gets its reward: +1 for the winner, -1/(n-1) for each other seat. After `max_decisions`
    decisions the game is truncated with zero rewards, and every seat observes, so that its value
    can replace its return.

    Args:
        config: `num_players`, and optionally `rules` and `max_decisions`.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.num_players: int = config["num_players"]
        self.max_decisions: int = config.get("max_decisions", 2000)
        self.rules: Rules | None = config.get("rules")
        self.worker: int = getattr(config, "worker_index", None) or 0
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self.agents = self.possible_agents
        seen = spaces.Dict(
            {
                "observation": observation_box(),
                "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, seen)
        self.action_spaces = {agent: ActionSpace() for agent in self.agents}
        self.deals = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal a new game; deals again if it ends without a choice.

        Args:
            seed: random seed for this deal and the following ones; workers deal different games.
            options: not used.
        """
        if seed is not None:
            self.deals = np.random.default_rng([seed, self.worker])
        self.game = Game(self.num_players, self.rules, int(self.deals.integers(2**63)))
        self.play_forced()
        return self.reset() if self.ended else ({self.actor: self.seen()}, {})

    @property
    def actor(self) -> str:
        """Name of the agent that acts now."""
        return self.possible_agents[self.game.actor]

    @property
    def ended(self) -> bool:
        """Whether the game is over or truncated."""
        return self.game.is_over or self.game.decisions >= self.max_decisions

    def seen(self, seat: int | None = None) -> dict[str, Any]:
        """Return a seat's observation, by default the actor's; other seats have an empty mask."""
        mask = self.game.action_mask() * np.int8(seat in (None, self.game.actor))
        return {"observation": self.game.observation(seat), "action_mask": mask}

    def play_forced(self) -> None:
        """Carry out decisions with a single legal action."""
        while not self.ended and len(actions := self.game.legal_actions()) == 1:
            self.game.apply(actions[0])

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Carry out the actor's action.

        Raises:
            IllegalActionError: the action is illegal; the game is unchanged.
        """
        self.game.apply(action_dict[self.actor])
        self.play_forced()
        over = self.game.is_over
        cut = self.ended and not over
        seats = [] if over else range(self.num_players) if cut else [self.game.actor]
        observations = {self.possible_agents[seat]: self.seen(seat) for seat in seats}
        rewards = dict(zip(self.possible_agents, self.game.rewards().tolist(), strict=True))
        return observations, rewards, {"__all__": over}, {"__all__": cut}, {}


class TakiRLModule(TorchRLModule, ValueFunctionAPI):
    """`TakiNetwork` with masked logits, for PPO; `model_config` holds its arguments.

    Observations are dicts of `observation` and `action_mask`, as in the PettingZoo environment.
    """

    def setup(self) -> None:
        """Create the network."""
        self.network = TakiNetwork(self.model_config["hidden"], self.model_config["symmetric"])

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        logits = self.network.logits(seen["observation"])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, MASKED)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Return the expected returns, (B,)."""
        return self.network.value(batch[Columns.OBS]["observation"])[:, 0]


class WholeGames(MultiAgentEnvRunner):
    """An env runner that plays complete games, one after another, up to its share of a rollout.

    RLlib's own modes lose samples. If it cuts games at the end of a rollout, a seat that waits for
    its next decision when the game ends loses its last decision and its reward. If it plays several
    games in parallel to their ends, it drops those that are not over when enough others are, which
    are the long ones.
    """

    def sample(self, **options: Any) -> list[MultiAgentEpisode]:
        """Return the games of a rollout, or the sample that RLlib's options request."""
        if options:
            return super().sample(**options)
        share = self.config.total_train_batch_size / max(1, self.config.num_env_runners)
        games: list[MultiAgentEpisode] = []
        while sum(map(len, games)) < share:
            games += super().sample(num_episodes=1)
            self._seed = None  # RLlib seeds before every sample, which would repeat the deals
        return games
