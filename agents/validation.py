"""Validation of agents' answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taki_env import View
from taki_env.base.types import Integers
from taki_env.core.arrays import illegal_action_message
from taki_env.core.loops import first_illegal
from taki_env.envs.opponents import Agent, remembers

MAX_LENGTH = 300
"""Maximum number of characters quoted from an error message."""
AGENT_ERRORS = (Exception, SystemExit, GeneratorExit)
"""Exceptions that count as an agent's failure; a KeyboardInterrupt comes from the user."""
TERMINAL_STYLE = re.compile(r"\x1b\[[0-9;]*m")


class AgentError(ValueError):
    """An agent raised an exception or returned an invalid answer; the message names the agent."""


@dataclass(frozen=True)
class Failure:
    """Why an agent's answer is not usable."""

    reason: str
    """One of `training.arena.match.REASONS`."""
    detail: str
    """Description of the error."""


class CheckedAgent:
    """An agent whose failures all raise `AgentError`."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent, self.remembers = agent.name, agent, remembers(agent)

    def act(self, view: View) -> Integers:
        """Return the agent's action for each game, (B,).

        Raises:
            AgentError: the agent raised an exception or returned an invalid answer.
        """
        legal = view.legal.copy()  # the agent may overwrite the view's
        with converting_errors(self._agent):
            answer = self._agent.act(view)
        actions = checked_answer(answer, len(view))
        if isinstance(actions, Failure):
            raise AgentError(f"{self.name}: {actions.reason}: {actions.detail}")
        wrong = first_illegal(legal, actions)
        if wrong >= 0:
            raise AgentError(f"{self.name}: {illegal_action_message(actions[wrong], legal[wrong])}")
        return actions


@contextmanager
def converting_errors(agent: Agent) -> Iterator[None]:
    """Convert every exception of an agent into an `AgentError`."""
    try:
        yield
    except AGENT_ERRORS as error:
        raise AgentError(f"{agent.name}: {error_text(error)}") from error


def error_text(error: BaseException) -> str:
    """Return the type and message of an error in one line, shortened to `MAX_LENGTH`."""
    kind = type(error).__name__
    try:
        message = " ".join(TERMINAL_STYLE.sub("", str(error)).split())
    except AGENT_ERRORS:  # from `__str__`
        message = "message unavailable"
    if len(message) > MAX_LENGTH:
        message = f"{message[:MAX_LENGTH]}…"
    return f"{kind}: {message}" if message else kind


def checked_answer(answer: npt.ArrayLike, size: int) -> Integers | Failure:
    """Return an agent's answer as an array (size,), or why its type or shape is invalid."""
    try:
        actions = np.asarray(answer)
    except AGENT_ERRORS as error:
        return Failure(
            "wrong type", f"{type(answer).__name__} is not an array: {error_text(error)}"
        )
    if not np.issubdtype(actions.dtype, np.integer):
        return Failure("wrong type", f"{type(answer).__name__} of {actions.dtype}, not integers")
    if actions.shape != (size,):
        return Failure("wrong shape", f"{actions.shape}, not {(size,)}")
    return actions.astype(np.int64)
