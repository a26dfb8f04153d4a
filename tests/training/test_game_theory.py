"""Exact game theory of small decks, and best responders."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is missing: pip install open_spiel")

import agents
from agents.network.checkpoint import CheckpointError
from taki_env.core.cards import DRAW
from taki_env.core.rules import Rules
from taki_env.openspiel import load
from training.studies import exploit, small_decks
from training.studies import nash_convergence as approach
from training.studies.game_tree import (
    GameTree,
    action_probabilities,
    best_response_gains,
    small_game,
    solve,
)
from training.trainers import selfplay
from training.trainers.run_folder import start


@pytest.fixture(scope="module")
def smallest() -> GameTree:
    """Return the tree of the smallest game."""
    return GameTree(small_game("mini-1"))


def test_the_solution_is_an_equilibrium(smallest: GameTree) -> None:
    """The bounds of the value differ by the gains of best responses, which are near 0."""
    found, policy = solve(smallest, 1e-3, 200)
    low, high = found.value
    assert found.exploitability <= 1e-3
    assert low <= high <= low + 2 * found.exploitability + 1e-12
    assert smallest.nash_conv(policy) == pytest.approx(2 * found.exploitability)


def test_a_deck_of_one_color_has_the_value_and_size_counted_by_hand() -> None:
    """Six red cards, no actions, one in a hand: seat 0 plays it and wins, whatever is dealt."""
    deck = (2, 2, 2, *(0,) * 54)
    tree = GameTree(load(2, Rules(deck=deck, hand_size=1), 3))
    found, _ = solve(tree, 1e-9, 50)
    assert found.value == pytest.approx((1, 1))
    assert tree.counts.choices == 0
    # 3 types for seat 0, 3 for seat 1, 3 to lead, but 2 after two cards of one type: 9 x 3 - 3
    assert (tree.counts.chance, tree.counts.decisions, tree.counts.ends) == (13, 24, 24)


def test_probabilities_are_those_of_the_agents_actions(smallest: GameTree) -> None:
    """They are 0 or 1 for a deterministic agent, and every row sums to one."""
    greedy, random = (action_probabilities(smallest, name) for name in ("greedy", "random"))
    assert set(np.unique(greedy)) == {0, 1}
    assert np.allclose(greedy.sum(1), 1)
    assert np.allclose(random.sum(1), 1)
    actions = agents.load("greedy").act(smallest.view())
    assert (greedy[smallest.choices, actions] == 1).all()
    drawn = action_probabilities(smallest, "search:simulations=4", draws=4)
    assert set(np.unique(drawn)) <= {0, 0.25, 0.5, 0.75, 1}


def test_exploitability_is_the_mean_gain_of_both_seats(smallest: GameTree) -> None:
    """The value cancels, because what one seat gains the other loses."""
    found = best_response_gains(
        smallest, "random", action_probabilities(smallest, "random"), value=0.3
    )
    assert found.exploitability == pytest.approx((found.as_seat_0 + found.as_seat_1) / 2)
    assert found.exploitability > 0.1


def test_small_decks_are_solved_and_written(tmp_path: Path) -> None:
    """The command's file has sizes, exploitability and agents."""
    file = tmp_path / "small.json"
    args = small_decks.SmallDecksArgs(decks=("mini-1",), agents=("greedy",), target=1e-2, json=file)
    small_decks.prepare(args)()
    (row,) = json.loads(file.read_text())["decks"]
    assert (row["histories"], row["information_states"], row["cut"]) == (1723, 208, 0)
    assert row["exploitability"] <= 1e-2
    assert row["agents"][0]["agent"] == "greedy"


@pytest.mark.parametrize("deck", ["standard", "mini-0"])
def test_other_decks_are_rejected(deck: str) -> None:
    """The command rejects them before any work."""
    with pytest.raises(ValueError, match="deck"):
        small_decks.prepare(small_decks.SmallDecksArgs(decks=(deck,)))


def test_training_is_measured_at_each_budget(tmp_path: Path) -> None:
    """Each run starts with an untrained network and ends with all its decisions."""
    file = tmp_path / "approach.json"
    args = approach.ConvergenceArgs("mini-1", 1024, 2, (0, 1), games=16, hidden=16, json=file)
    approach.prepare(args)()
    rows = json.loads(file.read_text())["rows"]
    assert [(row["seed"], row["steps"]) for row in rows] == [
        (seed, steps) for seed in (0, 1) for steps in (0, 256, 1024)
    ]
    assert all(0 < row["drawing"] < 1 for row in rows)


@pytest.mark.parametrize(
    ("steps", "evaluations", "budgets"),
    [(4096, 1, [0, 4096]), (100, 3, [0, 256]), (1000, 2, [0, 256, 1024])],
)
def test_budgets_are_different_whole_rollouts(
    steps: int, evaluations: int, budgets: list[int]
) -> None:
    """A rollout has 16 decisions of each game, and the last budget covers all steps."""
    assert approach.ConvergenceArgs("mini-1", steps, evaluations, games=16).budgets == budgets


@pytest.mark.parametrize("change", [{"hidden": 1_000_000}, {"seeds": (2**32,)}, {"seeds": ()}])
def test_invalid_training_options_are_rejected(change: dict[str, Any]) -> None:
    """The checks are those of the trainers."""
    with pytest.raises(ValueError, match=r"--hidden|--seed"):
        approach.prepare(replace(approach.ConvergenceArgs(), **change))


