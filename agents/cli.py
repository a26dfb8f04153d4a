"""Shared parts of the command lines: consoles, output files, and exit statuses."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeVar

from rich.console import Console

from agents.validation import AgentError

T = TypeVar("T")
FILE_WIDTH = 160
"""Width of a console that does not write to a terminal."""


def make_console(stderr: bool = False) -> Console:
    """Return a console that prints text unchanged, without markup or emoji codes."""
    console = Console(stderr=stderr, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


def check_folder(option: str, file: Path | None, suffix: str = "") -> None:
    """Raise ValueError if an option's output file cannot be written or has another suffix."""
    if file is None:
        return
    if not file.parent.is_dir():
        raise ValueError(f"{option}: folder {file.parent} does not exist")
    if file.exists() and not file.is_file():
        raise ValueError(f"{option}: {file} is not a file")
    if suffix and file.suffix.lower() != suffix:
        raise ValueError(f"{option}: the file name must end in {suffix}, got {file.name!r}")
    try:
        with TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise ValueError(f"{option}: cannot write to {file.parent}: {error.strerror}") from error


def check_different(files: Mapping[str, Path | None]) -> None:
    """Raise ValueError if two options name the same file."""
    options: dict[Path, str] = {}
    for option, file in files.items():
        if file and (other := options.setdefault(file.resolve(), option)) != option:
            raise ValueError(f"{other} and {option} name the same file, {file}")


def run(prepare: Callable[[], Callable[[], T]]) -> T:
    """Run a command in two phases, and return its result.

    Exits with status 2 and one line if `prepare` finds the user's input invalid, with 1 and one
    line if an agent fails, and with 130 after Ctrl-C. Other errors show their traceback.

    Args:
        prepare: reads and checks the user's input, and returns the function to execute.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # for characters that the terminal cannot show
    try:
        execute = prepare()
    except (ValueError, TypeError, OSError, MemoryError, OverflowError) as error:
        print(f"error: {error or 'not enough memory'}", file=sys.stderr)
        sys.exit(2)
    try:
        return execute()
    except AgentError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
