"""Histories: the states in which games start and the actions since."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry
from taki_env.base.types import Integers
from taki_env.core.bits import ZERO, base_word, bit_of
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.loops import deal_many
from taki_env.core.state import GAME_DTYPE, States

Actions = npt.NDArray[np.uint8]


class Deal(NamedTuple):
    """The numbers that a game is dealt from."""

    seed: int
    """Seed of the game or of its batch."""
    deal: int = 0
    """Index of the deal among those of the seed."""
    episode: int = 0
    """How often that deal was reset before."""


class History(NamedTuple):
    """How B games came to be."""

    starts: States
    """States in which the histories start, (B,)."""
    actions: Actions
    """Actions since, (B, most)."""
    lengths: Integers
    """Number of actions that count of each game, (B,)."""

    def leads_to(self, states: States) -> npt.NDArray[np.bool_]:
        """Return whether each history is legal and ends in the given state, (B,)."""
        ends = copy_states(self.starts)
        play_many(ends, self.actions, self.lengths)
        found: npt.NDArray[np.bool_] = (as_bytes(ends) == as_bytes(states)).all(1)
        return found


@entry
def play_many(states: States, actions: Actions, lengths: Integers) -> None:
    """Carry out the actions of each game, up to its length or the first one that is not legal."""
    for i in range(states.size):
        s = states[i]
        for k in range(lengths[i]):
            action = np.int64(actions[i, k])
            if action >= NUM_ACTIONS or legal_actions(s) & bit_of(action) == ZERO:
                break
            apply_action(s, action)


@entry
def trace(states: States, actions: Actions) -> None:
    """Write to `states[k + 1]` the state after the legal action `actions[k]` in `states[k]`."""
    for k in range(actions.size):
        states[k + 1] = states[k]
        apply_action(states[k + 1], np.int64(actions[k]))


def states_of(history: History) -> States:
    """Return the states of one game: its start, and after each action, (length + 1,)."""
    actions = history.actions[0, : history.lengths[0]]
    states = np.empty(actions.size + 1, GAME_DTYPE)
    states[0] = history.starts[0]
    trace(states, actions)
    return states


def deal_game(states: States, deal: Deal) -> States:
    """Deal a game into `states` (1,), in which players and rules are set; return `states`."""
    index, episode = np.array([deal.deal]), np.array([deal.episode])
    legal = np.zeros(1, np.uint64)
    deal_many(states, np.zeros(1, np.int64), base_word(deal.seed), index, episode, legal)
    return states


def copy_states(states: States) -> States:
    """Return a copy of states; NumPy's own `copy` goes field by field and is slow."""
    return np.frombuffer(bytearray(states.tobytes()), GAME_DTYPE)


def as_bytes(states: States) -> npt.NDArray[np.uint8]:
    """Return states as bytes, (B, bytes of one state)."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(states.size, GAME_DTYPE.itemsize)
