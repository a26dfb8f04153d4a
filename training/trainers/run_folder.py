"""Training runs: folders, configurations, checkpoints, going on exactly, the loop around it all.

What all trainers share. A run folder holds the configuration, a
checkpoint with all that it takes to go on, the model, and at the end results and a picture.
"""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.cli import make_console
from agents.files import provenance, replacing, write_json
from agents.network.checkpoint import BROKEN_ZIP, DESCRIPTION, MAX_HIDDEN, CheckpointError, describe
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env.core.rules import Rules
from training.arena.tournament import play
from training.cli import stopping
from training.files import new_run_folder
from training.trainers.learning_curve import plot_learning_curve

CONFIG_FILE, CHECKPOINT_FILE, RESULTS_FILE = "config.json", "checkpoint.pt", "results.json"
CURVE_FILE = "learning_curve.png"
NOT_CONFIGURATION = ("runs", "resume", "address", "num_env_runners")  # where a run lies and works
Array: TypeAlias = npt.NDArray[Any]
YARDSTICKS = ("random", "greedy", "expert")
MAX_SEED = 2**32 - 1  # what numpy's older generator takes, which Stable-Baselines3 seeds
LOWEST_RATE = 0.05  # of the first learning rate, at the end


@dataclass(frozen=True)
class Options(ABC):
    """What any training is told."""

    steps: int = 1_000_000
    """Decisions to train on, rounded up to whole rollouts."""
    seed: int = 0
    """Of the network, the games and the sampling."""
    rules: tuple[str, ...] = ()
    """Options of the game, such as tournament or hand_size=5; the standard ones by default."""
    rollout: int = 64
    """Decisions of each game between two updates."""
    learning_rate: float = 1e-3
    """At the start; it falls in a straight line to a twentieth."""
    hidden: int = 128
    """Width of the network's layers."""
    symmetric: bool = True
    """Treat the four colors alike, in the network."""
    evaluation_games: int = 2000
    """Games at each table against each of random, greedy and expert during training."""
    final_games: int = 10_000
    """Games against each at the end, on other deals."""
    threads: int = 2
    """Threads of torch and of compiled loops. The same seed and threads give the same run."""
    runs: Path = Path("runs")
    """Folder for run folders."""
    resume: Path | None = None
    """Run folder to go on in; its configuration holds."""

    @property
    def beliefs(self) -> bool:
        """Whether the network takes beliefs."""
        return False

    @property
    @abstractmethod
    def table_sizes(self) -> Any:
        """Numbers of players to train and evaluate with."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Of the run's folder."""

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError for a value out of its range."""


@dataclass(frozen=True)
class PPOOptions(Options):
    """What training by PPO is told."""

    gae_lambda: float = 0.95
    """Of the generalized advantage estimate; returns are not discounted."""
    entropy: float = 0.01
    """Weight of the entropy bonus."""


Arguments = TypeVar("Arguments", bound=Options)


class Run(Protocol):
    """What trains."""

    args: Any
    folder: Path
    title: str
    """Of the learning curve."""
    history: list[dict[str, Any]]
    """Evaluations: entries of `steps`, `opponent`, `num_players`, `wins`, `games`, `win_rate`."""
    seconds: float
    """Of training so far."""

    @property
    def steps(self) -> int:
        """Decisions so far."""

    @property
    def total(self) -> int:
        """Decisions in all, in whole rollouts."""

    def iterate(self) -> None:
        """Play a rollout and learn from it."""

    def is_due(self) -> bool:
        """Tell whether it is time for an evaluation and a checkpoint."""

    @property
    def network(self) -> TakiNetwork:
        """What has been learned so far."""

    def log(self, figures: dict[str, float]) -> None:
        """Write figures of an evaluation for TensorBoard."""

    def state(self) -> dict[str, Any]:
        """Return everything that changes in training, as tensors and plain values."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""

    def save_model(self, path: Path) -> None:
        """Write the file that `agents.load` plays."""


def plain(args: Any) -> dict[str, Any]:
    """Return a configuration as plain values, without where it lies and works."""
    return {k: v for k, v in asdict(args).items() if k not in NOT_CONFIGURATION}


