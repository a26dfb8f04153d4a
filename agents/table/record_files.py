"""Files of records: a game a line, as JSON (docs/records.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from agents.files import path_beside, replacing
from taki_env import RecordError
from taki_env.records.read import positions_of

Record: TypeAlias = dict[str, Any]
RECORDED = 1000
"""Games that a command records at most, unless another number is asked for."""


@contextmanager
def recording(path: Path | None) -> Iterator[Callable[[Record], None]]:
    """Give a function that adds a record to a new file; nothing is written without a path.

    The file grows beside `path`, a line a game, and is renamed to it when the work ends, with an
    error as well. Only a kill leaves it there, with all games that were recorded before.
    """
    if path is None:
        yield lambda record: None
        return
    beside = path_beside(path)
    with beside.open("w", encoding="utf-8") as file:

        def add(record: Record) -> None:
            file.write(line_of(record))
            file.flush()

        try:
            yield add
        finally:
            file.close()
            os.replace(beside, path)


def append_record(path: Path, record: Record) -> None:
    """Add a record to those that a file holds, on a line of its own."""
    held = path.read_bytes() if path.exists() else b""
    if held and not held.endswith(b"\n"):  # such as half a line
        held += b"\n"
    with replacing(path) as beside:
        beside.write_bytes(held + line_of(record).encode())


def line_of(record: Record) -> str:
    """Return a record as a line of a file."""
    return json.dumps(record, separators=(",", ":")) + "\n"


def read_record(path: Path, line: int = 1) -> Record:
    """Return the checked record in a line of a file, 1 for the first.

    Raises:
        RecordError: there is no such line, or it holds no sound record; names the line.
        OSError: the file cannot be read.
    """
    count = 0
    for count, words in enumerate(_lines(path), 1):
        if count == line:
            return _checked(path, line, words)
    raise RecordError(f"{path}: there is no line {line}, only {count}")


def read_records(path: Path) -> Iterator[Record]:
    """Yield the checked records of a file; raises as `read_record` does."""
    for line, words in enumerate(_lines(path), 1):
        yield _checked(path, line, words)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _checked(path: Path, line: int, words: bytes) -> Record:
    try:
        record = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}, line {line} is no JSON: {error}") from error
    try:
        positions_of(record)
    except RecordError as error:
        raise RecordError(f"{path}, line {line}: {error}") from error
    checked: Record = record
    return checked
