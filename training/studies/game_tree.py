"""Exact game theory of small decks: their trees, equilibria, and what agents give away there.

The trees are those of `taki_env.openspiel`; OpenSpiel's own algorithms do the rest, on a copy of
the tree that it keeps in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyspiel

import agents
from agents.validation import CheckedAgent
from taki_env import Rules, View
from taki_env.core.arrays import unpack_masks
from taki_env.core.bits import seed_words
from taki_env.core.cards import OVER
from taki_env.core.decks import DECKS
from taki_env.envs.opponents import Agent
from taki_env.openspiel import TakiGame, TreeState, load

Shares: TypeAlias = np.ndarray
"""Probabilities of the actions, (information states, 64)."""
UNIFORM = "random"


def small_game(deck: str, last_card: bool = False) -> TakiGame:
    """Return the game of a deck for two; the last card is called automatically unless asked for.

    Raises:
        ValueError: there is no such deck, or its game is too large to be written out.
    """
    if DECKS.get(deck) == DECKS["standard"]:
        raise ValueError("the standard deck is too large for exact answers")
    return load(2, Rules(deck=deck, auto_last_card=not last_card))


@dataclass(frozen=True)
class Counts:
    """The size of a game."""

    histories: int
    """Nodes of the tree."""
    chance: int
    """Of them, where chance decides."""
    decisions: int
    """Of them, where a seat decides."""
    ends: int
    """Of them, where the game ends."""
    cut: int
    """Of them, where it ends undecided."""
    information_states: int
    """Of both seats."""
    choices: int
    """Of them, those with more than one action."""


class GameTree:
    """A game written out.

    Args:
        game: one of two players.
        progress: is called with the number of nodes after every thousand of them.
    """

    def __init__(
        self, game: TakiGame, progress: Callable[[int], None] = lambda nodes: None
    ) -> None:
        self.game = game
        self.cached = pyspiel.convert_to_cached_tree(game)
        found: dict[str, TreeState] = {}
        numbers = dict.fromkeys(("chance", "decisions", "ends", "cut"), 0)
        for nodes, table in enumerate(tables(game), 1):
            kind = kind_of(table)
            numbers[kind] += 1
            if kind == "decisions":
                found.setdefault(table.information(int(table.record["actor"][0])), table)
            elif kind == "ends":
                numbers["cut"] += int(table.record["phase"][0] != OVER)
            if nodes % 1000 == 0:
                progress(1000)
        self.names = list(found)
        """The information states of both seats."""
        examples = list(found.values())
        self.states = np.concatenate([table.record for table in examples])
        """A history of each, as the engine has it, (information states,)."""
        self.legal = np.array([table.legal for table in examples], np.uint64)
        self.choices = np.flatnonzero(self.legal & (self.legal - np.uint64(1)))
        """Information states with more than one action."""
        histories = numbers["chance"] + numbers["decisions"] + numbers["ends"]
        self.counts = Counts(histories, **numbers, information_states=len(found),
                             choices=self.choices.size)  # fmt: skip

    def view(self, seed: int = 0) -> View:
        """Return what the actors see where there is a choice, each with a word of its own."""
        words = seed_words(seed, self.choices, stream=2)
        return View(self.states[self.choices], self.legal[self.choices], words)

    def forced(self) -> Shares:
        """Return the probabilities of actions that are the only ones, 0 elsewhere."""
        masks = unpack_masks(self.legal).astype(np.float64)
        masks[self.choices] = 0
        return masks

    def policy(self, shares: Shares) -> Any:
        """Return a policy of OpenSpiel."""
        table = {
            name: [(action, float(row[action])) for action in np.flatnonzero(mask).tolist()]
            for name, row, mask in zip(self.names, shares, unpack_masks(self.legal), strict=True)
        }
        return pyspiel.TabularPolicy(table)

    def nash_conv(self, policy: Any) -> float:
        """Return what both seats could gain in all by best responses, in returns."""
        return max(0.0, float(pyspiel.nash_conv(self.cached, policy)))  # but for rounding

    def best_response(self, seat: int, policy: Any) -> float:
        """Return what a seat gets by a best response to the other seat's policy."""
        response = pyspiel.TabularBestResponse(self.cached, seat, policy)
        return float(response.value_from_state(self.cached.new_initial_state()))


