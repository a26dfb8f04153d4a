"""A policy and value network with the symmetry of TAKI built in.

The rules do not change when the four colors are exchanged. So every colored card goes through the
same weights, and cards meet only in means and maxima, over those of their color, those of their
symbol, and all (layers for exchangeable arrays, Hartford et al. 2018). A maximum tells whether
any card is so, which a mean blurs. Exchanging colors in the observation exchanges the logits of
their cards and leaves the value. Without the symmetry it is a plain network, for comparison.

With beliefs, an observation is followed by what the others are expected to hold
(`agents.beliefs.features`), which is treated alike.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from agents.beliefs.features import BELIEF_SIZE, GROUPS
from taki_env import OBSERVATION_SIZE
from taki_env.core.cards import (
    CHANGE_COLOR,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_COLORED,
    NUM_COLORS,
    NUM_SYMBOLS,
)
from taki_env.core.observation import OFFSETS

MEETINGS = 3
"""Layers in which cards meet."""
OTHER_CARDS = CHANGE_COLOR - NUM_COLORED
OTHER_LOGITS = OTHER_CARDS + 4
"""Colorless cards but Change Color; draw, close, pass, say."""
SCALES = (1.0, 0.5, 1.0, 0.25)
"""Of a count of cards, and of its sums over a color, over a symbol, and over both."""
BELIEF_SCALE = 4
"""Of expected counts of colored cards, which are seldom near 1."""


def color_features() -> np.ndarray:
    """Return the indices of each color's features in an observation, (4, 27)."""
    cards = np.arange(NUM_COLORED).reshape(NUM_COLORS, NUM_SYMBOLS)
    color = np.arange(NUM_COLORS)[:, None] + OFFSETS["color"]
    return np.hstack([OFFSETS["hand"] + cards, OFFSETS["discard"] + cards, color])


def other_features() -> Tensor:
    """Return the indices of what belongs to no color, (91,)."""
    return torch.tensor(np.setdiff1d(np.arange(OBSERVATION_SIZE), color_features()))


def with_sums(counts: Tensor) -> list[Tensor]:
    """Return counts of cards (B, 4, 13), and beside each its sums, in the order of `SCALES`."""
    found = (counts, counts.sum(2, True), counts.sum(1, True), counts.sum((1, 2), True))
    return [scale * part.expand_as(counts) for scale, part in zip(SCALES, found, strict=True)]


def beliefs_of(observations: Tensor) -> tuple[Tensor, Tensor]:
    """Return what observations (B, inputs) say of hidden colored cards and of the others.

    Returns:
        for each group of seats, (B, groups, 4, 13), and (B, groups x 5); without beliefs of none.
    """
    found = observations[:, OBSERVATION_SIZE:].unflatten(1, (-1, NUM_CARDS))
    colored = found[:, :, :NUM_COLORED].unflatten(2, (NUM_COLORS, NUM_SYMBOLS))
    return colored, found[:, :, NUM_COLORED:].flatten(1)


class Cards(nn.Module):
    """Observations (B, inputs) to a vector for each colored card, (B, 4, 13, width)."""

    def __init__(self, width: int, hidden: int, beliefs: bool) -> None:
        super().__init__()
        groups = len(GROUPS) if beliefs else 0
        self.register_buffer("others", other_features(), persistent=False)
        others = len(self.others) + groups * (NUM_CARDS - NUM_COLORED)
        self.other, self.table = nn.Linear(others, hidden), nn.Linear(hidden, width)
        self.card = nn.Linear((2 + groups) * len(SCALES) + 2, width, bias=False)
        self.symbol = nn.Parameter(torch.randn(NUM_SYMBOLS, width) * 0.3)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the vectors."""
        hand, discard = (
            observations[:, OFFSETS[name] :][:, :NUM_COLORED].view(-1, NUM_COLORS, NUM_SYMBOLS)
            for name in ("hand", "discard")
        )
        color = observations[:, OFFSETS["color"] :][:, :NUM_COLORS, None].expand_as(hand)
        symbol = observations[:, OFFSETS["symbol"] :][:, None, :NUM_SYMBOLS].expand_as(hand)
        believed, believed_others = beliefs_of(observations)
        sums = [part for cards in believed.unbind(1) for part in with_sums(BELIEF_SCALE * cards)]
        cards = torch.stack([*with_sums(hand), *with_sums(discard), color, symbol, *sums], 3)
        others = torch.cat([observations[:, self.others], believed_others], 1)
        table = self.table(torch.relu(self.other(others)))
        return torch.relu(self.card(cards) + self.symbol + table[:, None, None])


class Meeting(nn.Module):
    """Adds to each card what it learns from those of its color, those of its symbol, and all."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.color, self.symbol, self.all = (
            nn.Linear(2 * width, width, bias=False) for _ in range(3)
        )
        nn.init.zeros_(self.out.weight)  # starts as if it were not there
        nn.init.zeros_(self.out.bias)

    def forward(self, cards: Tensor) -> Tensor:
        """Return new vectors, (B, 4, 13, width)."""
        mean, most = cards.mean(2, True), cards.amax(2, True)
        met = self.color(torch.cat([mean, most], 3))
        met = met + self.all(torch.cat([mean.mean(1, True), most.amax(1, True)], 3))
        of_symbol = torch.cat([cards.mean(1, True), cards.amax(1, True)], 3)
        met = torch.relu(self.own(cards) + met + self.symbol(of_symbol))
        return cards + self.out(met)


