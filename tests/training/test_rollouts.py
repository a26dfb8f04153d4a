"""Training on rollouts: action values, exact resume, initial networks."""

from __future__ import annotations

import json
import os
import random
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.beliefs.features import BELIEF_SIZE
from agents.network.checkpoint import CheckpointError, load_network
from agents.search.rollouts import evaluate_actions
from taki_env import ACTIONS, Game
from taki_env.core.bits import seed_words
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.memory import Memory
from tests.agents.test_checkpoint_safety import evil_torch
from tests.game.test_hidden import permuted
from tests.helpers import game
from tests.training.test_selfplay import checkpoint, same
from training.trainers import checkpoints, evaluation, rollouts, run_folder, selfplay
from training.trainers.rollouts import GAIN_WEIGHT, SHARPNESS, RolloutArgs, RolloutTrainer, centered

TINY = RolloutArgs(
    players=(2, 3),
    steps=2 * 8 * 16,
    games=16,
    rollout=8,
    batch_size=32,
    deals=2,
    hidden=16,
    evaluate_seconds=1e-9,
    evaluation_games=6,
    final_games=6,
    threads=1,
)


def values(table: Game, deals: int = 50, word: int = 1) -> dict[str, float]:
    """Return each legal action's mean return in rollouts."""
    found = np.zeros((1, NUM_ACTIONS), np.float32)
    nothing, expected = Memory.empty(table._states), np.zeros((1, BELIEF_SIZE), np.float32)
    words = seed_words(1, word)
    evaluate_actions(table._states, words, deals, nothing.arrays(), found, expected)
    legal = [ACTIONS[action] for action in table.legal_actions()]
    worth = dict(zip(ACTIONS, found[0].tolist(), strict=True))
    assert not any(worth[name] for name in ACTIONS if name not in legal)
    return {name: worth[name] for name in legal}


def test_an_action_that_wins_at_once_is_worth_a_win() -> None:
    """Playing the last card wins the game; drawing instead passes the turn."""
    rules = {"voluntary_draw": True}
    table = game([["red 1"], ["green 3", "green 4", "green 5"]], rules=rules)
    found = values(table)
    assert found["red 1"] == pytest.approx(1, abs=1e-5)
    assert -1 < found["draw"] < 1


def test_a_lost_game_of_three_costs_half_a_win() -> None:
    """Both others hold one card of the leading color, and the first of them plays it: -1/2.

    The deck has only red cards, so all re-deals are equivalent.
    """
    deck = [2 * (name in ("red 1", "red 3", "red 4", "red 5")) for name in ACTIONS[:57]]
    hands = [["red 1", "red 3", "red 4"], ["red 1"], ["red 3"]]
    table = game(hands, lead="red 5", rules={"deck": deck, "hand_size": 1})
    for worth in values(table).values():
        assert worth == pytest.approx(-0.5, abs=1e-5)


def test_hidden_cards_do_not_change_action_values() -> None:
    """Re-deals depend only on what the actor sees."""
    at = Game(3, seed=3).to_dict()
    other = Game.from_dict(permuted(at, 0, random.Random(0)), 2)
    assert values(Game.from_dict(at, 1)) == values(other)
    assert values(other) != values(other, word=2)


def test_advantages_are_relative_to_the_mean_of_the_legal_actions() -> None:
    """For values 1, 0 and (illegal) 5 the mean is a half."""
    found = centered(torch.tensor([[1.0, 0.0, 5.0]]), torch.tensor([[1, 1, 0]]))
    assert found.tolist() == [[0.5, -0.5, 0.0]]


