"""Repeat a training over seeds and settings: ``python -m training.experiment SWEEP.toml``.

Every setting is trained with every seed, one run after the other, each in a run folder of its own.
Started again after an interruption, it goes on where it stopped and redoes nothing that is
finished. At the end, one table (mean and spread over seeds) and one plot.

    training = "selfplay"            # a module of `training`: selfplay, train or rollouts
    runs = "runs/symmetry"           # folder of everything
    seeds = [0, 1, 2]

    [arguments]                      # of every run, as on the command line, with underscores
    steps = 2_000_000

    [settings.symmetric]             # what a setting changes
    symmetric = true

    [settings.plain]
    symmetric = false

In words, such as `start`, {setting} and {seed} stand for those of the run. What a run begins with
has to be there before the sweep is started.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from agents.cli import check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from taki_env.base.errors import did_you_mean
from training.trainers import rollouts, selfplay, train
from training.trainers import run_folder as runs
from training.trainers.seat_tables import TableOptions, start_weights

TRAININGS: dict[str, tuple[type[Any], Callable[[Any], Callable[[], runs.Run]]]] = {
    "selfplay": (selfplay.SelfPlayArgs, selfplay.prepare),
    "train": (train.PPOArgs, train.prepare),
    "rollouts": (rollouts.RolloutArgs, rollouts.prepare),
}
KEYS = ("training", "runs", "seeds", "arguments", "settings")
BEFORE_A_CHECKPOINT = (runs.CONFIG_FILE, "events.")
"""What a run writes before its first checkpoint."""
RESULTS_FILE, PLOT_FILE = "experiment.json", "experiment.png"


@dataclass(frozen=True)
class ExperimentArgs:
    """Repeat a training over seeds and settings; go on with what is unfinished."""

    sweep: Annotated[Path, tyro.conf.Positional]
    """TOML file: see the head of training/experiment.py, or docs/training.md."""


@dataclass(frozen=True)
class Job:
    """A run of a sweep."""

    setting: str
    args: runs.Options
    prepare: Callable[[Any], Callable[[], runs.Run]]
    """Returns the work of a configuration."""

    @property
    def folder(self) -> Path:
        """Where the run is."""
        return self.args.runs / self.args.name

    @property
    def begun(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return (self.folder / runs.CHECKPOINT_FILE).exists()

    def report(self) -> dict[str, Any] | None:
        """Return the run's results, or None before it is finished.

        Raises:
            ValueError: they are broken, or of another configuration.
        """
        file = self.folder / runs.RESULTS_FILE
        try:
            report = json.loads(file.read_text()) if file.exists() else {}
            configuration = report["configuration"] if report.get("finished") else None
        except OSError as error:  # such as the name of a setting that is too long
            raise ValueError(f"{file} cannot be read: {error.strerror}") from error
        except (ValueError, AttributeError, KeyError, RecursionError) as error:
            raise ValueError(f"{file} holds no results: {error}") from error
        if configuration is None:
            return None
        self.check_is_of(configuration)
        return dict(report)

    def check(self) -> None:
        """Raise an error for what would stop the run when its turn comes."""
        if self.report():
            return
        if self.begun:
            self.saved()
            return
        there = next(path for path in (self.args.runs, *self.args.runs.parents) if path.exists())
        check_folder("runs", there / RESULTS_FILE)
        if isinstance(self.args, TableOptions) and self.args.start:
            start_weights(self.args)
        for path in self.folder.glob("[!.]*"):
            if not path.name.startswith(BEFORE_A_CHECKPOINT):
                raise ValueError(f"{self.folder} has no checkpoint, but {path.name}: move it away")

    def saved(self) -> runs.Options:
        """Return the configuration to go on with, which must be the sweep's."""
        saved = runs.read_config(type(self.args), self.folder)
        self.check_is_of(runs.plain(saved))
        return saved

    def check_is_of(self, configuration: Any) -> None:
        """Raise ValueError unless the run in the folder was made as the sweep asks for."""
        try:
            runs.check_configuration(self.args, configuration)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{self.folder} is of another configuration: {error}") from error

    def work(self) -> Callable[[], runs.Run]:
        """Return what is left to do: all of it, or what comes after the last checkpoint."""
        if self.begun:
            return self.prepare(self.saved())
        if self.folder.exists():
            shutil.rmtree(self.folder)  # of a run that was killed before it began
        return self.prepare(self.args)


