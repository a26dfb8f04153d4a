"""TAKI as a game of OpenSpiel: the same game as the engine's, and its algorithms run on it."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterable

import numpy as np
import pytest

from taki_env import CARDS, IllegalActionError, Rules
from taki_env.core.cards import ACTIONS, OVER
from taki_env.core.observation import OBSERVATION_SIZE
from tests.helpers import SMALL_DECK

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is missing: pip install open_spiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    ismcts,
    mcts,
)

from taki_env.openspiel import TakiState, TreeState, load  # noqa: E402
from tools import openspiel_games  # noqa: E402

SETTINGS = [
    {"deck": "mini-1", "auto_last_card": True},
    {"deck": "mini-3"},
    {"deck": "mini-4", "voluntary_draw": True, "full_runs": True, "max_decisions": 30},
    {"players": 4, "hand_size": 2, "tournament": True, "max_decisions": 60},
]
SECRET = Rules(
    hand_size=2,
    auto_last_card=True,
    deck=[
        ["red 1", "red 1", "red 3", "red 3", "red 4", "green 1", "green 1", "green 3", "blue 1",
         "+3", "+3 breaker"].count(card)
        for card in CARDS
    ],
)  # fmt: skip


def random_state(state: TakiState, steps: int, seed: int) -> TakiState:
    """Return a state some random steps later, or the end of the game."""
    choose = random.Random(seed)
    for _ in range(steps):
        if not state.is_terminal():
            state.apply_action(choose.choice(state.legal_actions()))
    return state


def after(table: TreeState, names: Iterable[str]) -> TreeState:
    """Return the table after cards that chance chooses and actions, by their names."""
    for name in names:
        if table.action is None:
            table = table.decide(ACTIONS.index(name))
        else:
            table = table.choose(CARDS.index(name))
    return table


# The same game as the engine's --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "setting"),
    list(enumerate(openspiel_games.SETTINGS)),
    ids=lambda value: str(value) if isinstance(value, int) else f"{value[0]} players",
)
def test_same_chance_and_actions_give_the_same_positions(
    seed: int, setting: tuple[int, Rules]
) -> None:
    """Every byte of the engine's record; ``python -m tools.openspiel_games`` plays many more."""
    openspiel_games.play_both(*setting, seed)


def test_the_games_compared_have_new_draw_piles() -> None:
    """Otherwise the test above would say little of them."""
    rules = openspiel_games.SMALL["mini-2 automatic calls"]
    assert sum(openspiel_games.play_both(2, rules, seed) for seed in range(10)) >= 3


def test_chance_draws_in_proportion_to_the_copies_left() -> None:
    """Of red 1, red 1, red stop, green 1, green 1, green stop; then of what is left of them."""
    state = pyspiel.load_game("python_taki", {"deck": "mini-1"}).new_initial_state()
    assert {CARDS[card]: chance for card, chance in state.chance_outcomes()} == pytest.approx(
        {"red 1": 1 / 3, "red stop": 1 / 6, "green 1": 1 / 3, "green stop": 1 / 6}
    )
    state.apply_action(CARDS.index("red 1"))
    assert {CARDS[card]: chance for card, chance in state.chance_outcomes()} == pytest.approx(
        {"red 1": 1 / 5, "red stop": 1 / 5, "green 1": 2 / 5, "green stop": 1 / 5}
    )


def test_colorless_cards_turned_over_are_drawn_last_in_their_order() -> None:
    """The +3 was turned over before the Breaker; the unknown card above them comes first."""
    deal = ["red 1", "red change direction", "+3", "+3 breaker", "green 1"]
    table = after(load(2, Rules(deck="mini-3", auto_last_card=True)).start, deal)
    assert table.next_cards() == [CARDS.index("king")]
    drawn = after(load(2, Rules(deck="mini-3", auto_last_card=True)).start, deal)
    drawn = drawn._replace(action=60, needed=3, chosen=(CARDS.index("king"),))
    assert drawn.next_cards() == [CARDS.index("+3")]
    assert drawn.choose(CARDS.index("+3")).next_cards() == [CARDS.index("+3 breaker")]


