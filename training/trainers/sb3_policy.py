"""The project's network as a policy of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agents.network.network import TakiNetwork


class _Latents(nn.Module):
    """The network where SB3 expects an extractor of latent vectors: they are its outputs."""

    def __init__(self, hidden: int, symmetric: bool) -> None:
        super().__init__()
        self.network = TakiNetwork(hidden, symmetric)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        return self.network(observations)

    def forward_actor(self, observations: Tensor) -> Tensor:
        return self.network.logits(observations)

    def forward_critic(self, observations: Tensor) -> Tensor:
        return self.network.value(observations)


class TakiPolicy(MaskableActorCriticPolicy):
    """Masked actor and critic over `TakiNetwork`.

    Args:
        hidden, symmetric: see the network; other arguments are SB3's.
    """

    def __init__(
        self, *args: Any, hidden: int = 128, symmetric: bool = True, **options: Any
    ) -> None:
        self.hidden, self.symmetric = hidden, symmetric
        super().__init__(*args, **options)

    @property
    def network(self) -> TakiNetwork:
        """The network."""
        return self.mlp_extractor.network

    def _build(self, lr_schedule: Schedule) -> None:
        self.mlp_extractor = _Latents(self.hidden, self.symmetric)
        self.action_net, self.value_net = nn.Identity(), nn.Identity()
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )
