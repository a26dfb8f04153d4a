"""What the command lines share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

FILE_WIDTH = 160


def make_console(stderr: bool = False) -> Console:
    """Return a console that prints text as it is, brackets and colons included.

    One that writes to a file has room for long lines.
    """
    console = Console(stderr=stderr, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


def check_folder(option: str, file: Path | None) -> None:
    """Raise ValueError if an option names a file in a folder that does not exist."""
    if file and not file.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {file.parent}")


def run(prepare: Callable[[], Callable[[], Any]]) -> None:
    """Run a command in two parts.

    Args:
        prepare: reads and checks what the user gave, and returns the work to do. What is wrong is
            said in a line, with exit status 2; an error in the work itself shows its traceback.
    """
    try:
        work = prepare()
    except (ValueError, TypeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
