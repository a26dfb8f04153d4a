"""Exact game theory of small decks: game trees, equilibria, and the exploitability of agents.

`taki_env.openspiel` provides the trees. OpenSpiel's algorithms run on a compiled copy of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyspiel

import agents
from agents.network.policy import PolicyAgent
from agents.validation import CheckedAgent
from taki_env import Rules, View
from taki_env.core.arrays import unpack_masks
from taki_env.core.bits import seed_words
from taki_env.core.cards import OVER
from taki_env.core.decks import DECKS
from taki_env.envs.opponents import Agent
from taki_env.openspiel import TakiGame, TreeState, load

Probabilities: TypeAlias = npt.NDArray[np.float64]
"""Probabilities of the actions, (information states, 64)."""
UNIFORM = "random"


def small_game(deck: str, last_card: bool = False) -> TakiGame:
    """Return the two-player game of a deck.

    Args:
        deck: Name of a deck in `taki_env.core.decks`.
        last_card: Players must call their last card; by default the call is automatic.

    Raises:
        ValueError: the deck does not exist, or its game is too large.
    """
    if DECKS.get(deck) == DECKS["standard"]:
        raise ValueError("the game of the standard deck is too large to solve")
    return load(2, Rules(deck=deck, auto_last_card=not last_card))


@dataclass(frozen=True)
class Counts:
    """The size of a game."""

    histories: int
    """Number of nodes of the tree."""
    chance: int
    """Number of chance nodes."""
    decisions: int
    """Number of nodes at which a seat decides."""
    ends: int
    """Number of terminal nodes."""
    cut: int
    """Number of terminal nodes at the decision cap."""
    information_states: int
    """Number of information states of both seats."""
    choices: int
    """Number of information states with more than one action."""


class GameTree:
    """The complete tree of a two-player game.

    Args:
        game: Game for two players.
        progress: Function called with the number of new nodes, after every thousand.
    """

    def __init__(
        self, game: TakiGame, progress: Callable[[int], None] = lambda nodes: None
    ) -> None:
        self.game = game
        self.cached = pyspiel.convert_to_cached_tree(game)
        examples: dict[str, TreeState] = {}
        numbers = dict.fromkeys(("chance", "decisions", "ends", "cut"), 0)
        for nodes, state in enumerate(states(game), 1):
            kind = kind_of(state)
            numbers[kind] += 1
            if kind == "decisions":
                examples.setdefault(state.information(int(state.record["actor"][0])), state)
            elif kind == "ends":
                numbers["cut"] += int(state.record["phase"][0] != OVER)
            if nodes % 1000 == 0:
                progress(1000)
        self.names = list(examples)
        """Information states of both seats."""
        self.states = np.concatenate([state.record for state in examples.values()])
        """One game record for each, (information states,)."""
        self.legal = np.array([state.legal for state in examples.values()], np.uint64)
        """Legal actions as words, (information states,)."""
        self.choices = np.flatnonzero(self.legal & (self.legal - np.uint64(1)))
        """Indices of the information states with more than one action."""
        histories = numbers["chance"] + numbers["decisions"] + numbers["ends"]
        self.counts = Counts(
            histories, **numbers, information_states=len(examples), choices=self.choices.size
        )

    def view(self, seed: int = 0) -> View:
        """Return the view of the actors at `choices`, each with its own random word."""
        words = seed_words(seed, self.choices, stream=2)
        return View(self.states[self.choices], self.legal[self.choices], words)

    def forced(self) -> Probabilities:
        """Return probability 1 for each action without an alternative, 0 elsewhere."""
        masks = unpack_masks(self.legal).astype(np.float64)
        masks[self.choices] = 0
        return masks

    def uniform(self) -> Probabilities:
        """Return equal probabilities for all legal actions."""
        masks = unpack_masks(self.legal).astype(np.float64)
        masks /= masks.sum(1, keepdims=True)
        return masks

    def policy(self, probabilities: Probabilities) -> Any:
        """Return an OpenSpiel policy with these probabilities."""
        table = {
            name: [(action, float(row[action])) for action in np.flatnonzero(mask).tolist()]
            for name, row, mask in zip(
                self.names, probabilities, unpack_masks(self.legal), strict=True
            )
        }
        return pyspiel.TabularPolicy(table)

    def nash_conv(self, policy: Any) -> float:
        """Return the sum of both seats' gains by best responses, in returns."""
        return max(
            0.0, float(pyspiel.nash_conv(self.cached, policy))
        )  # rounding can make it negative

    def best_response(self, seat: int, policy: Any) -> float:
        """Return the return of a seat's best response to the other seat's policy."""
        response = pyspiel.TabularBestResponse(self.cached, seat, policy)
        return float(response.value_from_state(self.cached.new_initial_state()))


