"""Observations and action masks of many states, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_out, is_integer
from taki_env.base.threads import each_chunk
from taki_env.base.types import Integers, Words
from taki_env.core.cards import ACTIONS, NUM_ACTIONS
from taki_env.core.loops import masks_many, observe_many
from taki_env.core.observation import OBSERVATION_SIZE
from taki_env.core.state import States


def observe_states(
    states: States, seats: Integers, out: npt.NDArray[np.float32] | None = None, threads: int = 1
) -> npt.NDArray[np.float32]:
    """Return the observations of `seats`, float32 (num_games, OBSERVATION_SIZE).

    Args:
        states: records (num_games,).
        seats: one observing seat per game, (num_games,).
        out: array to write to and return, instead of a new one.
        threads: number of threads.

    Raises:
        ValueError: `out` has another shape or type, or is read-only.
    """
    if out is None:
        out = np.empty((states.size, OBSERVATION_SIZE), np.float32)
    check_out(out, (states.size, OBSERVATION_SIZE), np.float32)
    each_chunk(threads, states.size, lambda c: observe_many(states[c], seats[c], out[c]))
    return out


def unpack_masks(legal: Words, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
    """Return sets of actions as zeros and ones, int8 (num_games, 64).

    Args:
        legal: sets of actions, (num_games,).
        out: array to write to and return, instead of a new one.

    Raises:
        ValueError: `out` has another shape or type, or is read-only.
    """
    if out is None:
        out = np.empty((legal.size, NUM_ACTIONS), np.int8)
    check_out(out, (legal.size, NUM_ACTIONS), np.int8)
    masks_many(legal, out)
    return out


def illegal_action_message(action: Any, legal: int) -> str:
    """Return the error message for an action that is not in the set `legal`."""
    action = int(action) if is_integer(action) else action
    known = is_integer(action) and action in range(NUM_ACTIONS)
    name = repr(ACTIONS[action]) if known else "not an action"
    names = [f"{ACTIONS[a]!r} ({a})" for a in range(NUM_ACTIONS) if int(legal) >> a & 1]
    return f"{action!r} ({name}) is not legal; legal: {', '.join(names)}"