def check_numbers(args: Any, may_be_0: Sequence[str]) -> None:
    """Raise ValueError unless all numbers are finite and above 0, or 0 or more for those named."""
    for name, value in plain(args).items():
        numbers = value if isinstance(value, tuple) else (value,)
        least = 0 if name in may_be_0 else np.nextafter(0, 1)
        if not all(least <= n < np.inf for n in numbers if type(n) in (int, float)):
            words = "0 or more" if name in may_be_0 else "above 0"
            raise ValueError(f"--{name.replace('_', '-')} must be {words}, not {value}")


def check_types(args: Any) -> None:
    """Raise ValueError unless every value is of the type of its field."""
    kinds = get_type_hints(type(args))
    for name, value in plain(args).items():
        several = get_origin(kinds[name]) is tuple
        kind = get_args(kinds[name])[0] if several else kinds[name]
        allowed = (int, float) if kind is float else (kind,)
        values = value if several and isinstance(value, tuple) else (value,)
        if several != isinstance(value, tuple) or any(type(v) not in allowed for v in values):
            words = f"a list of {kind.__name__}" if several else kind.__name__
            raise ValueError(f"--{name.replace('_', '-')} must be {words}, not {value!r}")


def check(args: Options) -> None:
    """Raise ValueError for a value of another type, or out of its range."""
    check_types(args)
    if args.hidden > MAX_HIDDEN:
        raise ValueError(f"--hidden must be at most {MAX_HIDDEN}, not {args.hidden}")
    if not 0 <= args.seed <= MAX_SEED:
        raise ValueError(f"--seed must be 0 to {MAX_SEED}, not {args.seed}")
    if isinstance(args, PPOOptions) and args.gae_lambda > 1:
        raise ValueError(f"--gae-lambda must be at most 1, not {args.gae_lambda}")
    args.check()


# Configurations -----------------------------------------------------------------------------------


def start(args: Arguments, make: Callable[[Arguments, Path], Run]) -> Run:
    """Return a new run in a new folder; there is none if it cannot be made."""
    check(args)
    folder = new_run_folder(args.runs, args.name)
    try:
        description = describe(args)
        write_json(folder / CONFIG_FILE, {**description, "arguments": plain(args)})
        return make(args, folder)
    except BaseException:
        shutil.rmtree(folder)
        raise


def read_config(kind: type[Arguments], folder: Path) -> Arguments:
    """Return the configuration of a run folder.

    Raises:
        FileNotFoundError: it is no run folder.
        CheckpointError: the file is broken, of other training, or of another environment version.
    """
    file = folder / CONFIG_FILE
    if not file.exists():
        raise FileNotFoundError(f"{folder} is no run folder: it has no {CONFIG_FILE}")
    try:
        config = json.loads(file.read_text())
        given = config.pop("arguments")
        arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
        args = kind(**arguments, runs=folder.parent, resume=folder)
        check(args)
    except TypeError as error:
        raise CheckpointError(f"{file} is of other training: {error}") from error
    except (ValueError, KeyError, AttributeError, RecursionError, OSError) as error:
        raise CheckpointError(f"{file} is no configuration: {error}") from error
    check_description(file, config, args)
    return args


def check_description(file: Path, found: Any, args: Any) -> None:
    """Raise CheckpointError unless a file is of this environment and network."""
    expected = describe(args)
    if found != expected:
        raise CheckpointError(f"{file} is of {found}; this is {expected}")


def check_configuration(args: Any, saved: dict[str, Any]) -> None:
    """Raise ValueError unless the arguments are those that a run began with."""
    for name, value in plain(args).items():
        if name not in saved:
            raise ValueError(f"the run is older than --{name.replace('_', '-')}: start it anew")
        if value != (tuple(saved[name]) if isinstance(saved[name], list) else saved[name]):
            raise ValueError(
                f"--{name.replace('_', '-')} {value} is not the run's {saved[name]}: "
                "a run goes on with its own configuration"
            )


def read_arguments(kind: type[Arguments], words: list[str]) -> Arguments:
    """Return the arguments; with `--resume`, the run's own, and no others.

    Raises:
        ValueError: an argument differs from the run's configuration.
    """
    args = tyro.cli(kind, args=words)
    if args.resume is None:
        return args
    saved = read_config(kind, args.resume)
    given = tyro.cli(kind, args=words, default=replace(saved, resume=None))
    check_configuration(given, plain(saved))
    if given.runs != saved.runs:
        raise ValueError("--runs is for new runs: --resume names the folder to go on in")
    return given


# Checkpoints --------------------------------------------------------------------------------------


