"""TAKI for reinforcement learning: rules, games, and environments.

See `Game` for one game, `Batch` for many, `env` for PettingZoo, and ``Taki-v0`` for Gymnasium.
`Agent` is the protocol of opponents, which choose actions for a `View`, with a `Memory` of the
game if they ask for one. `SelfPlay` returns the `Credits` of finished games.
"""

import gymnasium
import pettingzoo

from taki_env.base.errors import IllegalActionError, RecordError, UnknownOptionError
from taki_env.base.version import ENV_ID, __version__
from taki_env.core.cards import ACTIONS, CARDS, COLORS, PHASES, SYMBOLS
from taki_env.core.memory import Memory
from taki_env.core.observation import LAYOUT, OBSERVATION_SIZE
from taki_env.core.rules import Rules
from taki_env.envs.aec import env, parallel_env, raw_env
from taki_env.envs.opponents import Agent
from taki_env.envs.selfplay import Credits, SelfPlay
from taki_env.game.batch import Batch
from taki_env.game.game import Game
from taki_env.game.sampler import UniformSampler
from taki_env.game.view import View

__all__ = [
    "ACTIONS",
    "CARDS",
    "COLORS",
    "ENV_ID",
    "LAYOUT",
    "OBSERVATION_SIZE",
    "PHASES",
    "SYMBOLS",
    "Agent",
    "Batch",
    "Credits",
    "Game",
    "IllegalActionError",
    "Memory",
    "RecordError",
    "Rules",
    "SelfPlay",
    "UniformSampler",
    "UnknownOptionError",
    "View",
    "__version__",
    "env",
    "parallel_env",
    "raw_env",
]

gymnasium.register(
    ENV_ID,
    entry_point="taki_env.envs.gymnasium_env:TakiEnv",
    vector_entry_point="taki_env.envs.vector:TakiVectorEnv",
)
if hasattr(pettingzoo, "register"):  # the registry is new in PettingZoo 1.27
    pettingzoo.register("aec", "taki/taki-v0", entry_point="taki_env.envs.aec:env")
    pettingzoo.register("parallel", "taki/taki-v0", entry_point="taki_env.envs.aec:parallel_env")
