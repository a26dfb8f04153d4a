"""The PettingZoo environment: its contract, and how a game of TAKI runs through it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import taki_env
from taki_env import ACTIONS, Game, IllegalActionError, Rules
from taki_env.game import game as games
from tests.helpers import VARIANTS, game

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
BOTH = pytest.mark.parametrize("make", [taki_env.env, taki_env.raw_env], ids=["env", "raw_env"])
DICT_SPACES = pytest.mark.filterwarnings(
    "ignore:Observation is not NumPy array:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
)
"""PettingZoo warns of every Dict space, also of those of its own classic games."""


def on_table(hands: list[list[str]], lead: str = "red 7", **changes: Any) -> Any:
    """Return a raw environment in a position."""
    env = taki_env.raw_env(len(hands), **changes.pop("options", {}))
    env.reset(seed=0)
    env.game = game(hands, lead, **changes)
    env.infos = {agent: {"action_mask": np.zeros(64, np.int8)} for agent in env.agents}
    env._select()
    return env


def first_legal(env: Any) -> int:
    """Return the lowest legal action of the agent to move."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])


def random_legal(env: Any, rng: np.random.Generator) -> int:
    """Return a random legal action of the agent to move."""
    return int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))


def play(env: Any, seed: int, limit: int = 5000) -> dict[str, float]:
    """Play a random game through the AEC loop and return what each agent was paid."""
    rng, paid = np.random.default_rng(seed), dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(limit):
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        done = terminated or truncated
        env.step(None if done else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return paid


# The contract -------------------------------------------------------------------------------------


@DICT_SPACES
@pytest.mark.parametrize("num_players", [2, 3, 10])
@BOTH
def test_api(make: Callable[..., Any], num_players: int) -> None:
    """PettingZoo's own test of the AEC interface."""
    api_test(make(num_players=num_players), num_cycles=300)


@DICT_SPACES
@BOTH
def test_api_in_a_tournament(make: Callable[..., Any]) -> None:
    """The same with every option on."""
    api_test(make(num_players=4, rules=VARIANTS["all"]), num_cycles=300)


@BOTH
def test_seed(make: Callable[..., Any]) -> None:
    """PettingZoo's own test that a seed decides the game."""
    seed_test(make, num_cycles=100)


@BOTH
def test_render(make: Callable[..., Any]) -> None:
    """PettingZoo's own test of the render modes."""
    render_test(make)


@BOTH
def test_parallel_api(make: Callable[..., Any]) -> None:
    """PettingZoo's own test of the parallel interface, through its conversion."""
    parallel_api_test(turn_based_aec_to_parallel(make()), num_cycles=200)


def test_parallel_api_of_the_parallel_environment() -> None:
    """`parallel_env` is that conversion."""
    parallel_api_test(taki_env.parallel_env(num_players=3), num_cycles=200)


@BOTH
def test_parallel_seed(make: Callable[..., Any]) -> None:
    """PettingZoo's own test of the seed of the parallel interface."""
    parallel_seed_test(lambda: turn_based_aec_to_parallel(make()), num_cycles=50)


def test_the_registry_makes_the_environment() -> None:
    """Under its id, with arguments."""
    env = pettingzoo.make("aec", "taki/taki-v0", num_players=3)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]


def test_the_registry_makes_the_parallel_environment() -> None:
    """Under the same id."""
    env = pettingzoo.make("parallel", "taki/taki-v0", num_players=4)
    assert len(env.reset(seed=0)[0]) == 4


def test_spaces_are_those_of_the_design() -> None:
    """float32 Box in [0, 1], int8 mask, 64 actions; always the same objects."""
    env = taki_env.raw_env()
    space = env.observation_space("player_0")
    assert (space["observation"].low.min(), space["observation"].high.max()) == (0, 1)
    assert (space["observation"].dtype, space["observation"].shape) == (
        np.float32,
        (taki_env.OBSERVATION_SIZE,),
    )
    assert (space["action_mask"].dtype, space["action_mask"].shape) == (np.int8, (64,))
    assert env.action_space("player_0").n == 64
    assert env.observation_space("player_0") is space


# How a game runs ----------------------------------------------------------------------------------


def test_reset_deals_the_game_of_the_seed() -> None:
    """`Game(num_players, rules, seed)`."""
    env = taki_env.raw_env(3, Rules(tournament=True))
    env.reset(seed=11)
    assert env.game.to_dict() == Game(3, Rules(tournament=True), 11).to_dict()


def test_resets_without_a_seed_deal_the_next_games_of_it() -> None:
    """Each time another, and the same ones again after the same seed."""
    env, deals = taki_env.raw_env(), []
    for seed in (4, None, None, 4, None, None):
        env.reset(seed=seed)
        deals.append(str(env.game.to_dict()))
    assert deals[:3] == deals[3:] and len(set(deals)) == 3


