"""Agents of the user's own code."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from taki_env.envs.opponents import Agent


def load_imported(target: str, seed: int = 0) -> Agent:
    """Return the agent that a class or function of the user's makes.

    Args:
        target: ``package.module:Name``; the current directory is searched as well.
        seed: is passed on if the class or function takes a `seed`.

    Raises:
        ValueError: it cannot be imported, or what it makes is no agent.
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise ValueError(f"an agent of your own is spelled import:MODULE:NAME, not import:{target}")
    make = _found(module_name, name)
    try:
        agent: Agent = make(seed=seed) if _takes_seed(make) else make()
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name} of {module_name} cannot be made: {_words(error)}") from error
    try:
        is_agent = isinstance(agent, Agent) and callable(agent.act) and isinstance(agent.name, str)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{name} of {module_name} is no agent: its name or act raises {_words(error)}"
        ) from error
    if not is_agent:
        raise ValueError(
            f"{name} of {module_name} is no agent: it needs a name and a method act(view)"
        )
    return agent


def _found(module_name: str, name: str) -> Callable[..., Any]:
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{module_name} cannot be imported: {_words(error)}") from error
    make: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(make):
        raise ValueError(f"{module_name} has no class or function {name}")
    return make


def _takes_seed(make: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:  # some builtins have none
        return False
    return any(p.name == "seed" or p.kind is p.VAR_KEYWORD for p in parameters)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
