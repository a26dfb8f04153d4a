"""Files from others: nothing in them runs unless it is trusted by name."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium
import pytest
import torch
from sb3_contrib import MaskablePPO

import agents
from agents.network import checkpoint
from agents.network.checkpoint import CheckpointError, describe
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from taki_env import Game
from taki_env.envs.sb3 import TakiVecEnv
from tools.fuzz import TINY, run_folder
from training.trainers import selfplay
from training.trainers.checkpoints import as_arrays, as_tensors
from training.trainers.run_folder import CHECKPOINT_FILE, CONFIG_FILE, read_arguments


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what unpickling calls."""
        return os.mkdir, (str(self.trace),)


def test_the_evil_object_is_one(tmp_path: Path) -> None:
    """Unpickled plainly, it leaves its trace: so the tests below can fail."""
    pickle.loads(pickle.dumps(Evil(tmp_path / "trace")))
    assert (tmp_path / "trace").exists()


def torch_file(trace: Path) -> bytes:
    """Return a file of torch's that holds the evil object."""
    out = io.BytesIO()
    torch.save({"weights": Evil(trace)}, out)
    return out.getvalue()


def write_model(file: Path, data: dict[str, Any], weights: bytes) -> None:
    """Write a model."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", weights)


def evil_weights(file: Path, trace: Path) -> None:
    """Write a model of this project's whose weights are evil."""
    write_model(file, {"taki": describe(TakiNetwork(8))}, torch_file(trace))


def evil_data(file: Path, trace: Path) -> None:
    """Write a model of Stable-Baselines3 whose pickled class is evil."""
    pickled = b64encode(cloudpickle.dumps(Evil(trace))).decode()
    write_model(file, {"policy_class": {":type:": "x", ":serialized:": pickled}}, b"")


def evil_pickle(file: Path, trace: Path) -> None:
    """Write a bare pickle."""
    file.write_bytes(pickle.dumps(Evil(trace)))


def evil_torch(file: Path, trace: Path) -> None:
    """Write a file of torch's."""
    file.write_bytes(torch_file(trace))


@pytest.mark.parametrize("write", [evil_weights, evil_data, evil_pickle, evil_torch])
def test_a_model_runs_no_code(write: Callable[[Path, Path], None], tmp_path: Path) -> None:
    """It is refused, and nothing has happened."""
    write(tmp_path / "model.zip", tmp_path / "trace")
    with pytest.raises(CheckpointError):
        agents.load(f"policy:{tmp_path}")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("write", [evil_pickle, evil_torch])
def test_a_checkpoint_of_training_runs_no_code(
    write: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Going on in a run folder of others is safe."""
    config = (run_folder() / CONFIG_FILE).read_text()
    (tmp_path / CONFIG_FILE).write_text(config)
    write(tmp_path / CHECKPOINT_FILE, tmp_path / "trace")
    args = read_arguments(selfplay.SelfPlayArgs, ["--resume", str(tmp_path)])
    with pytest.raises(CheckpointError):
        selfplay.prepare(args)
    assert not (tmp_path / "trace").exists()


def test_what_is_trusted_runs(tmp_path: Path) -> None:
    """With trust=true, Stable-Baselines3 unpickles the file: the option means what it says."""
    evil_data(tmp_path / "model.zip", tmp_path / "trace")
    with pytest.raises(CheckpointError, match="not a MaskablePPO model"):
        agents.load(f"policy:{tmp_path},trust=true")
    assert (tmp_path / "trace").exists()


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of other training: Stable-Baselines3's own policy, on this environment."""
    file = tmp_path_factory.mktemp("foreign") / "other, model.zip"
    kwargs = {"net_arch": [8]}
    MaskablePPO("MlpPolicy", TakiVecEnv(2), n_steps=4, batch_size=8, policy_kwargs=kwargs).save(
        file
    )
    return file


def test_a_model_of_other_training_asks_for_trust(foreign: Path) -> None:
    """The message says why, and the spelling."""
    with pytest.raises(CheckpointError, match=r"run any code .*trust=true"):
        agents.load(f"policy:{foreign}")


@pytest.mark.parametrize(
    "words", ["trust=true", "sample=true,trust=true", "trust=true,sample=false"]
)
def test_a_trusted_model_plays_as_its_trainer_has_it(foreign: Path, words: str) -> None:
    """Its probabilities are those of Stable-Baselines3, and it plays legal actions."""
    agent = agents.load(f"policy:{foreign},{words}")
    assert isinstance(agent, PolicyAgent)
    assert agent.sample == ("sample=true" in words)
    view = Game(3, seed=1).view()
    assert int(view.legal[0]) >> int(agent.act(view)[0]) & 1
    probabilities, values = agent.predict(view)
    policy = MaskablePPO.load(foreign).policy
    seen = torch.from_numpy(view.observations)
    expected = policy.get_distribution(seen, view.action_masks).distribution.probs
    assert torch.allclose(torch.from_numpy(probabilities), expected, atol=1e-6)
    assert values[0] == pytest.approx(policy.predict_values(seen).item())


def test_trust_changes_nothing_for_own_models() -> None:
    """They are read as ever."""
    view = Game(3, seed=1).view()
    one, other = (agents.load(f"policy:{run_folder()}{words}") for words in ("", ",trust=true"))
    assert (one.predict(view)[0] == other.predict(view)[0]).all()  # type: ignore[attr-defined]


def test_a_model_of_another_environment_is_refused_even_if_trusted(tmp_path: Path) -> None:
    """Observations and actions have to be these."""
    file = tmp_path / "model.zip"
    env = gymnasium.make("CartPole-v1")
    MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=4).save(file)
    with pytest.raises(CheckpointError, match=r"64 actions, got \(4,\) and 2"):
        agents.load(f"policy:{file},trust=true")