def test_a_reset_deals_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after the first episode."""
    env, dealt = taki_env.raw_env(), []
    deal = games.deal_game
    monkeypatch.setattr(games, "deal_game", lambda *args: (dealt.append(args), deal(*args))[1])
    for resets in range(1, 4):
        env.reset(seed=1 if resets == 1 else None)
        assert len(dealt) == resets


@pytest.mark.parametrize("num_players", [2, 5, 10])
def test_observations_are_those_of_the_game(num_players: int) -> None:
    """For every agent, with a mask only for the one to move; the infos carry the masks."""
    env, rng = taki_env.raw_env(num_players), np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(60):
        for seat, agent in enumerate(env.agents):
            seen = env.observe(agent)
            moves = seat == env.game.actor
            mask = env.game.action_mask() if moves else np.zeros(64, np.int8)
            assert np.array_equal(seen["observation"], env.game.observation(seat))
            assert np.array_equal(seen["action_mask"], mask)
            assert np.array_equal(env.infos[agent]["action_mask"], mask)
            assert env.observation_space(agent).contains(seen)
        env.step(random_legal(env, rng))
        if env.game.is_over:
            break


def test_changing_an_observed_mask_changes_nothing() -> None:
    """It is the observer's own."""
    env = taki_env.raw_env()
    env.reset(seed=0)
    env.observe("player_0")["action_mask"][:] = 1
    assert env.observe("player_0")["action_mask"].tolist() == env.game.action_mask().tolist()


def selected(env: Any, *actions: str) -> list[str]:
    """Return who is selected after each action."""
    agents = []
    for action in actions:
        env.step(ACTIONS.index(action))
        agents.append(env.agent_selection)
    return agents


def test_the_selection_stays_during_a_run() -> None:
    """And moves on when the run is closed."""
    env = on_table([["red taki", "red 1", "red 3", *A], B])
    assert selected(env, "red taki", "red 1", "red 3", "close taki") == [
        *["player_0"] * 3,
        "player_1",
    ]


def test_the_selection_stays_during_a_plus() -> None:
    """Until the second card is played."""
    env = on_table([["red plus", "red 1", *A], B])
    assert selected(env, "red plus", "red 1") == ["player_0", "player_1"]


def test_the_selection_stays_during_a_king() -> None:
    """Until the extra card is declined."""
    assert selected(on_table([["king", *A], B]), "king", "pass") == ["player_0", "player_1"]


def test_the_selection_stays_for_the_last_card_call() -> None:
    """Until it is said."""
    env = on_table([["red 5", "blue 1"], B])
    assert selected(env, "red 5", "say last card") == ["player_0", "player_1"]


def test_the_selection_moves_out_of_turn_to_an_answerer() -> None:
    """Seat 2 is asked and breaks seat 0's +3; then seat 1 moves."""
    env = on_table([["+3", *A], B, ["+3 breaker", *B]])
    assert selected(env, "+3", "+3 breaker") == ["player_2", "player_1"]


def test_no_rewards_before_the_end() -> None:
    """Zero for everyone at every decision."""
    env, rng = taki_env.env(num_players=3), np.random.default_rng(0)
    env.reset(seed=0)
    while not any(env.terminations.values()):
        assert not any(env.rewards.values())
        assert env.last()[1] == 0
        env.step(random_legal(env, rng))


@BOTH
@pytest.mark.parametrize("num_players", [2, 3, 7])
def test_rewards_reach_every_seat(make: Callable[..., Any], num_players: int) -> None:
    """Through `last()`: +1 for the winner and -1/(n-1) for each other agent."""
    env = make(num_players=num_players)
    env.reset(seed=3)
    paid = play(env, seed=5)
    winner = f"player_{env.unwrapped.game.winner}"
    lost = -1 / (num_players - 1)
    assert paid == {agent: 1.0 if agent == winner else lost for agent in paid}


def test_all_agents_terminate_together() -> None:
    """With the last card, and none is truncated."""
    env = on_table([["red 5"], B, B[:1]])
    env.step(ACTIONS.index("red 5"))
    assert all(env.terminations.values()) and not any(env.truncations.values())
    assert env.rewards == {"player_0": 1.0, "player_1": -0.5, "player_2": -0.5}


def test_after_the_end_no_mask_is_left() -> None:
    """Neither in the observations nor in the infos."""
    env = on_table([["red 5"], B])
    env.step(ACTIONS.index("red 5"))
    for agent in env.agents:
        assert not env.observe(agent)["action_mask"].any()
        assert not env.infos[agent]["action_mask"].any()


def test_after_the_end_agents_leave_one_by_one() -> None:
    """By `None`, until none is left."""
    env = on_table([["red 5"], B, B[:1]])
    env.step(ACTIONS.index("red 5"))
    for left in (2, 1, 0):
        env.step(None)
        assert len(env.agents) == left


@BOTH
def test_a_game_is_truncated_with_zero_rewards(make: Callable[..., Any]) -> None:
    """After `max_decisions`, for everyone at once."""
    env = make(max_decisions=7)
    env.reset(seed=0)
    for _ in range(7):
        assert not any(env.truncations.values())
        env.step(first_legal(env))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert not any(env.rewards.values())


