"""Agents: their spellings, the expert's rules of thumb, what search computes, networks."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents import Agent
from agents.network.checkpoint import save_network
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from agents.search.agent import CHUNK, SearchAgent, children
from agents.search.tree import ROLLOUTS
from taki_env import ACTIONS, Batch, Game, View
from taki_env.core.bits import seed_words
from taki_env.core.cards import MAX_PLAYERS
from taki_env.core.policies import expert
from taki_env.core.policies.expert import WEIGHTS
from tests.base.test_jit import python
from tests.helpers import VARIANTS, game
from training.arena.tournament import play

TABLES = [
    (variant, players)
    for variant, rules in VARIANTS.items()
    for players in range(2, MAX_PLAYERS + 1)
    if sum(rules.deck) > players * rules.hand_size + sum(rules.deck[52:])
]
"""Every set of options at every number of players that its deck is enough for."""


def choice(agent: Agent | str, table: Game, seed: int = 0) -> str:
    """Return the action that an agent takes."""
    agent = agents.load(agent, seed) if isinstance(agent, str) else agent
    return ACTIONS[agent.act(table.view())[0]]


def assert_legal(agent: Agent, batch: Batch, decisions: int) -> None:
    """Let an agent play all seats for some decisions of each game."""
    for _ in range(decisions):
        live = np.flatnonzero(~batch.done)
        if not live.size:
            return
        view = batch.view(live)
        actions = agent.act(view)
        assert actions.dtype == np.int64
        assert view.action_masks[np.arange(live.size), actions].all()
        batch.step_some(live, actions)


def positions(number: int, num_players: int = 3, every: int = 7) -> list[Game]:
    """Return positions with a choice from games between greedy players."""
    return list(itertools.islice(_positions(num_players, every), number))


def _positions(num_players: int, every: int) -> Iterator[Game]:
    greedy = agents.load("greedy")
    for seed in itertools.count():
        table = Game(num_players, seed=seed)
        while not table.is_over:
            if table.decisions % every == 0 and len(table.legal_actions()) > 1:
                yield table.clone()
            table.apply(greedy.act(table.view())[0])


# Spellings ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a network that was never trained."""
    torch.manual_seed(0)
    file = tmp_path_factory.mktemp("checkpoint") / "model.zip"
    save_network(file, TakiNetwork(8), {})
    return file


def test_every_agent_is_listed() -> None:
    """Those with an argument that must be given are last."""
    assert agents.list() == [
        *("random", "greedy", "expert", "search", "pretrained"),
        *("policy:PATH", "import:MODULE:NAME"),
    ]


@pytest.mark.parametrize("spec", [spec for spec in agents.list() if ":" not in spec])
def test_every_name_makes_an_agent_that_plays(spec: str) -> None:
    """It has its own name, and its actions are legal."""
    agent = agents.load(spec)
    assert isinstance(agent, Agent) and agent.name.split(":")[0] == spec
    assert_legal(agent, Batch(3, 3, seed=1), 20)


