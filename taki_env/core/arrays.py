"""Observations and action masks of many states, as arrays."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_out
from taki_env.base.threads import each_chunk
from taki_env.base.types import Integers, Words
from taki_env.core.cards import ACTIONS, NUM_ACTIONS
from taki_env.core.loops import masks_many, observe_many
from taki_env.core.observation import OBSERVATION_SIZE
from taki_env.core.state import States


def observe_states(
    states: States, seats: Integers, out: npt.NDArray[np.float32] | None = None, threads: int = 1
) -> npt.NDArray[np.float32]:
    """Return what `seats` see, float32 (num_games, OBSERVATION_SIZE), written to `out` if given."""
    if out is None:
        out = np.empty((states.size, OBSERVATION_SIZE), np.float32)
    check_out(out, (states.size, OBSERVATION_SIZE), np.float32)
    each_chunk(threads, states.size, lambda c: observe_many(states[c], seats[c], out[c]))
    return out


def unpack_masks(legal: Words, out: npt.NDArray[np.int8] | None = None) -> npt.NDArray[np.int8]:
    """Return sets of actions as int8 (num_games, 64), written to `out` if given."""
    if out is None:
        out = np.empty((legal.size, NUM_ACTIONS), np.int8)
    check_out(out, (legal.size, NUM_ACTIONS), np.int8)
    masks_many(legal, out)
    return out


def illegal_action_message(action: Any, legal: int) -> str:
    """Return the words for an action outside a set of legal ones."""
    action = int(action) if isinstance(action, Integral) else action
    known = isinstance(action, int) and action in range(NUM_ACTIONS)
    name = repr(ACTIONS[action]) if known else "not an action"
    names = [f"{ACTIONS[a]!r} ({a})" for a in range(NUM_ACTIONS) if int(legal) >> a & 1]
    return f"{action!r} ({name}) is not legal; legal: {', '.join(names)}"
