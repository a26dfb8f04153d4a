"""Agents from the user's own code."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from agents.validation import error_text
from taki_env.envs.opponents import Agent


def load_imported(target: str, seed: int = 0) -> Agent:
    """Return the agent that the user's class or function makes.

    Args:
        target: ``package.module:Name``; the current directory is searched as well.
        seed: passed on if the class or function takes a `seed`.

    Raises:
        ValueError: the import failed, or the result is not an agent.
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise ValueError(f"a custom agent is written import:MODULE:NAME, got import:{target}")
    make = _import(module_name, name)
    try:
        agent: Agent = make(seed=seed) if _takes_seed(make) else make()
    except (Exception, SystemExit) as error:
        raise ValueError(f"{module_name}.{name} raised {error_text(error)}") from error
    try:
        is_agent = isinstance(agent, Agent) and callable(agent.act) and isinstance(agent.name, str)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{module_name}.{name} is not an agent: its name or act raises {error_text(error)}"
        ) from error
    if not is_agent:
        raise ValueError(
            f"{module_name}.{name} is not an agent: it needs a name and a method act(view)"
        )
    return agent


def _import(module_name: str, name: str) -> Callable[..., Any]:
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{module_name} cannot be imported: {error_text(error)}") from error
    make: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(make):
        raise ValueError(f"{module_name} has no class or function {name}")
    return make


def _takes_seed(make: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(make).parameters.values()
    except ValueError:  # some built-in functions have no signature
        return False
    return any(p.name == "seed" or p.kind is p.VAR_KEYWORD for p in parameters)
