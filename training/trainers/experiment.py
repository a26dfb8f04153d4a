"""Repeat training over seeds and settings: ``python -m training.experiment SWEEP.toml``.

Every setting is trained with every seed, one run after the other, each in its own run folder.
Started again after an interruption, the command resumes where it stopped and repeats nothing that
is finished. It ends with a table (mean and spread over seeds) and a plot.

    training = "selfplay"            # trainer: selfplay, train or rollouts
    runs = "runs/symmetry"           # folder for the runs and results
    seeds = [0, 1, 2]

    [arguments]                      # options of every run, spelled with underscores
    steps = 2_000_000

    [settings.symmetric]             # options of one setting
    symmetric = true

    [settings.plain]
    symmetric = false

In text values, such as `start`, {setting} and {seed} are replaced by those of the run. Initial
networks must exist before the sweep starts.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from agents.cli import check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from taki_env.base.checks import check_one_of, is_integer
from taki_env.base.errors import did_you_mean
from training.trainers import rollouts, selfplay, train
from training.trainers.checkpoints import start_weights
from training.trainers.options import Options, TableOptions, plain, with_current_names
from training.trainers.run_folder import (
    CHECKPOINT_FILE,
    CONFIG_FILE,
    RESULTS_FILE,
    Run,
    check_configuration,
    read_config,
)

TRAINERS: dict[str, tuple[type[Options], Callable[[Any], Callable[[], Run]]]] = {
    "selfplay": (selfplay.SelfPlayArgs, selfplay.prepare),
    "train": (train.PPOArgs, train.prepare),
    "rollouts": (rollouts.RolloutArgs, rollouts.prepare),
}
KEYS = ("training", "runs", "seeds", "arguments", "settings")
BEFORE_A_CHECKPOINT = (CONFIG_FILE, "events.")
"""Beginnings of the names of files that a run writes before its first checkpoint."""
REPORT_FILE, PLOT_FILE = "experiment.json", "experiment.png"

Curves = dict[tuple[int, str], dict[str, list[dict[int, float]]]]
"""Win rates by steps: a list of runs for each (number of players, opponent) and setting."""


@dataclass(frozen=True)
class ExperimentArgs:
    """Repeat training over seeds and settings; resume what is unfinished."""

    sweep: Annotated[Path, tyro.conf.Positional]
    """TOML file; docs/training.md describes it."""


@dataclass(frozen=True)
class Job:
    """A run of a sweep."""

    setting: str
    """Name of the setting."""
    args: Options
    """Configuration of the run."""
    prepare: Callable[[Any], Callable[[], Run]]
    """Returns the work of a configuration."""

    @property
    def folder(self) -> Path:
        """Run folder."""
        return self.args.runs / self.args.name

    @property
    def has_checkpoint(self) -> bool:
        """Whether the run can be resumed."""
        return (self.folder / CHECKPOINT_FILE).exists()

    def report(self) -> dict[str, Any] | None:
        """Return the run's results, or None if it is not finished.

        Raises:
            ValueError: the results are broken, or of another configuration.
        """
        file = self.folder / RESULTS_FILE
        try:
            report = json.loads(file.read_text()) if file.exists() else {}
            configuration = report["configuration"] if report.get("finished") else None
        except OSError as error:  # such as a setting with a name that is too long
            raise ValueError(f"{file} cannot be read: {error.strerror}") from error
        except (ValueError, AttributeError, KeyError, RecursionError) as error:
            raise ValueError(f"{file} is not a results file: {error}") from error
        if configuration is None:
            return None
        self.check_configuration(configuration)
        return dict(report)

    def check(self) -> None:
        """Raise the errors that would otherwise stop the sweep at this run."""
        if self.report():
            return
        if self.has_checkpoint:
            self.saved()
            return
        parent = next(path for path in (self.args.runs, *self.args.runs.parents) if path.exists())
        check_folder("runs", parent / RESULTS_FILE)
        if isinstance(self.args, TableOptions) and self.args.start:
            start_weights(self.args)
        for path in self.folder.glob("[!.]*"):
            if not path.name.startswith(BEFORE_A_CHECKPOINT):
                raise ValueError(f"{self.folder} has no checkpoint, but {path.name}: move it away")

    def saved(self) -> Options:
        """Return the configuration to resume, which must be the sweep's."""
        saved = read_config(type(self.args), self.folder)
        self.check_configuration(plain(saved))
        return saved

    def check_configuration(self, configuration: Any) -> None:
        """Raise ValueError unless the run in the folder has the sweep's configuration."""
        try:
            check_configuration(self.args, configuration)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.folder} has another configuration: {error}") from error

    def work(self) -> Callable[[], Run]:
        """Return the rest of the run's work: from its last checkpoint, or all of it."""
        if self.has_checkpoint:
            return self.prepare(self.saved())
        if self.folder.exists():
            shutil.rmtree(self.folder)  # of a run that was killed before its first checkpoint
        return self.prepare(self.args)


# Reading a sweep ----------------------------------------------------------------------------------


def read_sweep(file: Path) -> list[Job]:
    """Return the runs of a sweep, setting by setting.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is not a sweep, or a configuration in it is invalid; says where.
    """
    try:
        sweep = tomllib.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not valid TOML: {error}") from error
    sweep = {
        "training": "selfplay",
        "runs": f"runs/{file.stem}",
        "seeds": [0, 1, 2],
        "arguments": {},
        "settings": {"default": {}},
    } | sweep
    check_sweep(file, sweep)
    return [job for setting in sweep["settings"] for job in jobs_of(file, sweep, setting)]


