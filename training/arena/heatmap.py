"""The win rates of a tournament as a heat map."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents.files import replacing
from training.arena.report import Report


def plot_matrix(report: Report, path: Path) -> None:
    """Draw the win rates of a row's agent in one seat against a column's in all other seats.

    White is parity, the win rate among equally strong agents.

    Args:
        report: report of a tournament of all pairings.
        path: output PNG file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.figure import Figure

    names, parity = report.agents, 1 / report.num_players
    rates = np.full((len(names), len(names)), np.nan)
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            if other in report.matrix.get(one, {}):
                rates[row, column] = report.matrix[one][other].win_rate
    side = 2.5 + 0.9 * len(names)
    figure = Figure(figsize=(side + 1, side), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(rates, cmap="RdBu", norm=TwoSlopeNorm(parity, 0, 1))
    for row, column in np.argwhere(~np.isnan(rates)):
        rate = rates[row, column]
        far = abs(rate - parity) > 0.6 * (1 - parity if rate > parity else parity)
        ink = "white" if far else "black"
        axes.text(column, row, f"{rate:.1%}", ha="center", va="center", color=ink)
    axes.set_facecolor("lightgray")
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", parse_math=False)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    others = "the other seat" if report.num_players == 2 else f"{report.num_players - 1} seats"
    axes.set(xlabel=f"agent in {others}", ylabel="agent in one seat")
    axes.set_title(f"{report.num_players} players, {report.games:,} games")
    scale = figure.colorbar(image, label=f"win rate (parity {parity:.1%})")
    scale.ax.yaxis.set_major_formatter(lambda rate, position: f"{rate:.0%}")
    with replacing(path) as beside:
        figure.savefig(beside)
