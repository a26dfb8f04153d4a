"""Information-set Monte Carlo tree search, compiled: one observer's tree over re-dealt games.

A node is a sequence of public actions since the root: everything that the observer can tell apart.
Every simulation re-deals the hidden cards, descends the tree by actions that are legal in this
deal, adds a node, plays to the end with the rollout policy, and credits each action on its path to
the seat that took it.

Sources: single-observer ISMCTS (Cowling, Powley and Whitehouse 2012); sequential halving at the
root (Karnin, Koren and Somekh 2013; in tree search: Danihelka et al. 2022); PUCT below it (Rosin
2011), with the rollout policy's choice as the prior.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import BURN_IN, THIN, begin, has_deal, redeal, walk
from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Integers, Words
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, lowest, next_random, seed_word
from taki_env.core.cards import LAST_CARD, NUM_ACTIONS, OVER, PASS, RESPOND, SAY_LAST_CARD
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.policies import POLICIES, choose
from taki_env.core.state import GAME_DTYPE, State, States

ROLLOUTS = POLICIES
"""Rollout policies, by number."""
MAX_DEPTH = 128
"""Maximum number of nodes on a path."""
MAX_DECISIONS = 2000
"""Decision cap of a simulation; a capped game is shared equally by all seats."""
NODE_DTYPE = np.dtype(
    [
        ("value", "f8"),  # wins of the actor, summed over the visits
        ("visits", "i4"),
        ("first", "i4"),  # child, or -1
        ("next", "i4"),  # sibling, or -1; of the root: number of nodes in use
        ("action", "i2"),  # that leads here
        ("actor", "i1"),  # seat that took the action
        ("asked", "i1"),  # 1 if the action answers a +3
    ]
)
Nodes = npt.NDArray[np.void]
NONE = -1


class SearchSettings(NamedTuple):
    """What a search does with its simulations."""

    policy: Int
    """Index of the rollout policy in `ROLLOUTS`."""
    exploration: float
    """Weight of the PUCT bonus."""
    prior: float
    """Share of the prior for the rollout policy's choice; the rest is uniform."""
    all_seats: bool
    """Whether the other seats search as well, instead of following the rollout policy."""
    belief: Int
    """Index in `agents.beliefs.chain.BELIEFS`."""


@inner
def clear_tree(tree: Nodes) -> None:
    """Remove all nodes but the root, whose `next` counts the nodes in use."""
    tree[0]["value"], tree[0]["visits"], tree[0]["first"], tree[0]["next"] = 0, 0, NONE, 1


@inner
def _is_of(node: Any, actor: Int, asked: Int) -> bool:
    """Return whether a node's action is one of `actor`, and answers a +3 or not as `asked`."""
    return bool(node["actor"] == actor and node["asked"] == asked)


@inner
def _child(tree: Nodes, parent: Int, action: Int, actor: Int, asked: Int) -> Int:
    """Return the node of an action, new if it is missing, or -1 if the tree is full.

    The same parent can have children of several actors: who answers a +3 depends on hidden cards,
    and everyone sees who it was.
    """
    child = np.int64(tree[parent]["first"])
    while child >= 0:
        if tree[child]["action"] == action and _is_of(tree[child], actor, asked):
            return child
        child = np.int64(tree[child]["next"])
    child = np.int64(tree[0]["next"])
    if child >= tree.size:
        return NONE
    node = tree[child]
    node["value"], node["visits"], node["first"] = 0, 0, NONE
    node["action"], node["next"] = action, tree[parent]["first"]
    node["actor"], node["asked"] = actor, asked
    tree[parent]["first"] = child
    tree[0]["next"] = child + 1
    return child