def states(game: TakiGame) -> Iterator[TreeState]:
    """Yield the state of a game at each history."""
    stack = [game.start]
    while stack:
        state = stack.pop()
        yield state
        kind = kind_of(state)
        if kind == "chance":
            stack += [state.choose(card) for card in sorted(set(state.next_cards()))]
        elif kind == "decisions":
            stack += [state.decide(action) for action in range(64) if state.legal >> action & 1]


def kind_of(state: TreeState) -> str:
    """Return the kind of a node: "chance", "decisions" or "ends"."""
    if state.action is not None:
        return "chance"
    return "ends" if state.is_over else "decisions"


# Equilibria ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equilibrium:
    """Value of a game, and the distance of the solution from an equilibrium."""

    iterations: int
    """Iterations of CFR+."""
    exploitability: float
    """Mean of both seats' gains by best responses, in returns."""
    value: tuple[float, float]
    """Bounds of seat 0's expected return in equilibrium."""


def solve(
    tree: GameTree,
    target: float,
    iterations: int,
    progress: Callable[[float], None] = lambda x: None,
) -> tuple[Equilibrium, Any]:
    """Run CFR+ (Tammelin 2014) until its average policy is near an equilibrium.

    Args:
        tree: Tree of the game.
        target: Exploitability at which to stop.
        iterations: Maximum number of iterations.
        progress: Function called with each exploitability measured.

    Returns:
        The equilibrium, and the average policy.
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


def action_probabilities(tree: GameTree, agent: str | Agent, draws: int = 1) -> Probabilities:
    """Return the probabilities of an agent's actions at every information state.

    They are exact for the random agent and for a policy that samples. Other agents act `draws`
    times with different random words, and the frequencies of their actions are returned.

    Args:
        tree: Tree of the game.
        agent: Spelling of `agents.load`, or an agent.
        draws: Number of actions for each information state.
    """
    agent = agents.load(agent) if isinstance(agent, str) else agent
    probabilities = tree.forced()
    if agent.name == UNIFORM:
        return tree.uniform()
    if isinstance(agent, PolicyAgent) and agent.sample:
        probabilities[tree.choices] = agent.predict(tree.view())[0]
        return probabilities
    checked = CheckedAgent(agent)
    for draw in range(draws):
        actions = checked.act(tree.view(draw))
        probabilities[tree.choices, actions] += 1 / draws
    return probabilities


@dataclass(frozen=True)
class BestResponseGains:
    """Gains of best responses to an agent, in returns: 1 for a win, -1 for a loss."""

    agent: str
    """Spelling of the agent."""
    exploitability: float
    """Mean of the gains against the agent in both seats."""
    as_seat_0: float
    """Gain beyond the game's value of a best response in seat 1 to the agent in seat 0."""
    as_seat_1: float
    """Gain beyond the game's value of a best response in seat 0 to the agent in seat 1."""


def best_response_gains(
    tree: GameTree, name: str, probabilities: Probabilities, value: float
) -> BestResponseGains:
    """Return the gains of best responses to an agent in each of its seats.

    Args:
        tree: Tree of the game.
        name: Name of the agent.
        probabilities: Probabilities of its actions.
        value: Value of the game for seat 0.
    """
    policy = tree.policy(probabilities)
    gains = [tree.best_response(1, policy) + value, tree.best_response(0, policy) - value]
    return BestResponseGains(name, tree.nash_conv(policy) / 2, *gains)
