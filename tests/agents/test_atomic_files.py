"""Whatever ends a writer, a file is the old or the new one, never half."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from agents.files import partial_path, replacing, write_json
from agents.network.checkpoint import CheckpointError, load_network, save_network
from agents.network.network import TakiNetwork
from agents.table.record_files import recording
from training.trainers import checkpoints, selfplay
from training.trainers.run_folder import CHECKPOINT_FILE

KILLS = 12


def json_files(folder: Path) -> None:
    """Write a megabyte of JSON again and again."""
    number = 0
    while True:
        write_json(folder / "results.json", {"number": number, "fill": [number] * 100_000})
        number += 1


def check_json(folder: Path) -> None:
    """All numbers are of one writing."""
    data = json.loads((folder / "results.json").read_text())
    assert data["fill"] == [data["number"]] * 100_000


def models(folder: Path) -> None:
    """Write a network again and again."""
    network = TakiNetwork(64)
    while True:
        with replacing(folder / "model.zip") as beside:
            save_network(beside, network, {})


def check_models(folder: Path) -> None:
    """The network can be loaded."""
    load_network(folder / "model.zip")


class Saved:
    """A run that has nothing to it but a state and a model."""

    args = selfplay.SelfPlayArgs(hidden=64)
    history: tuple[dict[str, object], ...] = ()
    seconds = 1.0

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def state(self) -> dict[str, object]:
        """Return another state every time."""
        self.number += 1
        return {"number": self.number, "fill": torch.full((200_000,), self.number)}

    def save_model(self, path: Path) -> None:
        """Write a network."""
        save_network(path, TakiNetwork(64), {"number": self.number})


def run_folders(folder: Path) -> None:
    """Save a run again and again."""
    checkpoints.provenance = dict  # git is not asked a thousand times
    saved = Saved(folder)
    while True:
        checkpoints.save(saved)  # type: ignore[arg-type]


def check_run_folders(folder: Path) -> None:
    """Checkpoint and model can be read, and the checkpoint is of one writing."""
    state = checkpoints.read_state(folder / CHECKPOINT_FILE)
    assert torch.all(state["fill"] == state["number"])
    load_network(folder)


def records(folder: Path) -> None:
    """Write games, a line each."""
    number = 0
    while True:
        with recording(folder / "games.jsonl") as record:
            for game in range(20):
                record({"number": number, "game": game, "fill": [number] * 5_000})
        number += 1


def check_records(folder: Path) -> None:
    """All games are of one writing, and those beside are whole but for the last line."""
    games = [*map(json.loads, (folder / "games.jsonl").read_text().splitlines())]
    assert [game["game"] for game in games] == [*range(20)]
    assert {n for game in games for n in game["fill"]} == {games[0]["number"]}
    if (beside := partial_path(folder / "games.jsonl")).exists():
        *lines, _ = beside.read_text().split("\n")
        assert [json.loads(line)["game"] for line in lines] == [*range(len(lines))]


@pytest.mark.parametrize(
    ("write", "check", "file"),
    [
        (json_files, check_json, "results.json"),
        (models, check_models, "model.zip"),
        (run_folders, check_run_folders, "model.zip"),
        (records, check_records, "games.jsonl"),
    ],
)
def test_a_killed_writer_leaves_a_whole_file(
    write: Callable[[Path], None], check: Callable[[Path], None], file: str, tmp_path: Path
) -> None:
    """Killed at random moments, some of them in the middle of writing."""
    choose = random.Random(0)
    context = multiprocessing.get_context("forkserver")  # its forks have no threads of torch's
    context.set_forkserver_preload(["training.trainers.selfplay"])
    for _ in range(KILLS):
        process = context.Process(target=write, args=(tmp_path,))
        process.start()
        while not (tmp_path / file).exists():
            time.sleep(0.001)
        time.sleep(choose.random() * 0.03)
        assert process.pid is not None and process.is_alive()
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        check(tmp_path)
    assert set(os.listdir(tmp_path)) >= {file}


def test_half_a_file_would_be_noticed(tmp_path: Path) -> None:
    """The checks above can fail."""
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(CheckpointError):
        check_models(tmp_path)
    (tmp_path / "results.json").write_text('{"number": 1, "fill": [1, 1')
    with pytest.raises(json.JSONDecodeError):
        check_json(tmp_path)


def test_a_long_name_leaves_room_for_the_file_beside(tmp_path: Path) -> None:
    """Whatever is a name can be written."""
    path = tmp_path / ("a" * 250 + ".json")
    write_json(path, 1)
    assert json.loads(path.read_text()) == 1 and list(tmp_path.iterdir()) == [path]
