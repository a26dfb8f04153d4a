"""Learning from rollouts of the expert: seeds, exact resume, Ctrl-C, choices that teach nothing."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.checkpoint import CheckpointError
from tests.test_safety import evil_torch
from tests.test_training_selfplay import checkpoint, same
from training import rollouts, runs
from training.rollouts import Args, Trainer

TINY = Args(
    steps=128, games=4, rollout=16, batch_size=16, hidden=8, deals=1, players=(2, 3),
    evaluation_games=2, final_games=2, threads=1, rules=("hand_size=3", "tournament"),
)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run."""
    return rollouts.prepare(replace(TINY, runs=tmp_path_factory.mktemp("runs")))().folder


def test_ctrl_c_and_resume_equal_an_uninterrupted_run(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Ctrl-C leaves goes on to the same end bit for bit."""
    iterate = Trainer.iterate

    def pressed(trainer: Trainer) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, "iterate", pressed)
        rollouts.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    results = json.loads((folder / runs.RESULTS_FILE).read_text())
    assert not results["finished"] and results["steps"] == TINY.steps // 2
    rollouts.prepare(runs.read_arguments(Args, ["--resume", str(folder)]))()
    assert same(checkpoint(finished), checkpoint(folder))
    assert agents.load(f"policy:{folder}").name == f"policy:{folder}"


def test_threads_change_nothing_and_seeds_do(tmp_path: Path) -> None:
    """Positions are shared out among threads, not their random words."""
    seen = [
        Trainer(replace(TINY, seed=seed, threads=threads), tmp_path).play()
        for seed, threads in ((0, 1), (0, 3), (1, 1))
    ]
    assert same(seen[0], seen[1]) and not same(seen[0], seen[2])


def test_actions_that_are_worth_the_same_teach_without_an_error(tmp_path: Path) -> None:
    """Nothing is there to be explained then."""
    trainer, masks = Trainer(TINY, tmp_path), torch.ones(2, 64)
    assert trainer.loss(torch.zeros(2, 199), masks, torch.full((2, 64), -1.0)).isfinite()


def test_a_rollout_without_a_choice_is_gone_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts, and the network stays as it is."""
    trainer = Trainer(replace(TINY, games=1, players=(2,)), tmp_path)
    only = np.zeros((1, 64), np.int8)
    with monkeypatch.context() as patch:
        legal = trainer.table.action_masks
        patch.setattr(
            trainer.table, "action_masks", lambda: only | (legal().cumsum(1) == 1) * legal()
        )
        before = [value.clone() for value in trainer.network.parameters()]
        trainer.iterate()
    assert trainer.steps == 16
    assert all(map(torch.equal, before, trainer.network.parameters()))


def test_a_checkpoint_runs_no_code(finished: Path, tmp_path: Path) -> None:
    """Going on in a run folder of others is safe."""
    (tmp_path / runs.CONFIG_FILE).write_bytes((finished / runs.CONFIG_FILE).read_bytes())
    evil_torch(tmp_path / runs.CHECKPOINT_FILE, tmp_path / "trace")
    args = runs.read_arguments(Args, ["--resume", str(tmp_path)])
    with pytest.raises(CheckpointError):
        rollouts.prepare(args)
    assert not (tmp_path / "trace").exists()