# Damage -------------------------------------------------------------------------------------------


def test_a_flipped_bit_in_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    """In the middle of a tensor, where nothing but the checksum tells."""
    for name in (CONFIG_FILE, CHECKPOINT_FILE):
        (tmp_path / name).write_bytes((run_folder() / name).read_bytes())
    file = tmp_path / CHECKPOINT_FILE
    data = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        largest = max(archive.infolist(), key=lambda member: member.file_size)
    data[largest.header_offset + 200 + largest.file_size // 2] ^= 1
    file.write_bytes(data)
    args = read_arguments(selfplay.SelfPlayArgs, ["--resume", str(tmp_path)])
    with pytest.raises(CheckpointError, match="damaged"):
        selfplay.prepare(args)


def test_a_model_that_would_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the size that its members have unpacked."""
    monkeypatch.setitem(checkpoint.MAX_BYTES, "data", 1000)
    with zipfile.ZipFile(tmp_path / "model.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", " " * 1001)
    assert (tmp_path / "model.zip").stat().st_size < 300
    with pytest.raises(CheckpointError, match="data is larger than 1,000 bytes"):
        agents.load(f"policy:{tmp_path}")


def test_a_model_that_has_no_end_is_refused() -> None:
    """A device is no checkpoint."""
    with pytest.raises(FileNotFoundError, match="checkpoint /dev/zero not found"):
        agents.load("policy:/dev/zero")


def games_changed(name: str, value: int, tmp_path: Path) -> None:
    """Go on from a checkpoint in which a field of the first game is another."""
    (tmp_path / CONFIG_FILE).write_bytes((run_folder() / CONFIG_FILE).read_bytes())
    state = torch.load(run_folder() / CHECKPOINT_FILE, weights_only=True)
    training = selfplay.SelfPlayTrainer(replace(TINY, runs=tmp_path), tmp_path)
    games = as_arrays(state["games"], training.table.state_dict())
    games["states"] = games["states"].copy()
    games["states"][name][0] = value
    state["games"] = as_tensors(games)
    torch.save(state, tmp_path / CHECKPOINT_FILE)
    selfplay.prepare(read_arguments(selfplay.SelfPlayArgs, ["--resume", str(tmp_path)]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("phase", 9), ("actor", 7), ("color", 4), ("lead", 200), ("draw_size", 255), ("rng", 0)),
        *(("num_players", 3), ("hand_sizes", 1), ("tournament", 1), ("holds", 3), ("winner", 5)),
    ],
)
def test_games_of_a_checkpoint_that_cannot_be_are_refused(
    name: str, value: int, tmp_path: Path
) -> None:
    """What the compiled code would take for granted is checked when it is read."""
    with pytest.raises(CheckpointError, match="game 0 is invalid"):
        games_changed(name, value, tmp_path)


def test_seats_of_other_games_are_refused(tmp_path: Path) -> None:
    """A checkpoint says which seats are the network's, for each of its games."""
    (tmp_path / CONFIG_FILE).write_bytes((run_folder() / CONFIG_FILE).read_bytes())
    state = torch.load(run_folder() / CHECKPOINT_FILE, weights_only=True)
    state["own_seats"] = state["own_seats"][:-1].float()
    torch.save(state, tmp_path / CHECKPOINT_FILE)
    args = read_arguments(selfplay.SelfPlayArgs, ["--resume", str(tmp_path)])
    with pytest.raises(CheckpointError, match="seats are not those of the games"):
        selfplay.prepare(args)
