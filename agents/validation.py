"""What agents answer: whether it is an action for each game, and what is wrong if it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from taki_env import View
from taki_env.base.types import Integers
from taki_env.core.arrays import illegal_action_message
from taki_env.core.loops import first_illegal
from taki_env.envs.opponents import Agent, remembers

MAX_WORDS = 300  # letters of an error that are repeated
OF_AGENTS = (Exception, SystemExit, GeneratorExit)  # that agents raise; Ctrl-C is not of an agent
STYLE = re.compile(r"\x1b\[[0-9;]*m")  # colors and the like of a terminal


class AgentError(ValueError):
    """An agent raised an exception, or its answer is not a legal action for each game."""


@dataclass(frozen=True)
class Failure:
    """Why an agent has no legal action to offer."""

    reason: str
    """One of `training.arena.match.REASONS`."""
    detail: str
    """The error's own words."""


class CheckedAgent:
    """An agent that raises `AgentError`, which names it, whatever it does wrong."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent, self.remembers = agent.name, agent, remembers(agent)

    def act(self, view: View) -> Integers:
        """Return the agent's action for each game, (B,)."""
        legal = view.legal.copy()  # the agent may write over its own
        with blaming(self._agent):
            answer = self._agent.act(view)
        actions = checked_answer(answer, len(view))
        if isinstance(actions, Failure):
            raise AgentError(f"{self.name}: {actions.reason}: {actions.detail}")
        wrong = first_illegal(legal, actions)
        if wrong >= 0:
            raise AgentError(f"{self.name}: {illegal_action_message(actions[wrong], legal[wrong])}")
        return actions


@contextmanager
def blaming(agent: Agent) -> Iterator[None]:
    """Turn whatever an agent raises into an `AgentError`."""
    try:
        yield
    except OF_AGENTS as error:
        raise AgentError(f"{agent.name}: {in_words(error)}") from error


def in_words(error: BaseException) -> str:
    """Return an error's type and what it says in a line, even of one that cannot say it."""
    kind = type(error).__name__
    try:
        words = " ".join(STYLE.sub("", str(error)).split())
    except OF_AGENTS:
        words = "its words cannot be had"
    if len(words) > MAX_WORDS:
        words = f"{words[:MAX_WORDS]}…"
    return f"{kind}: {words}" if words else kind


def checked_answer(answer: Any, size: int) -> Integers | Failure:
    """Return an agent's answer as an array (size,), or what is wrong with its shape or type."""
    try:
        actions = np.asarray(answer)
    except OF_AGENTS as error:
        return Failure("wrong type", f"{type(answer).__name__} is no array: {in_words(error)}")
    if not np.issubdtype(actions.dtype, np.integer):
        return Failure("wrong type", f"{type(answer).__name__} of {actions.dtype}, not integers")
    if actions.shape != (size,):
        return Failure("wrong shape", f"{actions.shape}, not {(size,)}")
    return actions.astype(np.int64)