def test_logits_of_the_true_advantages_have_no_error(tmp_path: Path) -> None:
    """Logits should be SHARPNESS times the advantage, plus any constant.

    The better of 0.5 and -0.1 is 0.3 above their mean. A network that takes the worse is 0.6 off in
    both advantages and in the value, and loses 0.3.
    """
    trainer = RolloutTrainer(TINY, tmp_path)
    masks, worth = torch.tensor([[1, 1, 0]]), torch.tensor([[0.5, -0.1, 0.0]])
    value = torch.tensor([[0.5]])
    trainer.network.forward = lambda _: (SHARPNESS * worth + 3, value)  # type: ignore[method-assign]
    loss = trainer.loss(torch.zeros(1, 1), masks, worth).item()
    assert loss == pytest.approx(-GAIN_WEIGHT * 0.3, abs=1e-6)
    trainer.network.forward = lambda _: (-SHARPNESS * worth, value)  # type: ignore[method-assign]
    loss = trainer.loss(torch.zeros(1, 1), masks, worth).item()
    assert loss == pytest.approx(3 * 0.6**2 + GAIN_WEIGHT * 0.3, abs=1e-6)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run."""
    return rollouts.prepare(replace(TINY, runs=tmp_path_factory.mktemp("runs")))().folder


def test_the_run_folder_plays_as_an_agent(finished: Path) -> None:
    """`policy:PATH` loads the run folder; every table size was evaluated."""
    report = json.loads((finished / "results.json").read_text())
    sizes = {(r["num_players"], r["opponent"]) for r in report["evaluation"]}
    assert report["finished"] and sizes == {
        (n, name) for n in (2, 3) for name in evaluation.YARDSTICKS
    }
    assert agents.load(f"policy:{finished}").name == f"policy:{finished}"


@pytest.fixture(scope="module")
def believing(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a short run with beliefs that starts from the other run's network."""
    folder = tmp_path_factory.mktemp("runs")
    return rollouts.prepare(replace(TINY, start=str(finished), beliefs=True, runs=folder))().folder


