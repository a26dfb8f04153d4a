"""One spelling of agents for every command line: ``name`` or ``name:argument``."""

from __future__ import annotations

from agents.builtin import GreedyAgent, RandomAgent
from agents.imported import load_imported
from taki_env.errors import did_you_mean
from taki_env.opponents import Agent

_BUILT_IN = {"random": RandomAgent, "greedy": GreedyAgent}
_SPELLINGS = (*_BUILT_IN, "policy:PATH", "import:MODULE:NAME")


def list_agents() -> list[str]:
    """Return the spellings of all agents."""
    return list(_SPELLINGS)


def load(spec: str, seed: int = 0) -> Agent:
    """Return the agent that `spec` spells.

    Args:
        spec: ``"random"``, ``"greedy"``, ``"policy:PATH"`` with a run folder of
            `training.train` or its ``model.zip``, or ``"import:MODULE:NAME"`` with a class or
            function of your own that makes an agent.
        seed: of the agent's own generator.

    Raises:
        ValueError: there is no such agent, or its file is not one to play with.
        FileNotFoundError: there is no such file.
    """
    name, _, argument = spec.partition(":")
    if name == "policy" and argument:
        from agents.policy import PolicyAgent  # needs torch

        return PolicyAgent.load(argument, seed=seed)
    if name == "import":
        return load_imported(argument, seed)
    if name not in _BUILT_IN or argument:
        hint = did_you_mean(spec, _BUILT_IN)
        raise ValueError(f"unknown agent {spec!r}{hint} (agents: {', '.join(_SPELLINGS)})")
    return _BUILT_IN[name](seed)
