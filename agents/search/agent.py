"""Tree search as an agent, and its analysis of positions."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from inspect import signature

import numpy as np
import numpy.typing as npt

from agents.beliefs.chain import BELIEFS, UNIFORM
from agents.search.tree import (
    NODE_DTYPE,
    NONE,
    ROLLOUTS,
    Nodes,
    SearchSettings,
    clear_tree,
    search_many,
)
from taki_env import ACTIONS, View
from taki_env.base.checks import check_at_least_one, check_one_of
from taki_env.base.threads import each_chunk
from taki_env.base.types import Words
from taki_env.core.bits import ONE, spread_words
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.memory import Memory
from taki_env.core.state import States

NODES_A_SIMULATION = 12
MOST_NODES = 1 << 20
MOST_SIMULATIONS = 10**9
LEAST_VISITS = 5
"""Minimum visits to appear in an expected line."""
CHUNK = 200
"""Simulations before the clock is first checked, and the minimum of each later batch."""


@dataclass(frozen=True)
class Candidate:
    """A legal action of the actor with the results of a search."""

    action: int
    """Id of the action."""
    visits: int
    """Number of simulations that took it."""
    value: float
    """Share of these simulations that the actor won; NaN without any."""
    line: tuple[int, ...]
    """Expected line: the action and the most visited actions after it, of all seats."""
    seats: tuple[int, ...]
    """Seat that takes each action of the line. Last-card calls, and passes of other seats on a +3,
    are omitted."""

    @property
    def name(self) -> str:
        """Name of the action."""
        return ACTIONS[self.action]


class SearchAgent:
    """Information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).

    The tree holds the actor's decisions and the public actions of the others, who follow the
    rollout policy by default. See `agents.search.tree`.

    Args:
        simulations: number of simulations per decision; forced actions need none.
        milliseconds: time per decision, instead of `simulations`. Not reproducible.
        rollout: policy that plays simulations to the end: "random", "greedy" or "expert".
        exploration: weight of the bonus for rarely tried actions.
        prior: share of that bonus for the rollout policy's choice, 0 to 1.
        opponents: "rollout": the others follow the rollout policy; "tree": they search as well.
        belief: how to weigh the others' hands if the view has a memory. "expert": by how well the
            others' moves fit an expert or a random player; "rules": only by the cards that they
            cannot hold, because a player who drew had nothing to play; "uniform": all equally.
        threads: number of threads that share the games of a call; does not change the actions.
        seed: seed of the agent's generator.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        simulations: int = 2000,
        milliseconds: float | None = None,
        rollout: str = "expert",
        exploration: float = 1.5,
        prior: float = 0.5,
        opponents: str = "rollout",
        belief: str = "expert",
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        check_at_least_one("simulations", simulations)
        check_at_least_one("threads", threads)
        _check_ranges(simulations, milliseconds, exploration, prior)
        check_one_of("rollout", rollout, ROLLOUTS)
        check_one_of("opponents", opponents, ("rollout", "tree"))
        check_one_of("belief", belief, BELIEFS)
        budget = f"milliseconds={milliseconds:g}" if milliseconds else f"simulations={simulations}"
        options = {
            "rollout": rollout, "exploration": exploration, "prior": prior,
            "opponents": opponents, "belief": belief,
        }  # fmt: skip
        defaults = signature(SearchAgent).parameters
        others = [f"{k}={value}" for k, value in options.items() if value != defaults[k].default]
        self.name = ",".join([f"search:{budget}", *others])
        self.simulations, self.milliseconds, self.threads = simulations, milliseconds, threads
        prior = 0.0 if rollout == "random" else prior  # a random choice deserves no bonus
        self._settings = SearchSettings(
            policy=ROLLOUTS.index(rollout),
            exploration=float(exploration),
            prior=float(prior),
            all_seats=opponents == "tree",
            belief=BELIEFS.index(belief),
        )
        self.remembers = belief != BELIEFS[UNIFORM]
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the best action of each game, (B,)."""
        roots, words = self._roots(view)
        memory = self._remembered(view, roots)
        actions = np.zeros(len(view), np.int64)
        if self.milliseconds is not None:
            for i, legal in enumerate(view.legal.tolist()):
                forced, one = legal & (legal - 1) == 0, slice(i, i + 1)
                last = legal.bit_length() - 1
                actions[i] = last if forced else self._grow(roots[one], words[one], memory, i)[1]
            return actions

        def search(chunk: slice) -> None:
            search_many(
                roots[chunk], words[chunk], self.simulations, self._settings, self._nodes(),
                False, memory.arrays(chunk), actions[chunk],
            )  # fmt: skip

        each_chunk(self.threads, len(view), search)
        return actions

    def analyze(self, view: View) -> list[list[Candidate]]:
        """Return the legal actions of each game with the results of a full search, best first."""
        roots, words = self._roots(view)
        memory = self._remembered(view, roots)
        found = []
        for i, legal in enumerate(view.legal.tolist()):
            one = slice(i, i + 1)
            tried = candidates(*self._grow(roots[one], words[one], memory, i))
            known = {candidate.action for candidate in tried}
            untried = [a for a in range(NUM_ACTIONS) if legal >> a & 1 and a not in known]
            found.append(
                tried + [Candidate(a, 0, math.nan, (a,), (int(view.seats[i]),)) for a in untried]
            )
        return found

    def _roots(self, view: View) -> tuple[States, Words]:
        """Return a re-deal of each game, so that no hidden card gets here, and random words."""
        roots = view.sample_states(1, self._rng)[:, 0]
        return roots, spread_words(view.random_words(self._rng), 2)[:, 1] | ONE

    def _remembered(self, view: View, roots: States) -> Memory:
        """Return the actors' memory; an empty one if there is none or it is not needed."""
        return (view.memory if self.remembers else None) or Memory.empty(roots)

    def _nodes(self) -> Nodes:
        nodes = MOST_NODES if self.milliseconds else NODES_A_SIMULATION * self.simulations + 2
        return np.empty(min(MOST_NODES, nodes), NODE_DTYPE)

    def _grow(self, root: States, word: Words, memory: Memory, game: int) -> tuple[Nodes, int]:
        """Return the tree of one game after the whole budget, and the best action."""
        past = memory.arrays(slice(game, game + 1))
        tree, action = self._nodes(), np.zeros(1, np.int64)
        clear_tree(tree)
        if self.milliseconds is None:
            search_many(root, word, self.simulations, self._settings, tree, True, past, action)
            return tree, int(action[0])
        start, simulations = time.perf_counter(), CHUNK
        while simulations >= CHUNK:
            word = spread_words(word, 1)[:, 0] | ONE
            search_many(root, word, simulations, self._settings, tree, True, past, action)
            seconds = time.perf_counter() - start
            left = self.milliseconds / 1000 - seconds
            simulations = int(left / 2 * int(tree["visits"][0]) / seconds)  # half of the rest
        return tree, int(action[0])


