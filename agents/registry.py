"""Specifications of agents, shared by all command lines: NAME, NAME:ARGUMENT, NAME:KEY=VALUE."""

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
    """Return the pretrained network as an agent; docs/training.md describes its training."""
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
_FORMS = (*_NAMED, "policy:PATH", "import:MODULE:NAME")
_BOOLEANS = {"true": True, "false": False}
_POLICY = re.compile(r"(.*?)((?:,(?:sample|trust)=[^,]*)*)", re.DOTALL)
"""A path, which may contain commas, and its options."""


def list_agents() -> list[str]:
    """Return the forms of specification that `load` accepts, without options."""
    return list(_FORMS)


def load(spec: str, seed: int = 0) -> Agent:
    """Return the agent of a specification.

    Args:
        spec: one of

            - ``"random"``, ``"greedy"``, ``"expert"``: the built-in policies;
            - ``"search"``, also with options: ``"search:simulations=500,rollout=greedy"``;
            - ``"pretrained"``: the network that comes with the project; options as for a policy;
            - ``"policy:PATH"``: a run folder of training or its ``model.zip``. With
              ``,sample=true`` it samples actions; ``,trust=true`` loads any MaskablePPO model,
              which can run code from the file;
            - ``"import:MODULE:NAME"``: a class or function of your own that returns an agent.
        seed: seed of the agent's generator.

    Raises:
        TypeError: `spec` is not a string.
        ValueError: an unknown agent or option, an invalid value, or an invalid file.
        FileNotFoundError: the file does not exist.
    """
    if not isinstance(spec, str):
        raise TypeError(f"an agent must be a string such as 'expert', got {spec!r}")
    name, _, argument = spec.partition(":")
    if name == "policy" and argument:
        from agents.network.policy import PolicyAgent  # needs torch

        match = _POLICY.fullmatch(argument)
        assert match, "the pattern matches every string"
        path, options = match.groups()
        return PolicyAgent.load(path, seed=seed, **_options(spec, options, PolicyAgent.load))
    if name == "import":
        return load_imported(argument, seed)
    if name not in _NAMED:
        hint = did_you_mean(name, _NAMED)
        raise ValueError(f"unknown agent {spec!r}{hint} (agents: {', '.join(_FORMS)})")
    make = _NAMED[name]
    return make(seed=seed, **_options(spec, argument, make))


def _options(spec: str, argument: str, make: Callable[..., Agent]) -> dict[str, Any]:
    """Return the options ``key=value,key=value`` as keyword arguments of `make`."""
    parameters = {key: p for key, p in inspect.signature(make).parameters.items() if key != "seed"}
    options: dict[str, Any] = {}
    for option in filter(None, argument.split(",")):
        key, equals, value = option.partition("=")
        if key in parameters and not equals:
            raise ValueError(f"{spec!r}: {key} needs a value, as in {key}=VALUE")
        if key not in parameters:
            known = f"options: {', '.join(parameters)}" if parameters else "it has no options"
            hint = did_you_mean(key, parameters)
            raise ValueError(f"{spec!r}: unknown option {option!r}{hint} ({known})")
        if key in options:
            raise ValueError(f"{spec!r}: {key} is given twice")
        options[key] = _value(spec, key, value, str(parameters[key].annotation))
    return options


def _value(spec: str, key: str, value: str, kind: str) -> Any:
    kinds: dict[str, Callable[[str], Any]] = {
        "int": int, "float": float, "bool": _BOOLEANS.__getitem__, "str": str,
    }  # fmt: skip
    name = kind.removesuffix(" | None")
    try:
        return kinds[name](value)
    except (ValueError, KeyError):
        raise ValueError(f"{spec!r}: {key} must be {name}, got {value!r}") from None
