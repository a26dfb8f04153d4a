"""A share of the fuzzing of every door, the same every time."""

from __future__ import annotations

import pytest

from tools.fuzz import DOORS, try_door

CASES = {"agents": 60, "checkpoints": 40, "run folders": 25, "sweeps": 150, "command lines": 30}


@pytest.mark.parametrize("name", DOORS)
def test_what_comes_from_outside_is_taken_or_refused_in_words(name: str) -> None:
    """Nothing crashes, hangs, raises another type, or becomes silently something else."""
    tried = try_door(name, seed=0, cases=CASES.get(name, 200))
    assert tried.wrong == []
    assert tried.refused and tried.accepted
