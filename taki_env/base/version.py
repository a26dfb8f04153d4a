"""Versions of the package and of the environment."""

__version__ = "0.1.0"

ENV_ID = "Taki-v0"
"""Version of rules, observation, reward and actions; stored in results and checkpoints."""