class CardPolicy(nn.Module):
    """Logits, those of a color's cards and of naming it out of the same weights for all colors."""

    def __init__(self, hidden: int, beliefs: bool) -> None:
        super().__init__()
        width = -(-hidden // 4)
        meetings = [Meeting(width) for _ in range(MEETINGS)]
        self.cards = nn.Sequential(Cards(width, hidden, beliefs), *meetings, nn.ReLU())
        self.card, self.name, self.other = (nn.Linear(width, n) for n in (1, 1, OTHER_LOGITS))

    def forward(self, observations: Tensor) -> Tensor:
        """Return logits, (B, 64)."""
        cards = self.cards(observations)
        colors = cards.mean(2)
        others = self.other(colors.mean(1)).split([OTHER_CARDS, OTHER_LOGITS - OTHER_CARDS], 1)
        named = self.name(colors)[:, :, 0]
        return torch.cat([self.card(cards).flatten(1), others[0], named, others[1]], 1)


class Colors(nn.Module):
    """Observations (B, OBSERVATION_SIZE) to the mean of a vector for each color, (B, hidden)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        colors = torch.tensor(color_features())
        self.register_buffer("colors", colors, persistent=False)
        self.register_buffer("others", other_features(), persistent=False)
        self.color = nn.Linear(colors.shape[1], hidden)
        self.other = nn.Linear(len(self.others), hidden)
        self.deep, self.mean = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the mean."""
        others = self.other(observations[:, self.others])[:, None]
        colors = torch.relu(self.color(observations[:, self.colors]) + others)
        return torch.relu(self.deep(colors) + self.mean(colors.mean(1, True))).mean(1)


def plain(*sizes: int) -> nn.Sequential:
    """Return layers with a ReLU after each but the last."""
    layers: list[nn.Module] = []
    for n, m in pairwise(sizes):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class TakiNetwork(nn.Module):
    """Logits and value, of separate networks. Inputs are observations, with beliefs or without.

    Args:
        hidden: width of the layers; where there is a vector for each card, of four layers together.
        symmetric: treat the colors alike.
        beliefs: inputs are observations and beliefs, (B, OBSERVATION_SIZE + BELIEF_SIZE). The value
            does not depend on the beliefs.
    """

    def __init__(self, hidden: int = 128, symmetric: bool = True, beliefs: bool = False) -> None:
        super().__init__()
        self.hidden, self.symmetric, self.beliefs = hidden, symmetric, beliefs
        if symmetric:
            self.policy = CardPolicy(hidden, beliefs)
            self.values = nn.Sequential(Colors(hidden), plain(hidden, hidden, 1))
            heads = [self.policy.card, self.policy.name, self.policy.other]
        else:
            inputs = OBSERVATION_SIZE + (BELIEF_SIZE if beliefs else 0)
            self.policy = plain(inputs, hidden, hidden, NUM_ACTIONS)
            self.values = plain(OBSERVATION_SIZE, hidden, hidden, hidden, 1)
            heads = [self.policy[-1]]
        for head in heads:  # start near uniform play
            nn.init.normal_(head.weight, std=0.01 / self.hidden**0.5)
            nn.init.zeros_(head.bias)

    def logits(self, observations: Tensor) -> Tensor:
        """Return unmasked logits of the actions for inputs, (B, 64)."""
        logits: Tensor = self.policy(observations)
        return logits

    def value(self, observations: Tensor) -> Tensor:
        """Return the expected return of the observer, (B, 1)."""
        value: Tensor = self.values(observations[:, :OBSERVATION_SIZE])
        return value

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, 64) and values (B, 1)."""
        return self.logits(observations), self.value(observations)


def with_beliefs(network: TakiNetwork) -> TakiNetwork:
    """Return a network that takes beliefs as well, and plays as one that does not: weights of 0."""
    wide = TakiNetwork(network.hidden, network.symmetric, beliefs=True)
    weights = wide.state_dict()
    for name, narrow in network.state_dict().items():
        weights[name].zero_()
        weights[name][tuple(map(slice, narrow.shape))] = narrow
    wide.load_state_dict(weights)
    return wide
