"""Bradley-Terry ratings of agents, with bootstrap intervals over deals."""

from __future__ import annotations

import math

import choix
import numpy as np

from agents.statistics import Floats, deal_interval

__all__ = ["bootstrap", "deal_interval", "grouped", "strengths"]

ELO = 400 / math.log(10)
"""Elo points per unit of strength: 400 points are odds of 10 to 1."""
ALPHA = 0.01
"""Regularization, in hundredths of a game: keeps the rating finite without wins or losses."""
RESAMPLES = 1000
GROUPS = 10_000
"""Maximum number of resampling units; more deals than that are grouped."""


def strengths(counts: Floats, start: Floats | None = None) -> Floats:
    """Return Bradley-Terry strengths in Elo points, with mean 0, (K,).

    By Luce's choice axiom, an agent of strength w wins a game among agents of strengths v with
    probability w / sum(v). The odds of i against j, given that one of the two wins, are then those
    of Bradley and Terry, whoever else is at the table. It is therefore enough to count the winner
    of a game as the winner of a pair with each other seat.

    Args:
        counts: number of times i beat j, (K, K).
        start: initial strengths, close to the result.
    """
    if len(counts) < 2:
        return np.zeros(len(counts))
    start = None if start is None else start / ELO
    found: Floats = choix.ilsr_pairwise_dense(counts, ALPHA, start, max_iter=10_000)
    elo: Floats = ELO * (found - found.mean())
    return elo


def grouped(rows: Floats) -> Floats:
    """Return at most GROUPS rows; rows that are GROUPS apart are summed."""
    sums = rows[:GROUPS].copy()
    for start in range(GROUPS, len(rows), GROUPS):
        part = rows[start : start + GROUPS]
        sums[: len(part)] += part
    return sums


def bootstrap(counts: Floats, zero: int, seed: int) -> Floats:
    """Return 95% intervals of all ratings, (K, 2), from resampled deals.

    Args:
        counts: number of times i beat j in each deal, (D, K, K).
        zero: index of the agent at rating 0.
        seed: random seed for the resamples.
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
