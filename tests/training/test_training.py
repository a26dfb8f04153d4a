"""Training: run folders, exact resume, and what is refused."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import signal
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO

import agents
from agents.files import replacing
from agents.network.checkpoint import CheckpointError, load_network
from agents.network.network import TakiNetwork, color_features
from taki_env import ACTIONS, Batch, Game
from taki_env.core.cards import COLORS, NUM_COLORED
from training.arena import play
from training.trainers import checkpoints, evaluation, run_folder
from training.trainers import train as training
from training.trainers.run_folder import CHECKPOINT_FILE
from training.trainers.train import PPOArgs

TINY = PPOArgs(
    steps=4 * 8 * 16,
    envs=8,
    rollout=16,
    batch_size=64,
    epochs=1,
    hidden=16,
    snapshot_every=1,
    evaluate_every=2,
    evaluation_games=10,
    final_games=10,
    threads=1,
)


def read_arguments(words: list[str]) -> PPOArgs:
    """Return the arguments of a command line."""
    return run_folder.read_arguments(PPOArgs, words)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run."""
    folder = tmp_path_factory.mktemp("runs")
    return training.prepare(replace(TINY, runs=folder))().folder


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    """Return a run's network."""
    return load_network(folder).state_dict()


def assert_same_run(one: Path, other: Path) -> None:
    """Compare everything that two checkpoints hold, bit for bit."""
    first, second = (
        torch.load(folder / CHECKPOINT_FILE, weights_only=True) for folder in (one, other)
    )
    assert first.keys() == second.keys()
    for key in first.keys() - {"seconds"}:
        assert same(without_clock(first[key]), without_clock(second[key])), key


def without_clock(value: Any) -> Any:
    """Drop wall-clock times."""
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if k not in ("seconds", "t")}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


def same(one: Any, other: Any) -> bool:
    """Compare nested tensors and plain values exactly."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def test_a_run_folder_holds_model_configuration_results_and_curve(finished: Path) -> None:
    """All files of a run exist and carry their provenance."""
    results = json.loads((finished / "results.json").read_text())
    assert {"commit", "versions", "hardware", "configuration", "evaluation"} <= results.keys()
    assert results["finished"] and results["steps"] == TINY.steps
    assert [entry["opponent"] for entry in results["evaluation"]] == list(evaluation.YARDSTICKS)
    for entry in results["evaluation"]:
        assert entry["games"] == 10
        low, high = entry["interval"]
        assert low <= entry["win_rate"] == entry["wins"] / 10 <= high
    assert json.loads((finished / "config.json").read_text())["arguments"]["seed"] == 0
    assert (finished / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert list(finished.glob("events.out.tfevents.*"))


def test_two_runs_with_one_seed_agree_bit_for_bit(finished: Path, tmp_path: Path) -> None:
    """The same arguments give the same weights, games and generators."""
    again = training.prepare(replace(TINY, runs=tmp_path))().folder
    assert_same_run(finished, again)


def test_another_seed_gives_another_run(finished: Path, tmp_path: Path) -> None:
    """The seed reaches the network."""
    other = training.prepare(replace(TINY, runs=tmp_path, seed=1))().folder
    assert not same(weights_of(finished), weights_of(other))


def interrupt_after(monkeypatch: pytest.MonkeyPatch, rollouts: int) -> None:
    """Press Ctrl-C during a rollout."""
    iterate = training.PPOTrainer.iterate

    def pressed(run: training.PPOTrainer) -> None:
        if run.iteration + 1 == rollouts:
            os.kill(os.getpid(), signal.SIGINT)
        iterate(run)

    monkeypatch.setattr(training.PPOTrainer, "iterate", pressed)


def test_ctrl_c_leaves_a_whole_run_folder_and_resume_equals_an_uninterrupted_run(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resumed run ends with the same checkpoint, bit for bit."""
    with monkeypatch.context() as patch:
        interrupt_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):  # exit status 130
            training.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    results = json.loads((folder / "results.json").read_text())
    assert not results["finished"] and results["steps"] == TINY.steps // 2
    assert (folder / "learning_curve.png").exists()
    training.prepare(read_arguments(["--resume", str(folder)]))()
    assert_same_run(finished, folder)


