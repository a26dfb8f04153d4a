"""The picture of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.interval import wilson_interval
from training.files import replacing


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