def test_an_illegal_action_is_refused() -> None:
    """Its name and the legal ones are given."""
    table = after(load(2, Rules(deck="mini-1")).start, ["red 1", "red 1", "green 1", "green 1"])
    table = after(table, ["red stop"])
    with pytest.raises(IllegalActionError, match="'close taki'"):
        table.decide(ACTIONS.index("close taki"))
    with pytest.raises(IllegalActionError, match=r"cannot be drawn; cards left: \[red 1, red 1"):
        load(2, Rules(deck="mini-1")).start.choose(CARDS.index("blue 1"))


# OpenSpiel's own requirements ---------------------------------------------------------------------


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_openspiel_simulates_the_game(parameters: dict) -> None:
    """Clones, serialization, tensors, legal actions, chance, returns."""
    pyspiel.random_sim_test(pyspiel.load_game("python_taki", parameters), 2, True, False)


def test_openspiel_simulates_the_full_game() -> None:
    """As above, for a few decisions: its information states are large."""
    game = pyspiel.load_game("python_taki", {"max_decisions": 15})
    pyspiel.random_sim_test(game, 1, True, False)


@pytest.mark.parametrize("game", ["deck=mini-3", "players=3,hand_size=2,max_decisions=10"])
def test_openspiel_writes_a_playthrough(game: str) -> None:
    """All that OpenSpiel asks of a game, in every state of one of random actions."""
    words = generate_playthrough.playthrough(f"python_taki({game})", action_sequence=None, seed=1)
    assert "IsTerminal() = True" in words


def test_there_are_observations_of_a_seat_alone() -> None:
    """For other kinds the game returns None, which OpenSpiel accepts."""
    game, kind = load(2, Rules(deck="mini-1")), pyspiel.IIGObservationType
    nobody = pyspiel.PrivateInfoType.NONE
    assert game.make_py_observer(kind(perfect_recall=False, private_info=nobody)) is None
    assert game.make_py_observer(kind(perfect_recall=True, public_info=False)) is None
    with pytest.raises(ValueError, match="no parameters"):
        game.make_py_observer(params={"size": 3})


@pytest.mark.parametrize("steps", [0, 3, 30, 45])
def test_states_survive_copies_and_files(steps: int) -> None:
    """A clone, a pickle and OpenSpiel's text continue as the state itself does."""
    game = load(3, Rules(hand_size=3, deck=SMALL_DECK), 100)
    state = random_state(game.new_initial_state(), steps, seed=2)
    text = pyspiel.serialize_game_and_state(game, state)
    copies = [
        state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state)),
        pyspiel.deserialize_game_and_state(text)[1],
    ]  # fmt: skip
    expected = [str(random_state(state, more, seed=5)) for more in (0, 1, 20)]
    for other in copies:
        assert [str(random_state(other, more, seed=5)) for more in (0, 1, 20)] == expected


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"players": 11}, "num_players must be an integer from 2 to 10"),
        ({"deck": "mini-9"}, "deck must be one of .*'mini-9'"),
        ({"max_decisions": -1}, "max_decisions must be an integer of at least 1"),
        ({"deck": "mini-1", "players": 3}, "cannot be dealt"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict, words: str) -> None:
    """The error names the allowed values."""
    from taki_env.openspiel import TakiGame

    with pytest.raises(ValueError, match=words):
        TakiGame(parameters)


def test_a_game_that_is_cut_off_is_worth_nothing() -> None:
    """All returns are 0 after the last decision."""
    state = pyspiel.load_game("python_taki", {"players": 3, "max_decisions": 1}).new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert state.returns() == [0, 0, 0]