def test_ctrl_c_before_the_first_rollout_leaves_a_run_that_can_be_resumed(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as an uninterrupted run does."""
    evaluate_run = evaluation.evaluate

    def pressed(run: training.PPOTrainer) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGINT)
        return evaluate_run(run)

    with monkeypatch.context() as patch:
        patch.setattr(training, "evaluate", pressed)
        with pytest.raises(KeyboardInterrupt):
            training.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    assert json.loads((folder / "results.json").read_text())["steps"] == 0
    training.prepare(read_arguments(["--resume", str(folder)]))()
    assert_same_run(finished, folder)


def test_ctrl_c_in_the_final_evaluation_leaves_the_run_unfinished(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resuming repeats the final evaluation."""
    matches = evaluation.matches

    def pressed(run: training.PPOTrainer, games: int, seed: int) -> list[dict[str, Any]]:
        if seed == TINY.seed + 2:
            raise KeyboardInterrupt
        return matches(run, games, seed)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(evaluation, "matches", pressed)
        training.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    results = json.loads((folder / "results.json").read_text())
    assert (results["steps"], results["finished"]) == (TINY.steps, False)
    training.prepare(read_arguments(["--resume", str(folder)]))()
    assert_same_run(finished, folder)


def test_a_run_that_cannot_be_made_leaves_no_folder(tmp_path: Path) -> None:
    """The next run gets the documented folder name."""

    def fail(args: PPOArgs, folder: Path) -> training.PPOTrainer:
        assert (folder / "config.json").exists()
        raise FileNotFoundError("no network to start from")

    with pytest.raises(FileNotFoundError, match="no network"):
        run_folder.start(replace(TINY, runs=tmp_path), fail)
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_reported_with_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the package and the pip command."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "tyro" else find(name)
    )
    with pytest.raises(ModuleNotFoundError, match=r"needs tyro: pip install 'taki-env\[train\]'"):
        importlib.reload(sys.modules["training"])


def test_the_model_loads_in_sb3_and_as_an_agent(finished: Path) -> None:
    """`model.zip` is a MaskablePPO model, and `policy:PATH` plays it without SB3's loader."""
    model = MaskablePPO.load(finished / "model.zip")
    assert same(model.policy.network.state_dict(), weights_of(finished))
    assert play([f"policy:{finished}", "random"], games=4).games == 4


