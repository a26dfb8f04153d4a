"""Agents that play TAKI.

An agent has a `name` and a method ``act(view)`` that returns a legal action for each game of a
`taki_env.View`; see `Agent`. `load` returns the agent of a specification such as ``"greedy"`` or
``"search:simulations=500"``; `list` returns all forms. docs/agents.md describes each agent.
"""

from agents.registry import list_agents as list
from agents.registry import load
from taki_env.envs.opponents import Agent

__all__ = ["Agent", "list", "load"]
