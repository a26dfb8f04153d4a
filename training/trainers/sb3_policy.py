"""The project's network as a policy of Stable-Baselines3."""

from __future__ import annotations

from typing import Any, cast

import torch
from gymnasium import Space
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agents.network.network import TakiNetwork


class _Latents(nn.Module):
    """The network in place of SB3's extractor of latent vectors, which are its outputs here."""

    def __init__(self, hidden: int, symmetric: bool) -> None:
        super().__init__()
        self.network = TakiNetwork(hidden, symmetric)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        logits, values = self.network(observations)
        return logits, values

    def forward_actor(self, observations: Tensor) -> Tensor:
        return self.network.logits(observations)

    def forward_critic(self, observations: Tensor) -> Tensor:
        return self.network.value(observations)


class TakiPolicy(MaskableActorCriticPolicy):
    """Masked actor and critic over `TakiNetwork`.

    Args:
        observation_space, action_space, lr_schedule, options: see SB3's policy.
        hidden, symmetric: see `TakiNetwork`.
    """

    def __init__(
        self,
        observation_space: Space[Any],
        action_space: Space[Any],
        lr_schedule: Schedule,
        hidden: int = 128,
        symmetric: bool = True,
        **options: Any,
    ) -> None:
        with torch.random.fork_rng(devices=[]):  # SB3's networks, replaced below, draw no numbers
            super().__init__(observation_space, action_space, lr_schedule, **options)
        self.add_module("mlp_extractor", _Latents(hidden, symmetric))
        self.add_module("action_net", nn.Identity())
        self.add_module("value_net", nn.Identity())
        rate: dict[str, Any] = {"lr": lr_schedule(1)}
        self.optimizer = self.optimizer_class(self.parameters(), **rate | self.optimizer_kwargs)

    @property
    def network(self) -> TakiNetwork:
        """The network."""
        return cast(_Latents, self.get_submodule("mlp_extractor")).network
