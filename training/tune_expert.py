"""Find weights for the expert by evolution: ``python -m training.tune_expert``."""

import numpy as np
from agents.expert import choose_expert, DEFAULT_WEIGHTS
from taki_env._jit import entry, inner
from taki_env.cards import OVER
from taki_env.engine import *
from taki_env.engine import apply_action, deal, legal_actions, next_random, seed_word, sample_action
from taki_env.policies import choose, POLICIES


@entry
def play_deals(states, base, deals, kinds, weights, wins):
    s = states[0]
    seats = kinds.size
    word = base | ONE
    for d in range(deals):
        for r in range(seats):
            deal(s, seed_word(base, np.uint64(d), ZERO))
            while s["phase"] != OVER and s["decisions"] < 2000:
                e = (s["actor"] + r) % seats
                word = next_random(word)
                legal = legal_actions(s)
                if kinds[e] < 0:
                    apply_action(s, choose_expert(s, legal, weights[e]))
                else:
                    apply_action(s, choose(kinds[e], s, legal, word))
            if s["phase"] == OVER:
                wins[(s["winner"] + r) % seats] += 1
