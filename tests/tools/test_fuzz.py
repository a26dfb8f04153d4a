"""Part of the fuzzing of `tools.fuzz`, the same in every run."""

from __future__ import annotations

import pytest

from tools.fuzz import TARGETS, run_target

CASES = {"agents": 60, "checkpoints": 40, "run folders": 25, "sweeps": 150, "command lines": 30}


@pytest.mark.parametrize("name", TARGETS)
def test_input_is_accepted_or_rejected_with_a_message(name: str) -> None:
    """Nothing crashes, hangs, raises another type of error, or silently means something else."""
    outcome = run_target(name, seed=0, cases=CASES.get(name, 200))
    assert outcome.failures == []
    assert outcome.rejected and outcome.accepted
