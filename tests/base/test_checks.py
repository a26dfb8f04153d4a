"""Validation of arguments: what counts as an integer, a choice and a seed, and the messages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from taki_env.base.checks import check_integer, check_one_of, checked_seed, is_integer


def test_integers_are_pythons_and_numpys_but_not_booleans() -> None:
    """Nor floats, strings or arrays."""
    assert all(map(is_integer, (0, -3, np.int8(1), np.uint64(2**63))))
    assert not any(map(is_integer, (True, np.True_, 1.0, "1", None, np.array([1]))))


@pytest.mark.parametrize("value", [0, 11, True, 2.0, "2", None])
def test_a_range_is_named_in_the_message(value: Any) -> None:
    """With the value that was given."""
    message = f"seat must be an integer from 1 to 10, got {value!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_integer("seat", value, 1, 10)
    check_integer("seat", np.int64(10), 1, 10)


def test_a_range_may_be_open() -> None:
    """Without an upper bound."""
    check_integer("games", 10**20, 1)
    with pytest.raises(ValueError, match="games must be an integer of at least 1, got 0"):
        check_integer("games", 0, 1)


def test_a_choice_names_the_allowed_ones_and_suggests_the_nearest() -> None:
    """None may be one of them; a value need not be hashable."""
    check_one_of("mode", None, (None, "ansi"))
    message = "mode must be one of None, ansi, got 'anis'; did you mean 'ansi'?"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_one_of("mode", "anis", (None, "ansi"))
    with pytest.raises(ValueError, match=re.escape("got []")):
        check_one_of("mode", [], {"ansi": 1})


def test_a_seed_is_kept_or_drawn() -> None:
    """From the operating system for None."""
    assert checked_seed(np.int64(7)) == 7
    assert checked_seed(None) != checked_seed(None)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0, got -1"):
        checked_seed(-1)