@pytest.mark.parametrize("beliefs", [False, True])
def test_ctrl_c_and_resume_equal_an_uninterrupted_run(
    beliefs: bool,
    finished: Path,
    believing: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The resumed run ends with the same checkpoint, bit for bit."""
    iterate = RolloutTrainer.iterate

    def pressed(trainer: RolloutTrainer) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    start = str(finished) if beliefs else ""
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RolloutTrainer, "iterate", pressed)
        rollouts.prepare(replace(TINY, beliefs=beliefs, start=start, runs=tmp_path))()
    folder = tmp_path / replace(TINY, beliefs=beliefs).name
    results = json.loads((folder / run_folder.RESULTS_FILE).read_text())
    assert not results["finished"] and results["steps"] == TINY.steps // 2
    rollouts.prepare(run_folder.read_arguments(RolloutArgs, ["--resume", str(folder)]))()
    whole, resumed = checkpoint(believing if beliefs else finished), checkpoint(folder)
    assert ("actions" in whole["games"]) == beliefs
    assert same(whole, resumed)


def test_a_network_without_beliefs_can_be_extended(finished: Path, believing: Path) -> None:
    """The new weights for beliefs start at 0 and are trained."""
    old, new = load_network(finished), load_network(believing)
    assert not old.beliefs and new.beliefs and agents.load(f"policy:{believing}").remembers
    wide = new.state_dict()["policy.cards.0.card.weight"]
    narrow = old.state_dict()["policy.cards.0.card.weight"].shape[1]
    assert (wide[:, narrow:] != 0).any(1).all()


def test_a_network_with_beliefs_is_no_start_without(believing: Path, tmp_path: Path) -> None:
    """Self-play has no beliefs, and rollouts need the option."""
    with pytest.raises(CheckpointError, match="'beliefs': True"):
        RolloutTrainer(replace(TINY, start=str(believing)), tmp_path)
    args = selfplay.SelfPlayArgs(
        players=(2,), hidden=16, threads=1, start=str(believing), runs=tmp_path
    )
    with pytest.raises(CheckpointError, match="'beliefs': True"):
        selfplay.SelfPlayTrainer(args, tmp_path)


def test_self_play_starts_from_a_network(finished: Path, tmp_path: Path) -> None:
    """`--start` loads the weights; resuming does not need the file."""
    args = selfplay.SelfPlayArgs(
        players=(2,), steps=64, games=8, rollout=8, batch_size=32, hidden=16, threads=1,
        evaluation_games=2, final_games=2, start=str(finished), runs=tmp_path,
    )  # fmt: skip
    trainer = selfplay.SelfPlayTrainer(args, tmp_path)
    initial = load_network(finished).state_dict()
    assert same(trainer.network.state_dict(), initial)
    folder = selfplay.prepare(args)().folder
    assert not same(load_network(folder).state_dict(), initial)
    resumed = replace(args, start="gone", resume=folder)
    assert same(
        selfplay.SelfPlayTrainer(resumed, tmp_path).network.state_dict().keys(), initial.keys()
    )


def test_a_network_of_another_width_is_no_start(finished: Path, tmp_path: Path) -> None:
    """The error comes before the run starts."""
    with pytest.raises(CheckpointError, match="hidden"):
        RolloutTrainer(replace(TINY, hidden=8, start=str(finished)), tmp_path)
    with pytest.raises(FileNotFoundError):
        RolloutTrainer(replace(TINY, start="nowhere"), tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"network_share": 1.5}, "--network-share"),
        ({"deals": 0}, "--deals"),
        ({"players": (1,)}, "players"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], words: str) -> None:
    """The message names the argument."""
    with pytest.raises(ValueError, match=words):
        replace(TINY, **change).check()  # type: ignore[arg-type]


def test_threads_change_nothing_and_seeds_do(tmp_path: Path) -> None:
    """Random words belong to positions, not to threads."""
    seen = [
        RolloutTrainer(replace(TINY, seed=seed, threads=threads, beliefs=True), tmp_path).play()
        for seed, threads in ((0, 1), (0, 3), (1, 1))
    ]
    assert same(seen[0], seen[1]) and not same(seen[0], seen[2])


def test_equal_action_values_give_a_finite_loss(tmp_path: Path) -> None:
    """The explained share divides by a sum of 0, which must not reach the loss."""
    trainer, masks = RolloutTrainer(TINY, tmp_path), torch.ones(2, 64)
    assert trainer.loss(torch.zeros(2, 199), masks, torch.full((2, 64), -1.0)).isfinite()


def test_a_rollout_without_a_choice_changes_no_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its decisions count all the same."""
    trainer = RolloutTrainer(replace(TINY, games=1, players=(2,)), tmp_path)
    only = np.zeros((1, 64), np.int8)
    with monkeypatch.context() as patch:
        legal = trainer.table.action_masks
        patch.setattr(
            trainer.table, "action_masks", lambda: only | (legal().cumsum(1) == 1) * legal()
        )
        before = [value.clone() for value in trainer.network.parameters()]
        trainer.iterate()
    assert trainer.steps == TINY.rollout
    assert all(map(torch.equal, before, trainer.network.parameters()))


def test_a_checkpoint_runs_no_code(finished: Path, tmp_path: Path) -> None:
    """Resuming a run folder from others is safe."""
    (tmp_path / run_folder.CONFIG_FILE).write_bytes(
        (finished / run_folder.CONFIG_FILE).read_bytes()
    )
    evil_torch(tmp_path / run_folder.CHECKPOINT_FILE, tmp_path / "trace")
    args = run_folder.read_arguments(RolloutArgs, ["--resume", str(tmp_path)])
    with pytest.raises(CheckpointError):
        rollouts.prepare(args)
    assert not (tmp_path / "trace").exists()


def test_runs_and_commands_with_the_former_name_of_an_option_are_read(
    finished: Path, tmp_path: Path
) -> None:
    """`--network-share` was `--own` in command lines, configurations and checkpoints."""
    assert run_folder.read_arguments(RolloutArgs, ["--own", "0.25"]).network_share == 0.25
    config = json.loads((finished / run_folder.CONFIG_FILE).read_text())
    state = torch.load(finished / run_folder.CHECKPOINT_FILE, weights_only=True)
    for options in (config["arguments"], state["made_by"]["configuration"]):
        options["own"] = options.pop("network_share")
    (tmp_path / run_folder.CONFIG_FILE).write_text(json.dumps(config))
    torch.save(state, tmp_path / run_folder.CHECKPOINT_FILE)
    args = run_folder.read_arguments(RolloutArgs, ["--resume", str(tmp_path), "--own", "0.5"])
    assert checkpoints.resume(args, RolloutTrainer).steps == TINY.steps
    with pytest.raises(ValueError, match=r"--network-share 0\.3 is not the run's 0\.5"):
        run_folder.read_arguments(RolloutArgs, ["--resume", str(tmp_path), "--own", "0.3"])
