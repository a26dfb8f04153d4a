"""What agents answer: whether it is an action for each game, and what is wrong if it is not."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env import View
from taki_env.batch import refusal
from taki_env.loops import first_illegal
from taki_env.opponents import Agent, remembers

Integers = npt.NDArray[np.int64]


class AgentError(ValueError):
    """An agent raised an exception, or its answer is not a legal action for each game."""


@dataclass(frozen=True)
class Failure:
    """Why an agent has no legal action to offer."""

    reason: str
    """One of `training.match.REASONS`."""
    detail: str
    """The error's own words."""


class CheckedAgent:
    """An agent that raises `AgentError`, which names it, whatever it does wrong."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent, self.remembers = agent.name, agent, remembers(agent)

    def act(self, view: View) -> Integers:
        """Return the agent's action for each game, (B,)."""
        with blaming(self._agent):
            answer = self._agent.act(view)
        actions = checked_answer(answer, len(view))
        if isinstance(actions, Failure):
            raise AgentError(f"{self.name}: {actions.reason}: {actions.detail}")
        wrong = first_illegal(view.legal, actions)
        if wrong >= 0:
            raise AgentError(f"{self.name}: {refusal(actions[wrong], view.legal[wrong])}")
        return actions


@contextmanager
def blaming(agent: Agent) -> Iterator[None]:
    """Turn whatever an agent raises into an `AgentError`."""
    try:
        yield
    except (Exception, SystemExit, GeneratorExit) as error:
        raise AgentError(f"{agent.name}: {in_words(error)}") from error


def in_words(error: BaseException) -> str:
    """Return an error in a line, even one that cannot say what it is."""
    words = traceback.format_exception_only(error)[-1].strip().splitlines()
    return words[-1] if words else type(error).__name__


def checked_answer(answer: Any, size: int) -> Integers | Failure:
    """Return an agent's answer as an array (size,), or what is wrong with its shape or type."""
    try:
        actions = np.asarray(answer)
    except Exception as error:
        return Failure("wrong type", f"{type(answer).__name__} is no array: {error}")
    if not np.issubdtype(actions.dtype, np.integer):
        return Failure("wrong type", f"{type(answer).__name__} of {actions.dtype}, not integers")
    if actions.shape != (size,):
        return Failure("wrong shape", f"{actions.shape}, not {(size,)}")
    return actions.astype(np.int64)