def test_options_are_read_by_their_types() -> None:
    """Whole numbers, decimals and words."""
    agent = agents.load("search:simulations=30,rollout=random,exploration=2,opponents=tree")
    assert isinstance(agent, SearchAgent)
    same = SearchAgent(30, rollout="random", exploration=2.0, opponents="tree")
    view = game([["red 3", "red 5", "blue 7"], ["green 1"] * 2]).view()
    assert agent.analyze(view) == same.analyze(view)
    assert agents.load("search:milliseconds=2.5").name == "search:milliseconds=2.5"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("serch", "did you mean 'search'"),
        ("", "unknown agent ''"),
        ("policy", "unknown agent 'policy'"),
        ("search:simulation=5", "unknown option 'simulation=5'; did you mean 'simulations'"),
        ("search:5", "unknown option '5' .options: simulations"),
        ("search:seed=5", "unknown option 'seed=5'"),
        ("expert:depth=2", "it has no options"),
        ("search:simulations=5,simulations=6", "simulations is given twice"),
        ("search:simulations=2.5", "simulations must be int, got '2.5'"),
        ("search:simulations=", "simulations must be int, got ''"),
        ("search:simulations", "simulations needs a value, as in simulations=VALUE"),
        ("search:exploration=much", "exploration must be float, got 'much'"),
        ("search:simulations=0", "simulations must be an integer of at least 1"),
        ("search:threads=0", "threads must be an integer of at least 1"),
        ("search:milliseconds=0", "milliseconds must be above 0"),
        ("search:milliseconds=nan", "milliseconds must be above 0"),
        ("search:exploration=-1", "exploration must be 0 or more"),
        ("search:exploration=nan", "exploration must be 0 or more"),
        ("search:prior=1.5", "prior must be 0 to 1"),
        ("search:rollout=gredy", "rollout must be one of random, greedy, expert.*'greedy'"),
        ("search:opponents=both", "opponents must be one of rollout, tree"),
    ],
)
def test_wrong_spellings_say_what_is_wrong(spec: str, words: str) -> None:
    """With the options there are, or what was meant."""
    with pytest.raises(ValueError, match=words):
        agents.load(spec)


@pytest.mark.parametrize("spec", [None, 5, b"random", ["random"]])
def test_what_is_no_string_is_no_agent(spec: object) -> None:
    """It says what an agent is."""
    with pytest.raises(TypeError, match="an agent must be a string such as 'expert', got"):
        agents.load(spec)  # type: ignore[arg-type]


def test_a_policy_plays_its_best_action_or_samples(checkpoint: Path) -> None:
    """As the option says, which is a word of two."""
    for words, sample in (("", False), (",sample=true", True), (",sample=false", False)):
        agent = agents.load(f"policy:{checkpoint}{words}")
        assert isinstance(agent, PolicyAgent) and agent.sample == sample
    with pytest.raises(ValueError, match="sample must be bool, got 'yes'"):
        agents.load(f"policy:{checkpoint},sample=yes")


# The expert ---------------------------------------------------------------------------------------

EIGHT = ["green 1", "green 3", "green 4", "green 6", "yellow 1", "yellow 3", "yellow 4", "yellow 6"]
"""Another player's hand that is no threat."""
ONE = ["green 1"]
"""Another player's hand that is."""
RUN: dict[str, Any] = {"phase": "run", "open_taki": True, "can_close": True}


