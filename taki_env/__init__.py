"""TAKI for reinforcement learning: rules, single games, and environments.

See `Game` for one game, `Batch` for many, `env` for PettingZoo, and ``Taki-v0`` for Gymnasium.
"""

from taki_env.cards import ACTIONS, CARDS, COLORS, PHASES, SYMBOLS
from taki_env.errors import IllegalActionError
from taki_env.game import Game
from taki_env.observation import LAYOUT, OBSERVATION_SIZE
from taki_env.rules import Rules

__version__ = "0.1.0"