@inner
def _select(
    tree: Nodes, parent: Int, s: State, legal: np.uint64, favorite: Int, settings: SearchSettings
) -> Int:
    """Return the action with the highest sum of mean value and bonus (PUCT).

    The score is (value + mean + bonus * prior) / (visits + 1): the mean value of the siblings
    counts as one more visit, and alone is the value of an untried action. Only actions that are
    legal in this deal count towards the parent's visits, as in ISMCTS: others had no chance to be
    chosen.
    """
    actor, asked = np.int64(s["actor"]), np.int64(s["phase"] == RESPOND)
    value, visits = 0.5, 1.0
    child = np.int64(tree[parent]["first"])
    while child >= 0:
        node = tree[child]
        if legal & bit_of(np.int64(node["action"])) and _is_of(node, actor, asked):
            value += node["value"]
            visits += node["visits"]
        child = np.int64(node["next"])
    mean, bonus = value / visits, settings.exploration * sqrt(visits)
    uniform = (1 - settings.prior) / count_bits(legal)
    best, most = lowest(legal), -1.0
    untried = legal
    child = np.int64(tree[parent]["first"])
    while child >= 0:
        node = tree[child]
        action = np.int64(node["action"])
        if legal & bit_of(action) and _is_of(node, actor, asked):
            untried &= ~bit_of(action)
            chance = uniform + (settings.prior if action == favorite else 0.0)
            tried = node["visits"] + 1
            score = (node["value"] + mean + bonus * chance) / tried
            if score > most:
                best, most = action, score
        child = np.int64(node["next"])
    while untried != ZERO:
        action = np.int64(lowest(untried))
        untried &= untried - ONE
        score = mean + bonus * (uniform + (settings.prior if action == favorite else 0.0))
        if score > most:
            best, most = action, score
    return best


@inner
def _descend(
    tree: Nodes,
    s: State,
    seat: Int,
    word: np.uint64,
    path: Integers,
    settings: SearchSettings,
    first: Int,
) -> tuple[Int, np.uint64]:
    """Play `first` and then down the tree to a new node; return the path's length and a word."""
    node: Int = 0
    depth: Int = 0
    while s["phase"] != OVER and depth < MAX_DEPTH:
        # Silence costs cards, so below the root the call is always made. It is no choice, and a
        # node for it would only make the tree deeper.
        if s["phase"] == LAST_CARD and depth > 0:
            apply_action(s, SAY_LAST_CARD)
            continue
        legal, actor = legal_actions(s), np.int64(s["actor"])
        word = next_random(word)
        action = choose(settings.policy, s, legal, word)
        chosen = actor == seat or (settings.all_seats and s["phase"] != RESPOND)
        if depth == 0:
            action = first
        elif chosen:
            action = _select(tree, node, s, legal, action, settings)
        elif s["phase"] == RESPOND and action == PASS:
            # Nobody sees who must answer a +3 and passes: a node would tell the observer.
            apply_action(s, action)
            continue
        node = _child(tree, node, action, actor, np.int64(s["phase"] == RESPOND))
        if node == NONE:
            break
        path[depth] = node
        depth += 1
        apply_action(s, action)
        # Expansion: stop at the first new node where a choice was made. Nodes of forced actions
        # and of rollout moves of others cost no simulation of their own.
        if chosen and tree[node]["visits"] == 0 and legal & (legal - ONE):
            break
    return depth, word


@inner
def _simulate(
    tree: Nodes,
    s: State,
    seat: Int,
    word: np.uint64,
    path: Integers,
    settings: SearchSettings,
    first: Int,
) -> None:
    """Run a simulation of the action `first` on a re-deal of the root."""
    depth, word = _descend(tree, s, seat, word, path, settings, first)
    while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
        word = next_random(word)
        apply_action(s, choose(settings.policy, s, legal_actions(s), word))
    tree[0]["visits"] += 1
    for k in range(depth):  # backup: each action is credited to its own actor
        node = tree[path[k]]
        node["visits"] += 1
        if s["phase"] != OVER:
            node["value"] += 1 / s["num_players"]
        elif node["actor"] == s["winner"]:
            node["value"] += 1


