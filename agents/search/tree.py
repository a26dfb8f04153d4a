"""Information-set Monte Carlo tree search, compiled: one observer's tree over re-dealt games.

A node stands for all that the observer cannot tell apart, which is the sequence of public actions
since the root. Every simulation re-deals what the observer cannot see, descends the tree by the
actions that are legal in this deal, adds a node, plays to the end with the rollout policy, and
credits each action on its way to the seat that took it. (Single-observer ISMCTS: Cowling, Powley
and Whitehouse 2012.) Simulations are shared out at the root by sequential halving, all candidates
on the same deals (Karnin, Koren and Somekh 2013; at the root of a tree: Danihelka et al. 2022), and
below it by PUCT (Rosin 2011) with the rollout policy's choice as the prior.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import (
    FIRST_STEPS,
    MOST_PLACES,
    PLACE_DTYPE,
    STEPS,
    UNIFORM,
    begin,
    copy_world,
    walk,
)
from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, lowest, next_random, seed_word
from taki_env.core.cards import (
    LAST_CARD,
    MAX_PLAYERS,
    NUM_ACTIONS,
    OVER,
    PASS,
    RESPOND,
    SAY_LAST_CARD,
)
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.observation import determinize
from taki_env.core.policies.builtin import POLICIES, choose
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.state import GAME_DTYPE, State, States

ROLLOUTS = (*POLICIES, "expert")
"""Policies that can play the rollouts, by number."""
EXPERT = ROLLOUTS.index("expert")
MAX_DEPTH = 128
"""Actions on a path through the tree."""
MAX_DECISIONS = 2000
"""Decisions after which a simulation is cut off; the win is shared by all seats."""
NODE_DTYPE = np.dtype(
    [
        ("value", "f8"),  # sum of what the actor won in simulations through here
        ("visits", "i4"),
        ("first", "i4"),  # child, or -1
        ("next", "i4"),  # sibling, or -1
        ("action", "i2"),  # that leads here, of seat `actor`
        ("actor", "i1"),
        ("asked", "i1"),  # 1 if the action answers a +3
    ]
)
Nodes = npt.NDArray[np.void]
NONE = -1


@inner
def rollout_action(policy: Int, s: State, legal: np.uint64, word: np.uint64) -> Int:
    """Return the action of a rollout policy."""
    if policy == EXPERT:
        return choose_expert(s, legal, DEFAULT_WEIGHTS)
    return choose(policy, s, legal, word)


@inner
def clear_tree(tree: Nodes) -> None:
    """Leave the root alone; its `next` counts the nodes in use."""
    tree[0]["value"], tree[0]["visits"], tree[0]["first"], tree[0]["next"] = 0, 0, NONE, 1


@inner
def _is_of(node: Any, actor: Int, asked: Int) -> bool:
    """Tell whether a node is that of an actor's action, as an answer to a +3 or not."""
    return bool(node["actor"] == actor and node["asked"] == asked)