def test_the_winner_gets_one() -> None:
    """A red 1 on a green 1, the last card of the hand."""
    table = after(load(2, Rules(deck="mini-3")).start, ["red 1", "king", "green 1"])
    state = load(2, Rules(deck="mini-3")).new_initial_state()
    state.table = after(table, ["red 1"])
    assert state.table.record["phase"][0] == OVER
    assert (state.is_terminal(), state.returns()) == (True, [1, -1])


# What seats know ----------------------------------------------------------------------------------


def test_information_states_have_perfect_recall() -> None:
    """Each tells the seat's observation, legal actions and all its earlier ones; mini-1, whole."""
    known: dict[str, tuple] = {}

    def visit(state: TakiState, own: tuple[tuple, tuple]) -> None:
        if state.is_terminal():
            return
        seat = state.current_player()
        if seat >= 0:
            name = state.information_state_string(seat)
            seen = state.observation_string(seat), tuple(state.observation_tensor(seat))
            now = (own[seat], *seen, tuple(state.legal_actions()))
            assert known.setdefault(name, now) == now
            tensor = tuple(state.information_state_tensor(seat))
            assert tensors.setdefault(tensor, name) == name
        for action in state.legal_actions():
            mine = ((*own[seat], (name, action)),) if seat >= 0 else ()
            after = own if seat < 0 else (*own[:seat], *mine, *own[seat + 1 :])
            visit(state.child(action), after)

    tensors: dict[tuple, str] = {}
    game = pyspiel.load_game("python_taki", {"deck": "mini-1", "auto_last_card": True})
    visit(game.new_initial_state(), ((), ()))
    assert len(known) == len(tensors) == 208


def test_the_information_tensor_tells_what_the_string_does() -> None:
    """The pieces have the documented places."""
    game = load(2, Rules(deck="mini-1", auto_last_card=True))
    state = game.new_initial_state()
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    state.table = after(game.start, ["red 1", "red 1", "green 1", "green 1", "green stop"])
    state.table = after(state.table, ["draw", "red stop"])
    assert state.information_state_string(0) == (
        "seat 0 [red 1, red 1] lead green stop; 0 draw draws 1/0 [red stop]"
    )
    assert state.information_state_string(1) == (
        "seat 1 [green 1, green 1] lead green stop; 0 draw draws 1/0"
    )
    observer.set_from(state, 0)
    assert observer.dict["hand"][CARDS.index("red 1")] == 2
    assert observer.dict["lead"].argmax() == CARDS.index("green stop")
    row = observer.dict["notes"][0]
    ones = [0, 2 + ACTIONS.index("draw"), 2 + 64, 2 + 64 + 2 + CARDS.index("red stop")]
    assert np.flatnonzero(row).tolist() == ones
    assert not observer.dict["notes"][1:].any()


def test_a_pass_on_a_plus_three_is_secret() -> None:
    """Seat 2 passes with a Breaker, or holds none and is not asked: the others see the same."""
    start = load(3, SECRET).start
    ends = []
    for card, answer in (("+3 breaker", ["pass"]), ("red 4", [])):
        table = after(start, ["+3", "red 1", "green 1", "green 3", card, "red 3", "red 1", "+3"])
        table = after(table, answer)
        other = "red 4" if card == "+3 breaker" else "+3 breaker"
        ends.append(after(table, ["red 3", "green 1", "blue 1", other, "red 1"]))
    for seat in (0, 1):
        assert ends[0].information(seat) == ends[1].information(seat)
    assert ends[0].information(2) != ends[1].information(2)
    assert "2 pass" in ends[0].information(2)


def test_observations_are_the_environments() -> None:
    """The tensor is that of `Game.observation`."""
    state = random_state(load(2, None, 50).new_initial_state(), 40, seed=1)
    assert len(state.observation_tensor(1)) == OBSERVATION_SIZE
    from taki_env import Game

    game = Game._of(state.table.record, Rules())
    assert np.array_equal(state.observation_tensor(1), game.observation(1))