@inner
def _rank(tree: Nodes, candidates: Integers, count: Int) -> None:
    """Sort the first `count` candidates by mean value, best first; the sort is stable.

    All children of the root belong to one actor in one phase, so the action identifies them.
    """
    values = np.full(NUM_ACTIONS, -1.0)
    child = np.int64(tree[0]["first"])
    while child >= 0:
        values[tree[child]["action"]] = tree[child]["value"] / tree[child]["visits"]
        child = np.int64(tree[child]["next"])
    for k in range(1, count):
        action = candidates[k]
        while k > 0 and values[candidates[k - 1]] < values[action]:
            candidates[k] = candidates[k - 1]
            k -= 1
        candidates[k] = action


@inner
def _list_candidates(root: State, policy: Int, word: np.uint64, candidates: Integers) -> Int:
    """Write the legal actions, the rollout policy's choice first; return how many there are."""
    legal = legal_actions(root)
    candidates[0] = choose(policy, root, legal, word)
    others = legal & ~bit_of(candidates[0])
    count: Int = 1
    while others != ZERO:
        candidates[count] = lowest(others)
        others &= others - ONE
        count += 1
    return count


@inner
def _count_rounds(count: Int) -> Int:
    """Return the rounds of sequential halving: as many as it takes to get down to two."""
    rounds = 1
    while count > 2 << (rounds - 1):
        rounds += 1
    return rounds


@inner
def _search(
    tree: Nodes,
    roots: States,
    i: Int,
    word: np.uint64,
    simulations: Int,
    settings: SearchSettings,
    memory: Any,
) -> Int:
    """Return the best action of a game, found by sequential halving.

    Each round spends an equal share of the simulations on the remaining candidates, and drops the
    worse half. The last round compares two, so dropped candidates have fewer visits than kept ones.
    """
    path, candidates = np.empty(MAX_DEPTH, np.int64), np.empty(NUM_ACTIONS, np.int64)
    games = np.empty(2, GAME_DTYPE)
    count = _list_candidates(roots[i], settings.policy, word, candidates)
    chain = begin(roots[i], memory, i, settings.belief, BURN_IN, word)
    deal, dealt, remaining = ZERO, word, simulations
    for rounds_left in range(_count_rounds(count), 0, -1):
        share = remaining // rounds_left
        for k in range(share):
            # All candidates play the same deals with the same words, which lowers the variance of
            # their differences.
            if k % count == 0:
                deal += ONE
                dealt = next_random(seed_word(word, deal, ZERO))
                if has_deal(chain):
                    walk(chain, THIN)
                redeal(chain, roots[i], games, dealt)
            games[1] = games[0]
            first = candidates[k % count]
            _simulate(tree, games[1], chain.seat, dealt, path, settings, first)
        remaining -= share
        _rank(tree, candidates, count)
        count = (count + 1) // 2
    return np.int64(candidates[0])


@entry
def search_many(
    roots: States,
    words: Words,
    simulations: Int,
    settings: SearchSettings,
    tree: Nodes,
    grow: bool,
    memory: Any,
    actions: Integers,
) -> None:
    """Write the best action of each game.

    Args:
        roots: games (B,) in which the actor must decide, with their hidden cards re-dealt.
        words: random words (B,), not 0; new ones for each call that grows a tree.
        simulations: number of simulations per game.
        settings: see `SearchSettings`.
        tree: working memory; holds the tree of the last game afterwards.
        grow: add to the tree, even if only one action is legal. Otherwise each game starts an
            empty tree, and forced actions need no search.
        memory: of the actors, `Memory.arrays` of these games.
        actions: output, (B,).
    """
    for i in range(roots.size):
        legal = legal_actions(roots[i])
        if not grow:
            clear_tree(tree)
        if grow or legal & (legal - ONE) != ZERO:
            actions[i] = _search(tree, roots, i, words[i], simulations, settings, memory)
        else:
            actions[i] = lowest(legal)
