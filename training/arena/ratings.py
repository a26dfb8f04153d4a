"""Statistics of duplicate deals: intervals and Bradley-Terry ratings.

The games of a deal share their cards, so the deal is the unit that is drawn, not the game.
"""

from __future__ import annotations

import math

import choix
import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from agents.statistics import wilson_interval

Floats = npt.NDArray[np.float64]
ELO = 400 / math.log(10)
"""Elo points of a unit of strength: 400 points are odds of 10 to 1."""
ALPHA = 0.01
"""Hundredths of a game that keep an agent without wins, or losses, at a finite rating."""
RESAMPLES = 1000
GROUPS = 10_000
"""Where there are more deals, so many groups of deals are resampled in their place."""
_LEAST_SPREAD = 1e-12


def deal_interval(wins: Floats, games: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a win rate, Student's t over deals.

    Where there are fewer than two deals, or all have the same win rate, it is that of Wilson.

    Args:
        wins: of each deal, (D,); shares of a win count as such.
        games: of each deal, (D,).
    """
    total, deals = float(games.sum()), len(games)
    rate = float(wins.sum()) / total
    residuals = (wins - rate * games) * deals / total  # of a ratio; their mean is 0
    if deals < 2 or float(np.ptp(wins / games)) < _LEAST_SPREAD:
        return wilson_interval(min(float(wins.sum()), total), total)
    error = float(np.sqrt(np.sum(residuals**2) / (deals - 1) / deals))
    margin = float(stdtrit(deals - 1, 0.975)) * error
    return max(0.0, rate - margin), min(1.0, rate + margin)


def strengths(counts: Floats, start: Floats | None = None) -> Floats:
    """Return Bradley-Terry strengths in Elo points, with mean 0.

    By Luce's choice axiom an agent of strength w wins a game among agents of strengths v with
    probability w / sum(v), so that the odds of i against j, given that one of the two wins, are
    those of Bradley and Terry whoever else is at the table. It is therefore enough to count every
    game's winner as the winner of a pair with each other seat.

    Args:
        counts: how often i beat j, (K, K).
        start: strengths near the result.
    """
    if len(counts) < 2:
        return np.zeros(len(counts))
    start = None if start is None else start / ELO
    found: Floats = choix.ilsr_pairwise_dense(counts, ALPHA, start, max_iter=10_000)
    return ELO * (found - found.mean())


def grouped(rows: Floats) -> Floats:
    """Return sums of rows that lie GROUPS apart, at most GROUPS of them."""
    sums = rows[:GROUPS].copy()
    for start in range(GROUPS, len(rows), GROUPS):
        part = rows[start : start + GROUPS]
        sums[: len(part)] += part
    return sums


def bootstrap(counts: Floats, zero: int, seed: int) -> Floats:
    """Return 95 % intervals of all ratings, (K, 2), from resampled deals.

    Args:
        counts: how often i beat j in each deal, (D, K, K).
        zero: the agent whose rating is 0.
        seed: of the resamples.
    """
    rng, agents = np.random.default_rng(seed), counts.shape[1]
    flat = grouped(counts.reshape(len(counts), -1))
    deals = len(flat)
    start = strengths(counts.sum(0))
    ratings = np.empty((RESAMPLES, agents))
    for row in ratings:
        times = np.bincount(rng.integers(0, deals, deals), minlength=deals)
        row[:] = strengths((times @ flat).reshape(agents, agents), start)
    bounds: Floats = np.percentile(ratings - ratings[:, [zero]], (2.5, 97.5), axis=0).T
    return bounds
