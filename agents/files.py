"""Atomic file writes and provenance."""

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


def partial_path(path: Path) -> Path:
    """Return the temporary path next to `path`; a long name is shortened to fit the file system."""
    return path.with_name(f".{path.name[:48]}.partial{path.suffix}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` on success and is removed on failure."""
    temporary = partial_path(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write JSON atomically."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(data, indent=2) + "\n")


def provenance() -> dict[str, Any]:
    """Return the origin of a result: git commit, package versions, hardware."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "versions": {"python": platform.python_version(), **_versions()},
        "hardware": {"machine": platform.machine(), "cores": os.cpu_count()},
    }


def _git(*command: str) -> str | None:
    """Return the output of a git command in the project's checkout, or None if it fails."""
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
