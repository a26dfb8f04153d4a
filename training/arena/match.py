"""Some games of a tournament, side by side: who is asked, and what becomes of agents that fail.

Built-in policies act in compiled loops. All other agents are asked in batches; one that fails in
any way forfeits the game in which it failed, and nothing else.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Thread
from typing import Any, TypeAlias

import numpy as np

from agents.validation import AGENT_ERRORS, Failure, checked_answer, error_text
from taki_env import Batch, View
from taki_env.base.types import Integers, Words
from taki_env.core.arrays import illegal_action_message
from taki_env.core.bits import ONE, seed_word
from taki_env.core.cards import MAX_PLAYERS, NUM_ACTIONS
from taki_env.core.memory import MOST_ACTIONS
from taki_env.core.policies.builtin import POLICIES
from taki_env.envs.learners import advance_many
from taki_env.envs.opponents import Agent, remembers

REASONS = (
    *("illegal action", "wrong shape", "wrong type", "exception"),
    *("time limit", "disqualified"),
)
MAX_HANGS = 3
"""An agent that has run into its time limit so often in calls for one game is disqualified."""
MOST_LIMITS = 10
"""A call takes so many times the limit of a decision at most, however many games it is for."""
NOBODY = -1
Answer: TypeAlias = Integers | Failure


class _HangError(Exception):
    """An agent did not answer in time."""


class _RaisedError(Exception):
    """An agent raised something in its thread, which is the cause."""


class _Caller:
    """Calls an agent in a thread, which is left behind if the agent hangs."""

    def __init__(self, agent: Agent, name: str) -> None:
        self._asked: SimpleQueue[View] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Answer, None] | tuple[None, BaseException]] = SimpleQueue()
        Thread(target=self._serve, args=(agent,), name=f"agent {name}", daemon=True).start()

    def _serve(self, agent: Agent) -> None:
        while True:
            view = self._asked.get()
            try:
                self._answers.put((answer_of(agent, view), None))
            except BaseException as error:  # the thread lives on
                self._answers.put((None, error))

    def __call__(self, view: View, seconds: float) -> Answer:
        """Return the agent's answer, or raise an error of the agent's or of being too late."""
        self._asked.put(view)
        try:
            answer, error = self._answers.get(timeout=min(seconds, TIMEOUT_MAX))
        except Empty:
            raise _HangError from None
        if answer is None:
            raise _RaisedError from error
        return answer


def answer_of(agent: Agent, view: View) -> Answer:
    """Return what an agent answers, which may do its work only when it becomes an array."""
    return checked_answer(agent.act(view), len(view))


@dataclass
class Clock:
    """How long decisions took."""

    calls: list[tuple[float, int]] = field(default_factory=list)
    """Seconds a decision and number of decisions, of every call."""

    def add(self, seconds: float, decisions: int) -> None:
        """Count a call."""
        if decisions:
            self.calls.append((seconds / decisions, decisions))


class Contestant:
    """An agent whose failures stay its own.

    Args:
        name: of the agent.
        make: returns the agent, and another one after it hangs.
        time_limit: seconds a decision; a call may take so long for every game of its view, up to
            `MOST_LIMITS` times.
    """

    def __init__(self, name: str, make: Callable[[], Agent], time_limit: float = 10.0) -> None:
        self.name, self._make, self._time_limit = name, make, time_limit
        self.clock = Clock()
        self.hangs = 0
        self.most_games = sys.maxsize
        """To ask for in a call: `MOST_LIMITS` after a call that took too long, 1 after another."""
        self._disqualified = ""
        self._sit_down()

    def _sit_down(self) -> None:
        self._agent = self._make()
        self._caller = _Caller(self._agent, self.name) if math.isfinite(self._time_limit) else None

    @property
    def remembers(self) -> bool:
        """Whether the agent asks for what was done before (`View.memory`)."""
        return remembers(self._agent)

    def ask(self, view: View) -> Answer:
        """Return an action for each game, which may be illegal, or why there are none."""
        if self._disqualified:
            return Failure("disqualified", self._disqualified)
        start = time.perf_counter()
        try:
            answer = self._call(view)
        except _HangError:
            return self._hung(len(view))
        except AGENT_ERRORS as error:
            raised = (error.__cause__ or error) if isinstance(error, _RaisedError) else error
            return Failure("exception", error_text(raised))
        self.clock.add(time.perf_counter() - start, len(view))
        return answer

    def _call(self, view: View) -> Answer:
        if self._caller is None:
            return answer_of(self._agent, view)
        return self._caller(view, self._time_limit * min(len(view), MOST_LIMITS))

    def _hung(self, games: int) -> Failure:
        """Go on with another agent of the same kind.

        A call for many games may only be slow: smaller ones follow, and it counts for nothing.
        """
        if games > 1:
            self.most_games = MOST_LIMITS if games > MOST_LIMITS else 1
        else:
            self.hangs += 1
        if self.hangs >= MAX_HANGS:
            self._disqualified = f"{self.hangs} calls beyond the time limit"
        else:
            try:
                self._sit_down()
            except Exception as error:
                self._disqualified = f"cannot be made anew after a hang: {error}"
        return Failure("time limit", f"no answer within {self._time_limit:g} s a decision")


class Match:
    """Games side by side, from their deals to their ends.

    Args:
        batch: the games, just dealt.
        controllers: who plays each seat, (num_games, num_players): the index of a built-in policy
            or a key of `contestants`.
        contestants: the other agents, by numbers from ``len(POLICIES)``.
        words: a random word for each game, (num_games,). Policies and agents draw from these alone.
        max_decisions: a game is cut off after so many.
    """

    def __init__(
        self,
        batch: Batch,
        controllers: Integers,
        contestants: Mapping[int, Contestant],
        words: Words,
        max_decisions: int = 2000,
    ) -> None:
        games = len(batch)
        if batch.actions is None and any(one.remembers for one in contestants.values()):
            batch.keep_actions(min(max_decisions, MOST_ACTIONS))
        self.batch, self._contestants, self._max_decisions = batch, contestants, max_decisions
        self._controllers = np.full((games, MAX_PLAYERS), NOBODY)
        self._controllers[:, : controllers.shape[1]] = controllers
        self._words, self._running = words, words.copy()
        self._taken = np.zeros((games, MAX_PLAYERS), np.int64)
        self._terminated, self._truncated = np.zeros((2, games), np.bool_)
        self.losers = np.full(games, NOBODY)
        """The seat that forfeited each game, or -1, (num_games,)."""
        self.failures: dict[int, Failure] = {}
        """Why, by game."""
        self.compiled = Clock()
        """Of the built-in policies together."""
        self._advance(np.arange(0))  # compiles before the clock runs

    @property
    def winners(self) -> Integers:
        """The seat that won each game, -1 where it was forfeited or cut off, (num_games,)."""
        return np.where(self._terminated, self.batch.states["winner"], NOBODY).astype(np.int64)

    def play(self) -> None:
        """Play all games to their ends."""
        live, seconds = np.arange(len(self.batch)), 0.0
        while live.size:
            start = time.perf_counter()
            movers = self._advance(live)
            seconds += time.perf_counter() - start
            for number in np.unique(movers[movers >= len(POLICIES)]).tolist():
                self._ask(self._contestants[number], live[movers == number])
            live = live[(movers >= len(POLICIES)) & (self.losers[live] == NOBODY)]
        self.compiled.add(seconds, int(self.batch.decisions.sum() - self._taken.sum()))

    def _advance(self, games: Integers) -> Integers:
        """Let built-in policies act; return who is to move, less than 0 where a game has ended."""
        movers = np.empty(games.size, np.int64)
        advance_many(
            self.batch.states, self.batch.legal, games, self._controllers, self._running,
            self._max_decisions, movers, self._terminated, self._truncated, self.batch.actions,
        )  # fmt: skip
        return movers

    def record(self, game: int, names: Sequence[str]) -> dict[str, Any]:
        """Return the record of a game (docs/records.md) whose actions the batch has kept."""
        note = None
        if failure := self.failures.get(game):
            seat = self.losers[game]
            note = f"seat {seat}, {names[seat]}, forfeits: {failure.reason}: {failure.detail}"
        return self.batch.game(game).record(names=names, note=note)

    def view(self, games: Integers) -> View:
        """Return what the actors see, with a word for each decision.

        The word depends on that of the game, the seat and how often this seat was asked before:
        all of which the seat knows.
        """
        seats = self.batch.actors[games]
        taken = self._taken[games, seats].astype(np.uint64)
        words = seed_word(self._words[games], seats.astype(np.uint64), taken)
        return self.batch.view(games, words)

    def _ask(self, contestant: Contestant, games: Integers) -> None:
        """Carry out what an agent chooses; where it fails, fewer games are asked for at once."""
        while games.size:
            some = games[: contestant.most_games]
            answer = contestant.ask(self.view(some))
            if not isinstance(answer, Failure):
                self._apply(some, answer)
            elif some.size == 1:
                self._forfeit(int(some[0]), answer)
            elif answer.reason == "time limit":  # of a call for several games: fewer at once
                continue
            else:
                for game in some:
                    self._ask(contestant, game[np.newaxis])
            games = games[some.size :]

    def _apply(self, games: Integers, actions: Integers) -> None:
        legal = self.batch.legal[games]
        known = (actions >= 0) & (actions < NUM_ACTIONS)
        shifts = np.where(known, actions, 0).astype(np.uint64)
        allowed = known & ((legal >> shifts) & ONE).astype(np.bool_)
        for k in np.flatnonzero(~allowed).tolist():
            words = illegal_action_message(actions[k], legal[k])
            self._forfeit(int(games[k]), Failure("illegal action", words))
        games, actions = games[allowed], actions[allowed]
        self._taken[games, self.batch.actors[games]] += 1
        self.batch.step_some(games, actions)

    def _forfeit(self, game: int, failure: Failure) -> None:
        self.losers[game] = self.batch.states["actor"][game]
        self.failures[game] = failure