def as_tensors(arrays: Mapping[str, Array]) -> dict[str, torch.Tensor]:
    """Return arrays of any type as tensors of bytes."""
    return {name: torch.tensor(array.view(np.uint8)) for name, array in arrays.items()}


def as_arrays(tensors: Mapping[str, torch.Tensor], like: Mapping[str, Array]) -> dict[str, Array]:
    """Return what `as_tensors` made tensors of; types and shapes are those of `like`."""
    return {
        name: tensors[name].numpy().view(array.dtype).reshape(array.shape)
        for name, array in like.items()
    }


def save(training: Run, model_file: str) -> None:
    """Write checkpoint and model, each whole or not at all."""
    args = training.args
    state = {
        DESCRIPTION: describe(args),
        "made_by": {**provenance(), "configuration": plain(args)},
        "history": training.history,
        "seconds": training.seconds,
        **training.state(),
    }
    with replacing(training.folder / CHECKPOINT_FILE) as beside:
        torch.save(state, beside)
    save_model(training, model_file)


def save_model(training: Run, model_file: str) -> None:
    """Write the model, whole or not at all."""
    with replacing(training.folder / model_file) as beside:
        training.save_model(beside)


def resume(args: Arguments, folder: Path, make: Callable[[Arguments, Path], Run]) -> Run:
    """Return the run of a folder as it was at its last checkpoint."""
    file = folder / CHECKPOINT_FILE
    if not file.exists():
        raise FileNotFoundError(f"{folder} has no {CHECKPOINT_FILE}: start the run anew")
    state = read_state(file)
    check_description(file, state.get(DESCRIPTION) if isinstance(state, dict) else None, args)
    try:
        configuration = dict(state["made_by"]["configuration"])
        missing = plain(args).keys() - configuration.keys()
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{file} lacks its configuration: {error!r}") from error
    if missing:
        raise CheckpointError(f"{file} lacks {min(missing)!r} in its configuration")
    check_configuration(args, configuration)
    training = make(args, folder)
    try:
        training.restore(state)
        training.history, training.seconds = state["history"], state["seconds"]
        check_history(training)
        if not all(weights.isfinite().all() for weights in training.network.parameters()):
            raise ValueError("the network has weights that are no numbers")
    except Exception as error:  # what is restored from a broken state may raise anything
        raise CheckpointError(f"{file} lacks what it takes to go on: {error!r}") from error
    return training


def read_state(file: Path) -> Any:
    """Return what a checkpoint holds, read without running code from it.

    Raises:
        CheckpointError: a byte of it is not as it was written, or it is no checkpoint.
    """
    try:
        with zipfile.ZipFile(file) as archive:  # torch itself does not compare checksums
            damaged = archive.testzip()
    except BROKEN_ZIP as error:
        raise CheckpointError(f"{file} is truncated or no checkpoint: {error}") from error
    if damaged:
        raise CheckpointError(f"{file} is damaged: the checksum of {damaged} is wrong")
    try:
        return torch.load(file, weights_only=True)
    except Exception as error:  # torch raises many kinds for broken files
        raise CheckpointError(f"{file} is truncated or no checkpoint: {error}") from error


def check_history(training: Run) -> None:
    """Raise TypeError, KeyError or ValueError for a history that no evaluation wrote."""
    if not 0 <= training.seconds < math.inf or training.steps < 0:
        raise ValueError("the time or the steps so far are no numbers of 0 or more")
    for entry in training.history:
        numbers = [entry[name] for name in ("steps", "num_players", "win_rate", "games", "seconds")]
        if not isinstance(entry["opponent"], str) or not all(0 <= n < math.inf for n in numbers):
            raise ValueError(f"the history has an entry {entry}")
    if not isinstance(training.history, list):
        raise TypeError("the history is no list")


# Evaluation --------------------------------------------------------------------------------------


def matches(training: Run, games: int, seed: int) -> list[dict[str, Any]]:
    """Play the learner, by its most likely actions, against each yardstick in the arena.

    Returns:
        for each table size and opponent, who takes all other seats, the figures of a report.
    """
    args, results = training.args, []
    learner = PolicyAgent(training.network, "learner", threads=args.threads)
    for num_players, opponent in product(np.unique(args.table_sizes), YARDSTICKS):
        lineup = [learner, *[opponent] * (num_players - 1)]
        report = play(
            lineup, int(num_players), games, seed,
            lineup=True, time_limit=math.inf, rules=Rules.from_words(args.rules),
        )  # fmt: skip
        named = {"opponent": opponent, "num_players": int(num_players)}
        length = report.lengths.mean if report.lengths else math.nan
        rate = asdict(report.lineups[0].rates[learner.name])
        results.append({**named, **rate, "capped": report.capped, "mean_decisions": length})
    return results


