"""The cheap cells of the matrix of `tools.determinism`; the command tries all."""

from __future__ import annotations

import copy

import pytest

from tools.determinism import Copy, hashes, in_process, in_threads, pickled

EXPECTED = hashes()


def test_the_hashes_are_those_of_different_games() -> None:
    """No interface is left out, and none hashes nothing."""
    assert len(set(EXPECTED.values())) == 8


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_copy_in_the_middle_goes_on_the_same(copied: Copy) -> None:
    """Of everything that plays: pickled, or copied deeply."""
    assert hashes(copied) == EXPECTED


def test_threads_play_the_same() -> None:
    """Four at once."""
    assert in_threads() == EXPECTED


def test_a_forked_process_plays_the_same() -> None:
    """It takes the compiled code with it."""
    assert in_process("fork") == EXPECTED
