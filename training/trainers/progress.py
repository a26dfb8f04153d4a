"""Progress of training runs: the bar on the console, and figures for TensorBoard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from training.trainers.run_folder import Run


def log_figures(writer: SummaryWriter, figures: dict[str, float], steps: int) -> None:
    """Write figures for TensorBoard, at a number of decisions."""
    for name, figure in figures.items():
        writer.add_scalar(name, figure, steps)
    writer.flush()


@contextmanager
def progress_bar(run: Run, console: Console) -> Iterator[Callable[[], None]]:
    """Show a progress bar; yield a function that updates it.

    A console that is not a terminal shows no bar until the end, so the function prints a line
    after each evaluation there.
    """
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.fields[score]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=run.total, rate=0, score="", completed=run.steps)

        def update() -> None:
            scores = score(run.history)
            bar.update(task, completed=run.steps, rate=run.steps / run.seconds, score=scores)
            if not console.is_terminal and run.history[-1]["steps"] == run.steps:
                console.print(f"{run.steps:,} decisions: {scores}", highlight=False)

        yield update


def score(history: list[dict[str, Any]]) -> str:
    """Return the last win rates as text, with the number of players if there are several."""
    last = {(entry["num_players"], entry["opponent"]): entry["win_rate"] for entry in history}
    several = len({players for players, _ in last}) > 1
    return ", ".join(
        f"{rate:.0%} against {opponent}" + f" ({players}p)" * several
        for (players, opponent), rate in last.items()
    )