@pytest.mark.parametrize(
    ("action", "hand", "other", "lead", "changes"),
    [
        # connections
        ("red 3", ["red 3", "red 9", "blue 9"], EIGHT, "red 7", {}),
        ("red 9", ["red 3", "red 9", "blue 3"], EIGHT, "red 7", {}),
        # TAKI
        ("red taki", ["red 3", "red 5", "red taki", "blue 1"], EIGHT, "red 7", {}),
        ("red taki", ["red 3", "red 5", "red taki", "king"], EIGHT, "red 7", {}),
        ("red taki", ["red 3", "red stop", "red taki"], ONE, "red 7", {}),
        ("super taki", ["red 3", "red stop", "super taki"], EIGHT, "red 7", {}),
        ("red 3", ["red 3", "blue 1", "super taki", "blue 9"], EIGHT, "red 7", {}),
        # runs: all cards of the color, the best end last
        ("red 9", ["red 9", "blue 1"], EIGHT, "red taki", RUN),
        ("close taki", ["blue 1", "blue 3"], EIGHT, "red 9", RUN),
        ("red 3", ["red 3", "red 5", "blue 5"], EIGHT, "red taki", RUN),
        ("red 5", ["red 3", "red 5", "blue 3"], EIGHT, "red taki", RUN),
        ("red 3", ["red 3", "red stop", "blue 5"], ONE, "red taki", RUN),
        ("red 3", ["red 3", "red +2", "blue 5"], ONE, "red taki", RUN),
        ("super taki", ["super taki"], EIGHT, "red 9", RUN),
        ("close taki", ["super taki", "blue 1"], EIGHT, "red 9", RUN),
        # a run and a plus
        ("red plus", ["red 3", "red plus", "blue 5"], EIGHT, "red taki", RUN),
        ("red 3", ["red 3", "red plus", "blue plus"], EIGHT, "red taki", RUN),
        ("pass", ["blue 5"], EIGHT, "red plus", RUN),
        ("close taki", ["blue 5", "blue plus"], EIGHT, "red plus", RUN),
        ("close taki", ["blue 5", "king"], EIGHT, "red plus", RUN),
        # a plus
        ("red plus", ["red 3", "red plus", "blue 5"], EIGHT, "red 7", {}),
        ("red 3", ["red 3", "blue plus"], EIGHT, "red plus", {"phase": "plus"}),
        # the next player is about to go out
        ("red 3", ["red 3", "red +2", "blue 5"], EIGHT, "red 7", {}),
        ("red +2", ["red 3", "red +2", "blue 5"], ONE, "red 7", {}),
        ("red 3", ["red 3", "blue 1", "blue 5", "+3"], EIGHT, "red 7", {}),
        ("+3", ["red 3", "red 5", "red 9", "+3"], ONE, "red 7", {}),
        # what is kept
        ("red 3", ["red 3", "king", "+3", "change color"], EIGHT, "red 7", {}),
        ("+3", ["blue 1", "blue 3", "king", "+3", "change color"], EIGHT, "red 7", {}),
        ("king", ["king"], EIGHT, "red 7", {}),
        ("king", ["king"], EIGHT, "red +2", {"pending_draw": 2}),
        # Breakers
        ("+3 breaker", ["red 3", "blue 5", "+3 breaker"], EIGHT, "red 7", {}),
        # colors
        (
            "change color to blue",
            ["blue 1", "blue 3", "green 5", "change color"], EIGHT, "red 7", {},
        ),
        (
            "change color to yellow",
            ["green 5", "green 9", "yellow 8", "yellow taki", "change color"], EIGHT, "red 7", {},
        ),
        (
            "change color to blue",
            ["green 5", "blue 8", "change color"], EIGHT, "red 7", {"under": ["blue 1", "blue 3"]},
        ),
        # a +2, and calls
        ("blue +2", ["blue +2", "king"], EIGHT, "red +2", {"pending_draw": 2}),
        ("draw", ["red 3", "red 5"], EIGHT, "red +2", {"pending_draw": 2}),
        ("say last card", ["red 3"], EIGHT, "red 7", {"phase": "last_card"}),
    ],
)  # fmt: skip
def test_the_expert_keeps_its_rules(
    action: str, hand: list[str], other: list[str], lead: str, changes: dict[str, Any]
) -> None:
    """Each of those that `ExpertAgent` names, in a position in which it alone decides."""
    assert choice("expert", game([hand, other], lead, **changes)) == action


@pytest.mark.parametrize("answer", ["+3 breaker", "king"])
def test_the_expert_answers_every_plus_three(answer: str) -> None:
    """With a Breaker rather than a King."""
    hand = sorted({answer, "king"}, key=ACTIONS.index)
    at = {"phase": "respond", "actor": 1, "plus_three_by": 0, "symbol": None, "color": "red"}
    table = game([["blue 1", "blue 3"], ["blue 5", *hand]], "+3", **at)
    assert choice("expert", table) == answer


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_the_expert_plays_legal_actions(variant: str, players: int) -> None:
    """Under all options, at every number of players; about a thousand decisions of each."""
    assert_legal(agents.load("expert"), Batch(10, players, VARIANTS[variant], seed=3), 100)


@pytest.mark.parametrize("spec", ["greedy", "expert", "search:simulations=50"])
def test_agents_do_not_see_hidden_cards(spec: str) -> None:
    """Other hidden cards, and the same seed: the same action."""
    for table in positions(60):
        twin = table.determinize(table.actor, seed=5)
        assert choice(spec, table) == choice(spec, twin)