# What to do ---------------------------------------------------------------------------------------


def read_sweep(file: Path) -> list[Job]:
    """Return the runs that a sweep asks for, setting by setting.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no sweep, or a configuration in it is refused; says where.
    """
    try:
        sweep = tomllib.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is no TOML: {error}") from error
    check_names(f"{file}", sweep, KEYS)
    training = sweep.get("training", "selfplay")
    if training not in TRAININGS:
        raise ValueError(f"{file}: training must be one of {', '.join(TRAININGS)}, not {training}")
    seeds = sweep.get("seeds", [0, 1, 2])
    settings = sweep.get("settings", {"default": {}})
    whole = isinstance(seeds, list) and all(type(seed) is int for seed in seeds)
    if not seeds or not whole or len(set(seeds)) < len(seeds):
        raise ValueError(f"{file}: seeds must be different whole numbers, not {seeds}")
    common = sweep.get("arguments", {})
    for name, part in {"arguments": common, "settings": settings}.items():
        if not isinstance(part, dict) or (name == "settings" and not part):
            raise ValueError(f"{file}: {name} must be a table, not {part}")
    kind, prepare = TRAININGS[training]
    folder = sweep.get("runs", f"runs/{file.stem}")
    if not isinstance(folder, str) or "\0" in folder:
        raise ValueError(f"{file}: runs must be the name of a folder, not {folder!r}")
    jobs = []
    for setting, changes in settings.items():
        where = f"{file}, setting {setting}"
        if not isinstance(changes, dict):
            raise ValueError(f"{where}: must be a table, not {changes}")
        if setting in ("", ".", "..") or {"/", "\\", "\0"} & set(setting) or len(setting) > 50:
            raise ValueError(
                f"{where}: the name of a setting names a folder, in at most 50 letters"
            )
        arguments = {**common, **changes}
        check_names(where, arguments, [field.name for field in fields(kind)])
        if taken := {"seed", "runs", "resume"} & set(arguments):
            raise ValueError(f"{where}: {', '.join(sorted(taken))}: the sweep itself says this")
        for seed in seeds:
            words = {"setting": setting, "seed": str(seed)}
            given = {k: filled_in(f"{where}: {k}", v, words) for k, v in arguments.items()}
            args = kind(**given, seed=seed, runs=Path(folder) / setting)
            jobs.append(Job(setting, checked(where, args), prepare))
    return jobs


def filled_in(where: str, value: Any, words: Mapping[str, str]) -> Any:
    """Return the value of an argument as a run takes it, with words for names in braces."""
    if isinstance(value, str):
        check_names(where, re.findall(r"\{(.*?)\}", value), words)
        return re.sub(r"\{(.*?)\}", lambda match: words[match[1]], value)
    if isinstance(value, list):
        return tuple(filled_in(where, one, words) for one in value)
    return value


def check_names(where: str, found: Iterable[str], known: Iterable[str]) -> None:
    """Raise ValueError for a name that is not known."""
    for name in found:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{where}: unknown {name!r}{hint} (known: {', '.join(known)})")


def checked(where: str, args: runs.Options) -> runs.Options:
    """Return a configuration, or raise ValueError that says where it stands."""
    try:
        runs.check(args)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from error
    return args


def carry_out(jobs: list[Job], console: Console) -> bool:
    """Do what is not finished; returns False if Ctrl-C stopped it."""
    for number, job in enumerate(jobs, 1):
        title = f"{number}/{len(jobs)} {job.setting}, seed {job.args.seed}"
        if job.report():
            console.print(f"{title}: finished before, in {job.folder}")
            continue
        console.print(title)
        try:
            job.work()()
        except KeyboardInterrupt:
            return False
    return True


# What came out ------------------------------------------------------------------------------------


