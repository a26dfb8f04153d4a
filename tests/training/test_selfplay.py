"""Self-play training: training samples, their returns, exact resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.network.checkpoint import CheckpointError, load_network
from taki_env import View
from taki_env.envs.selfplay import Credits
from training.trainers import checkpoints, evaluation, options, run_folder, selfplay, train
from training.trainers.selfplay import SelfPlayArgs, SelfPlayTrainer

TINY = SelfPlayArgs(
    players=(2, 3),
    steps=4 * 8 * 16,
    games=8,
    rollout=16,
    batch_size=64,
    hidden=16,
    snapshot_every=1,
    past_games=0.5,
    opponents=("greedy", "search:simulations=4"),
    opponent_games=0.25,
    evaluate_seconds=1e-9,
    evaluation_games=6,
    final_games=6,
    threads=1,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run."""
    return selfplay.prepare(replace(TINY, runs=tmp_path_factory.mktemp("runs")))().folder


def checkpoint(folder: Path) -> dict[str, object]:
    """Return a run's checkpoint without times."""
    state = torch.load(folder / run_folder.CHECKPOINT_FILE, weights_only=True)
    return {k: v for k, v in state.items() if k not in ("seconds", "history", "made_by")}


def same(one: object, other: object) -> bool:
    """Compare nested values bit for bit."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_two_runs_of_a_seed_are_the_same(finished: Path, tmp_path: Path) -> None:
    """The same arguments give the same weights, games and generators."""
    again = selfplay.prepare(replace(TINY, runs=tmp_path))().folder
    assert same(checkpoint(finished), checkpoint(again))


def test_ctrl_c_and_resume_equal_an_uninterrupted_run(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resumed run ends with the same checkpoint, bit for bit."""
    iterate = SelfPlayTrainer.iterate

    def pressed(trainer: SelfPlayTrainer) -> None:
        if trainer.iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(SelfPlayTrainer, "iterate", pressed)
        with pytest.raises(KeyboardInterrupt):
            selfplay.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    results = json.loads((folder / "results.json").read_text())
    assert not results["finished"] and results["steps"] == TINY.steps // 2
    selfplay.prepare(run_folder.read_arguments(SelfPlayArgs, ["--resume", str(folder)]))()
    assert same(checkpoint(finished), checkpoint(folder))


def test_the_run_folder_plays_as_an_agent(finished: Path) -> None:
    """`policy:PATH` loads the run folder; every table size was evaluated."""
    report = json.loads((finished / "results.json").read_text())
    sizes = {(r["num_players"], r["opponent"]) for r in report["evaluation"]}
    assert sizes == {(n, name) for n in (2, 3) for name in evaluation.YARDSTICKS}
    assert agents.load(f"policy:{finished}").name == f"policy:{finished}"


def test_shares_divide_the_tables() -> None:
    """Half, a quarter and a quarter of the games."""
    sizes = replace(TINY, players=(2, 4, 10), shares=(2, 1, 1), games=16).table_sizes
    assert sizes.tolist() == [2] * 8 + [4] * 4 + [10] * 4


def test_a_seat_is_credited_along_its_own_decisions(tmp_path: Path) -> None:
    """With lambda 1 and values known, the return of every decision is its own seat's result.

    One game, four decisions: seats 0, 1, 0, 1; then seat 1 has won. With lambda 0 the advantage is
    the next value of the same seat less this one.
    """
    for decay, returns in ((1.0, [-1, 1, -1, 1]), (0.0, [0.3, 0.4, -1, 1])):
        args = replace(TINY, players=(2,), games=1, rollout=4, batch_size=4, gae_lambda=decay)
        trainer = SelfPlayTrainer(args, tmp_path)
        data = trainer.data
        data.actors[:, 0] = [0, 1, 0, 1]
        data.learned[:] = True
        data.values[:, 0] = [0.1, 0.2, 0.3, 0.4]
        nothing = np.zeros(0, np.int64)
        none = Credits(nothing, nothing, nothing, np.zeros(0), np.zeros(0, np.bool_))
        end = Credits(
            np.array([0, 0]), np.array([0, 1]), np.array([2, 3]), np.array([-1.0, 1.0]),
            np.zeros(2, np.bool_),
        )  # fmt: skip
        trainer.estimate([none, none, none, end])
        np.testing.assert_allclose(data.returns[:, 0], returns, atol=1e-6)


def test_forced_decisions_and_past_selves_teach_nothing(tmp_path: Path) -> None:
    """Training samples are the network's own decisions with a choice."""
    trainer = SelfPlayTrainer(replace(TINY, past_games=1.0), tmp_path)
    trainer.iterate()
    own = trainer.own_seats.copy()
    assert trainer.past
    trainer.play()
    learned = trainer.data.learned
    assert np.all(trainer.data.masks[learned].sum(1) > 1)
    first = np.flatnonzero(learned[0])
    assert np.all(trainer.data.actors[0, first] == own[first])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"players": (1,)}, "players"),
        ({"shares": (1.0,)}, "--shares"),
        ({"shares": (1.0, 0.0)}, "--shares"),
        ({"epochs": 0}, "--epochs"),
        ({"past_games": 1.5}, "--past-games"),
        ({"shares": (1.0, float("nan"))}, "--shares"),
        ({"shares": (1.0, 1000.0)}, "without a table"),
        ({"batch_size": 1}, "--batch-size"),
        ({"learning_rate": float("inf")}, "--learning-rate"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], words: str) -> None:
    """The message names the option."""
    with pytest.raises(ValueError, match=words):
        replace(TINY, **change).check()  # type: ignore[arg-type]