def check_sweep(file: Path, sweep: Mapping[str, Any]) -> None:
    """Raise ValueError for an invalid value of a sweep, other than the options of its runs."""
    check_names(f"{file}", sweep, KEYS)
    trainer, seeds, folder = sweep["training"], sweep["seeds"], sweep["runs"]
    check_one_of(f"{file}: training", trainer, TRAINERS)
    integers = isinstance(seeds, list) and all(map(is_integer, seeds))
    if not seeds or not integers or len(set(seeds)) < len(seeds):
        raise ValueError(f"{file}: seeds must be distinct integers, got {seeds}")
    for name in ("arguments", "settings"):
        part = sweep[name]
        if not isinstance(part, dict) or (name == "settings" and not part):
            raise ValueError(f"{file}: {name} must be a table, got {part}")
    if not isinstance(folder, str) or "\0" in folder:
        raise ValueError(f"{file}: runs must be the name of a folder, got {folder!r}")


def jobs_of(file: Path, sweep: Mapping[str, Any], setting: str) -> Iterator[Job]:
    """Yield the runs of a setting, seed by seed; raises ValueError for an invalid option."""
    where, changes = f"{file}, setting {setting}", sweep["settings"][setting]
    kind, prepare = TRAINERS[sweep["training"]]
    if not isinstance(changes, dict):
        raise ValueError(f"{where}: must be a table, got {changes}")
    if setting in ("", ".", "..") or {"/", "\\", "\0"} & set(setting) or len(setting) > 50:
        raise ValueError(f"{where}: the name must be a folder name of at most 50 characters")
    arguments = with_current_names(sweep["arguments"] | changes)
    check_names(where, arguments, [field.name for field in fields(kind)])
    if taken := {"seed", "runs", "resume"} & set(arguments):
        raise ValueError(f"{where}: {', '.join(sorted(taken))}: set by the sweep itself")
    for seed in sweep["seeds"]:
        words = {"setting": setting, "seed": str(seed)}
        given = {k: filled_in(f"{where}: {k}", v, words) for k, v in arguments.items()}
        args = kind(**given | {"seed": seed, "runs": Path(sweep["runs"]) / setting})
        try:
            args.check()
        except (ValueError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from error
        yield Job(setting, args, prepare)


def filled_in(where: str, value: Any, words: Mapping[str, str]) -> Any:
    """Return the value of an option with lists as tuples, and names in braces replaced."""
    if isinstance(value, str):
        check_names(where, re.findall(r"\{(.*?)\}", value), words)
        return re.sub(r"\{(.*?)\}", lambda match: words[match[1]], value)
    if isinstance(value, list):
        return tuple(filled_in(where, one, words) for one in value)
    return value


def check_names(where: str, found: Iterable[str], known: Iterable[str]) -> None:
    """Raise ValueError for an unknown name; suggests the nearest one."""
    for name in found:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{where}: unknown {name!r}{hint} (known: {', '.join(known)})")


# Running it ---------------------------------------------------------------------------------------


def execute(jobs: list[Job], console: Console) -> bool:
    """Run what is not finished; returns False if Ctrl-C stopped it."""
    for number, job in enumerate(jobs, 1):
        title = f"{number}/{len(jobs)} {job.setting}, seed {job.args.seed}"
        if job.report():
            console.print(f"{title}: already finished, in {job.folder}")
            continue
        console.print(title)
        try:
            job.work()()
        except KeyboardInterrupt:
            return False
    return True


# Results ------------------------------------------------------------------------------------------


def rows(jobs: list[Job]) -> Iterator[dict[str, Any]]:
    """Yield each setting's win rates at each table, over the finished seeds."""
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


def table_of(results: list[dict[str, Any]]) -> Table:
    """Return the table to print."""
    table = Table("setting", "players", "against", "win rate", "sd over seeds", "seeds", "seconds")
    for row in results:
        sd = "" if row["sd"] is None else f"{row['sd']:.1%}"
        table.add_row(
            row["setting"], str(row["num_players"]), row["opponent"], f"{row['mean']:.1%}", sd,
            str(len(row["win_rates"])), f"{row['seconds']:.0f}",
        )  # fmt: skip
    return table


def curves_of(jobs: list[Job]) -> Curves:
    """Return the learning curves of the finished runs."""
    curves: Curves = {}
    for job in jobs:
        of_run: dict[tuple[int, str], dict[int, float]] = {}
        for entry in (job.report() or {"history": []})["history"]:
            key = entry["num_players"], entry["opponent"]
            of_run.setdefault(key, {})[entry["steps"]] = entry["win_rate"]
        for key, curve in of_run.items():
            curves.setdefault(key, {}).setdefault(job.setting, []).append(curve)
    return curves


def plot(curves: Curves, path: Path) -> None:
    """Draw mean win rates over the steps, with a band from the lowest to the highest seed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

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
    with replacing(path) as partial:
        figure.savefig(partial)


def draw(axes: Any, label: str, curves: Sequence[Mapping[int, float]]) -> None:
    """Draw the mean of curves, interpolated between their points, and the band of all."""
    steps = sorted(set[int]().union(*curves))
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
        finished = execute(jobs, console)
        results = list(rows(jobs))
        if results:
            folder = jobs[0].args.runs.parent
            report = {**provenance(), "finished": finished, "results": results}
            write_json(folder / REPORT_FILE, report)
            plot(curves_of(jobs), folder / PLOT_FILE)
            console.print(table_of(results))
            console.print(f"results in {folder}")
        if not finished:
            console.print(f"resume with: python -m training.experiment {args.sweep}")
            raise KeyboardInterrupt
        return results

    return work


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(ExperimentArgs)))
