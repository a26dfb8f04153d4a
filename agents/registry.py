"""One spelling of agents for every command line: name, name:argument, or name:key=value."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.builtin import ExpertAgent, GreedyAgent, RandomAgent
from agents.custom import load_imported
from agents.search.agent import SearchAgent
from taki_env.base.errors import did_you_mean
from taki_env.envs.opponents import Agent

PRETRAINED = Path(__file__).parent / "network" / "pretrained"


def pretrained(sample: bool = False, seed: int = 0) -> Agent:
    """Return the network that comes with the project; `docs/training.md` says how it was made."""
    from agents.network.policy import PolicyAgent  # needs torch

    agent = PolicyAgent.load(PRETRAINED, sample, seed)
    agent.name = "pretrained" + ":sample=true" * sample
    return agent


_NAMED: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "expert": ExpertAgent,
    "search": SearchAgent,
    "pretrained": pretrained,
}
_SPELLINGS = (*_NAMED, "policy:PATH", "import:MODULE:NAME")
_WORDS = {"true": True, "false": False}
_POLICY = re.compile(r"(.*?)((?:,(?:sample|trust)=[^,]*)*)", re.DOTALL)
"""A path, which may hold commas, and the options after it."""


def list_agents() -> list[str]:
    """Return the spellings of all agents."""
    return list(_SPELLINGS)


def load(spec: str, seed: int = 0) -> Agent:
    """Return the agent that `spec` spells.

    Args:
        spec: ``"random"``, ``"greedy"``, ``"expert"``; ``"search"`` or with options, as in
            ``"search:simulations=500,rollout=greedy"``; ``"pretrained"``, the network that comes
            with the project; ``"policy:PATH"`` with a run folder of training or its ``model.zip``,
            ``"policy:PATH,sample=true"`` to draw from the policy, ``"policy:PATH,trust=true"`` for
            a MaskablePPO model of other training, which can run code when it is loaded; or
            ``"import:MODULE:NAME"`` with a class or function of your own that makes an agent.
        seed: of the agent's own generator.

    Raises:
        TypeError: `spec` is no string.
        ValueError: there is no such agent or option, or its file is not one to play with.
        FileNotFoundError: there is no such file.
    """
    if not isinstance(spec, str):
        raise TypeError(f"an agent is spelled in a string, such as 'expert', not {spec!r}")
    name, _, argument = spec.partition(":")
    if name == "policy" and argument:
        from agents.network.policy import PolicyAgent  # needs torch

        path, options = _POLICY.fullmatch(argument).groups()  # type: ignore[union-attr]
        return PolicyAgent.load(path, seed=seed, **_options(spec, options, PolicyAgent.load))
    if name == "import":
        return load_imported(argument, seed)
    if name not in _NAMED:
        hint = did_you_mean(name, _NAMED)
        raise ValueError(f"unknown agent {spec!r}{hint} (agents: {', '.join(_SPELLINGS)})")
    make = _NAMED[name]
    return make(seed=seed, **_options(spec, argument, make))


def _options(spec: str, argument: str, make: Callable[..., Agent]) -> dict[str, Any]:
    """Return options ``key=value,key=value`` as what `make` takes."""
    takes = {key: p for key, p in inspect.signature(make).parameters.items() if key != "seed"}
    options: dict[str, Any] = {}
    for option in filter(None, argument.split(",")):
        key, equals, value = option.partition("=")
        if key in takes and not equals:
            raise ValueError(f"{spec!r}: {key} needs a value, as in {key}=VALUE")
        if key not in takes:
            known = f"options: {', '.join(takes)}" if takes else "it has no options"
            raise ValueError(f"{spec!r}: no option {option!r}{did_you_mean(key, takes)} ({known})")
        if key in options:
            raise ValueError(f"{spec!r}: {key} is given twice")
        options[key] = _value(spec, key, value, str(takes[key].annotation))
    return options


def _value(spec: str, key: str, value: str, kind: str) -> Any:
    kinds: dict[str, Callable[[str], Any]] = {
        "int": int, "float": float, "bool": _WORDS.__getitem__, "str": str,
    }  # fmt: skip
    name = kind.removesuffix(" | None")
    try:
        return kinds[name](value)
    except (ValueError, KeyError):
        raise ValueError(f"{spec!r}: {key} must be {name}, not {value!r}") from None
