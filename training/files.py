"""Atomic file writes and provenance, as in `agents.files`, and run folders."""

from __future__ import annotations

from pathlib import Path

from agents.files import provenance, replacing, write_json

__all__ = ["new_run_folder", "provenance", "replacing", "write_json"]


def new_run_folder(runs: Path, name: str) -> Path:
    """Create and return the first folder `name`, `name-2`, … that does not exist."""
    number = 1
    while True:
        folder = runs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
