"""What the command lines share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console

from agents.validation import AgentError

FILE_WIDTH = 160


def make_console(stderr: bool = False) -> Console:
    """Return a console that prints text as it is, brackets and colons included.

    One that writes to a file has room for long lines.
    """
    console = Console(stderr=stderr, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


def check_folder(option: str, file: Path | None, suffix: str = "") -> None:
    """Raise ValueError if an option names a file that cannot be written, or of another suffix."""
    if file is None:
        return
    if not file.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {file.parent}")
    if file.exists() and not file.is_file():
        raise ValueError(f"{option}: {file} is no file")
    if suffix and file.suffix.lower() != suffix:
        raise ValueError(f"{option}: the name of the file must end in {suffix}, not {file.name!r}")
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


def run(prepare: Callable[[], Callable[[], Any]]) -> Any:
    """Run a command in two parts, and return what the work returns.

    Args:
        prepare: reads and checks what the user gave, and returns the work to do. What is wrong is
            said in a line, with exit status 2, and what an agent does wrong with 1; any other
            error in the work itself shows its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot show
    try:
        work = prepare()
    except (ValueError, TypeError, OSError, MemoryError, OverflowError) as error:
        print(f"error: {error or 'not enough memory'}", file=sys.stderr)
        sys.exit(2)
    try:
        return work()
    except AgentError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
