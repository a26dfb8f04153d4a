"""Validation of arguments: whole numbers, seeds, and arrays. Booleans are rejected."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.types import Integers


def check_out(out: npt.NDArray[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    """Raise ValueError unless `out` is an array of that shape and type."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise ValueError(f"out must be {np.dtype(dtype)} {shape}, not {found}")
    if not out.flags.writeable:
        raise ValueError("out must be writable")


def check_arrays(state: Mapping[str, Any], current: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise ValueError unless a state of games has arrays like those of the current one."""
    for name, array in current.items():
        found = state.get(name)
        alike = isinstance(found, np.ndarray) and found.shape == array.shape
        if not alike or np.asarray(found).dtype != array.dtype:
            raise ValueError(
                f"the state of the games lacks {name!r} of {array.dtype}, shape {array.shape}"
            )


def check_at_least_one(name: str, value: Any) -> None:
    """Raise ValueError unless a value is a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be 1 or more, a whole number, not {value!r}")


def check_per_game(name: str, values: npt.ArrayLike, num_games: int) -> npt.NDArray[Any]:
    """Return one value for all games, or one for each, as an array (num_games,).

    Raises:
        ValueError: the values are no whole numbers, or of another length.
    """
    array = np.asarray(values)
    if array.shape not in ((), (num_games,)) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be a whole number, or {num_games} of them, one a game")
    return np.broadcast_to(array, num_games)


def checked_actions(actions: npt.ArrayLike, num_games: int) -> Integers:
    """Return actions as an array (num_games,); ValueError unless there is a whole number a game."""
    chosen = np.asarray(actions)
    if chosen.shape != (num_games,) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"actions must be {num_games} whole numbers, one a game")
    return chosen.astype(np.int64)


def checked_seed(seed: int | None) -> int:
    """Return the seed, one from the system for None; ValueError unless it is 0 or more."""
    if seed is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number of 0 or more, not {seed!r}")
    return int(seed)
