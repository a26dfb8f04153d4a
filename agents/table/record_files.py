"""Files of records, one game per line as JSON (docs/records.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agents.files import partial_path, replacing
from taki_env import Game, RecordError
from taki_env.records.read import positions_of

Record: TypeAlias = dict[str, Any]
RECORDED = 1000
"""Default maximum number of games that a command records."""


@dataclass(frozen=True)
class RecordedGame:
    """A checked record, and what the check found: it replays the game only once."""

    record: Record
    positions: list[dict[str, Any]]
    """Positions before the first step and after each."""
    games: list[Game]
    """The same as games; empty for the record of one seat."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> RecordedGame:
        """Return a record with its positions and games.

        Raises:
            RecordError: an invalid or impossible record.
        """
        if isinstance(record, Mapping) and record.get("seat") is not None:
            return cls(dict(record), positions_of(record), [])
        games = Game.replay(record)
        return cls(dict(record), [game.to_dict() for game in games], games)


@contextmanager
def recording(path: Path | None) -> Iterator[Callable[[Record], None]]:
    """Yield a function that adds a record to a new file, or does nothing without a path.

    The lines go to a temporary file next to `path`, which replaces it at the end, after an error
    as well. If the process is killed, the temporary file remains with the games so far.
    """
    if path is None:
        yield lambda record: None
        return
    temporary = partial_path(path)
    with temporary.open("w", encoding="utf-8") as file:

        def add(record: Record) -> None:
            file.write(line_of(record))
            file.flush()

        try:
            yield add
        finally:
            file.close()
            os.replace(temporary, path)


def append_record(path: Path, record: Record) -> None:
    """Append a record to a file, on a new line."""
    held = path.read_bytes() if path.exists() else b""
    if held and not held.endswith(b"\n"):  # an incomplete last line
        held += b"\n"
    with replacing(path) as temporary:
        temporary.write_bytes(held + line_of(record).encode())


def line_of(record: Record) -> str:
    """Return a record as one line of a file."""
    return json.dumps(record, separators=(",", ":")) + "\n"


def read_game(path: Path, line: int = 1) -> RecordedGame:
    """Return the game in a line of a file, 1 for the first.

    Raises:
        RecordError: the line does not exist or its record is invalid; names the line.
        OSError: the file cannot be read.
    """
    count = 0
    for count, text in enumerate(_lines(path), 1):
        if count == line:
            return _checked(path, line, text)
    raise RecordError(f"{path}: line {line} does not exist, the file has {count}")


def read_record(path: Path, line: int = 1) -> Record:
    """Return the checked record in a line of a file; raises as `read_game` does."""
    return read_game(path, line).record


def read_records(path: Path) -> Iterator[Record]:
    """Yield the checked records of a file; raises as `read_game` does."""
    for line, text in enumerate(_lines(path), 1):
        yield _checked(path, line, text).record


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _checked(path: Path, line: int, text: bytes) -> RecordedGame:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}, line {line}: invalid JSON: {error}") from error
    try:
        return RecordedGame.of(record)
    except RecordError as error:
        raise RecordError(f"{path}, line {line}: {error}") from error