def test_resampled_states_look_the_same() -> None:
    """The seat's information and legal actions stay, the others' cards change."""
    state = random_state(load(3, None, 60).new_initial_state(), 45, seed=4)
    while state.is_chance_node():
        state = random_state(state, 1, seed=4)
    seat, sampler = state.current_player(), random.Random(0).random
    others = [state.resample_from_infostate(seat, sampler) for _ in range(5)]
    for other in others:
        assert other.information_state_string(seat) == state.information_state_string(seat)
        assert other.legal_actions() == state.legal_actions()
    assert len({str(other) for other in others}) == 5


# OpenSpiel's algorithms ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smallest() -> pyspiel.Game:
    """Return the game of the smallest deck."""
    return load(2, Rules(deck="mini-1", auto_last_card=True))


def uniform(information: str, table: TreeState) -> dict[int, float]:
    """Return the uniform policy at an information state."""
    legal = [action for action in range(64) if table.legal >> action & 1]
    return dict.fromkeys(legal, 1 / len(legal))


def best_response(start: TreeState, seat: int) -> float:
    """Return what a seat gets by the best response to uniform play, by brute force.

    All histories that the seat cannot tell apart are kept together, each with the probability that
    chance and the other seat give it.
    """

    def value(together: list[tuple[TreeState, float]]) -> float:
        total, decisions = 0.0, {}
        while together:
            table, weight = together.pop()
            if table.is_over:
                won = table.record["phase"][0] == OVER
                total += weight * (won and (1 if table.record["winner"][0] == seat else -1))
            elif table.action is not None:
                cards = table.next_cards()
                together += [(table.choose(card), weight / len(cards)) for card in cards]
            elif table.record["actor"][0] != seat:
                chances = uniform("", table)
                together += [(table.decide(a), weight * p) for a, p in chances.items()]
            else:
                decisions.setdefault(table.information(seat), []).append((table, weight))
        for same in decisions.values():
            total += max(
                value([(table.decide(action), weight) for table, weight in same])
                for action in uniform("", same[0][0])
            )
        return total

    return value([(start, 1.0)])


@pytest.mark.parametrize("seat", [0, 1])
def test_best_responses_are_those_of_brute_force(smallest: pyspiel.Game, seat: int) -> None:
    """OpenSpiel's, on the game as it is, to 1e-9; copies of a card are histories of their own."""
    policy = pyspiel.UniformRandomPolicy(smallest)  # OpenSpiel does not keep it alive
    response = pyspiel.TabularBestResponse(smallest, seat, policy)
    found = response.value_from_state(smallest.new_initial_state())
    assert found == pytest.approx(best_response(smallest.start, seat), abs=1e-9)


def test_cfr_reaches_an_equilibrium_of_the_smallest_deck(smallest: pyspiel.Game) -> None:
    """OpenSpiel's CFR+, on a copy of the tree that it keeps, to an exploitability below 1e-3."""
    tree = pyspiel.convert_to_cached_tree(smallest)
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(40):
        solver.evaluate_and_update_policy()
    assert pyspiel.exploitability(tree, solver.average_policy()) < 1e-3


def test_cfr_in_python_runs_unchanged(smallest: pyspiel.Game) -> None:
    """Three iterations halve the exploitability of uniform play, 0.144."""
    solver = cfr.CFRSolver(pyspiel.convert_to_cached_tree(smallest))
    for _ in range(3):
        solver.evaluate_and_update_policy()
    tree = pyspiel.convert_to_cached_tree(smallest)
    assert exploitability.exploitability(tree, solver.average_policy()) < 0.07


def test_external_sampling_runs_unchanged() -> None:
    """On a game of whose tree it sees but little."""
    game = load(2, Rules(deck="mini-4"))
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    solver.iteration()
    state = random_state(game.new_initial_state(), 5, seed=0)
    policy = solver.average_policy().action_probabilities(state)
    assert set(policy) == set(state.legal_actions())