def test_a_win_with_the_last_decision_is_no_truncation() -> None:
    """The game is over, not cut off."""
    env = on_table([["red 5"], B], options={"max_decisions": 1})
    env.step(ACTIONS.index("red 5"))
    assert all(env.terminations.values()) and not any(env.truncations.values())


# Illegal actions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["close taki", 63, 64, -1, None, 1.5])
def test_an_illegal_action_raises_and_changes_nothing(action: Any) -> None:
    """In the raw environment."""
    env = on_table([["red 5", *A], B])
    before = copy.deepcopy(env)
    with pytest.raises(IllegalActionError, match="legal: 'red 5'"):
        env.step(action)
    assert env.game.to_dict() == before.game.to_dict()
    assert (env.agent_selection, env.agents) == (before.agent_selection, before.agents)
    assert (env.rewards, env.terminations, env.truncations) == (
        *(before.rewards, before.terminations, before.truncations),
    )
    assert np.array_equal(env.last()[0]["action_mask"], before.last()[0]["action_mask"])


def test_after_a_refused_action_the_game_goes_on() -> None:
    """As if nothing had been tried."""
    env = taki_env.raw_env()
    env.reset(seed=2)
    with pytest.raises(IllegalActionError):
        env.step("say last card")
    play(env, seed=1)
    twin = taki_env.raw_env()
    twin.reset(seed=2)
    play(twin, seed=1)
    assert env.game.to_dict() == twin.game.to_dict()


@pytest.fixture
def fouled(caplog: pytest.LogCaptureFixture) -> Any:
    """The wrapped environment after an illegal action of the first of three agents."""
    env = taki_env.env(num_players=3)
    env.reset(seed=0)
    env.step(ACTIONS.index("say last card"))
    assert "Illegal move made" in caplog.text  # PettingZoo warns through its own logger
    return env


def test_an_illegal_action_costs_its_agent_one_and_ends_the_game(fouled: Any) -> None:
    """Nobody else pays."""
    assert all(fouled.terminations.values())
    assert fouled.rewards == {"player_0": -1.0, "player_1": 0, "player_2": 0}


def test_an_illegal_action_changes_no_card(fouled: Any) -> None:
    """It is never replaced by another one."""
    assert fouled.unwrapped.game.to_dict() == Game(3, seed=0).to_dict()


def test_the_price_of_an_illegal_action_reaches_its_agent(fouled: Any) -> None:
    """Through `last()`, and agents then leave one by one."""
    paid = {}
    for agent in fouled.agent_iter(10):
        _, reward, terminated, _, _ = fouled.last()
        assert terminated
        paid[agent] = reward
        fouled.step(None)
    assert paid == {"player_0": -1, "player_1": 0, "player_2": 0}


def test_after_an_illegal_action_nobody_is_to_move(fouled: Any) -> None:
    """The game has ended: every observed mask is zero."""
    for agent in fouled.agents:
        assert not fouled.observe(agent)["action_mask"].any()


def test_after_an_illegal_action_a_reset_deals_a_new_game(fouled: Any) -> None:
    """Which is played to its end."""
    fouled.reset(seed=1)
    assert sum(play(fouled, 0).values()) == pytest.approx(0)


# Copies, rendering, bad input ---------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_in_the_middle_of_a_game_goes_on_identically(
    make: Callable[..., Any], copied: Callable[[Any], Any]
) -> None:
    """The same cards, the same end; and the next games as well."""
    env, rng = make(num_players=3), np.random.default_rng(0)
    env.reset(seed=9)
    for _ in range(25):
        env.step(random_legal(env, rng))
    twin = copied(env)
    for _ in range(2):
        assert play(twin, seed=3) == play(env, seed=3)
        assert twin.unwrapped.game.to_dict() == env.unwrapped.game.to_dict()
        env.reset()
        twin.reset()


def test_ansi_rendering_shows_the_table() -> None:
    """The leading card, the color and every hand in words."""
    env = taki_env.env(render_mode="ansi")
    env.reset(seed=0)
    text, at = env.render(), env.unwrapped.game.to_dict()
    assert f"lead [{at['discard_pile'][-1]}]" in text
    assert all(card in text for hand in at["hands"] for card in hand)


def test_rendering_without_a_mode_warns() -> None:
    """And returns nothing."""
    env = taki_env.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


@BOTH
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_players": 1}, "num_players must be an integer from 2 to 10"),
        ({"num_players": 11}, "num_players must be an integer from 2 to 10"),
        ({"max_decisions": 0}, "max_decisions must be an integer of at least 1"),
        ({"render_mode": "anssi"}, "did you mean 'ansi'"),
        ({"num_players": 10, "rules": Rules(hand_size=11)}, "cannot be dealt"),
    ],
)
def test_a_wrong_option_is_refused(make: Any, options: dict[str, Any], words: str) -> None:
    """When the environment is made."""
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_a_wrong_seed_is_refused_and_changes_nothing() -> None:
    """The game that is played goes on."""
    env = taki_env.raw_env()
    env.reset(seed=1)
    before = env.game.to_dict()
    with pytest.raises(ValueError, match="seed must be an integer"):
        env.reset(seed=-1)
    assert env.game.to_dict() == before
