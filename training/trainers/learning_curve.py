"""The learning curve of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.files import replacing


def plot_learning_curve(history: Sequence[Mapping[str, Any]], title: str, path: Path) -> None:
    """Draw the win rate against each opponent over the decisions, with 95 % intervals.

    Args:
        history: entries of `steps`, `opponent`, `num_players`, `win_rate` and `interval`.
        title: title of the figure.
        path: output file, a PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    sizes = sorted({entry["num_players"] for entry in history})
    for players, opponent in sorted({(e["num_players"], e["opponent"]) for e in history}):
        entries = [e for e in history if (e["num_players"], e["opponent"]) == (players, opponent)]
        steps = [entry["steps"] for entry in entries]
        label = f"against {opponent}" + (f", {players} players" if len(sizes) > 1 else "")
        (line,) = axes.plot(steps, [e["win_rate"] for e in entries], marker=".", label=label)
        low, high = zip(*(entry["interval"] for entry in entries), strict=True)
        axes.fill_between(steps, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    for players in sizes:
        axes.axhline(1 / players, color="gray", linestyle="--", linewidth=1)
    axes.set(title=title, xlabel="decisions", ylabel="win rate (95 % interval)")
    axes.grid(alpha=0.3)
    axes.xaxis.set_major_formatter(lambda steps, position: f"{steps:,.0f}")
    axes.legend(loc="lower right")
    with replacing(path) as partial:
        figure.savefig(partial)
