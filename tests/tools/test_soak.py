"""A short run of `tools.soak`; the command plays many more games."""

from __future__ import annotations

import pytest

from tools.soak import CAP, GROWTH_MIB, PLAYERS, growth, soak


@pytest.mark.parametrize("name", PLAYERS)
def test_memory_stays_flat(name: str) -> None:
    """Games are won and truncated, none exceeds the cap, and memory does not grow."""
    count = soak(PLAYERS[name], decisions=60_000, seed=0)
    assert count.won > 100 and count.cut > 10
    assert count.longest <= CAP
    assert growth(count) < GROWTH_MIB
