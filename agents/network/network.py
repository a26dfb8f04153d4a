"""A policy and value network with the color symmetry of TAKI built in.

The rules do not change when the four colors are permuted. All colored cards share the same weights,
and interact only through means and maxima over their color, their symbol, and all cards (layers for
exchangeable arrays, Hartford et al. 2018). A maximum keeps whether any card has a feature, which a
mean blurs. Permuting colors in the observation permutes the logits of their cards and leaves the
value unchanged. Without the symmetry it is a plain network, for comparison.

With beliefs, the expected cards of the other hands (`agents.beliefs.features`) follow the
observation, and are treated in the same way.
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
"""Number of layers in which cards interact."""
OTHER_CARDS = CHANGE_COLOR - NUM_COLORED
OTHER_LOGITS = OTHER_CARDS + 4
"""Colorless cards except Change Color; draw, close, pass, say."""
SCALES = (1.0, 0.5, 1.0, 0.25)
"""Factors for a count of cards and its sums over a color, a symbol, and both."""
BELIEF_SCALE = 4
"""Factor for expected counts of colored cards, which are rarely near 1."""


def color_features() -> np.ndarray:
    """Return the indices of each color's features in an observation, (4, 27)."""
    cards = np.arange(NUM_COLORED).reshape(NUM_COLORS, NUM_SYMBOLS)
    color = np.arange(NUM_COLORS)[:, None] + OFFSETS["color"]
    return np.hstack([OFFSETS["hand"] + cards, OFFSETS["discard"] + cards, color])


def other_features() -> Tensor:
    """Return the indices of the features that belong to no color, (91,)."""
    return torch.tensor(np.setdiff1d(np.arange(OBSERVATION_SIZE), color_features()))


def with_sums(counts: Tensor) -> list[Tensor]:
    """Return counts of cards and their sums, each (B, 4, 13), in the order of `SCALES`."""
    found = (counts, counts.sum(2, True), counts.sum(1, True), counts.sum((1, 2), True))
    return [scale * part.expand_as(counts) for scale, part in zip(SCALES, found, strict=True)]


def beliefs_of(observations: Tensor) -> tuple[Tensor, Tensor]:
    """Return the beliefs in inputs (B, inputs), if there are any.

    Returns:
        expected colored cards (B, groups, 4, 13) and other cards (B, groups x 5) of each group of
        seats; the number of groups is 0 without beliefs.
    """
    size, groups = len(observations), (observations.shape[1] - OBSERVATION_SIZE) // NUM_CARDS
    found = observations[:, OBSERVATION_SIZE:].reshape(size, groups, NUM_CARDS)
    colored = found[:, :, :NUM_COLORED].reshape(size, groups, NUM_COLORS, NUM_SYMBOLS)
    return colored, found[:, :, NUM_COLORED:].flatten(1)


class Cards(nn.Module):
    """Maps inputs (B, inputs) to a vector for each colored card, (B, 4, 13, width)."""

    others: Tensor

    def __init__(self, width: int, hidden: int, beliefs: bool) -> None:
        super().__init__()
        groups = len(GROUPS) if beliefs else 0
        self.register_buffer("others", other_features(), persistent=False)
        others = len(self.others) + groups * (NUM_CARDS - NUM_COLORED)
        self.other, self.table = nn.Linear(others, hidden), nn.Linear(hidden, width)
        self.card = nn.Linear((2 + groups) * len(SCALES) + 2, width, bias=False)
        self.symbol = nn.Parameter(torch.randn(NUM_SYMBOLS, width) * 0.3)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the vectors, (B, 4, 13, width)."""
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
    """Adds to each card's vector a summary of the cards of its color, of its symbol, and of all."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.color, self.symbol, self.all = (
            nn.Linear(2 * width, width, bias=False) for _ in range(3)
        )
        nn.init.zeros_(self.out.weight)  # starts as the identity
        nn.init.zeros_(self.out.bias)

    def forward(self, cards: Tensor) -> Tensor:
        """Return new vectors, (B, 4, 13, width)."""
        mean, most = cards.mean(2, True), cards.amax(2, True)
        met = self.color(torch.cat([mean, most], 3))
        met = met + self.all(torch.cat([mean.mean(1, True), most.amax(1, True)], 3))
        of_symbol = torch.cat([cards.mean(1, True), cards.amax(1, True)], 3)
        met = torch.relu(self.own(cards) + met + self.symbol(of_symbol))
        out: Tensor = self.out(met)
        return cards + out


class CardPolicy(nn.Module):
    """Maps inputs (B, inputs) to action logits (B, 64); all colors share the same weights."""

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
    """Maps observations (B, OBSERVATION_SIZE) to the mean of a vector per color, (B, hidden)."""

    colors: Tensor
    others: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        colors = torch.tensor(color_features())
        self.register_buffer("colors", colors, persistent=False)
        self.register_buffer("others", other_features(), persistent=False)
        self.color = nn.Linear(colors.shape[1], hidden)
        self.other = nn.Linear(len(self.others), hidden)
        self.deep, self.mean = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the mean, (B, hidden)."""
        others = self.other(observations[:, self.others])[:, None]
        colors = torch.relu(self.color(observations[:, self.colors]) + others)
        return torch.relu(self.deep(colors) + self.mean(colors.mean(1, True))).mean(1)


def plain(*sizes: int) -> nn.Sequential:
    """Return linear layers of these sizes, with a ReLU after each but the last."""
    layers: list[nn.Module] = []
    for n, m in pairwise(sizes):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class TakiNetwork(nn.Module):
    """Action logits and value of an observation, from separate networks.

    Args:
        hidden: width of the layers; layers with a vector for each card have a quarter of it.
        symmetric: treat the four colors alike.
        beliefs: inputs include beliefs, (B, OBSERVATION_SIZE + BELIEF_SIZE), instead of only
            observations, (B, OBSERVATION_SIZE). The value does not depend on the beliefs.
    """

    def __init__(self, hidden: int = 128, symmetric: bool = True, beliefs: bool = False) -> None:
        super().__init__()
        self.hidden, self.symmetric, self.beliefs = hidden, symmetric, beliefs
        self.policy: CardPolicy | nn.Sequential
        if symmetric:
            cards = self.policy = CardPolicy(hidden, beliefs)
            self.values = nn.Sequential(Colors(hidden), plain(hidden, hidden, 1))
            heads = [cards.card, cards.name, cards.other]
        else:
            inputs = OBSERVATION_SIZE + (BELIEF_SIZE if beliefs else 0)
            layers = self.policy = plain(inputs, hidden, hidden, NUM_ACTIONS)
            self.values = plain(OBSERVATION_SIZE, hidden, hidden, hidden, 1)
            last = layers[-1]
            assert isinstance(last, nn.Linear)
            heads = [last]
        for head in heads:  # start near uniform play
            nn.init.normal_(head.weight, std=0.01 / self.hidden**0.5)
            nn.init.zeros_(head.bias)

    def logits(self, observations: Tensor) -> Tensor:
        """Return unmasked action logits for inputs (B, inputs), (B, 64)."""
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
    """Return a network that also takes beliefs; their weights are 0, so it plays the same."""
    wide = TakiNetwork(network.hidden, network.symmetric, beliefs=True)
    weights = wide.state_dict()
    for name, narrow in network.state_dict().items():
        weights[name].zero_()
        weights[name][tuple(map(slice, narrow.shape))] = narrow
    wide.load_state_dict(weights)
    return wide
