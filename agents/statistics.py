"""How sure a share is."""

from __future__ import annotations

import math

NORMAL_95 = 1.959963984540054


def wilson_interval(wins: float, games: float) -> tuple[float, float]:
    """Return the 95 % interval of a proportion (Wilson 1927)."""
    if games < 1 or not 0 <= wins <= games:
        raise ValueError(f"wins must be 0 to games and games 1 or more, not {wins} of {games}")
    z2 = NORMAL_95**2
    center = (wins + z2 / 2) / (games + z2)
    margin = NORMAL_95 / (games + z2) * math.sqrt(wins * (games - wins) / games + z2 / 4)
    return max(0.0, center - margin), min(1.0, center + margin)
