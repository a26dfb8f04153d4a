"""Validation of arguments: integers, choices, seeds, and arrays. Booleans are not integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from taki_env.base.errors import did_you_mean
from taki_env.base.types import Integers


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is a Python or NumPy integer."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_integer(name: str, value: object, low: int, high: int | None = None) -> None:
    """Raise ValueError unless a value is an integer from `low` to `high`, both included."""
    if not is_integer(value) or value < low or (high is not None and value > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be an integer {allowed}, got {value!r}")


def check_at_least_one(name: str, value: object) -> None:
    """Raise ValueError unless a value is an integer of at least 1."""
    check_integer(name, value, 1)


def check_one_of(name: str, value: object, allowed: Collection[str | None]) -> None:
    """Raise ValueError unless a value is allowed; the message suggests the nearest one."""
    if value not in tuple(allowed):
        choices = [str(choice) for choice in allowed]
        hint = did_you_mean(value, choices)
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}{hint}")


def checked_seed(seed: int | None) -> int:
    """Return a seed as an int; for None, return a random one from the operating system.

    Raises:
        ValueError: the seed is not an integer of at least 0.
    """
    if seed is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    check_integer("seed", seed, 0)
    return int(seed)


def check_out(out: npt.NDArray[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    """Raise ValueError unless `out` is a writable array of this shape and type."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise ValueError(f"out must be an array {np.dtype(dtype)} {shape}, got {found}")
    if not out.flags.writeable:
        raise ValueError("out must be writable")


def check_arrays(state: Mapping[str, Any], current: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise ValueError unless a saved state has arrays of the shapes and types of `current`."""
    for name, array in current.items():
        found = state.get(name)
        same_shape = isinstance(found, np.ndarray) and found.shape == array.shape
        if not same_shape or np.asarray(found).dtype != array.dtype:
            raise ValueError(
                f"the saved state must have an array {name!r}, {array.dtype} {array.shape}"
            )


def check_per_game(name: str, values: npt.ArrayLike, num_games: int) -> npt.NDArray[Any]:
    """Return one integer for all games, or one per game, as an array (num_games,).

    Raises:
        ValueError: the values are not integers, or not one or `num_games` of them.
    """
    array = np.asarray(values)
    if array.shape not in ((), (num_games,)) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be an integer, or {num_games} integers, one per game")
    return np.broadcast_to(array, num_games)


def checked_actions(actions: npt.ArrayLike, num_games: int) -> Integers:
    """Return actions as an int64 array (num_games,).

    Raises:
        ValueError: the actions are not integers, or not one per game.
    """
    chosen = np.asarray(actions)
    if chosen.shape != (num_games,) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"actions must be {num_games} integers, one per game")
    return chosen.astype(np.int64)