def tables(game: TakiGame) -> Iterator[TreeState]:
    """Yield the states of a game at all its histories."""
    stack = [game.start]
    while stack:
        table = stack.pop()
        yield table
        kind = kind_of(table)
        if kind == "chance":
            stack += [table.choose(card) for card in sorted(set(table.next_cards()))]
        elif kind == "decisions":
            stack += [table.decide(action) for action in range(64) if table.legal >> action & 1]


def kind_of(table: TreeState) -> str:
    """Return which of the numbers of `Counts` a state is counted in."""
    if table.action is not None:
        return "chance"
    return "ends" if table.is_over else "decisions"


# Equilibria ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equilibrium:
    """What equilibrium play is worth, and how near the policy found is to it."""

    iterations: int
    exploitability: float
    """Half of what both seats could gain in all by best responses, in returns."""
    value: tuple[float, float]
    """Bounds of the expected return of seat 0 when both seats play well."""


def solve(
    tree: GameTree,
    target: float,
    iterations: int,
    progress: Callable[[float], None] = lambda x: None,
) -> tuple[Equilibrium, Any]:
    """Run CFR+ (Tammelin 2014) until its average policy is near an equilibrium.

    Args:
        tree: of the game.
        target: exploitability to stop at.
        iterations: to stop at in any case.
        progress: is called with each exploitability found.

    Returns:
        what was found, and the average policy.
    """
    solver = pyspiel.CFRPlusSolver(tree.cached)
    done, checked = 0, 1
    while True:
        for _ in range(checked - done):
            solver.evaluate_and_update_policy()
        done, policy = checked, solver.tabular_average_policy()
        exploitability = tree.nash_conv(policy) / 2
        progress(exploitability)
        if exploitability <= target or done >= iterations:
            bounds = -tree.best_response(1, policy), tree.best_response(0, policy)
            return Equilibrium(done, exploitability, bounds), policy
        checked = min(iterations, done + max(10, done // 2))


# Agents -------------------------------------------------------------------------------------------


def shares_of(tree: GameTree, agent: str | Agent, draws: int = 1) -> Shares:
    """Return the probabilities with which an agent acts at every information state.

    Args:
        tree: of the game.
        agent: a spelling of `agents.load`, or an agent.
        draws: ask so often, each time with other random words, and take the shares of its answers.
            An agent with ``predict`` that samples, and the random one, are asked for
            probabilities instead.
    """
    agent = agents.load(agent) if isinstance(agent, str) else agent
    masks, shares = unpack_masks(tree.legal), tree.forced()
    if agent.name == UNIFORM:
        return masks / masks.sum(1, keepdims=True)
    if getattr(agent, "sample", False):
        shares[tree.choices] = agent.predict(tree.view())[0]  # type: ignore[attr-defined]
        return shares
    checked = CheckedAgent(agent)
    for draw in range(draws):
        actions = checked.act(tree.view(draw))
        shares[tree.choices, actions] += 1 / draws
    return shares


@dataclass(frozen=True)
class Weakness:
    """What can be gained against an agent, in returns: 1 for a win, -1 for a loss."""

    agent: str
    exploitability: float
    """Half of what both seats could gain in all by best responses to it in the other seat."""
    as_seat_0: float
    """What a best response in seat 1 gets beyond the game's value against the agent in seat 0."""
    as_seat_1: float
    """The same with the seats exchanged."""


def weakness(tree: GameTree, name: str, shares: Shares, value: float) -> Weakness:
    """Return what can be gained against an agent in each of its seats.

    Args:
        tree: of the game.
        name: of the agent.
        shares: its probabilities.
        value: the game's, for seat 0.
    """
    policy = tree.policy(shares)
    gains = [tree.best_response(1, policy) + value, tree.best_response(0, policy) - value]
    return Weakness(name, tree.nash_conv(policy) / 2, *gains)
