"""The games of a tournament that are played side by side, and the handling of failing agents.

Built-in policies act in a compiled loop, all other agents in batches. An agent that fails in any
way forfeits the game in which it failed, and no other.
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
from taki_env.core.bits import seed_word
from taki_env.core.cards import MAX_PLAYERS
from taki_env.envs.opponents import Agent, remembers
from taki_env.envs.seated import CALLER, SeatedGames, are_legal

REASONS = (
    *("illegal action", "wrong shape", "wrong type", "exception"),
    *("time limit", "disqualified"),
)
MAX_HANGS = 3
"""Calls for a single game beyond the time limit after which an agent is disqualified."""
MOST_LIMITS = 10
"""Maximum call time, in per-decision limits, whatever the number of games."""
NOBODY = -1
Answer: TypeAlias = Integers | Failure


class _HangError(Exception):
    """An agent did not answer in time."""


class _RaisedError(Exception):
    """An agent raised an exception in its thread, which is the cause."""


class _Caller:
    """Calls an agent in a thread, which is abandoned if the agent hangs."""

    def __init__(self, agent: Agent, name: str) -> None:
        self._asked: SimpleQueue[View] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Answer, None] | tuple[None, BaseException]] = SimpleQueue()
        Thread(target=self._serve, args=(agent,), name=f"agent {name}", daemon=True).start()

    def _serve(self, agent: Agent) -> None:
        while True:
            view = self._asked.get()
            try:
                self._answers.put((answer_of(agent, view), None))
            except BaseException as error:  # the thread serves the next call
                self._answers.put((None, error))

    def __call__(self, view: View, seconds: float) -> Answer:
        """Return the agent's answer within a number of seconds.

        Raises:
            _HangError: There was no answer in time.
            _RaisedError: The agent raised an exception.
        """
        self._asked.put(view)
        try:
            answer, error = self._answers.get(timeout=min(seconds, TIMEOUT_MAX))
        except Empty:
            raise _HangError from None
        if answer is None:
            raise _RaisedError from error
        return answer


def answer_of(agent: Agent, view: View) -> Answer:
    """Return an agent's answer as an array; lazy answers do their work in this conversion."""
    return checked_answer(agent.act(view), len(view))


@dataclass
class Clock:
    """Decision times."""

    calls: list[tuple[float, int]] = field(default_factory=list)
    """Seconds per decision and number of decisions of every call."""

    def add(self, seconds: float, decisions: int) -> None:
        """Add a call of `seconds` for a number of decisions, if there were any."""
        if decisions:
            self.calls.append((seconds / decisions, decisions))


class Contestant:
    """An agent that returns a `Failure` where it raises, hangs, or gives a wrong answer.

    Args:
        name: Name of the agent.
        make: Returns a new agent; called again after a hang.
        time_limit: Seconds per decision. A call for several games may take this time for each of
            them, up to `MOST_LIMITS` times.
    """

    def __init__(self, name: str, make: Callable[[], Agent], time_limit: float = 10.0) -> None:
        self.name, self._make, self._time_limit = name, make, time_limit
        self.clock = Clock()
        self.hangs = 0
        self.most_games = sys.maxsize
        """Games per call: `MOST_LIMITS` after a call that took too long, 1 after a second one."""
        self._disqualified = ""
        self._start()

    def _start(self) -> None:
        self._agent = self._make()
        self._caller = _Caller(self._agent, self.name) if math.isfinite(self._time_limit) else None

    @property
    def remembers(self) -> bool:
        """Whether the agent uses the history of its games (`View.memory`)."""
        return remembers(self._agent)

    def ask(self, view: View) -> Answer:
        """Return an action for each game, which may be illegal, or why there is none."""
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
        """Replace the agent by a new one of the same kind.

        A call for many games may only be slow: smaller calls follow, and it does not count as a
        hang.
        """
        if games > 1:
            self.most_games = MOST_LIMITS if games > MOST_LIMITS else 1
        else:
            self.hangs += 1
        if self.hangs >= MAX_HANGS:
            self._disqualified = f"{self.hangs} calls beyond the time limit"
        else:
            try:
                self._start()
            except Exception as error:
                self._disqualified = f"cannot be made again after a hang: {error}"
        return Failure("time limit", f"no answer within {self._time_limit:g} s a decision")


