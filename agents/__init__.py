"""Agents that play TAKI, by name.

An agent has a `name` and a method ``act(view)``, which returns a legal action for each game of a
`taki_env.View`; see `Agent`. `load` makes one from its spelling on a command
line: ``"greedy"``, ``"search:simulations=500"``,
``"policy:PATH"``, ``"import:MODULE:NAME"``; see docs/agents.md.
"""

from agents.registry import list_agents as list
from agents.registry import load
from taki_env.envs.opponents import Agent

__all__ = ["Agent", "list", "load"]
