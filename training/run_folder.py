"""The folder of a training run: configuration, checkpoint, model, results and learning curve."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from training.evaluate import wilson_interval

PACKAGES = (
    *("taki-env", "numpy", "numba", "gymnasium", "pettingzoo"),
    *("torch", "stable-baselines3", "sb3-contrib"),
)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write beside `path`, renamed to it at the end: never half a file."""
    beside = path.with_name(f".{path.name}.partial{path.suffix}")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write JSON, all of it or nothing."""
    with replacing(path) as beside:
        beside.write_text(json.dumps(data, indent=2) + "\n")


def new_run_folder(runs: Path, name: str) -> Path:
    """Make and return the first folder `name`, `name-2`, … that does not exist yet."""
    number = 1
    while True:
        folder = runs / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1


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


def plot_learning_curve(
    history: Sequence[Mapping[str, Any]], num_players: int, title: str, path: Path
) -> None:
    """Draw the win rate against each opponent over the steps, with 95 % intervals.

    Args:
        history: entries of `steps`, `opponent`, `wins` and `games`.
        num_players: for the line of parity.
        title: of the picture.
        path: PNG file to write.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for opponent in sorted({entry["opponent"] for entry in history}):
        entries = [entry for entry in history if entry["opponent"] == opponent]
        steps = [entry["steps"] for entry in entries]
        bounds = [wilson_interval(entry["wins"], entry["games"]) for entry in entries]
        rates = [entry["wins"] / entry["games"] for entry in entries]
        (line,) = axes.plot(steps, rates, marker=".", label=f"against {opponent}")
        low, high = zip(*bounds, strict=True)
        axes.fill_between(steps, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.axhline(1 / num_players, color="gray", linestyle="--", linewidth=1, label="parity")
    axes.set(title=title, xlabel="learner decisions", ylabel="win rate (95 % interval)")
    axes.grid(alpha=0.3)
    axes.xaxis.set_major_formatter(lambda steps, position: f"{steps:,.0f}")
    axes.legend(loc="lower right")
    with replacing(path) as beside:
        figure.savefig(beside)