def test_a_rollout_with_nothing_to_learn_from_leaves_the_network(tmp_path: Path) -> None:
    """A single decision has no standard deviation of advantages: the weights stay finite."""
    trainer = SelfPlayTrainer(
        replace(TINY, players=(2,), games=1, rollout=2, past_games=0), tmp_path
    )
    for _ in range(8):
        trainer.iterate()
    assert all(torch.isfinite(value).all() for value in trainer.network.state_dict().values())


def test_rivals_sit_at_tables_of_every_size(tmp_path: Path) -> None:
    """Past selves at half of the tables of either size, agents at a quarter, and never both."""
    trainer = SelfPlayTrainer(replace(TINY, games=200), tmp_path)
    for players in TINY.players:
        at = trainer.players == players
        assert trainer.with_past[at].mean() == pytest.approx(0.5, abs=0.03)
        assert trainer.with_opponents[at].mean() == pytest.approx(0.25, abs=0.03)
    assert not (trainer.with_past & trainer.with_opponents).any()


def test_rivals_with_memory_see_earlier_actions(tmp_path: Path) -> None:
    """Actions are kept only if a rival remembers."""
    counts: list[np.ndarray] = []

    class Spy:
        name = "spy"

        def act(self, view: View) -> np.ndarray:
            assert view.memory is not None
            counts.append(view.memory.counts)
            return view.action_masks.argmax(1)

    trainer = SelfPlayTrainer(TINY, tmp_path)
    trainer.rivals = lambda: [(Spy(), trainer.with_opponents)]  # type: ignore[method-assign]
    trainer.play()
    assert np.concatenate(counts).max() > 5
    assert (
        SelfPlayTrainer(replace(TINY, opponents=("greedy",)), tmp_path).table.batch.actions is None
    )


def test_ctrl_c_before_the_first_rollout_leaves_a_run_that_can_be_resumed(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as an uninterrupted run does."""
    evaluate = evaluation.evaluate

    def pressed(trainer: SelfPlayTrainer) -> dict[str, float]:
        os.kill(os.getpid(), signal.SIGINT)
        return evaluate(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(selfplay, "evaluate", pressed)
        with pytest.raises(KeyboardInterrupt):
            selfplay.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    assert json.loads((folder / "results.json").read_text())["steps"] == 0
    selfplay.prepare(run_folder.read_arguments(SelfPlayArgs, ["--resume", str(folder)]))()
    assert same(checkpoint(finished), checkpoint(folder))


def test_a_run_of_another_trainer_is_refused(finished: Path) -> None:
    """`training.train` does not resume a run of `training.selfplay`."""
    with pytest.raises(CheckpointError, match="belongs to another trainer"):
        run_folder.read_config(train.PPOArgs, finished)


def test_a_killed_run_resumes_from_its_last_checkpoint(finished: Path, tmp_path: Path) -> None:
    """After SIGKILL the files are complete, and the resumed run ends as an uninterrupted one."""
    command = [sys.executable, "-m", "training.selfplay", "--runs", str(tmp_path)]
    for name, value in options.plain(TINY).items():
        if name != "symmetric":
            values = value if isinstance(value, tuple) else (value,)
            command += [f"--{name.replace('_', '-')}", *map(str, values)]
    folder = tmp_path / TINY.name
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and not saved_rollouts(folder):
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert saved_rollouts(folder) > 0
    agents.load(f"policy:{folder}")
    selfplay.prepare(run_folder.read_arguments(SelfPlayArgs, ["--resume", str(folder)]))()
    assert same(checkpoint(finished), checkpoint(folder))


def test_a_run_that_dies_in_its_last_save_has_the_last_model_after_resuming(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a run has a newer checkpoint than model."""
    writing, files = checkpoints.replacing, []

    def dying(path: Path) -> object:
        files.append(path.name)
        if len(files) == 10:  # the second one of the fifth save: before, and after four rollouts
            raise OSError("no space left on device")
        return writing(path)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "replacing", dying)
        with pytest.raises(OSError, match="no space"):
            selfplay.prepare(replace(TINY, runs=tmp_path))()
    folder = tmp_path / TINY.name
    selfplay.prepare(run_folder.read_arguments(SelfPlayArgs, ["--resume", str(folder)]))()
    assert same(checkpoint(finished), checkpoint(folder))
    models = [load_network(run).state_dict() for run in (finished, folder)]
    assert same(dict(models[0]), dict(models[1]))


def saved_rollouts(folder: Path) -> int:
    """Return the number of rollouts in a run's checkpoint, 0 without one."""
    file = folder / run_folder.CHECKPOINT_FILE
    return int(str(checkpoint(folder)["iteration"])) if file.exists() else 0


def test_a_loss_that_is_not_finite_stops_the_training(tmp_path: Path) -> None:
    """The weights stay finite."""
    trainer = SelfPlayTrainer(TINY, tmp_path)
    trainer.estimate(trainer.play())
    trainer.data.returns[:] = np.nan
    with pytest.raises(FloatingPointError, match="the loss is nan"):
        trainer.learn()
    assert all(torch.isfinite(value).all() for value in trainer.network.state_dict().values())


def test_a_network_without_the_symmetry_trains_and_loads(tmp_path: Path) -> None:
    """The checkpoint describes its network."""
    folder = selfplay.prepare(replace(TINY, symmetric=False, runs=tmp_path))().folder
    assert not load_network(folder).symmetric
