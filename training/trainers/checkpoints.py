"""Checkpoints of training runs: saving, and resuming exactly."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from agents.cli import make_console
from agents.files import provenance, replacing
from agents.network.checkpoint import (
    BROKEN_ZIP,
    DESCRIPTION,
    MODEL_FILE,
    CheckpointError,
    describe,
    load_network,
)
from agents.network.network import with_beliefs
from taki_env import SelfPlay
from training.trainers.options import TableOptions, plain, with_current_names
from training.trainers.run_folder import (
    CHECKPOINT_FILE,
    AnyOptions,
    AnyRun,
    Run,
    check_configuration,
    check_description,
    start,
)

Array: TypeAlias = npt.NDArray[Any]


class TableRun(Run, Protocol):
    """A run in which the network plays many seats of many tables."""

    iteration: int
    """Rollouts so far."""
    own_seats: Array
    """The network's seats, per game."""
    rng: np.random.Generator
    optimizer: torch.optim.Adam
    table: SelfPlay


def prepare_run(
    args: AnyOptions, make: Callable[[AnyOptions, Path], AnyRun]
) -> Callable[[], AnyRun]:
    """Return the work of the run that `args.resume` names, or of a new run.

    Args:
        args: the configuration.
        make: returns the run of a configuration and a folder.

    Raises:
        ValueError: an option has an invalid value.
        FileNotFoundError: a file to resume or to start from is missing.
        CheckpointError: such a file is broken, or does not fit the configuration.
    """
    run = resume(args, make) if args.resume else start(args, make)

    def execute() -> AnyRun:
        run.train(make_console())
        return run

    return execute


# Saving -------------------------------------------------------------------------------------------


def save(run: Run) -> None:
    """Write checkpoint and model, each atomically."""
    state = {
        DESCRIPTION: describe(run.args),
        "made_by": {**provenance(), "configuration": plain(run.args)},
        "history": run.history,
        "seconds": run.seconds,
        **run.state(),
    }
    with replacing(run.folder / CHECKPOINT_FILE) as partial:
        torch.save(state, partial)
    save_model(run)


def save_model(run: Run) -> None:
    """Write the model atomically."""
    with replacing(run.folder / MODEL_FILE) as partial:
        run.save_model(partial)


def as_tensors(arrays: Mapping[str, Array]) -> dict[str, torch.Tensor]:
    """Return arrays of any type as tensors of bytes."""
    return {name: torch.tensor(array.view(np.uint8)) for name, array in arrays.items()}


def as_arrays(tensors: Mapping[str, torch.Tensor], like: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays that `as_tensors` converted; types and shapes are those of `like`."""
    return {
        name: tensors[name].numpy().view(array.dtype).reshape(array.shape)
        for name, array in like.items()
    }


def table_state(run: TableRun) -> dict[str, Any]:
    """Return everything that changes while such a run trains, as tensors and plain values."""
    return {
        "network": run.network.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "iteration": run.iteration,
        "own_seats": torch.tensor(run.own_seats),
        "generator": run.rng.bit_generator.state,
        "torch": torch.get_rng_state(),
        "games": as_tensors(run.table.state_dict()),
        "games_steps": run.table.steps,
    }


# Resuming -----------------------------------------------------------------------------------------


def resume(args: AnyOptions, make: Callable[[AnyOptions, Path], AnyRun]) -> AnyRun:
    """Return the run of `args.resume` in the state of its last checkpoint.

    Raises:
        FileNotFoundError: the folder has no checkpoint.
        ValueError: the configuration differs from the checkpoint's.
        CheckpointError: the checkpoint is broken, incomplete, or of another environment version.
    """
    assert args.resume is not None
    file = args.resume / CHECKPOINT_FILE
    if not file.exists():
        raise FileNotFoundError(f"{args.resume} has no {CHECKPOINT_FILE}: start a new run")
    state = read_state(file)
    check_description(file, state.get(DESCRIPTION) if isinstance(state, dict) else None, args)
    check_configuration(args, read_configuration(file, state, args))
    run = make(args, args.resume)
    try:
        run.restore(state)
        run.history, run.seconds = state["history"], state["seconds"]
        check_history(run)
        if not all(weights.isfinite().all() for weights in run.network.parameters()):
            raise ValueError("the network has weights that are not finite")
    except Exception as error:  # restoring a broken state may raise anything
        raise CheckpointError(f"{file} cannot be resumed: {error!r}") from error
    save_model(run)  # a run that died between the two files of a save left an older one
    return run


def restore_table(run: TableRun, state: dict[str, Any]) -> None:
    """Resume a run from its `table_state`."""
    run.network.load_state_dict(state["network"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.iteration, own_seats = state["iteration"], state["own_seats"].numpy()
    if (own_seats.shape, own_seats.dtype) != (run.own_seats.shape, run.own_seats.dtype):
        raise ValueError("the network's seats are not those of the games")
    run.own_seats = own_seats
    run.rng.bit_generator.state = state["generator"]
    games = as_arrays(state["games"], run.table.state_dict())
    run.table.load_state_dict(games, state["games_steps"])
    torch.set_rng_state(state["torch"])


def read_state(file: Path) -> Any:
    """Return the content of a checkpoint, without running code from it.

    Raises:
        CheckpointError: the file is damaged, truncated or not a checkpoint.
    """
    try:
        with zipfile.ZipFile(file) as archive:  # torch does not compare checksums
            damaged = archive.testzip()
    except BROKEN_ZIP as error:
        raise CheckpointError(f"{file} is truncated or not a checkpoint: {error}") from error
    if damaged:
        raise CheckpointError(f"{file} is damaged: the checksum of {damaged} is wrong")
    try:
        return torch.load(file, weights_only=True)
    except Exception as error:  # torch raises many types for broken files
        raise CheckpointError(f"{file} is truncated or not a checkpoint: {error}") from error


def read_configuration(file: Path, state: Any, args: AnyOptions) -> dict[str, Any]:
    """Return the configuration in a checkpoint's state; raises CheckpointError if incomplete."""
    try:
        configuration = with_current_names(state["made_by"]["configuration"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{file} has no configuration: {error!r}") from error
    if missing := plain(args).keys() - configuration.keys():
        raise CheckpointError(f"{file} has no {min(missing)!r} in its configuration")
    return configuration


def check_history(run: Run) -> None:
    """Raise TypeError, KeyError or ValueError for an invalid history, time or step count."""
    if not 0 <= run.seconds < math.inf or run.steps < 0:
        raise ValueError("the time and the step count must be numbers of at least 0")
    if not isinstance(run.history, list):
        raise TypeError("the history is not a list")
    for entry in run.history:
        numbers = [entry[name] for name in ("steps", "num_players", "win_rate", "games", "seconds")]
        if not isinstance(entry["opponent"], str) or not all(0 <= n < math.inf for n in numbers):
            raise ValueError(f"the history has an invalid entry {entry}")


def start_weights(args: TableOptions) -> dict[str, torch.Tensor]:
    """Return the weights of `args.start`; new weights for beliefs are 0.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        CheckpointError: the checkpoint is broken, or its network differs from the options.
    """
    network = load_network(args.start)
    if args.beliefs and not network.beliefs:
        network = with_beliefs(network)
    found, expected = describe(network), describe(args)
    if found != expected:
        raise CheckpointError(f"--start {args.start} is for {found}; expected {expected}")
    return network.state_dict()
