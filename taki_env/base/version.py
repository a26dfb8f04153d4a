"""The version of the package and of the environment."""

__version__ = "0.1.0"

ENV_ID = "Taki-v0"
"""The version of rules, observation, reward and actions, which results and checkpoints carry."""