def _check_ranges(
    simulations: int, milliseconds: float | None, exploration: float, prior: float
) -> None:
    if simulations > MOST_SIMULATIONS:
        raise ValueError(f"simulations must be at most {MOST_SIMULATIONS}, got {simulations}")
    if milliseconds is not None and not 0 < milliseconds < math.inf:
        raise ValueError(f"milliseconds must be above 0 and finite, got {milliseconds}")
    if not 0 <= exploration < math.inf:
        raise ValueError(f"exploration must be 0 or more and finite, got {exploration}")
    if not 0 <= prior <= 1:
        raise ValueError(f"prior must be 0 to 1, got {prior}")


def children(tree: Nodes, node: int) -> list[int]:
    """Return the children of a node, most visited first."""
    found, child = [], int(tree["first"][node])
    while child != NONE:
        found.append(child)
        child = int(tree["next"][child])
    return sorted(found, key=lambda k: (-int(tree["visits"][k]), int(tree["action"][k])))


def candidates(tree: Nodes, best: int) -> list[Candidate]:
    """Return the actions at the root of a tree with their results, `best` first, then by visits."""
    found = []
    for child in children(tree, 0):
        path = [child]
        while (below := children(tree, path[-1])) and tree["visits"][below[0]] >= LEAST_VISITS:
            path.append(below[0])
        line, seats = (tuple(tree[field][path].tolist()) for field in ("action", "actor"))
        visits = int(tree["visits"][child])
        value = float(tree["value"][child]) / visits if visits else math.nan
        found.append(Candidate(line[0], visits, value, line, seats))
    return sorted(found, key=lambda candidate: candidate.action != best)
