"""Network checkpoints: zip files of Stable-Baselines3, read without running code from them.

Such a file contains pickled parts of the model, which can run any code when they are loaded. This
module reads only plain JSON and tensors: the description that `training` adds under `DESCRIPTION`,
and the weights. Only `load_trusted`, for models of other training, unpickles a file.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from agents.network.network import TakiNetwork
from taki_env import ENV_ID, OBSERVATION_SIZE
from taki_env.core.cards import NUM_ACTIONS

DESCRIPTION = "taki"
"""Attribute of the saved model that describes its network and environment."""
PREFIX = "mlp_extractor.network."
MODEL_FILE = "model.zip"
TRAINED_ON = {"env": ENV_ID, "observation_size": OBSERVATION_SIZE}
"""Part of the description that a checkpoint must match to be loaded."""
MAX_HIDDEN = 8192
"""Maximum width of the layers."""
MAX_BYTES = {"data": 2**28, "policy.pth": 2**31}
"""Maximum unpacked size of a member: a small zip file can unpack to more than the memory."""

BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, ValueError, OverflowError),
    *(RuntimeError, NotImplementedError),  # encrypted; unknown compression
)
"""Exceptions from reading a member of a broken zip file."""


class CheckpointError(ValueError):
    """A file that is not a checkpoint for this version of the environment."""


class Shaped(Protocol):
    """Anything with the settings of a network's shape: a network, or training arguments."""

    @property
    def hidden(self) -> int:
        """Width of the layers."""

    @property
    def symmetric(self) -> bool:
        """Whether the network treats colors alike."""

    @property
    def beliefs(self) -> bool:
        """Whether the inputs include beliefs."""


def describe(shaped: Shaped) -> dict[str, Any]:
    """Return the description to save in a checkpoint."""
    return TRAINED_ON | {name: getattr(shaped, name) for name in ("hidden", "symmetric", "beliefs")}


def save_network(path: Path, network: TakiNetwork, made_by: dict[str, Any]) -> None:
    """Write a checkpoint of a network alone; `load_network` reads it.

    Args:
        path: file to write.
        network: network to save.
        made_by: provenance, ready for JSON.
    """
    weights = io.BytesIO()
    torch.save({PREFIX + key: value for key, value in network.state_dict().items()}, weights)
    data = {DESCRIPTION: describe(network), "made_by": made_by}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", weights.getvalue())


def model_path(path: str | Path) -> Path:
    """Return the model file of a run folder, or the file itself."""
    path = Path(path)
    try:
        file = path / MODEL_FILE if path.is_dir() else path
        found = file.is_file()  # not a device, which could be endless
    except OSError as error:  # for example, the name is too long
        raise FileNotFoundError(f"checkpoint {path} not found: {error.strerror}") from error
    if not found:
        raise FileNotFoundError(f"checkpoint {file} not found")
    return file