def test_a_truncated_model_is_refused(finished: Path, tmp_path: Path) -> None:
    """Half a file is not a checkpoint."""
    half = tmp_path / "model.zip"
    data = (finished / "model.zip").read_bytes()
    half.write_bytes(data[: len(data) // 2])
    with pytest.raises(CheckpointError, match="truncated"):
        agents.load(f"policy:{half}")


def changed_model(finished: Path, path: Path, **changes: Any) -> Path:
    """Write a copy of the model with a changed description."""
    with zipfile.ZipFile(finished / "model.zip") as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "data":
                data = json.loads(content)
                data["taki"].update(changes)
                content = json.dumps(data).encode()
            new.writestr(member, content)
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"observation_size": 100}, "observation_size 100, but 199"),
        ({"env": "Taki-v9"}, "env 'Taki-v9', but 'Taki-v0'"),
        ({"hidden": 32}, "do not fit"),
        ({"hidden": None}, "not written by"),
    ],
)
def test_a_foreign_model_is_refused(
    finished: Path, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """The message names the environment version, observation or network that differs."""
    with pytest.raises(CheckpointError, match=words):
        load_network(changed_model(finished, tmp_path / "model.zip", **change))


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    """The message holds the path."""
    with pytest.raises(FileNotFoundError, match="nothing"):
        agents.load(f"policy:{tmp_path / 'nothing.zip'}")


def test_resume_refuses_a_changed_configuration(finished: Path) -> None:
    """A resumed run keeps its configuration."""
    with pytest.raises(ValueError, match=r"--learning-rate 0\.5 is not the run's 0\.001"):
        read_arguments(["--resume", str(finished), "--learning-rate", "0.5"])


def test_resume_accepts_the_same_configuration_spelled_out(finished: Path) -> None:
    """Repeating an argument changes nothing."""
    words = ["--resume", str(finished), "--envs", str(TINY.envs)]
    assert read_arguments(words).envs == TINY.envs


def test_resume_refuses_a_truncated_checkpoint(finished: Path, tmp_path: Path) -> None:
    """A run cannot be resumed from half a checkpoint."""
    (tmp_path / "config.json").write_bytes((finished / "config.json").read_bytes())
    data = (finished / "checkpoint.pt").read_bytes()
    (tmp_path / "checkpoint.pt").write_bytes(data[: len(data) // 2])
    with pytest.raises(CheckpointError, match="truncated"):
        training.prepare(read_arguments(["--resume", str(tmp_path)]))


@pytest.mark.parametrize(("name", "value"), [("players", 4), ("seed", 5), ("learning_rate", 0.5)])
def test_resume_refuses_a_configuration_file_that_was_changed(
    finished: Path, tmp_path: Path, name: str, value: Any
) -> None:
    """The checkpoint holds the configuration of the run as well."""
    config = json.loads((finished / "config.json").read_text())
    config["arguments"][name] = value
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "checkpoint.pt").write_bytes((finished / "checkpoint.pt").read_bytes())
    with pytest.raises(ValueError, match=f"{value} is not the run's"):
        training.prepare(read_arguments(["--resume", str(tmp_path)]))


def test_resume_refuses_a_checkpoint_that_lacks_something(finished: Path, tmp_path: Path) -> None:
    """The message names the missing entry."""
    (tmp_path / "config.json").write_bytes((finished / "config.json").read_bytes())
    state = torch.load(finished / "checkpoint.pt", weights_only=True)
    del state["policy"]
    torch.save(state, tmp_path / "checkpoint.pt")
    with pytest.raises(CheckpointError, match=r"cannot be resumed: KeyError.*policy"):
        training.prepare(read_arguments(["--resume", str(tmp_path)]))


def test_resume_refuses_weights_that_are_not_finite(finished: Path, tmp_path: Path) -> None:
    """Loading such a network fails as well."""
    (tmp_path / "config.json").write_bytes((finished / "config.json").read_bytes())
    state = torch.load(finished / "checkpoint.pt", weights_only=True)
    next(iter(state["policy"].values())).view(-1)[0] = torch.nan
    torch.save(state, tmp_path / "checkpoint.pt")
    with pytest.raises(CheckpointError, match="weights that are not finite"):
        training.prepare(read_arguments(["--resume", str(tmp_path)]))


def test_checkpoints_of_earlier_versions_are_resumed(finished: Path, tmp_path: Path) -> None:
    """They also held SB3's last observations and its number of updates."""
    (tmp_path / "config.json").write_bytes((finished / "config.json").read_bytes())
    state = torch.load(finished / "checkpoint.pt", weights_only=True)
    steps, iteration, taken = state["counters"]
    state |= {"counters": [steps, 7, iteration, taken], "last": [torch.zeros(8, 199)]}
    torch.save(state, tmp_path / "checkpoint.pt")
    args = run_folder.read_config(PPOArgs, tmp_path)
    run = checkpoints.resume(args, training.PPOTrainer)
    assert (run.steps, run.iteration, run.taken) == (steps, iteration, taken)


def test_a_resumed_run_keeps_its_games(finished: Path) -> None:
    """SB3 resets the environment first, which must not deal; a second reset deals."""
    run = checkpoints.resume(run_folder.read_config(PPOArgs, finished), training.PPOTrainer)
    observations = run.env.games.observations()
    assert np.array_equal(run.env.reset(), observations)
    assert not np.array_equal(run.env.reset(), observations)


def test_the_pool_of_snapshots_does_not_grow(tmp_path: Path) -> None:
    """Four rollouts take four snapshots, of which two are kept."""
    run = training.prepare(replace(TINY, runs=tmp_path, pool=2))()
    assert (run.taken, len(run.snapshots)) == (4, 2)


def test_checkpoint_and_model_carry_their_provenance(finished: Path) -> None:
    """Commit, versions, seed and configuration."""
    state = torch.load(finished / "checkpoint.pt", weights_only=True)
    with zipfile.ZipFile(finished / "model.zip") as archive:
        model = json.loads(archive.read("data"))
    for made_by in (state["made_by"], model["made_by"]):
        assert {"commit", "versions", "hardware", "configuration"} <= made_by.keys()
        assert made_by["configuration"]["seed"] == TINY.seed


def test_resume_refuses_another_environment_version(finished: Path, tmp_path: Path) -> None:
    """The configuration names the environment."""
    config = json.loads((finished / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"env": "Taki-v9"}))
    with pytest.raises(CheckpointError, match="Taki-v9"):
        read_arguments(["--resume", str(tmp_path)])


def test_resume_needs_a_run_folder(tmp_path: Path) -> None:
    """An empty folder is not a run folder."""
    with pytest.raises(FileNotFoundError, match="not a run folder"):
        read_arguments(["--resume", str(tmp_path)])


@pytest.mark.parametrize(
    "change",
    [
        {"players": 1},
        {"players": 11},
        {"steps": 0},
        {"envs": -1},
        {"learning_rate": 0.0},
        {"random_weight": -1.0},
        {"random_weight": 0.0, "greedy_weight": 0.0},
        {"batch_size": 100},
        {"seed": 2**32},
        {"seed": -1},
        {"batch_size": 1},
        {"gae_lambda": 1.5},
    ],
)
def test_impossible_arguments_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    """A value out of range creates no run folder."""
    with pytest.raises(ValueError, match="must be"):
        training.prepare(replace(TINY, runs=tmp_path, **change))
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    """`replacing` renames only complete files."""
    file = tmp_path / "results.json"
    file.write_text("old")

    def fail() -> None:
        with replacing(file) as beside:
            beside.write_text("half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_unknown_agents_are_refused_with_the_nearest_name() -> None:
    """The message suggests the nearest name."""
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        agents.load("gredy")


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_agents_play_legal_actions(name: str) -> None:
    """Every action is in the mask, in every state of some games."""
    agent, batch = agents.load(name), Batch(50, 3, seed=1)
    assert agent.name == name
    while not batch.done.all():
        live = np.flatnonzero(~batch.done)
        view = batch.view(live)
        actions = agent.act(view)
        assert view.action_masks[np.arange(live.size), actions].all()
        step = np.zeros(len(batch), np.int64)
        step[live] = actions
        batch.step(step)


def test_the_network_treats_colors_alike() -> None:
    """Exchanging colors in an observation exchanges the logits of their cards and actions."""
    torch.manual_seed(0)
    network = TakiNetwork(16)
    for parameter in network.parameters():  # the cards meet: at first they do not
        torch.nn.init.normal_(parameter, std=0.3)
    observation = torch.rand(1, Game().observation().size)
    order = [2, 0, 3, 1]
    exchanged = observation.clone()
    columns = color_features()
    exchanged[0, columns.ravel()] = observation[0, columns[order].ravel()]
    logits, value = network(observation)
    other_logits, other_value = network(exchanged)
    expected = logits[0].clone()
    cards = logits[0, :NUM_COLORED].reshape(len(COLORS), -1)[order]
    expected[:NUM_COLORED] = cards.ravel()
    first = ACTIONS.index("change color to red")
    expected[first : first + 4] = logits[0, first : first + 4][order]
    assert not torch.allclose(other_logits, logits, atol=1e-5)
    assert torch.allclose(other_logits[0], expected, atol=1e-5)
    assert torch.allclose(other_value, value, atol=1e-5)


def test_progress_is_shown(finished: Path) -> None:
    """A finished run that is resumed trains no further and reports again."""
    console = Console(record=True, width=200, file=io.StringIO())
    run = checkpoints.resume(run_folder.read_config(PPOArgs, finished), training.PPOTrainer)
    run.train(console)
    assert run.steps == TINY.steps
    assert f"{TINY.steps:,}/{TINY.steps:,} decisions" in console.export_text()