def test_no_weight_of_the_expert_is_forgotten() -> None:
    """Each is read by its name somewhere in the module."""
    text = Path(expert.__file__).read_text()  # type: ignore[attr-defined]
    assert all(text.count(f'"{name}"') == 2 for name in WEIGHTS)


# Search -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_search_plays_legal_actions(variant: str, players: int) -> None:
    """Under all options, at every number of players, the others searching as well or not."""
    batch = Batch(4, players, VARIANTS[variant], seed=3)
    for opponents in ("rollout", "tree"):
        assert_legal(SearchAgent(8, rollout="greedy", opponents=opponents), batch, 20)


@pytest.mark.parametrize("rollout", ROLLOUTS)
@pytest.mark.parametrize("opponents", ["rollout", "tree"])
def test_figures_of_search_are_consistent(rollout: str, opponents: str) -> None:
    """Every legal action is there once, visits sum to the simulations, values are shares."""
    agent = SearchAgent(300, rollout=rollout, opponents=opponents)
    for table in positions(20, num_players=4):
        (found,) = agent.analyze(table.view())
        assert sorted(candidate.action for candidate in found) == table.legal_actions()
        assert sum(candidate.visits for candidate in found) == 300
        others = [candidate.visits for candidate in found[1:]]
        assert others == sorted(others, reverse=True)
        assert found[0].visits >= others[0] - 1  # the two that stayed share what is left
        for candidate in found:
            assert candidate.visits == 0 or 0 <= candidate.value <= 1
            assert candidate.line[0] == candidate.action
            assert candidate.seats[0] == table.actor and len(candidate.seats) == len(candidate.line)


def test_an_action_that_was_not_tried_has_no_value() -> None:
    """One simulation tries one action."""
    (found,) = SearchAgent(1).analyze(game([["red 3", "blue 7"], EIGHT]).view())
    assert [candidate.visits for candidate in found] == [1, 0]
    assert np.isnan(found[1].value)


def test_a_line_names_who_acts() -> None:
    """With two players a stop gives the move back; a red 5 hands it on."""
    (found,) = SearchAgent(1000).analyze(game([["red 5", "red stop"], ONE]).view())
    by_name = {candidate.name: candidate for candidate in found}
    assert (by_name["red stop"].line, by_name["red stop"].seats) == ((8, 3), (0, 0))
    assert by_name["red 5"].seats[:2] == (0, 1)


def test_the_same_seed_gives_the_same_figures() -> None:
    """And another seed gives others."""
    views = [table.view() for table in positions(5)]

    def figures(seed: int) -> list[Any]:
        agent = SearchAgent(100, seed=seed)
        return [agent.analyze(view) for view in views]

    assert str(figures(1)) == str(figures(1)) != str(figures(2))


def test_act_and_analyze_agree() -> None:
    """The action is the first of the analysis, ties included."""
    for seed, table in enumerate(positions(120, every=3)):
        for simulations in (2, 65, 300):
            for bonus in ({}, {"exploration": 1000.0, "prior": 0.0}):  # the latter makes ties
                view = table.view()
                found = SearchAgent(simulations, **bonus, seed=seed).analyze(view)[0]
                action = SearchAgent(simulations, **bonus, seed=seed).act(view)
                assert action == [found[0].action]


def words_view(games: int) -> tuple[Batch, View]:
    """Return some games as the arena shows them, with a word for each."""
    batch = Batch(games, 3, seed=2)
    batch.step_some(np.arange(games), agents.load("greedy").act(batch.view(np.arange(games))))
    return batch, View(batch.states, batch.legal, seed_words(1, np.arange(games)))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_plays_as_its_games_do_one_by_one(threads: int) -> None:
    """Each game has a word of its own, and trees are not shared."""
    batch, view = words_view(30)
    whole = SearchAgent(100, threads=threads).act(view)
    words = seed_words(1, np.arange(30))
    single = [
        SearchAgent(100).act(
            View(batch.states[i : i + 1], batch.legal[i : i + 1], words[i : i + 1])
        )
        for i in range(30)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(single))