def rows(jobs: list[Job]) -> Iterator[dict[str, Any]]:
    """Return the win rates of each setting at each table, over the seeds that are finished."""
    for setting, of_setting in groupby(jobs, lambda job: job.setting):
        reports = [report for job in of_setting if (report := job.report())]
        results: dict[tuple[int, str], list[float]] = {}
        for result in (result for report in reports for result in report["evaluation"]):
            key = result["num_players"], result["opponent"]
            results.setdefault(key, []).append(result["win_rate"])
        for (num_players, opponent), rates in results.items():
            yield {
                "setting": setting,
                "num_players": num_players,
                "opponent": opponent,
                "win_rates": rates,
                "mean": mean(rates),
                "sd": stdev(rates) if len(rates) > 1 else None,
                "seconds": mean(report["training_seconds"] for report in reports),
            }


def table_of(found: list[dict[str, Any]]) -> Table:
    """Return the table to print."""
    table = Table("setting", "players", "against", "win rate", "sd over seeds", "seeds", "seconds")
    for row in found:
        sd = "" if row["sd"] is None else f"{row['sd']:.1%}"
        table.add_row(
            row["setting"], str(row["num_players"]), row["opponent"], f"{row['mean']:.1%}", sd,
            str(len(row["win_rates"])), f"{row['seconds']:.0f}",
        )  # fmt: skip
    return table


def plot(jobs: list[Job], path: Path) -> None:
    """Draw the mean win rates over the steps, from the lowest to the highest seed in a band."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curves: dict[tuple[int, str], dict[str, list[dict[int, float]]]] = {}
    for job in jobs:
        of_run: dict[tuple[int, str], dict[int, float]] = {}
        for entry in (job.report() or {"history": []})["history"]:
            key = entry["num_players"], entry["opponent"]
            of_run.setdefault(key, {})[entry["steps"]] = entry["win_rate"]
        for key, curve in of_run.items():
            curves.setdefault(key, {}).setdefault(job.setting, []).append(curve)
    tables = sorted({num_players for num_players, _ in curves})
    opponents = sorted({opponent for _, opponent in curves})
    size = (4 * len(opponents), 3 * len(tables))
    figure = Figure(figsize=size, dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(tables), len(opponents), squeeze=False, sharex=True)
    for (num_players, opponent), settings in curves.items():
        axes = grid[tables.index(num_players)][opponents.index(opponent)]
        for setting, of_seeds in settings.items():
            draw(axes, setting, of_seeds)
        axes.set(title=f"{num_players} players against {opponent}")
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_formatter(lambda steps, position: f"{steps / 1e6:g}M")
    for axes in grid[-1]:
        axes.set(xlabel="decisions (M: millions)")
    grid[0][0].legend(loc="lower right")
    with replacing(path) as beside:
        figure.savefig(beside)


def draw(axes: Any, label: str, curves: list[Mapping[int, float]]) -> None:
    """Draw the mean of curves, where each is read between its points, and what lies between."""
    import numpy as np

    steps = sorted(set().union(*curves))
    lines = np.array([np.interp(steps, list(curve), list(curve.values())) for curve in curves])
    (line,) = axes.plot(steps, lines.mean(0), label=label)
    axes.fill_between(steps, lines.min(0), lines.max(0), alpha=0.2, color=line.get_color())


def prepare(args: ExperimentArgs) -> Callable[[], list[dict[str, Any]]]:
    """Read and check the sweep, and return the work."""
    jobs = read_sweep(args.sweep)
    for job in jobs:
        job.check()  # before anything is trained

    def work() -> list[dict[str, Any]]:
        console = make_console()
        finished = carry_out(jobs, console)
        found = list(rows(jobs))
        if found:
            folder = jobs[0].args.runs.parent
            report = {**provenance(), "finished": finished, "results": found}
            write_json(folder / RESULTS_FILE, report)
            plot(jobs, folder / PLOT_FILE)
            console.print(table_of(found))
            console.print(f"all is in {folder}")
        if not finished:
            console.print(f"go on with: python -m training.experiment {args.sweep}")
            raise KeyboardInterrupt
        return found

    return work


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ExperimentArgs)))
