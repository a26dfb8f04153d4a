"""What a network is told that the other hands hold, and the networks and agents that are told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents.beliefs.features import BELIEF_SIZE, GROUPS
from agents.network.checkpoint import CheckpointError, describe, load_network, save_network
from agents.network.network import TakiNetwork, color_features, with_beliefs
from agents.network.policy import PolicyAgent
from agents.search.rollouts import evaluate_actions
from taki_env import ACTIONS, CARDS, Game, SelfPlay, View
from taki_env.core.bits import seed_words
from taki_env.core.cards import COLORS, NUM_ACTIONS, NUM_CARDS, NUM_COLORED
from taki_env.core.memory import Memory
from taki_env.core.observation import OBSERVATION_SIZE
from tests.core.test_memory import random_game, twins
from tests.helpers import VARIANTS, game, view_of
from tests.training.test_training import changed_model
from training.arena.tournament import play

WORD = seed_words(3, 0)
COPIES = np.array([4 if card == "change color" else 2 for card in CARDS])
"""What 1 stands for in an observation."""


@pytest.fixture(scope="module")
def agent() -> PolicyAgent:
    """Return an agent whose network takes beliefs, and depends on them."""
    torch.manual_seed(0)
    network = TakiNetwork(16, beliefs=True)
    for parameter in network.parameters():  # at first the cards do not meet
        torch.nn.init.normal_(parameter, std=0.3)
    return PolicyAgent(network.eval(), "beliefs")


def told(agent: PolicyAgent, view: View) -> np.ndarray[Any, Any]:
    """Return the copies of each card that the groups are expected to hold, (groups, 57)."""
    inputs = agent.inputs(view).numpy()
    assert inputs.shape == (1, OBSERVATION_SIZE + BELIEF_SIZE)
    assert np.array_equal(inputs[:, :OBSERVATION_SIZE], view.observations)
    found = inputs[0, OBSERVATION_SIZE:].reshape(len(GROUPS), NUM_CARDS) * COPIES
    return np.asarray(found)


def test_without_memory_every_unseen_card_is_as_likely(agent: PolicyAgent) -> None:
    """Of ten cards, two red 1 and one king among them, seat 1 holds two and seat 2 three."""
    hands = [["red 3", "red 4"], ["red 1", "green 3"], ["red 1", "green 4", "king"]]
    pile = ["blue 5", "blue 6", "blue 8", "blue 9", "yellow 1"]
    cards = [card for hand in hands for card in hand] + pile + ["red 7"]
    rules = {"deck": [cards.count(card) for card in CARDS], "hand_size": 1}
    table = game(hands, "red 7", rules=rules, top=pile)
    following, previous, every = told(agent, view_of(table))
    for card, copies in (("red 1", 2), ("king", 1), ("blue 5", 1), ("red 3", 0), ("red 7", 0)):
        index = CARDS.index(card)
        assert following[index] == pytest.approx(copies * 2 / 10)
        assert previous[index] == pytest.approx(copies * 3 / 10)
        assert every[index] == pytest.approx(copies * 5 / 10)
    back = game(hands, "red 7", rules=rules, top=pile, direction=-1)
    assert np.array_equal(told(agent, view_of(back)), [previous, following, every])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 5])
def test_expected_cards_are_as_many_as_the_hands_hold(
    agent: PolicyAgent, variant: str, players: int
) -> None:
    """Of no card more than are left, none that the actor holds or sees; by memory or without."""
    compared = 0
    for seed in range(20):
        table = random_game(players, variant, seed, 3 + 4 * seed)
        if len(table.legal_actions()) < 2:
            continue
        at = table.to_dict()
        seat, sizes = at["actor"], [len(hand) for hand in at["hands"]]
        unseen = at["draw_pile"] + [c for s, h in enumerate(at["hands"]) for c in h if s != seat]
        left = np.array([unseen.count(card) for card in CARDS])
        for view in (view_of(table), table.view(WORD, remember=True)):
            found = told(agent, view)
            seats = [(seat + at["direction"]) % players, (seat - at["direction"]) % players]
            totals = [*(sizes[other] for other in seats), sum(sizes) - sizes[seat]]
            assert found.sum(1) == pytest.approx(totals, abs=1e-3)
            assert (found >= 0).all() and (found <= left + 1e-4).all()
            compared += 1
    assert compared >= 8


def drew(action: str = "draw") -> Game:
    """Return a game in which seat 1 had nothing to play on a red 9."""
    hands = [["red 1", "red 5", "green 5", "green 1"], ["green 3", "green 4", "green 8"]]
    table = game(hands, "red 9", turn=1, actor=1)
    table.apply(action)
    return table


def test_who_drew_is_expected_to_hold_none_of_the_color(agent: PolicyAgent) -> None:
    """But for the card drawn: of four cards, three are not red; without memory a fifth of each is.

    Unseen are 116 cards less seat 0's four and the leading one, 23 of them red.
    """
    red = [card.startswith("red") for card in CARDS]
    known = told(agent, drew().view(WORD, remember=True))[0]
    unknown = told(agent, drew().view(WORD))[0]
    assert unknown[red].sum() == pytest.approx(4 * 23 / 111)
    assert known[red].sum() == pytest.approx(23 / 108, abs=0.15)
    assert known.sum() == pytest.approx(4, abs=1e-3)


def test_rollouts_deal_by_what_was_remembered() -> None:
    """Seat 1 holds a single card and no red: red keeps it from going out, and green may not.

    It drew on a red card, and then laid the red one that it had drawn.
    """
    hands = [["red 1", "red 4", "green 3", "green 4"], ["green 8"]]
    table = game(hands, "red 9", turn=1, actor=1, top=["red 3"])
    for action in ("draw", "red 1", "red 3", "say last card"):
        table.apply(action)
    views = [table.view(WORD), table.view(WORD, remember=True)]
    worth, beliefs = [], []
    for view in views:
        roots, found = (
            view.sample_states(1, np.random.default_rng(0))[:, 0],
            np.zeros((1, NUM_ACTIONS), np.float32),
        )
        expected = np.zeros((1, BELIEF_SIZE), np.float32)
        memory = view.memory or Memory.empty(roots)
        evaluate_actions(roots, WORD, 400, memory.arrays(), found, expected)
        worth.append({name: float(found[0, ACTIONS.index(name)]) for name in table.legal_names()})
        beliefs.append(expected[0, :NUM_CARDS] * COPIES)
    red = [card.startswith("red") for card in CARDS]
    assert beliefs[0][red].sum() > 0.1 and beliefs[1][red].sum() == 0
    assert worth[1]["red 4"] > worth[0]["red 4"] + 0.05
    assert worth[1]["red 4"] > worth[1]["green 3"]


def test_where_there_is_no_choice_nothing_is_expected(agent: PolicyAgent) -> None:
    """It takes no time, and any logits will do."""
    table = game([["blue 1", "blue 3"], ["red 3"]], "red 7")
    assert table.legal_names() == ["draw"] and not told(agent, view_of(table)).any()
    assert agent.act(view_of(table)).tolist() == [ACTIONS.index("draw")]


def test_twins_are_told_alike(agent: PolicyAgent) -> None:
    """Other hidden cards that have always looked the same change no input."""
    pairs = twins()
    assert len(pairs) >= 20
    for number, pair in enumerate(pairs):
        one, other = (told(agent, t.view(seed_words(number, 0), remember=True)) for t in pair)
        assert one.tobytes() == other.tobytes()


def test_arena_games_are_the_same_in_batches_of_any_size(agent: PolicyAgent) -> None:
    """And with several threads, or when actions are sampled."""
    for sample in (False, True):
        reports = []
        for batch, threads in ((1, 1), (40, 1), (40, 2)):
            player = PolicyAgent(agent.network, "beliefs", sample, threads=threads)
            report = play([player, "expert"], 2, 12, 0, batch=batch)
            reports.append((report.lineups[0].rates, report.lengths))
        assert reports[0] == reports[1] == reports[2]


def test_the_network_treats_colors_alike(agent: PolicyAgent) -> None:
    """Exchanging colors in observation and beliefs exchanges the logits of their cards."""
    network, order = agent.network, [2, 0, 3, 1]
    inputs = torch.rand(1, OBSERVATION_SIZE + BELIEF_SIZE)
    exchanged, columns = inputs.clone(), color_features()
    exchanged[0, columns.ravel()] = inputs[0, columns[order].ravel()]
    for group in range(len(GROUPS)):
        first = OBSERVATION_SIZE + group * NUM_CARDS
        colored = inputs[0, first : first + NUM_COLORED].view(len(COLORS), -1)
        exchanged[0, first : first + NUM_COLORED] = colored[order].ravel()
    logits, others = network.logits(inputs)[0], network.logits(exchanged)[0]
    expected = logits[:NUM_COLORED].view(len(COLORS), -1)[order].ravel()
    assert torch.allclose(others[:NUM_COLORED], expected, atol=1e-5)
    assert not torch.allclose(others[:NUM_COLORED], logits[:NUM_COLORED], atol=1e-3)
    without = inputs.clone()
    without[0, OBSERVATION_SIZE:] = 0
    assert not torch.allclose(network.logits(without)[0], logits, atol=1e-3)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_network_that_is_given_beliefs_plays_as_before(symmetric: bool) -> None:
    """At first: all weights of the new inputs are 0, and all of them can be learned."""
    narrow = TakiNetwork(16, symmetric)
    wide = with_beliefs(narrow)
    inputs = torch.rand(5, OBSERVATION_SIZE + BELIEF_SIZE)
    logits, values = wide(inputs)
    before, valued = narrow(inputs[:, :OBSERVATION_SIZE])
    assert torch.allclose(logits, before, atol=1e-6) and torch.allclose(values, valued, atol=1e-6)
    inputs.requires_grad_()
    for parameter in wide.parameters():
        torch.nn.init.normal_(parameter)
    wide.logits(inputs).square().sum().backward()
    assert inputs.grad is not None and (inputs.grad[:, OBSERVATION_SIZE:] != 0).any(0).all()


def test_a_checkpoint_says_whether_its_network_takes_beliefs(
    agent: PolicyAgent, tmp_path: Path
) -> None:
    """Those of before say nothing of it, and take none."""
    file, changed = tmp_path / "model.zip", tmp_path / "changed.zip"
    save_network(file, agent.network, {})
    loaded = agents.load(f"policy:{file}")
    assert loaded.remembers and describe(load_network(file)) == describe(agent.network)
    with pytest.raises(CheckpointError, match="do not fit"):
        load_network(changed_model(tmp_path, changed, beliefs=False))
    with pytest.raises(CheckpointError, match="beliefs must be true or false, got 'yes'"):
        load_network(changed_model(tmp_path, changed, beliefs="yes"))
    with pytest.raises(CheckpointError, match="symmetric must be true or false, got None"):
        load_network(changed_model(tmp_path, changed, symmetric=None))
    old = TakiNetwork(16)
    save_network(file, old, {})
    assert not load_network(changed_model(tmp_path, changed, beliefs=False)).beliefs
    assert not agents.load(f"policy:{file}").remembers


def test_it_plays_where_nothing_is_remembered(agent: PolicyAgent) -> None:
    """In positions and at tables that keep no actions, with every table size."""
    choose = random.Random(0)
    for players in range(2, 11):
        table = Game(players, seed=players)
        for _ in range(30):
            if table.is_over:
                break
            assert agent.act(table.view())[0] in table.legal_actions()
            table.apply(choose.choice(table.legal_actions()))


@pytest.mark.parametrize("beliefs", [False, True])
def test_no_games_are_decided_as_well(beliefs: bool) -> None:
    """A network takes a batch of none."""
    network = TakiNetwork(8, beliefs=beliefs)
    inputs = torch.zeros(0, OBSERVATION_SIZE + BELIEF_SIZE * beliefs)
    assert [len(part) for part in network(inputs)] == [0, 0]


def test_no_games_have_no_memory(agent: PolicyAgent) -> None:
    """Agents that remember answer with no action, as others do."""
    table = SelfPlay(4, 2, seed=0, keep_actions=True)
    view = table.view(np.arange(0))
    assert view.memory is not None and view.memory.counts.size == 0
    for player in (agent, agents.load("search:simulations=2")):
        assert player.act(view).size == 0


def test_where_nothing_is_hidden_nothing_is_expected(agent: PolicyAgent) -> None:
    """All other cards lie in the discard pile: the other hand is empty, and so is the draw pile."""
    hands = [["red 1", "red 3"], []]
    rules = {"deck": [card in ("red 1", "red 3", "red 7") for card in CARDS], "hand_size": 1}
    table = game(hands, "red 7", rules=rules)
    assert len(table.legal_actions()) == 2
    assert not told(agent, view_of(table)).any()


def test_threads_are_checked(agent: PolicyAgent) -> None:
    """Before the first decision."""
    with pytest.raises(ValueError, match="threads"):
        PolicyAgent(agent.network, threads=0)
