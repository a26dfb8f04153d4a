"""Files that are whole or not there, and what made them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    *("taki-env", "numpy", "numba", "gymnasium", "pettingzoo"),
    *("torch", "stable-baselines3", "sb3-contrib", "choix", "ray"),
)


def path_beside(path: Path) -> Path:
    """Return where a file is written before it is renamed to `path`.

    Of a long name it has the beginning, so that its own is not too long.
    """
    return path.with_name(f".{path.name[:48]}.partial{path.suffix}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write beside `path`, renamed to it at the end: never half a file."""
    beside = path_beside(path)
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write JSON, all of it or nothing."""
    with replacing(path) as beside:
        beside.write_text(json.dumps(data, indent=2) + "\n")


def provenance() -> dict[str, Any]:
    """Return what made a result: commit, versions, hardware."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "versions": {"python": platform.python_version(), **_versions()},
        "hardware": {"machine": platform.machine(), "cores": os.cpu_count()},
    }


def _git(*command: str) -> str | None:
    """Return what git says of the project's checkout, or None where there is none."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(["git", *command], cwd=here, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
