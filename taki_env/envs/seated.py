"""Games whose seats are played by built-in policies, by agents, and by the caller.

`SeatedGames` is the core of `SelfPlay`, of the learner environments, and of the arena. It knows who
plays each seat and what happens after a decision. Built-in policies act in one compiled loop, and
agents act in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_at_least_one
from taki_env.base.errors import IllegalActionError
from taki_env.base.jit import entry
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import illegal_action_message
from taki_env.core.bits import ONE, ZERO
from taki_env.core.cards import MAX_PLAYERS, NUM_ACTIONS, Position
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.loops import ask_ahead, first_illegal
from taki_env.core.memory import MOST_ACTIONS
from taki_env.core.policies import POLICIES, choose, choose_many, next_word
from taki_env.core.state import States
from taki_env.envs.opponents import Opponent, remembers
from taki_env.game.batch import Batch
from taki_env.game.game import Game

Flags: TypeAlias = npt.NDArray[np.bool_]
Observer: TypeAlias = Callable[[int, Position, int, Position, bool], object]
"""Takes a game's index, the position before a decision, the action, the position after it, and
whether the caller decided."""

CALLER = -1
"""Controller number of seats that the caller plays."""
BUILT_IN = len(POLICIES)
"""Number of built-in policies; their controller numbers come first, then those of agents."""


@entry
def advance_many(
    states: States,
    legal: Words,
    games: Integers,
    controllers: Integers,
    words: Words,
    policies: int,
    max_decisions: int,
    movers: Integers,
    terminated: Flags,
    truncated: Flags,
    actions: Any,
) -> None:
    """Let the first `policies` controllers act until another is to move or the game has ended.

    Writes the controller to move in each of `games` to `movers`, `CALLER` where the game has ended;
    how it has ended to `terminated` and `truncated`; and what was played to `actions`, the kept
    actions of `Batch`, unless it is None.
    """
    for k in range(games.size):
        ask_ahead(states, games, k)
        i = games[k]
        s = states[i]
        mover = controllers[i, s["actor"]]
        while 0 <= mover < policies and legal[i] != ZERO and s["decisions"] < max_decisions:
            words[i] = next_word(mover, words[i])
            action = choose(mover, s, legal[i], words[i])
            if actions is not None:  # resolved at compile time, by the type of `actions`
                if s["decisions"] < actions.shape[1]:
                    actions[i, s["decisions"]] = action
            apply_action(s, action)
            legal[i] = legal_actions(s)
            mover = controllers[i, s["actor"]]
        terminated[i] = legal[i] == ZERO
        truncated[i] = not terminated[i] and s["decisions"] >= max_decisions
        movers[k] = CALLER if terminated[i] or truncated[i] else mover


class SeatedGames:
    """The games of a batch, with a controller for each seat.

    A controller is the number of a built-in policy, the index of an agent, or `CALLER`. All seats
    are the caller's at first.

    Args:
        batch: The games, just dealt.
        max_decisions: Decisions of all seats after which a game is truncated.
        agents: Players by controller number, the built-in policies first.
        observer: Called after every decision. Games with an observer are the same, but slower.

    Raises:
        ValueError: `max_decisions` is not an integer of at least 1.
    """

    def __init__(
        self,
        batch: Batch,
        max_decisions: int = 2000,
        agents: Sequence[Opponent] = POLICIES,
        observer: Observer | None = None,
    ) -> None:
        check_at_least_one("max_decisions", max_decisions)
        self.batch, self.max_decisions = batch, max_decisions
        self.agents, self.observer = agents, observer
        self.controllers: Integers = np.full((len(batch), MAX_PLAYERS), CALLER)
        """Who plays each seat, (num_games, MAX_PLAYERS)."""
        self.words: Words = np.ones(len(batch), np.uint64)
        """Random words of the built-in policies, uint64 (num_games,), not 0."""
        self.terminated: Flags = np.zeros(len(batch), np.bool_)
        """Which games are over, (num_games,)."""
        self.truncated: Flags = np.zeros(len(batch), np.bool_)
        """Which games were cut off at `max_decisions`, (num_games,)."""

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.batch)

    @property
    def ended(self) -> Flags:
        """Which games are over or cut off, (num_games,)."""
        return self.terminated | self.truncated

    def game(self, index: int) -> Game:
        """Return a copy of a game, with all hands."""
        return self.batch.game(index)

    def keep_history(self, agents: Iterable[object]) -> None:
        """Keep the actions of the games if any of `agents` uses them (`View.memory`).

        Games that have started have no history until they are dealt again.
        """
        if self.batch.actions is None and any(map(remembers, agents)):
            self.batch.keep_actions(min(self.max_decisions, MOST_ACTIONS), midway=True)

    def deal(self, games: Integers) -> None:
        """Deal the next game at each of the given indices."""
        self.batch.reset(games)
        self.terminated[games] = self.truncated[games] = False

    def apply(self, games: Integers, actions: Integers) -> None:
        """Carry out legal actions, which are not checked, in the games of the given indices."""
        if self.observer is None:
            self.batch.step_some(games, actions)
            return
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            before = self.game(game).to_dict()
            by_caller = bool(self.controllers[game, before["actor"]] == CALLER)
            self.batch.step_some(np.array([game]), np.array([action]))
            self.observer(game, before, action, self.game(game).to_dict(), by_caller)

    def advance(self, games: Integers) -> Integers:
        """Let built-in policies act until someone else is to move or the game has ended.

        Returns:
            the controller to move in each of `games`, `CALLER` where the game has ended.
        """
        if self.observer is None:
            return self._advance(games, BUILT_IN)
        movers = self._advance(games, 0)
        while (at := np.flatnonzero((movers >= 0) & (movers < BUILT_IN))).size:
            for policy in np.unique(movers[at]).tolist():
                self._decide(policy, games[movers == policy])
            movers[at] = self._advance(games[at], 0)
        return movers

    def _advance(self, games: Integers, policies: int) -> Integers:
        """Let the first `policies` built-in policies act in the compiled loop."""
        batch, movers = self.batch, np.empty(games.size, np.int64)
        advance_many(
            batch.states, batch.legal, games, self.controllers, self.words, policies,
            self.max_decisions, movers, self.terminated, self.truncated, batch.actions,
        )  # fmt: skip
        return movers

    def _decide(self, policy: int, games: Integers) -> None:
        """Carry out one decision of a built-in policy in each of `games`, for the observer."""
        actions, words = np.zeros(games.size, np.int64), self.words[games]
        choose_many(policy, self.batch.states[games], self.batch.legal[games], words, actions)
        self.words[games] = words
        self.apply(games, actions)

    def play(self, games: Integers | None = None) -> None:
        """Let all others act until games wait for the caller or have ended; all by default."""
        games = np.arange(len(self)) if games is None else games
        while games.size:
            movers = self.advance(games)
            waiting = movers >= BUILT_IN
            for number in np.unique(movers[waiting]).tolist():
                self.let_agent_act(number, games[movers == number])
            games = games[waiting]

    def let_agent_act(self, number: int, games: Integers) -> None:
        """Carry out what an agent chooses in games in which it is to move.

        Raises:
            IllegalActionError: The agent returned an illegal action.
            ValueError: The agent did not return one integer per game.
        """
        agent: Any = self.agents[number]
        legal = self.batch.legal[games]
        actions = np.asarray(agent.act(self.batch.view(games)))
        if actions.shape != games.shape or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"{agent!r} must return {games.size} action ids, one per game")
        wrong = first_illegal(legal, actions.astype(np.int64))
        if wrong >= 0:
            message = illegal_action_message(actions[wrong], legal[wrong])
            raise IllegalActionError(f"{agent!r}: {message}")
        self.apply(games, actions.astype(np.int64))


def are_legal(legal: Words, actions: Integers) -> Flags:
    """Return which actions are in their game's set of legal ones, (num_games,)."""
    known = (actions >= 0) & (actions < NUM_ACTIONS)
    shifts = np.where(known, actions, 0).astype(np.uint64)
    return np.asarray(known & ((legal >> shifts) & ONE).astype(np.bool_))
