"""TAKI for reinforcement learning: rules, single games, and environments.

See `Game` for one game, `Batch` for many, `env` for PettingZoo, and ``Taki-v0`` for Gymnasium.
"""

import gymnasium
import pettingzoo

from taki_env.aec import env, parallel_env, raw_env
from taki_env.batch import Batch, UniformSampler, View
from taki_env.cards import ACTIONS, CARDS, COLORS, PHASES, SYMBOLS
from taki_env.errors import IllegalActionError, RecordError
from taki_env.game import Game
from taki_env.observation import LAYOUT, OBSERVATION_SIZE
from taki_env.rules import Rules
from taki_env.selfplay import SelfPlay

__version__ = "0.1.0"

__all__ = [
    "ACTIONS",
    "CARDS",
    "COLORS",
    "ENV_ID",
    "LAYOUT",
    "OBSERVATION_SIZE",
    "PHASES",
    "SYMBOLS",
    "Batch",
    "Game",
    "IllegalActionError",
    "RecordError",
    "Rules",
    "SelfPlay",
    "UniformSampler",
    "View",
    "env",
    "parallel_env",
    "raw_env",
]

ENV_ID = "Taki-v0"
"""The version of rules, observation, reward and actions, which results and checkpoints carry."""

gymnasium.register(
    ENV_ID,
    entry_point="taki_env.single:TakiEnv",
    vector_entry_point="taki_env.vector:TakiVectorEnv",
)
if hasattr(pettingzoo, "register"):  # PettingZoo 1.27 brought the registry
    pettingzoo.register("aec", "taki/taki-v0", entry_point="taki_env.aec:env")
    pettingzoo.register("parallel", "taki/taki-v0", entry_point="taki_env.aec:parallel_env")