def test_in_the_arena_search_plays_the_same_whatever_the_batch() -> None:
    """A report does not depend on which games are asked for together."""
    entrants = ["search:simulations=20", "expert"]
    assert play(entrants, 2, 20, batch=3) == play(entrants, 2, 20)


def test_more_time_means_more_simulations() -> None:
    """At least some are made, however short the time."""
    view = game([["red 3", "red 5", "blue 7", "king"], EIGHT]).view()
    little, more = (
        sum(candidate.visits for candidate in SearchAgent(milliseconds=ms).analyze(view)[0])
        for ms in (1e-6, 300.0)
    )
    assert little == CHUNK < more
    assert SearchAgent(milliseconds=1.0).act(view)[0] in np.flatnonzero(view.action_masks[0])


def test_answers_of_different_seats_are_different_nodes() -> None:
    """Who breaks a +3 is public, though who was asked is not."""
    hands = [["red 1", "red 3", "red 4", "+3"], EIGHT, [*EIGHT[:4], "blue 1"], ["red 9"] * 2]
    agent = SearchAgent(3000, rollout="random")
    view = game(hands).view()
    roots, words = agent._roots(view)
    tree, _ = agent._grow(roots, words, agent._remembered(view, roots), 0)
    plus_three = next(n for n in children(tree, 0) if ACTIONS[tree["action"][n]] == "+3")
    breakers = [
        (int(tree["actor"][n]), bool(tree["asked"][n]))
        for n in children(tree, plus_three)
        if ACTIONS[tree["action"][n]] == "+3 breaker"
    ]
    assert len(breakers) == len(set(breakers))
    assert {(1, True), (2, True), (3, True)} <= set(breakers)


def tiny_searches() -> str:
    """Search some positions with few simulations; return a digest of all figures."""
    digest = hashlib.sha256()
    for rollout, opponents in (("expert", "rollout"), ("greedy", "tree"), ("random", "tree")):
        table = Game(3, VARIANTS["all"], seed=6)
        for _ in range(3):
            agent = SearchAgent(6, rollout=rollout, opponents=opponents)
            found = agent.analyze(table.view(remember=True))
            digest.update(repr(found).encode())
            table.apply(int(agent.act(table.view(remember=True))[0]))
    return digest.hexdigest()


def test_without_the_compiler_search_is_the_same() -> None:
    """Trees, the expert, rollouts; and no sum overflows."""
    code = "from tests.agents.test_agents import tiny_searches; print(tiny_searches())"
    assert python(code, NUMBA_DISABLE_JIT="1").stdout.strip() == tiny_searches()


# Networks -----------------------------------------------------------------------------------------


def test_a_policy_samples_in_proportion_to_its_probabilities(checkpoint: Path) -> None:
    """The frequencies of 20,000 draws are within five standard errors, illegal actions never."""
    table = game([["red 3", "red 5", "blue 7", "king"], EIGHT])
    agent = PolicyAgent.load(checkpoint, sample=True)
    probabilities, values = agent.predict(table.view())
    assert probabilities[0].sum() == pytest.approx(1) and values.shape == (1,)
    assert set(np.flatnonzero(probabilities[0])) == set(table.legal_actions())
    view = table.view()
    many = View(np.repeat(view._states, 20_000), np.repeat(view.legal, 20_000))
    shares = np.bincount(agent.act(many), minlength=64) / 20_000
    error = np.sqrt(probabilities[0] * (1 - probabilities[0]) / 20_000)
    assert (np.abs(shares - probabilities[0]) <= 5 * error + 1e-9).all()


def test_a_policy_that_does_not_sample_takes_its_likeliest_action(checkpoint: Path) -> None:
    """Whatever its seed."""
    policies = [PolicyAgent.load(checkpoint, seed=seed) for seed in (0, 1)]
    for table in positions(20):
        probabilities, _ = policies[0].predict(table.view())
        for policy in policies:
            assert probabilities[0, policy.act(table.view())[0]] == probabilities.max()
