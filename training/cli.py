"""Helpers for command lines: those of `agents.cli`, and Ctrl-C for long work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console

from agents.cli import check_different, check_folder, make_console, run

__all__ = ["check_different", "check_folder", "make_console", "run", "stopping"]


@contextmanager
def stopping(console: Console, unit: str) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C interrupts.

    Args:
        console: where the first Ctrl-C is acknowledged.
        unit: name of the work that is finished after the first Ctrl-C.
    """
    stopped: list[int] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(signum)
        console.print(f"stopping after this {unit}; Ctrl-C again stops at once")

    previous = signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: bool(stopped)
    finally:
        signal.signal(signal.SIGINT, previous)
