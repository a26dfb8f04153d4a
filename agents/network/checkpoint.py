"""Network checkpoints: the zip file that Stable-Baselines3 writes, read without running its code.

Such a file pickles parts of the model, which can run any code when it is loaded. Here only plain
JSON and tensors are read: the description that `training` adds under `DESCRIPTION`, and weights.
`load_trusted` alone runs what a file holds, for models of other training.
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
"""Attribute of the saved model that says what it was trained on."""
PREFIX = "mlp_extractor.network."
MODEL_FILE = "model.zip"
TRAINED_ON = {"env": ENV_ID, "observation_size": OBSERVATION_SIZE}
"""What all checkpoints that can be played here have in common."""
MAX_HIDDEN = 8192
"""Width of the widest layers that are read or trained."""
MAX_BYTES = {"data": 2**28, "policy.pth": 2**31}
"""Of a member of a checkpoint, unpacked: a small file may hold much more than memory does."""


BROKEN_ZIP = (
    *(zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, ValueError, OverflowError),
    *(RuntimeError, NotImplementedError),  # encrypted; packed in a way that is not known
)
"""What reading a member of a broken zip file raises."""


class CheckpointError(ValueError):
    """A file that is no checkpoint of this environment version; the message says why."""


class Shaped(Protocol):
    """What decides a network's weights: the network itself, or the arguments of its training."""

    @property
    def hidden(self) -> int:
        """Width of the layers."""

    @property
    def symmetric(self) -> bool:
        """Whether the colors are alike to it."""

    @property
    def beliefs(self) -> bool:
        """Whether it takes beliefs."""


def describe(shaped: Shaped) -> dict[str, Any]:
    """Return what a checkpoint says of itself."""
    return TRAINED_ON | {name: getattr(shaped, name) for name in ("hidden", "symmetric", "beliefs")}


def save_network(path: Path, network: TakiNetwork, made_by: dict[str, Any]) -> None:
    """Write a checkpoint of a network alone; `load_network` reads it.

    Args:
        path: file to write.
        network: what plays.
        made_by: what else to keep with it, plain values.
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
        found = file.is_file()  # a device has no end
    except OSError as error:  # such as a name that is too long
        raise FileNotFoundError(f"there is no checkpoint {path}: {error.strerror}") from error
    if not found:
        raise FileNotFoundError(f"there is no checkpoint {file}")
    return file


def read_member(file: Path, member: str) -> bytes:
    """Return a member of a checkpoint.

    Raises:
        CheckpointError: the file is truncated, is no checkpoint, or would fill the memory.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(member).file_size <= MAX_BYTES[member]:
                return archive.read(member)
    except BROKEN_ZIP as error:
        raise CheckpointError(f"{file} is truncated or no checkpoint: {error}") from error
    raise CheckpointError(f"{file}: {member} has more than {MAX_BYTES[member]:,} bytes")


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
    except (ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{file} is no checkpoint: {error}") from error
    if not isinstance(found, dict) or type(found.get("hidden")) is not int:
        raise CheckpointError(
            f"{file} was not written by this project's training. Stable-Baselines3 may load it, "
            f"which can run any code that the file holds: policy:{file},trust=true does so"
        )
    if not 1 <= found["hidden"] <= MAX_HIDDEN:
        raise CheckpointError(f"{file}: hidden must be 1 to {MAX_HIDDEN}, not {found['hidden']}")
    for key, expected in TRAINED_ON.items():
        if found.get(key) != expected:
            raise CheckpointError(
                f"{file} was trained with {key} {found.get(key)!r}; this is {expected!r}"
            )
    found = {"beliefs": False, **found}  # networks had none before they were described so
    for key in ("symmetric", "beliefs"):
        if type(found.get(key)) is not bool:
            raise CheckpointError(f"{file}: {key} must be true or false, not {found.get(key)!r}")
    return found


def load_network(path: str | Path) -> TakiNetwork:
    """Return the network of a run folder or a checkpoint file.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file is truncated, foreign, or of another environment version.
    """
    file = model_path(path)
    found = read_description(file)
    network = TakiNetwork(found["hidden"], found["symmetric"], found["beliefs"])
    weights = read_tensors(file, "policy.pth")
    if not isinstance(weights, dict):
        raise CheckpointError(f"{file}: the weights are no mapping of names to tensors")
    own = {
        key.removeprefix(PREFIX): value
        for key, value in weights.items()
        if isinstance(key, str) and key.startswith(PREFIX)
    }
    check_weights(file, own, network)
    network.load_state_dict(own)
    return network.eval()


def check_weights(file: Path, weights: dict[str, Any], network: nn.Module) -> None:
    """Raise CheckpointError unless weights are a network's: names, shapes, finite numbers."""
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
            raise CheckpointError(f"{file}: {name!r} holds numbers that are not finite")


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
    """Return the network of any MaskablePPO model of this environment's observations and actions.

    One that this project's training wrote is read as `load_network` does. Of any other,
    Stable-Baselines3 unpickles parts, which runs whatever code the file holds.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: it cannot be loaded, or is of another environment.
    """
    file = model_path(path)
    try:
        return load_network(file)
    except CheckpointError:
        from sb3_contrib import MaskablePPO

        try:
            model = MaskablePPO.load(file, device="cpu")
        except Exception as error:  # the file decides what is raised
            raise CheckpointError(f"{file} is no model of MaskablePPO: {error}") from error
    spaces = getattr(model.observation_space, "shape", None), getattr(model.action_space, "n", None)
    if spaces != ((OBSERVATION_SIZE,), NUM_ACTIONS):
        raise CheckpointError(
            f"{file} has observations {spaces[0]} and {spaces[1]} actions; "
            f"these are {(OBSERVATION_SIZE,)} and {NUM_ACTIONS}"
        )
    return TrustedNetwork(model.policy).eval()
