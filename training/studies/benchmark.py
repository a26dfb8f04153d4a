"""Compare the environment's speed with other libraries: ``python -m training.benchmark``.

One process measures all rows, round after round: the noise of a shared machine affects them alike.
Figures are medians over the rounds, and ratios are medians of the rounds' ratios.

    python -m training.benchmark --c               with `benchmarks/limit.c` as a yardstick
    pip install -e ".[peers]"                      adds RLCard, OpenSpiel and PettingZoo's games
    python -m training.benchmark --c --json FILE --chart PNG
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agents.cli import check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from taki_env.core.state import GAME_DTYPE
from training.studies.benchmark_peers import peer_rows
from training.studies.benchmark_rows import FIRST_GAME, Row, limit_rows, own_rows, process_seconds


@dataclass(frozen=True)
class BenchmarkArgs:
    """Measure the environment and the installed peers in one run."""

    rounds: int = 5
    """Number of rounds; figures are medians over them."""
    c: bool = False
    """Compile `benchmarks/limit.c` and compare with it; needs a C compiler."""
    scale: float = 1.0
    """Factor on the work of each row; below 1 for a quick run."""
    only: str = ""
    """Text that the names of measured rows contain; yardsticks are measured too."""
    json: Path | None = None
    """Output file for the JSON report."""
    chart: Path | None = None
    """Output PNG file for a bar chart."""


def measured(rows: Sequence[Row], rounds: int, console: Console) -> dict[str, list[float]]:
    """Return the figures of every row, one a round; after Ctrl-C, those measured so far."""
    figures: dict[str, list[float]] = {row.name: [] for row in rows}
    all_cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("warming up", total=len(rows) * (rounds + 1))
        try:
            for number in range(rounds + 1):
                for row in rows:
                    name = row.name if number else f"warming up: {row.name}"
                    bar.update(task, description=name)
                    with pinned(all_cores, row.cores):
                        figure = row.measure()
                    if number:  # the first round compiles
                        figures[row.name].append(figure)
                    bar.advance(task)
        except KeyboardInterrupt:
            console.print("stopped; results so far:")
    return figures


@contextmanager
def pinned(all_cores: set[int], cores: int) -> Iterator[None]:
    """Restrict this process and its children to some of the cores."""
    if not all_cores:
        yield
        return
    os.sched_setaffinity(0, set(sorted(all_cores)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def report(rows: Sequence[Row], figures: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return median, range, and median ratio of each row, ready for JSON."""
    lines = []
    for row in rows:
        values = figures[row.name]
        if not values:
            continue
        line = {"name": row.name, "unit": row.unit, "median": median(values)}
        line |= {"lowest": min(values), "highest": max(values), "rounds": len(values)}
        yardstick = figures.get(row.yardstick or "")
        if yardstick:
            pairs = zip(values, yardstick, strict=False)
            line |= {"yardstick": row.yardstick, "ratio": median(v / y for v, y in pairs)}
        lines.append(line)
    return lines


def table(lines: Sequence[dict[str, Any]]) -> Table:
    """Return the table to print."""
    shown = Table("row", "median", "lowest", "highest", "unit", "ratio", "of")
    for line in lines:
        numbers = [f"{line[key]:,.4g}" if line[key] < 1000 else f"{line[key]:,.0f}"
                   for key in ("median", "lowest", "highest")]  # fmt: skip
        ratio = f"{line['ratio']:.3g}" if "ratio" in line else ""
        shown.add_row(line["name"], *numbers, line["unit"], ratio, line.get("yardstick", ""))
    return shown


def draw_chart(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the rates as bars on a logarithmic axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [line for line in lines if line["unit"] != "s"][::-1]
    figure = Figure(figsize=(9, 0.27 * len(shown) + 1), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    peers = ("limit.c", "PettingZoo", "RLCard", "OpenSpiel", "MaskablePPO, free")
    colors = ["tab:gray" if line["name"].startswith(peers) else "tab:blue" for line in shown]
    axes.barh([line["name"] for line in shown], [line["median"] for line in shown], color=colors)
    axes.set(xscale="log", xlabel="decisions or frames a second (median), logarithmic")
    axes.grid(axis="x", alpha=0.3)
    with replacing(path) as partial:
        figure.savefig(partial)


def prepare(args: BenchmarkArgs) -> Callable[[], Any]:
    """Check the arguments and return the work."""
    if args.rounds < 1 or args.scale <= 0:
        raise ValueError("--rounds must be at least 1 and --scale above 0")
    check_folder("--json", args.json)
    check_folder("--chart", args.chart)
    return lambda: execute(args)


def execute(args: BenchmarkArgs) -> list[dict[str, Any]]:
    """Measure; print the table, and write the files that are requested.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the command early; the figures are those measured so far.
    """
    console = make_console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = limit_rows(args.scale, folder) if args.c else []
        rows += own_rows(args.scale, folder) + peer_rows(args.scale)
        kept = {r.yardstick for r in rows if args.only in r.name} if args.only else set()
        rows = [row for row in rows if args.only in row.name or row.name in kept]
        cold = process_seconds(FIRST_GAME, folder / "cold")() if not args.only else None
        figures = measured(rows, args.rounds, console)
        lines = report(rows, figures)
    if cold is not None:
        lines.append({"name": "import and first game, cold", "unit": "s", "median": cold,
                      "lowest": cold, "highest": cold, "rounds": 1})  # fmt: skip
    console.print(table(lines))
    console.print(f"{GAME_DTYPE.itemsize} bytes a game, at any number of players")
    if args.json:
        facts = {"bytes_a_game": GAME_DTYPE.itemsize, "arguments": plain(args), "rows": lines}
        write_json(args.json, provenance() | facts)
    if args.chart:
        draw_chart(lines, args.chart)
    if any(len(found) < args.rounds for found in figures.values()):
        raise KeyboardInterrupt
    return lines


def plain(args: BenchmarkArgs) -> dict[str, Any]:
    """Return the arguments that affect the figures."""
    return {"rounds": args.rounds, "c": args.c, "scale": args.scale, "only": args.only}


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(BenchmarkArgs)))