def evaluate(training: Run) -> None:
    """Add to the history how the learner plays now."""
    results = matches(training, training.args.evaluation_games, training.args.seed + 1)
    now = {"steps": training.steps, "seconds": training.seconds}
    training.history.extend({**now, **result} for result in results)
    name = "eval/{num_players}p_win_rate_against_{opponent}"
    training.log({name.format(**result): result["win_rate"] for result in results})


# The loop -----------------------------------------------------------------------------------------


def train(training: Run, console: Console, model_file: str) -> bool:
    """Train to the end; returns False if Ctrl-C ended it early, after the rollout in progress."""
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.fields[score]}"),
    )  # fmt: skip
    with stopping(console, "rollout") as stopped, Progress(*columns, console=console) as bar:
        total = training.total
        task = bar.add_task("", total=total, rate=0, score="", completed=training.steps)
        if training.history:
            save_model(training, model_file)  # it is older if the run died between both files
        else:
            save(training, model_file)  # whatever comes, the run can go on
            evaluate(training)  # where the learner starts from
        while training.steps < total and not stopped():
            training.iterate()
            done, rate = training.steps >= total, training.steps / training.seconds
            bar.update(task, completed=training.steps, rate=rate)
            if training.is_due() or done or stopped():
                evaluate(training)
                save(training, model_file)
                bar.update(task, score=score(training.history))
                if not console.is_terminal:  # a file shows no bar until the end
                    words = f"{training.steps:,} decisions: {score(training.history)}"
                    console.print(words, highlight=False)
        return training.steps >= total


def score(history: list[dict[str, Any]]) -> str:
    """Return the last win rates in words, with the number of players if there are several."""
    last = {(entry["num_players"], entry["opponent"]): entry["win_rate"] for entry in history}
    several = len({players for players, _ in last}) > 1
    return ", ".join(
        f"{rate:.0%} against {opponent}" + f" ({players}p)" * several
        for (players, opponent), rate in last.items()
    )


def finish(training: Run, finished: bool, console: Console, command: str) -> None:
    """Evaluate, and write results and learning curve; a run that was stopped is not kept waiting.

    Its evaluation is the last one of its history.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the training or its evaluation early; all is written.
    """
    args, folder = training.args, training.folder
    results = [entry for entry in training.history if entry["steps"] == training.steps]
    try:
        results = matches(training, args.final_games, args.seed + 2) if finished else results
    except KeyboardInterrupt:
        console.print("the evaluation was stopped")
        finished = False
    report = {
        **provenance(),
        **describe(args),
        "configuration": plain(args),
        "finished": finished,
        "steps": training.steps,
        "training_seconds": round(training.seconds, 1),
        "history": training.history,
        "evaluation": results,
    }
    write_json(folder / RESULTS_FILE, report)
    for result in results:
        low, high = result["interval"]
        console.print(
            f"{result['win_rate']:.1%} [{low:.1%}, {high:.1%}] of {result['games']} games against "
            f"{result['opponent']}, {result['num_players']} players "
            f"(parity {1 / result['num_players']:.1%})",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    plot_learning_curve(training.history, training.title, folder / CURVE_FILE)
    console.print(f"{training.steps:,} decisions in {training.seconds:.0f} s; all is in {folder}")
    if not finished:
        console.print(f"go on with: python -m {command} --resume {folder}")
        raise KeyboardInterrupt


def prepare(
    args: Arguments,
    make: Callable[[Arguments, Path], Run],
    model_file: str,
    command: str,
) -> Callable[[], Run]:
    """Return the work of a new run, or of going on with one.

    Args:
        args: its configuration.
        make: returns the run of a configuration and a folder.
        model_file: what the model is called in the folder.
        command: module that goes on with the run.
    """
    training = resume(args, args.resume, make) if args.resume else start(args, make)

    def work() -> Run:
        console = make_console()
        finish(training, train(training, console, model_file), console, command)
        return training

    return work
