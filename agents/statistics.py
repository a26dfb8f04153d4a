"""95% confidence intervals for proportions."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

Floats: TypeAlias = npt.NDArray[np.float64]
Interval: TypeAlias = tuple[float, float]
NORMAL_95 = 1.959963984540054
_LEAST_SPREAD = 1e-12  # deals whose win rates differ by less have no measurable variance


def wilson_interval(wins: float, games: float) -> Interval:
    """Return the 95% Wilson interval of a proportion of independent games (Wilson 1927).

    Raises:
        ValueError: `games` is below 1, or `wins` is not between 0 and `games`.
    """
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(
            f"wins must be 0 to games and games at least 1, got {wins} wins of {games} games"
        )
    z2 = NORMAL_95**2
    center = (wins + z2 / 2) / (games + z2)
    margin = NORMAL_95 / (games + z2) * math.sqrt(wins * (games - wins) / games + z2 / 4)
    return max(0.0, center - margin), min(1.0, center + margin)


def deal_interval(wins: Floats, games: Floats) -> Interval:
    """Return the 95% interval of a win rate: Student's t over deals.

    The games of a deal share their cards, so the deal is the sampling unit, not the game. The
    interval falls back to Wilson's if there is only one deal, or if all deals have the same win
    rate.

    Args:
        wins: wins in each deal, (D,); shares of a win count as fractions.
        games: games in each deal, (D,).
    """
    total, deals = float(games.sum()), len(games)
    rate = float(wins.sum()) / total
    if deals < 2 or float(np.ptp(wins / games)) < _LEAST_SPREAD:
        return wilson_interval(min(float(wins.sum()), total), total)
    residuals = (wins - rate * games) * deals / total  # of a ratio estimate; their mean is 0
    error = float(np.sqrt(np.sum(residuals**2) / (deals - 1) / deals))
    margin = float(stdtrit(deals - 1, 0.975)) * error
    return max(0.0, rate - margin), min(1.0, rate + margin)
