"""The places of `tools.determinism` that are cheap to try; the command tries them all."""

from __future__ import annotations

import copy

import pytest

from tools.determinism import Copy, hashes, in_process, in_threads, pickled

EXPECTED = hashes()


def test_the_hashes_are_those_of_different_games() -> None:
    """Every interface is hashed, each with games of its own."""
    assert len(set(EXPECTED.values())) == 8


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_copy_continues_the_same(copied: Copy) -> None:
    """Every interface can be pickled or deep-copied in mid-game."""
    assert hashes(copied) == EXPECTED


def test_threads_play_the_same() -> None:
    """Four threads at once."""
    assert in_threads() == EXPECTED


def test_a_forked_process_plays_the_same() -> None:
    """The process inherits the compiled code."""
    assert in_process("fork") == EXPECTED