@inner
def _child(tree: Nodes, parent: Int, action: Int, actor: Int, asked: Int) -> Int:
    """Return the node of an action, made if it is missing, or -1 if the tree is full.

    Who is to move after a +3 depends on hidden cards, and everyone sees who it was.
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
    tree: Nodes, parent: Int, s: State, legal: np.uint64, favorite: Int, settings: Any
) -> Int:
    """Return the action with the best sum of mean value and bonus (PUCT).

    Counts are those of the actions that are legal in this deal. An action not tried yet is worth
    the mean of the others.
    """
    _, exploration, prior, _, _ = settings
    actor, asked = np.int64(s["actor"]), np.int64(s["phase"] == RESPOND)
    value, visits = 0.5, 1.0
    child = np.int64(tree[parent]["first"])
    while child >= 0:
        node = tree[child]
        if legal & bit_of(np.int64(node["action"])) and _is_of(node, actor, asked):
            value += node["value"]
            visits += node["visits"]
        child = np.int64(node["next"])
    mean, bonus = value / visits, exploration * sqrt(visits)
    uniform = (1 - prior) / count_bits(legal)
    best, most = lowest(legal), -1.0
    untried = legal
    child = np.int64(tree[parent]["first"])
    while child >= 0:
        node = tree[child]
        action = np.int64(node["action"])
        if legal & bit_of(action) and _is_of(node, actor, asked):
            untried &= ~bit_of(action)
            chance = uniform + (prior if action == favorite else 0.0)
            tried = node["visits"] + 1
            score = (node["value"] + mean + bonus * chance) / tried
            if score > most:
                best, most = action, score
        child = np.int64(node["next"])
    while untried != ZERO:
        action = lowest(untried)
        untried &= untried - ONE
        score = mean + bonus * (uniform + (prior if action == favorite else 0.0))
        if score > most:
            best, most = action, score
    return best


@inner
def _descend(
    tree: Nodes, s: State, seat: Int, word: np.uint64, path: Any, settings: Any, first: Int
) -> tuple[Int, np.uint64]:
    """Play `first` and on to a new node; return the length of the path and the next word.

    Below the root a call of the last card is always made, and who was asked to answer a +3 and
    passed is not public: neither has a node.
    """
    policy, _, _, all_seats, _ = settings
    node: Int = 0
    depth = 0
    while s["phase"] != OVER and depth < MAX_DEPTH:
        if s["phase"] == LAST_CARD and depth > 0:
            apply_action(s, SAY_LAST_CARD)
            continue
        legal, actor = legal_actions(s), np.int64(s["actor"])
        word = next_random(word)
        action = rollout_action(policy, s, legal, word)
        chosen = actor == seat or (all_seats and s["phase"] != RESPOND)
        if depth == 0:
            action = first
        elif chosen:
            action = _select(tree, node, s, legal, action, settings)
        elif s["phase"] == RESPOND and action == PASS:
            apply_action(s, action)
            continue
        node = _child(tree, node, action, actor, np.int64(s["phase"] == RESPOND))
        if node == NONE:
            break
        path[depth] = node
        depth += 1
        apply_action(s, action)
        if chosen and tree[node]["visits"] == 0 and legal & (legal - ONE):
            break
    return depth, word


@inner
def _simulate(
    tree: Nodes, s: State, seat: Int, word: np.uint64, path: Any, settings: Any, first: Int
) -> None:
    """Run a simulation that begins with the action `first` on a re-deal of the root."""
    depth, word = _descend(tree, s, seat, word, path, settings, first)
    while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
        word = next_random(word)
        apply_action(s, rollout_action(settings[0], s, legal_actions(s), word))
    tree[0]["visits"] += 1
    for k in range(depth):
        node = tree[path[k]]
        node["visits"] += 1
        if s["phase"] != OVER:
            node["value"] += 1 / s["num_players"]
        elif node["actor"] == s["winner"]:
            node["value"] += 1


@inner
def _rank(tree: Nodes, candidates: npt.NDArray[np.int64], count: Int) -> None:
    """Sort the first candidates by the mean value of their nodes, best first, equals as they were.

    The root's children are those of one actor in one phase, so its actions tell them apart.
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
def _search(
    tree: Nodes,
    roots: States,
    i: Int,
    word: np.uint64,
    simulations: Int,
    settings: Any,
    memory: Any,
) -> Int:
    """Return the best action of a game, found by sequential halving.

    All candidates play the same deals, so that luck is the same for all; after each round the
    worse half is dropped, and the rest share what is left. Those that were dropped have fewer
    visits than those that stayed.
    """
    path = np.empty(MAX_DEPTH, np.int64)
    candidates = np.empty(NUM_ACTIONS, np.int64)
    scratch = np.empty(2, GAME_DTYPE)
    seat, legal = np.int64(roots[i]["actor"]), legal_actions(roots[i])
    candidates[0] = rollout_action(settings[0], roots[i], legal, word)
    others = legal & ~bit_of(candidates[0])
    count: Int = 1
    while others != ZERO:
        candidates[count] = lowest(others)
        others &= others - ONE
        count += 1
    rounds = 1
    while count > 2 << (rounds - 1):
        rounds += 1
    starts, moves, counts, drawers, drawn_at = memory
    places, worlds = np.empty(MOST_PLACES, PLACE_DTYPE), np.empty(3, GAME_DTYPE)
    belief, fits = settings[4], np.empty((MAX_PLAYERS, 2))
    unseen, fit, steps = 0, 0.0, FIRST_STEPS
    if belief != UNIFORM and counts[i] > 0:
        unseen, fit = begin(
            roots[i], starts[i], moves[i], counts[i], drawers[i], drawn_at[i],
            belief, places, worlds, fits, word,
        )  # fmt: skip
    chain = next_random(word)
    deal, remaining = ZERO, simulations
    for rounds_left in range(rounds, 0, -1):
        share = remaining // rounds_left
        for k in range(share):
            if k % count == 0:
                deal += ONE
                dealt = next_random(seed_word(word, deal, ZERO))
                if unseen:
                    fit, chain = walk(
                        starts[i], moves[i], counts[i], seat, belief, places, unseen,
                        worlds, fits, fit, chain, steps,
                    )  # fmt: skip
                    steps = STEPS
                    copy_world(worlds, scratch, dealt)
                else:
                    scratch[0] = roots[i]
                    determinize(scratch[0], seat, dealt)
            scratch[1] = scratch[0]
            _simulate(tree, scratch[1], seat, dealt, path, settings, candidates[k % count])
        remaining -= share
        _rank(tree, candidates, count)
        count = (count + 1) // 2
    return candidates[0]


@entry
def search_many(
    roots: States,
    words: Words,
    simulations: Int,
    settings: Any,
    tree: Nodes,
    grow: bool,
    memory: Any,
    actions: npt.NDArray[np.int64],
) -> None:
    """Write the best action of each game.

    Args:
        roots: games (B,) that their actors have to decide, with nothing hidden that is true.
        words: uint64 (B,), not 0; another one each time that a tree is to grow.
        simulations: for each game.
        settings: policy, exploration, prior, whether all seats search, belief.
        tree: memory; holds the tree of the last game afterwards.
        grow: go on with the tree that is there, also where one action is legal; otherwise each game
            has a new one, and is spared a search where there is no choice.
        memory: of the actors, the arrays of a `Memory` of these games.
        actions: for the result, (B,).
    """
    for i in range(roots.size):
        legal = legal_actions(roots[i])
        if not grow:
            clear_tree(tree)
        if grow or legal & (legal - ONE) != ZERO:
            actions[i] = _search(tree, roots, i, words[i], simulations, settings, memory)
        else:
            actions[i] = lowest(legal)
