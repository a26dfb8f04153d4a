"""Run folders: new ones, their files, and the configuration of an existing one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import tyro
from rich.console import Console

from agents.files import write_json
from agents.network.checkpoint import CheckpointError, describe
from agents.network.network import TakiNetwork
from training.files import new_run_folder
from training.trainers.options import Options, option, plain, with_current_names

CONFIG_FILE, CHECKPOINT_FILE, RESULTS_FILE = "config.json", "checkpoint.pt", "results.json"
CURVE_FILE = "learning_curve.png"


class Run(Protocol):
    """What saving, resuming and evaluation need of a trainer."""

    @property
    def args(self) -> Options:
        """Configuration."""

    @property
    def folder(self) -> Path:
        """Run folder."""

    @property
    def title(self) -> str:
        """Title of the learning curve."""

    history: list[dict[str, Any]]
    """Evaluations: entries of `steps`, `opponent`, `num_players`, `wins`, `games`, `win_rate`."""
    seconds: float
    """Seconds of training so far."""

    @property
    def steps(self) -> int:
        """Decisions so far."""

    @property
    def total(self) -> int:
        """Decisions of the whole run, in whole rollouts."""

    @property
    def network(self) -> TakiNetwork:
        """The network in its current state."""

    def train(self, console: Console) -> None:
        """Train to the end; raises KeyboardInterrupt if Ctrl-C stopped it earlier."""

    def state(self) -> dict[str, Any]:
        """Return everything that changes during training, as tensors and plain values."""

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a `state`."""

    def save_model(self, path: Path) -> None:
        """Write the file that `agents.load` plays."""


AnyOptions = TypeVar("AnyOptions", bound=Options)
AnyRun = TypeVar("AnyRun", bound=Run)


def start(args: AnyOptions, make: Callable[[AnyOptions, Path], AnyRun]) -> AnyRun:
    """Return a new run in a new folder; removes the folder on failure.

    Raises:
        ValueError: an option has an invalid value.
    """
    args.check()
    folder = new_run_folder(args.runs, args.name)
    try:
        write_json(folder / CONFIG_FILE, {**describe(args), "arguments": plain(args)})
        return make(args, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def read_arguments(kind: type[AnyOptions], words: list[str]) -> AnyOptions:
    """Return the options of a command line; with `--resume`, those of the run.

    Raises:
        ValueError: an option differs from the run's configuration.
    """
    args = tyro.cli(kind, args=words)
    if args.resume is None:
        return args
    saved = read_config(kind, args.resume)
    given = tyro.cli(kind, args=words, default=replace(saved, resume=None))
    check_configuration(given, plain(saved))
    if given.runs != saved.runs:
        raise ValueError("--runs is for new runs: --resume names the folder to resume")
    return given


def read_config(kind: type[AnyOptions], folder: Path) -> AnyOptions:
    """Return the configuration of a run folder.

    Raises:
        FileNotFoundError: the folder is not a run folder.
        CheckpointError: the file is broken, of another trainer, or of another environment version.
    """
    file = folder / CONFIG_FILE
    if not file.exists():
        raise FileNotFoundError(f"{folder} is not a run folder: it has no {CONFIG_FILE}")
    try:
        config = json.loads(file.read_text())
        saved = with_current_names(config.pop("arguments"))
        arguments: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in saved.items()
        }
        args = kind(**arguments | {"runs": folder.parent, "resume": folder})
        args.check()
    except TypeError as error:
        raise CheckpointError(f"{file} belongs to another trainer: {error}") from error
    except (ValueError, KeyError, AttributeError, RecursionError, OSError) as error:
        raise CheckpointError(f"{file} is not a valid configuration: {error}") from error
    check_description(file, config, args)
    return args


def check_description(file: Path, found: object, args: Options) -> None:
    """Raise CheckpointError unless a file describes this environment and network."""
    expected = describe(args)
    if found != expected:
        raise CheckpointError(f"{file} is for {found}; expected {expected}")


def check_configuration(args: Options, saved: Mapping[str, Any]) -> None:
    """Raise ValueError unless the options are those that a run was started with."""
    saved = with_current_names(saved)
    for name, value in plain(args).items():
        if name not in saved:
            raise ValueError(f"the run is older than {option(name)}: start a new one")
        if value != (tuple(saved[name]) if isinstance(saved[name], list) else saved[name]):
            raise ValueError(
                f"{option(name)} {value} is not the run's {saved[name]}: "
                "a resumed run keeps its configuration"
            )
