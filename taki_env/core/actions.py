"""Actions by id and by name, and the error message for one that is not legal."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from taki_env.base.errors import did_you_mean
from taki_env.core.cards import ACTION_INDEX, ACTIONS, NUM_ACTIONS, OVER, PHASES
from taki_env.core.state import State


def action_id(action: object) -> int | None:
    """Return the id of an action that is given by id or name, or None if it is not an action."""
    if type(action) is int or type(action) is np.int64:  # the fast path; other types are rare
        return int(action) if 0 <= action < NUM_ACTIONS else None
    if isinstance(action, str):
        return ACTION_INDEX.get(action)
    if isinstance(action, np.ndarray) and action.shape == ():
        action = action[()]
    if not isinstance(action, Integral) or isinstance(action, bool):
        return None
    return int(action) if int(action) in range(NUM_ACTIONS) else None


def action_ids(legal: int) -> list[int]:
    """Return the ids of a set of actions, ascending."""
    return [action for action in range(NUM_ACTIONS) if legal >> action & 1]


def refusal(s: State, legal: int, action: object) -> str:
    """Return the error message for an action that is not in the actor's set `legal`."""
    index = action_id(action)
    if index is None:
        hint = did_you_mean(action, ACTIONS) if isinstance(action, str) else ""
        what = f"{action!r} is not an action{hint} (ids 0 to {NUM_ACTIONS - 1} or their names)"
    else:
        what = f"{ACTIONS[index]!r} ({index}) is not legal"
    if s["phase"] == OVER:
        return f"{what}: the game is over, seat {s['winner']} has won"
    names = ", ".join(f"{ACTIONS[one]!r} ({one})" for one in action_ids(legal))
    return f"{what} for seat {s['actor']} in phase {PHASES[s['phase']]!r}; legal: {names}"
