"""All trainers learn the best play of a tiny deck, which follows from the rules.

The deck is all red: numbers and two TAKI cards, so every card can be played on every other. A seat
has four cards: a player who holds a TAKI on the first turn wins at once by playing it, then the
other three cards, with the last-card call. Closing the run early, or playing a number first, gives
the other seat a turn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import agents
from taki_env import ACTIONS, Batch, Rules
from taki_env.core.cards import CARDS
from taki_env.core.decks import DECKS, Deck
from training.trainers import rollouts, selfplay, train

RED = [f"red {symbol}" for symbol in (1, 3, 4, 5, 6, 7, 8, 9)] * 2 + ["red taki"] * 2
TAKI = ACTIONS.index("red taki")


@pytest.fixture(autouse=True)
def red_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the tiny deck as `deck=red`."""
    counts = tuple(RED.count(card) for card in CARDS)
    monkeypatch.setitem(DECKS, "red", Deck(counts, 4, 500))


def first_turn_wins(agent: agents.Agent) -> float:
    """Return the share of first-turn wins among games where the first seat has a TAKI."""
    batch = Batch(2000, 2, Rules(deck="red"), seed=9)
    has_taki = batch.action_masks()[:, TAKI] == 1
    first = batch.actors.copy()
    while (going := np.flatnonzero(~batch.done & (batch.actors == first))).size:
        batch.step_some(going, agent.act(batch.view(going)))
    winners = batch.states["winner"]
    return float((winners == first)[has_taki].mean())


def test_random_play_seldom_wins_at_once() -> None:
    """The measure discriminates: a random player with a TAKI often lets the other seat move."""
    assert first_turn_wins(agents.load("random")) < 0.3


COMMON = {"rules": ("deck=red",), "seed": 1, "hidden": 64, "threads": 1, "evaluation_games": 2,
          "final_games": 2}  # fmt: skip


def test_self_play_learns_the_best_play(tmp_path: Path) -> None:
    """A TAKI in hand on the first turn wins the game."""
    args = selfplay.SelfPlayArgs(**COMMON, steps=60_000, games=128, rollout=32, batch_size=256,
                         runs=tmp_path)  # fmt: skip
    folder = selfplay.prepare(args)().folder
    assert first_turn_wins(agents.load(f"policy:{folder}")) > 0.99


def test_maskable_ppo_learns_the_best_play(tmp_path: Path) -> None:
    """A TAKI in hand on the first turn wins the game."""
    args = train.PPOArgs(**COMMON, steps=30_000, envs=64, rollout=32, batch_size=256, runs=tmp_path)
    folder = train.prepare(args)().folder
    assert first_turn_wins(agents.load(f"policy:{folder}")) > 0.99


def test_rollouts_teach_the_best_play(tmp_path: Path) -> None:
    """A TAKI in hand on the first turn wins the game."""
    args = rollouts.RolloutArgs(
        **COMMON, steps=16_000, games=128, rollout=8, batch_size=64, deals=8, runs=tmp_path
    )
    folder = rollouts.prepare(args)().folder
    assert first_turn_wins(agents.load(f"policy:{folder}")) > 0.99
