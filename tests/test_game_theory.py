"""Exact game theory of small decks, and best responders: what the commands find."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is missing: pip install open_spiel")

import agents
from taki_env.cards import DRAW
from taki_env.openspiel import load
from taki_env.rules import Rules
from training import approach, exploit, selfplay, small_decks
from training.game_theory import Tree, shares_of, small_game, solve, weakness


@pytest.fixture(scope="module")
def smallest() -> Tree:
    """Return the smallest game, written out."""
    return Tree(small_game("mini-1"))


def test_the_solution_is_an_equilibrium(smallest: Tree) -> None:
    """Its value lies between what each seat can hold; nothing is gained against it."""
    found, policy = solve(smallest, 1e-3, 200)
    low, high = found.value
    assert found.exploitability <= 1e-3
    assert low <= high <= low + 2 * found.exploitability + 1e-12
    assert smallest.nash_conv(policy) == pytest.approx(2 * found.exploitability)


def test_a_deck_of_one_color_is_worth_what_is_counted_by_hand() -> None:
    """Six red cards, no actions, one in a hand: seat 0 plays it and wins, whatever is dealt."""
    deck = (2, 2, 2, *(0,) * 54)
    tree = Tree(load(2, Rules(deck=deck, hand_size=1), 3))
    found, _ = solve(tree, 1e-9, 50)
    assert found.value == pytest.approx((1, 1))
    assert tree.counts.choices == 0
    # 3 types for seat 0, 3 for seat 1, 3 to lead, but 2 after two cards of one type: 9 x 3 - 3
    assert (tree.counts.chance, tree.counts.decisions, tree.counts.ends) == (13, 24, 24)


def test_shares_are_those_of_the_agents_actions(smallest: Tree) -> None:
    """All ones for one that draws nothing; uniform for random; every row sums to one."""
    greedy, random = (shares_of(smallest, name) for name in ("greedy", "random"))
    assert set(np.unique(greedy)) == {0, 1}
    assert np.allclose(greedy.sum(1), 1)
    assert np.allclose(random.sum(1), 1)
    actions = agents.load("greedy").act(smallest.view())
    assert (greedy[smallest.choices, actions] == 1).all()
    drawn = shares_of(smallest, "search:simulations=4", draws=4)
    assert set(np.unique(drawn)) <= {0, 0.25, 0.5, 0.75, 1}


def test_gains_of_both_seats_are_the_exploitability(smallest: Tree) -> None:
    """What best responses gain beyond the value, in the mean of the seats."""
    found = weakness(smallest, "random", shares_of(smallest, "random"), value=0.3)
    assert found.exploitability == pytest.approx((found.as_seat_0 + found.as_seat_1) / 2)
    assert found.exploitability > 0.1


def test_small_decks_are_solved_and_written(tmp_path: Path) -> None:
    """The command's file has sizes, values and gains."""
    file = tmp_path / "small.json"
    args = small_decks.Args(decks=("mini-1",), agents=("greedy",), target=1e-2, json=file)
    small_decks.prepare(args)()
    (row,) = json.loads(file.read_text())["decks"]
    assert (row["histories"], row["information_states"], row["cut"]) == (1723, 208, 0)
    assert row["exploitability"] <= 1e-2
    assert row["agents"][0]["agent"] == "greedy"


@pytest.mark.parametrize("deck", ["standard", "mini-0"])
def test_other_decks_are_refused(deck: str) -> None:
    """Before any work."""
    with pytest.raises(ValueError, match="deck"):
        small_decks.prepare(small_decks.Args(decks=(deck,)))


def test_training_is_measured_at_each_budget(tmp_path: Path) -> None:
    """An untrained network first; each run ends with all its decisions."""
    file = tmp_path / "approach.json"
    args = approach.Args("mini-1", 1024, 2, (0, 1), games=16, hidden=16, json=file)
    approach.prepare(args)()
    rows = json.loads(file.read_text())["rows"]
    assert [(row["seed"], row["steps"]) for row in rows] == [
        (seed, steps) for seed in (0, 1) for steps in (0, 256, 1024)
    ]
    assert all(0 < row["drawing"] < 1 for row in rows)


def test_a_best_responder_is_trained_and_counted(tmp_path: Path) -> None:
    """It plays as an agent afterwards; its return is that of its win rate."""
    file = tmp_path / "exploit.json"
    args = exploit.Args(
        "random", steps=2048, games=20, tables=16, hidden=16, threads=1, runs=tmp_path,
        rules=("hand_size=2",), json=file,
    )  # fmt: skip
    exploit.prepare(args)()
    found = json.loads(file.read_text())
    assert (found["games"], found["steps"], found["run"]) == (20, 2048, "exploit-seed0")
    assert found["return"] == pytest.approx(2 * found["win_rate"] - 1)
    assert agents.load(f"policy:{tmp_path / found['run']}").network.hidden == 16


def test_ctrl_c_writes_what_was_learned_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And then ends as an interrupted command does."""
    iterate = selfplay.Trainer.iterate

    def pressed(trainer: selfplay.Trainer) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    monkeypatch.setattr(selfplay.Trainer, "iterate", pressed)
    files = tmp_path / "exploit.json", tmp_path / "approach.json"
    small = {"games": 20, "tables": 16, "hidden": 8, "threads": 1, "runs": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        exploit.prepare(exploit.Args("random", steps=9999, json=files[0], **small))()
    assert json.loads(files[0].read_text())["steps"] == 1024
    with pytest.raises(KeyboardInterrupt):
        approach.prepare(approach.Args("mini-1", 256, 2, (0, 1), games=16, json=files[1]))()
    assert len(json.loads(files[1].read_text())["rows"]) == 2


def test_returns_of_win_rates() -> None:
    """At parity nothing; +1 for always; with three players a loss is -1/2."""
    assert exploit.mean_return(1 / 3, 3) == pytest.approx(0)
    assert exploit.mean_return(1, 3) == 1
    assert exploit.mean_return(0, 3) == -0.5


def test_uniform_play_may_draw_only_where_it_must(smallest: Tree) -> None:
    """No information state allows to draw and to play: voluntary draws are off."""
    legal = smallest.legal[smallest.choices]
    assert not ((legal >> np.uint64(DRAW)) & np.uint64(1)).any()
