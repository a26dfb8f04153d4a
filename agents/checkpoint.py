"""Network checkpoints: the zip file that Stable-Baselines3 writes, read without running its code.

Such a file pickles parts of the model, which can run any code when it is loaded. Here only plain
JSON and tensors are read: the description that `training` adds under `DESCRIPTION`, and weights.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import torch

from agents.network import TakiNetwork
from taki_env import ENV_ID, OBSERVATION_SIZE

DESCRIPTION = "taki"
"""Attribute of the saved model that says what it was trained on."""
PREFIX = "mlp_extractor.network."
MODEL_FILE = "model.zip"


class CheckpointError(ValueError):
    """A file that is no checkpoint of this environment version; the message says why."""


def describe(hidden: int, symmetric: bool) -> dict[str, Any]:
    """Return what a checkpoint says of itself."""
    network = {"hidden": hidden, "symmetric": symmetric}
    return {"env": ENV_ID, "observation_size": OBSERVATION_SIZE, **network}


def save_network(path: Path, network: TakiNetwork, made_by: dict[str, Any]) -> None:
    """Write a checkpoint of a network alone; `load_network` reads it.

    Args:
        path: file to write.
        network: what plays.
        made_by: what else to keep with it, plain values.
    """
    weights = io.BytesIO()
    torch.save({PREFIX + key: value for key, value in network.state_dict().items()}, weights)
    data = {DESCRIPTION: describe(network.hidden, network.symmetric), "made_by": made_by}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", weights.getvalue())


def model_path(path: str | Path) -> Path:
    """Return the model file of a run folder, or the file itself."""
    path = Path(path)
    file = path / MODEL_FILE if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(f"there is no checkpoint {file}")
    return file


def read_member(file: Path, member: str) -> bytes:
    """Return a member of a checkpoint.

    Raises:
        CheckpointError: the file is truncated, or is no checkpoint.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.read(member)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError) as error:
        raise CheckpointError(f"{file} is truncated or no checkpoint: {error}") from error


def read_tensors(file: Path, member: str) -> Any:
    """Return the tensors of a member, without running code from the file."""
    data = io.BytesIO(read_member(file, member))
    try:
        return torch.load(data, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for broken files
        raise CheckpointError(f"{file}: the weights cannot be read: {error}") from error


def read_description(file: Path) -> dict[str, Any]:
    """Return what a checkpoint says of itself.

    Raises:
        CheckpointError: it was trained on another environment, version or observation.
    """
    try:
        found = json.loads(read_member(file, "data")).get(DESCRIPTION)
    except (ValueError, AttributeError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{file} is no checkpoint: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("hidden"), int):
        raise CheckpointError(f"{file} was not written by this project's training")
    for key, expected in describe(found["hidden"], found.get("symmetric") is not False).items():
        if found.get(key) != expected:
            raise CheckpointError(
                f"{file} was trained with {key} {found.get(key)!r}; this is {expected!r}"
            )
    return found


def load_network(path: str | Path) -> TakiNetwork:
    """Return the network of a run folder or a checkpoint file.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is truncated, foreign, or of another environment version.
    """
    file = model_path(path)
    found = read_description(file)
    network = TakiNetwork(found["hidden"], found["symmetric"])
    weights = read_tensors(file, "policy.pth")
    own = {key.removeprefix(PREFIX): value for key, value in weights.items() if PREFIX in key}
    try:
        network.load_state_dict(own)
    except RuntimeError as error:
        raise CheckpointError(f"{file}: the weights do not fit the network: {error}") from error
    return network.eval()
