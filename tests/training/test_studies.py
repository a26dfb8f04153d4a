"""Studies of speed and of the expert's weights."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from agents.search.tree import ROLLOUTS
from taki_env.core.policies import RANDOM
from taki_env.core.policies.expert import DEFAULT_WEIGHTS
from training.studies import search_speed
from training.studies.benchmark import report
from training.studies.benchmark_rows import Row
from training.studies.tune_expert import EXPERT, win_rate


def test_the_speed_of_search_is_measured_for_every_table(tmp_path: Path) -> None:
    """The file has every number of players with every rollout policy, and its provenance."""
    file = tmp_path / "speed.json"
    args = search_speed.SearchSpeedArgs(games=1, simulations=3, rounds=2, json=file)
    search_speed.prepare(args)()
    found = json.loads(file.read_text())
    assert {"commit", "versions", "hardware", "arguments"} <= found.keys()
    cases = {(row["players"], row["rollout"]) for row in found["rows"]}
    assert cases == set(itertools.product(search_speed.PLAYERS, ROLLOUTS))
    assert all(0 < row["lowest"] <= row["median"] <= row["highest"] for row in found["rows"])
    with pytest.raises(ValueError, match="--rounds"):
        search_speed.prepare(search_speed.SearchSpeedArgs(rounds=0))


def test_the_ratio_of_a_benchmark_row_is_the_median_over_rounds() -> None:
    """Ratios are computed within each round; rows without figures are left out."""
    rows = [
        Row("yardstick", "decisions/s", lambda: 0.0),
        Row("row", "decisions/s", lambda: 0.0, "yardstick"),
        Row("not measured", "decisions/s", lambda: 0.0),
    ]
    figures = {"yardstick": [10.0, 20.0, 40.0], "row": [5.0, 2.0, 10.0], "not measured": []}
    yardstick, row = report(rows, figures)
    assert (yardstick["median"], yardstick["lowest"], yardstick["highest"]) == (20, 10, 40)
    assert "ratio" not in yardstick
    assert (row["median"], row["ratio"], row["rounds"]) == (5, 0.25, 3)


def test_equal_experts_win_equally_often_over_all_seats() -> None:
    """Each deal is played from every seat, so equal weights win one half; random wins less."""
    assert win_rate(DEFAULT_WEIGHTS, [EXPERT], 50, 0, DEFAULT_WEIGHTS) == 0.5
    assert win_rate(DEFAULT_WEIGHTS, [RANDOM], 50, 0, DEFAULT_WEIGHTS) > 0.6