def read_member(file: Path, member: str) -> bytes:
    """Return a member of a checkpoint.

    Raises:
        CheckpointError: the file is truncated, not a checkpoint, or too large.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(member).file_size <= MAX_BYTES[member]:
                return archive.read(member)
    except BROKEN_ZIP as error:
        raise CheckpointError(f"{file} is truncated or not a checkpoint: {error}") from error
    raise CheckpointError(f"{file}: {member} is larger than {MAX_BYTES[member]:,} bytes")


def read_tensors(file: Path, member: str) -> Any:
    """Return the tensors of a member, without running code from the file."""
    data = io.BytesIO(read_member(file, member))
    try:
        return torch.load(data, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for broken files
        raise CheckpointError(f"{file}: the weights cannot be read: {error}") from error


def read_description(file: Path) -> dict[str, Any]:
    """Return the description saved in a checkpoint.

    Raises:
        CheckpointError: the file is not a checkpoint, or its environment version differs.
    """
    try:
        found = json.loads(read_member(file, "data")).get(DESCRIPTION)
    except (ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{file} is not a checkpoint: {error}") from error
    if not isinstance(found, dict) or type(found.get("hidden")) is not int:
        raise CheckpointError(
            f"{file} was not written by this project's training. Loading it can run any code in "
            f"the file; if you trust it, use policy:{file},trust=true"
        )
    if not 1 <= found["hidden"] <= MAX_HIDDEN:
        raise CheckpointError(f"{file}: hidden must be 1 to {MAX_HIDDEN}, got {found['hidden']}")
    for key, expected in TRAINED_ON.items():
        if found.get(key) != expected:
            raise CheckpointError(
                f"{file} was trained with {key} {found.get(key)!r}, but {expected!r} is required"
            )
    found = {"beliefs": False, **found}  # older checkpoints do not have the key
    for key in ("symmetric", "beliefs"):
        if type(found.get(key)) is not bool:
            raise CheckpointError(f"{file}: {key} must be true or false, got {found.get(key)!r}")
    return found


def load_network(path: str | Path) -> TakiNetwork:
    """Return the network of a run folder or a checkpoint file.

    Raises:
        FileNotFoundError: the file does not exist.
        CheckpointError: the file is invalid, or for another version of the environment.
    """
    file = model_path(path)
    found = read_description(file)
    network = TakiNetwork(found["hidden"], found["symmetric"], found["beliefs"])
    weights = read_tensors(file, "policy.pth")
    if not isinstance(weights, dict):
        raise CheckpointError(f"{file}: the weights are not a mapping of names to tensors")
    own = {
        key.removeprefix(PREFIX): value
        for key, value in weights.items()
        if isinstance(key, str) and key.startswith(PREFIX)
    }
    check_weights(file, own, network)
    network.load_state_dict(own)
    return network.eval()


def check_weights(file: Path, weights: dict[str, Any], network: nn.Module) -> None:
    """Raise CheckpointError unless weights are finite and match a network in names and shapes."""
    expected = network.state_dict()
    if weights.keys() != expected.keys():
        name = min(weights.keys() ^ expected.keys())
        raise CheckpointError(f"{file}: the weights do not fit the network: {name!r}")
    for name, tensor in expected.items():
        found = weights[name]
        same = isinstance(found, Tensor) and found.layout == tensor.layout
        if not same or (found.shape, found.dtype) != (tensor.shape, tensor.dtype):
            raise CheckpointError(f"{file}: the weights do not fit the network: {name!r}")
        if not found.isfinite().all():
            raise CheckpointError(f"{file}: {name!r} contains values that are not finite")


class TrustedNetwork(nn.Module):
    """Logits and value of a model of other training (Stable-Baselines3)."""

    beliefs = False

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def logits(self, observations: Tensor) -> Tensor:
        """Return unmasked logits of the actions, (B, 64)."""
        logits: Tensor = self.policy.get_distribution(observations).distribution.logits
        return logits

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, 64) and values (B, 1)."""
        return self.logits(observations), self.policy.predict_values(observations)


def load_trusted(path: str | Path) -> TakiNetwork | TrustedNetwork:
    """Return the network of any MaskablePPO model with this environment's spaces.

    Checkpoints of this project's training are read like `load_network` does. For any other file,
    Stable-Baselines3 unpickles parts of the model, which can run code from the file.

    Raises:
        FileNotFoundError: the file does not exist.
        CheckpointError: the file cannot be loaded, or is for another environment.
    """
    file = model_path(path)
    try:
        return load_network(file)
    except CheckpointError:
        from sb3_contrib import MaskablePPO

        try:
            model = MaskablePPO.load(file, device="cpu")
        except Exception as error:  # depends on the file
            raise CheckpointError(f"{file} is not a MaskablePPO model: {error}") from error
    spaces = getattr(model.observation_space, "shape", None), getattr(model.action_space, "n", None)
    if spaces != ((OBSERVATION_SIZE,), NUM_ACTIONS):
        raise CheckpointError(
            f"{file} must have observations {(OBSERVATION_SIZE,)} and {NUM_ACTIONS} actions, "
            f"got {spaces[0]} and {spaces[1]}"
        )
    return TrustedNetwork(model.policy).eval()