class Match(SeatedGames):
    """Games of a tournament, played side by side from their deals to their ends.

    Args:
        batch: The games, just dealt.
        controllers: Who plays each seat, (num_games, num_players): the number of a built-in policy
            or a key of `contestants`.
        contestants: The other agents, by numbers from ``len(POLICIES)``.
        words: A random word for each game, (num_games,); policies and agents draw from these only.
        max_decisions: Decision cap; a capped game is a draw.
    """

    def __init__(
        self,
        batch: Batch,
        controllers: Integers,
        contestants: Mapping[int, Contestant],
        words: Words,
        max_decisions: int = 2000,
    ) -> None:
        super().__init__(batch, max_decisions)
        self.keep_history(contestants.values())
        self.controllers[:, : controllers.shape[1]] = controllers
        self.words[:] = words
        self._contestants, self._game_words = contestants, words
        self._taken = np.zeros((len(batch), MAX_PLAYERS), np.int64)
        self.losers = np.full(len(batch), NOBODY)
        """The seat that forfeited each game, or -1, (num_games,)."""
        self.failures: dict[int, Failure] = {}
        """Reason of each forfeit, by game."""
        self.compiled = Clock()
        """Decision times of all built-in policies together."""
        self._seconds = 0.0
        super().advance(np.arange(0))  # compiles before the clock runs

    @property
    def winners(self) -> Integers:
        """The seat that won each game, -1 if it was forfeited or capped, (num_games,)."""
        return np.where(self.terminated, self.batch.states["winner"], NOBODY).astype(np.int64)

    def play(self, games: Integers | None = None) -> None:
        """Play games to their ends; all by default."""
        super().play(games)
        self.compiled.add(self._seconds, int(self.batch.decisions.sum() - self._taken.sum()))

    def advance(self, games: Integers) -> Integers:
        """Do the same as `SeatedGames.advance`, and measure its time."""
        start = time.perf_counter()
        movers = super().advance(games)
        self._seconds += time.perf_counter() - start
        return movers

    def record(self, game: int, names: Sequence[str]) -> dict[str, Any]:
        """Return the record of a game (docs/records.md); the batch must keep its actions."""
        note = None
        if failure := self.failures.get(game):
            seat = self.losers[game]
            note = f"seat {seat}, {names[seat]}, forfeits: {failure.reason}: {failure.detail}"
        return self.game(game).record(names=names, note=note)

    def view(self, games: Integers) -> View:
        """Return what the actors see, with a random word for each decision.

        The word depends on the game's word, the seat, and the number of decisions that the seat has
        made, all of which the seat knows.
        """
        seats = self.batch.actors[games]
        taken = self._taken[games, seats].astype(np.uint64)
        words = seed_word(self._game_words[games], seats.astype(np.uint64), taken)
        return self.batch.view(games, words)

    def let_agent_act(self, number: int, games: Integers) -> None:
        """Carry out what a contestant chooses; after a failure, ask for fewer games at once."""
        contestant = self._contestants[number]
        while games.size:
            some = games[: contestant.most_games]
            answer = contestant.ask(self.view(some))
            if not isinstance(answer, Failure):
                self.accept(some, answer)
            elif some.size == 1:
                self._forfeit(int(some[0]), answer)
            elif answer.reason == "time limit":  # the same games again, fewer at once
                continue
            else:
                for game in some:
                    self.let_agent_act(number, game[np.newaxis])
            games = games[some.size :]

    def accept(self, games: Integers, actions: Integers) -> None:
        """Carry out an agent's legal actions; an illegal action forfeits its game."""
        legal = self.batch.legal[games]
        allowed = are_legal(legal, actions)
        for k in np.flatnonzero(~allowed).tolist():
            message = illegal_action_message(actions[k], legal[k])
            self._forfeit(int(games[k]), Failure("illegal action", message))
        games, actions = games[allowed], actions[allowed]
        self._taken[games, self.batch.actors[games]] += 1
        self.apply(games, actions)

    def _forfeit(self, game: int, failure: Failure) -> None:
        """End a game with the loss of its actor: nobody decides in it from now on."""
        self.losers[game] = self.batch.states["actor"][game]
        self.failures[game] = failure
        self.controllers[game] = CALLER