def exploit_args(folder: Path, *names: str, **options: Any) -> exploit.ExploitArgs:
    """Return arguments with a tiny budget and a file for the results."""
    tiny = exploit.ExploitArgs(
        names, steps=(2048,), games=(20,), tables=16, hidden=16, threads=1, runs=folder,
        rules=("hand_size=2",), json=folder / "exploit.json",
    )  # fmt: skip
    return replace(tiny, **options)


def test_best_responders_are_trained_and_measured(tmp_path: Path) -> None:
    """Each has its own budget and can be loaded as an agent; returns follow from win rates."""
    args = exploit_args(tmp_path, "random", "greedy", steps=(2048, 1024), games=(20, 10))
    rows = exploit.prepare(args)()
    assert json.loads(args.json.read_text())["rows"] == json.loads(json.dumps(rows))
    assert [(r["agent"], r["steps"], r["games"]) for r in rows] == [
        ("random", 2048, 20), ("greedy", 1024, 10),
    ]  # fmt: skip
    for row in rows:
        assert row["return"] == pytest.approx(2 * row["win_rate"] - 1)
        assert agents.load(f"policy:{tmp_path / row['run']}").network.hidden == 16


def test_only_missing_best_responders_are_trained(tmp_path: Path) -> None:
    """An agent's row is kept while its budget and all other arguments are the same."""
    args = exploit_args(tmp_path, "random")
    (first,) = exploit.prepare(args)()
    both = exploit.prepare(replace(args, agents=("greedy", "random")))()
    assert [row["agent"] for row in both] == ["greedy", "random"]
    assert both[1] == json.loads(json.dumps(first))
    assert exploit.prepare(args)() == [both[1]]
    kept = json.loads(args.json.read_text())["rows"]
    assert [row["agent"] for row in kept] == ["greedy", "random"]  # rows of other agents are kept
    (other,) = exploit.prepare(replace(args, games=(10,)))()
    assert (other["games"], other["run"] == first["run"]) == (10, False)
    args.json.write_text("{}")
    assert exploit.prepare(args)()[0]["run"] != first["run"]


def test_a_best_responder_can_start_from_a_network(tmp_path: Path) -> None:
    """It has the network's weights before the first step; another size is rejected."""
    (first,) = exploit.prepare(exploit_args(tmp_path, "random"))()
    folder = str(tmp_path / first["run"])
    args = exploit_args(tmp_path, "greedy", start=folder, steps=(1024,))
    target = args.targets[0]
    training = start(args.of_training(target), selfplay.SelfPlayTrainer)
    own = agents.load(f"policy:{folder}").network.state_dict()
    assert all((own[key] == value).all() for key, value in training.network.state_dict().items())
    with pytest.raises(CheckpointError, match="hidden"):
        exploit.prepare(replace(args, hidden=32))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": (1, 2, 3)}, "one number, or one for each agent"),
        ({"games": ()}, "one number, or one for each agent"),
        ({"games": (0,)}, "--games"),
        ({"tables": 0}, "--tables"),
        ({"steps": (0,)}, "--steps"),
        ({"agents": ()}, "at least one"),
        ({"agents": ("random", "random")}, "twice"),
        ({"players": 11}, "num_players"),
    ],
)
def test_wrong_arguments_are_rejected(tmp_path: Path, options: dict, message: str) -> None:
    """The command rejects them before any work and creates no run folder."""
    with pytest.raises(ValueError, match=message):
        exploit.prepare(replace(exploit_args(tmp_path, "random", "greedy"), **options))
    assert not list(tmp_path.iterdir())


def test_ctrl_c_writes_the_results_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command then ends with KeyboardInterrupt."""
    iterate = selfplay.SelfPlayTrainer.iterate

    def pressed(trainer: selfplay.SelfPlayTrainer) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    monkeypatch.setattr(selfplay.SelfPlayTrainer, "iterate", pressed)
    args = exploit_args(tmp_path, "random", "greedy", steps=(9999,))
    with pytest.raises(KeyboardInterrupt):
        exploit.prepare(args)()
    (row,) = json.loads(args.json.read_text())["rows"]
    assert (row["agent"], row["steps"]) == ("random", 1024)
    file = tmp_path / "approach.json"
    with pytest.raises(KeyboardInterrupt):
        approach.prepare(approach.ConvergenceArgs("mini-1", 256, 2, (0, 1), games=16, json=file))()
    assert len(json.loads(file.read_text())["rows"]) == 2


def test_returns_of_win_rates() -> None:
    """The return is 0 at parity and 1 for a win; a loss of three players is -1/2."""
    assert exploit.mean_return(1 / 3, 3) == pytest.approx(0)
    assert exploit.mean_return(1, 3) == 1
    assert exploit.mean_return(0, 3) == -0.5


def test_drawing_is_never_a_choice(smallest: GameTree) -> None:
    """Without voluntary draws, no information state allows both drawing and playing."""
    legal = smallest.legal[smallest.choices]
    assert not ((legal >> np.uint64(DRAW)) & np.uint64(1)).any()
