"""Value of each legal action if the expert plays on, compiled: flat Monte Carlo.

Source: Tesauro and Galperin, *On-line policy improvement using Monte-Carlo search*, 1996.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import EXPERT, NOW, Chain, begin, has_deal, redeal, walk
from agents.beliefs.features import count_hands, expect_any
from agents.search.tree import MAX_DECISIONS
from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ONE, ZERO, lowest, seed_word
from taki_env.core.cards import OVER
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.outcome import loser_reward
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.state import GAME_DTYPE, State, States

BURN_IN, THIN, COUNTS = 195, 5, 4
"""Steps of the chain before the first deal and for each deal; deals that are counted for each one
that is played. Fewer steps than in play: more decisions fit into the same time."""


@inner
def _value(games: States, actor: Int, action: Int) -> float:
    """Return the actor's return after an action in ``games[0]``, 0 if the game is cut off."""
    games[1] = games[0]
    s = games[1]
    loss = loser_reward(np.int64(s["num_players"]))
    apply_action(s, action)
    while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
        apply_action(s, choose_expert(s, legal_actions(s), DEFAULT_WEIGHTS))
    if s["phase"] != OVER:
        return 0.0
    return 1.0 if s["winner"] == actor else loss


@inner
def _count_deals(chain: Chain, weight: float, expected: npt.NDArray[np.float32]) -> None:
    """Walk to the next deal that is played, and add the hands of the deals on the way."""
    for _ in range(COUNTS):
        walk(chain, THIN)
        count_hands(chain.worlds[NOW], chain.seat, weight, expected)


@inner
def _evaluate(
    root: State, chain: Chain, deals: Int, word: np.uint64, values: Any, expected: Any
) -> None:
    """Evaluate the actions of one game; see `evaluate_actions`."""
    games, legal = np.empty(2, GAME_DTYPE), legal_actions(root)
    if not has_deal(chain):
        expect_any(root, chain.seat, expected)
    for deal in range(deals):
        if has_deal(chain):
            _count_deals(chain, 1 / (deals * COUNTS), expected)
        redeal(chain, root, games, seed_word(word, np.uint64(deal), ZERO))
        left = legal
        while left != ZERO:
            action = lowest(left)
            left &= left - ONE
            values[action] += _value(games, chain.seat, action) / deals


@entry
def evaluate_actions(
    states: States,
    words: Words,
    deals: int,
    memory: Any,
    values: npt.NDArray[np.float32],
    expected: npt.NDArray[np.float32],
) -> None:
    """Add the mean return of the actor after each legal action to `values`.

    The actor's hidden cards are re-dealt, by the chain of `agents.beliefs.chain` if it remembers
    what others did. All actions of a game play the same deals, which lowers the variance of their
    differences. A game that is cut off has return 0.

    Args:
        states: games (B,) that are not over.
        words: random words (B,), not 0.
        deals: number of deals per game.
        memory: of the actors, `Memory.arrays` of these games.
        values: (B, 64), initially 0.
        expected: expected cards of the other hands, (B, BELIEF_SIZE), initially 0.
    """
    for i in range(states.size):
        chain = begin(states[i], memory, i, EXPERT, BURN_IN, words[i])
        _evaluate(states[i], chain, deals, words[i], values[i], expected[i])
