"""A policy and value network with the symmetry of TAKI built in.

The rules do not change when the four colors are exchanged. So each color's features go through the
same weights, the colors meet in their mean, and each color's logits come out of the same weights:
exchanging colors in the observation exchanges the logits of their cards and leaves the value.
(Zaheer et al. 2017, Deep Sets.) Without the symmetry it is a plain network, for comparison.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from taki_env import OBSERVATION_SIZE
from taki_env.cards import CHANGE_COLOR, NUM_COLORED, NUM_COLORS, NUM_SYMBOLS
from taki_env.observation import OFFSETS

LOGITS_PER_COLOR = NUM_SYMBOLS + 1  # its cards, and naming it
OTHER_LOGITS = (CHANGE_COLOR - NUM_COLORED) + 4  # other colorless cards; draw, close, pass, say


def color_features() -> np.ndarray:
    """Return the indices of each color's features in an observation, (4, 27)."""
    cards = np.arange(NUM_COLORED).reshape(NUM_COLORS, NUM_SYMBOLS)
    color = np.arange(NUM_COLORS)[:, None] + OFFSETS["color"]
    return np.hstack([OFFSETS["hand"] + cards, OFFSETS["discard"] + cards, color])


class Trunk(nn.Module):
    """Two layers over the colors: observation (B, OBSERVATION_SIZE) to (B, 4, hidden)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        colors = color_features()
        others = np.setdiff1d(np.arange(OBSERVATION_SIZE), colors)
        self.register_buffer("colors", torch.tensor(colors), persistent=False)
        self.register_buffer("others", torch.tensor(others), persistent=False)
        self.color = nn.Linear(colors.shape[1], hidden)
        self.other = nn.Linear(others.size, hidden)
        self.deep = nn.Linear(hidden, hidden)
        self.mean = nn.Linear(hidden, hidden)

    def forward(self, observations: Tensor) -> Tensor:
        """Return a vector for each color, (B, 4, hidden)."""
        others = self.other(observations[:, self.others]).unsqueeze(1)
        first = torch.relu(self.color(observations[:, self.colors]) + others)
        mean = self.mean(first.mean(1)).unsqueeze(1)
        return torch.relu(self.deep(first) + mean)


class PlainTrunk(nn.Sequential):
    """Two layers to which colors are nothing special: observation to (B, 1, hidden)."""

    def __init__(self, hidden: int) -> None:
        first, deep = nn.Linear(OBSERVATION_SIZE, hidden), nn.Linear(hidden, hidden)
        super().__init__(first, nn.ReLU(), deep, nn.ReLU(), nn.Unflatten(1, (1, hidden)))


class TakiNetwork(nn.Module):
    """Logits and value, of separate trunks.

    Args:
        hidden: width of the layers.
        symmetric: treat the colors alike.
    """

    def __init__(self, hidden: int = 128, symmetric: bool = True) -> None:
        super().__init__()
        self.hidden, self.symmetric = hidden, symmetric
        trunk = Trunk if symmetric else PlainTrunk
        self.policy_trunk, self.value_trunk = trunk(hidden), trunk(hidden)
        per_color = LOGITS_PER_COLOR if symmetric else NUM_COLORS * LOGITS_PER_COLOR
        self.color_logits = nn.Linear(hidden, per_color)
        self.other_logits = nn.Linear(hidden, OTHER_LOGITS)
        self.value_layer, self.value_head = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, np.sqrt(2))
                nn.init.zeros_(layer.bias)
        for head in (self.color_logits, self.other_logits):  # start near uniform play
            nn.init.orthogonal_(head.weight, 0.01)

    def logits(self, observations: Tensor) -> Tensor:
        """Return unmasked logits of the actions, (B, 64)."""
        colors = self.policy_trunk(observations)
        per_color = self.color_logits(colors).view(-1, NUM_COLORS, LOGITS_PER_COLOR)
        others = self.other_logits(colors.mean(1))  # (B, 8)
        split = CHANGE_COLOR - NUM_COLORED
        cards = per_color[:, :, :NUM_SYMBOLS].flatten(1)
        naming = per_color[:, :, NUM_SYMBOLS]
        return torch.cat([cards, others[:, :split], naming, others[:, split:]], 1)

    def value(self, observations: Tensor) -> Tensor:
        """Return the expected return of the observer, (B, 1)."""
        colors = self.value_trunk(observations).mean(1)
        return self.value_head(torch.relu(self.value_layer(colors)))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, 64) and values (B, 1)."""
        return self.logits(observations), self.value(observations)
