"""What each legal action is worth if the expert plays on, compiled: flat Monte Carlo.

(Tesauro and Galperin, *On-line policy improvement using Monte-Carlo search*, 1996.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.expert import DEFAULT_WEIGHTS, choose_expert
from agents.tree import MAX_DECISIONS
from taki_env._jit import entry
from taki_env.cards import OVER
from taki_env.engine import (
    GAME_DTYPE,
    ONE,
    ZERO,
    Records,
    Words,
    apply_action,
    legal_actions,
    lowest,
    seed_word,
)
from taki_env.observation import determinize


@entry
def evaluate_actions(
    states: Records, words: Words, deals: int, values: npt.NDArray[np.float32]
) -> None:
    """Add to `values` the mean return of the actor after each legal action.

    What the actor cannot see is re-dealt; all actions of a game play the same deals, so that luck
    is the same for all. A game that is cut off counts 0.

    Args:
        states: games (B,) that are not over.
        words: uint64 (B,), not 0, to re-deal with.
        deals: for each game.
        values: (B, 64), 0 before.
    """
    scratch = np.empty(2, GAME_DTYPE)
    for i in range(states.size):
        root = states[i]
        actor, legal = np.int64(root["actor"]), legal_actions(root)
        loss = -1 / (np.int64(root["num_players"]) - 1)
        for deal in range(deals):
            scratch[0] = root
            determinize(scratch[0], actor, seed_word(words[i], np.uint64(deal), ZERO))
            left = legal
            while left != ZERO:
                action = lowest(left)
                left &= left - ONE
                scratch[1] = scratch[0]
                s = scratch[1]
                apply_action(s, action)
                while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
                    apply_action(s, choose_expert(s, legal_actions(s), DEFAULT_WEIGHTS))
                if s["phase"] == OVER:
                    values[i, action] += (1 if s["winner"] == actor else loss) / deals