def test_search_runs_unchanged() -> None:
    """IS-MCTS and MCTS choose between playing a Breaker, for three cards, and drawing one."""
    game = load(2, Rules(deck="mini-3", auto_last_card=True))
    state = game.new_initial_state()
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    bots = [
        ismcts.ISMCTSBot(game, evaluator, 2.0, 30, random_state=np.random.RandomState(0)),
        mcts.MCTSBot(game, 2.0, 30, evaluator, random_state=np.random.RandomState(0)),
    ]
    state.table = after(game.start, ["+3 breaker", "red 1", "red change direction"])
    assert [ACTIONS[a] for a in state.legal_actions()] == ["+3 breaker", "draw"]
    for bot in bots:
        assert bot.step(state) in state.legal_actions()


def rl_game() -> tuple[rl_environment.Environment, int]:
    """Return the smallest game for learners, and the size of its information states."""
    pytest.importorskip("torch").manual_seed(0)
    environment = rl_environment.Environment(load(2, Rules(deck="mini-1")))
    environment.seed(0)  # its constructor takes a seed but does not use it
    (size,) = environment.observation_spec()["info_state"]
    return environment, size


def test_learners_are_dealt_the_same_games_every_time() -> None:
    """The environment is seeded: what the others of these tests learn from is no matter of luck."""
    deals = []
    for _ in range(2):
        environment, _ = rl_game()
        deals.append([environment.reset().observations["info_state"] for _ in range(20)])
    assert deals[0] == deals[1]


def play_games(environment: rl_environment.Environment, agents: list, games: int) -> None:
    """Let a learner a seat play and learn; actions are legal, returns those of a game."""
    for _ in range(games):
        step = environment.reset()
        while not step.last():
            seat = step.observations["current_player"]
            output = agents[seat].step(step)
            assert output.action in step.observations["legal_actions"][seat]
            step = environment.step([output.action])
        for agent in agents:
            agent.step(step)
        assert sorted(step.rewards) in ([-1, 1], [0, 0])


def test_actor_critic_runs_unchanged() -> None:
    """Two games, each seat from its information states."""
    environment, size = rl_game()
    from open_spiel.python.pytorch.policy_gradient import PolicyGradient

    agents = [
        PolicyGradient(seat, size, 64, "a2c", hidden_layers_sizes=(16,), batch_size=4)
        for seat in (0, 1)
    ]
    play_games(environment, agents, 2)


def test_nfsp_runs_unchanged() -> None:
    """Both of its networks learn within a few games."""
    pytest.importorskip("tree", reason="NFSP needs dm-tree")
    environment, size = rl_game()
    from open_spiel.python.pytorch.nfsp import NFSP

    small = {"batch_size": 4, "min_buffer_size_to_learn": 4, "replay_buffer_capacity": 100}
    agents = [NFSP(seat, size, 64, [16], 100, 0.5, learn_every=2, **small) for seat in (0, 1)]
    play_games(environment, agents, 8)
    assert all(None not in agent.loss for agent in agents)


def test_ppo_runs_unchanged() -> None:
    """It learns one seat's play from a few decisions; the other seat plays at random."""
    environment, size = rl_game()
    from open_spiel.python.pytorch.ppo import PPO, PPOAgent

    def turn(step: rl_environment.TimeStep) -> rl_environment.TimeStep:
        while not step.last() and step.observations["current_player"] == 1:
            step = environment.step([choose.choice(step.observations["legal_actions"][1])])
        return step

    choose, decisions = random.Random(0), 8
    learner = PPO((size,), 64, 2, steps_per_batch=decisions, num_minibatches=2, agent_fn=PPOAgent)
    before = [weights.clone() for weights in learner.parameters()]
    step = turn(environment.reset())
    while learner.total_steps_done < decisions:
        while step.last():
            step = turn(environment.reset())
        (output,) = learner.step([step])
        assert output.action in step.observations["legal_actions"][0]
        step = turn(environment.step([output.action]))
        learner.post_step([step.rewards[0]], [step.last()])
    learner.learn([step])
    after = list(learner.parameters())
    assert any((one != other).any() for one, other in zip(before, after, strict=True))
