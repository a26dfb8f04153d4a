"""Uniform random play beside an independent implementation in C of the same rules.

The expected values were measured with `benchmarks/limit.c` over 2,000,000 games (`./limit 2
2000000`, `./limit 4 2000000`); the standard errors are those of the difference.
"""

from __future__ import annotations

import numpy as np
import pytest

from taki_env import OBSERVATION_SIZE, Rules
from taki_env.core.bits import seed_words
from taki_env.core.loops import play_random
from taki_env.records.position import new_states

GAMES = 200_000


@pytest.mark.parametrize(
    ("num_players", "decisions", "decision_error", "first_seat"),
    [(2, 125.14, 0.28, 0.5035), (4, 127.96, 0.24, 0.2565)],
)
def test_random_play_agrees_with_the_independent_implementation(
    num_players: int, decisions: float, decision_error: float, first_seat: float
) -> None:
    """Game length and first-seat advantage are within four standard errors."""
    wins = np.zeros(11, np.int64)
    words = seed_words(1, np.arange(GAMES))
    states = new_states(1, num_players, Rules())
    total = play_random(
        states, words, np.uint64(1), 2000, wins, np.zeros(OBSERVATION_SIZE, np.float32), False
    )
    assert total / GAMES == pytest.approx(decisions, abs=4 * decision_error)
    error = np.sqrt(first_seat * (1 - first_seat) / GAMES)
    assert wins[0] / GAMES == pytest.approx(first_seat, abs=4 * error)
    assert wins.sum() == GAMES
