"""The Gymnasium environment: one learner's seat against opponents."""

from __future__ import annotations

import copy
import pickle
import signal
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import agents
import taki_env
from taki_env import Game, IllegalActionError, Rules, View
from taki_env.core.policies import POLICIES
from taki_env.envs.opponents import OpponentPool
from tests.helpers import VARIANTS

SAY = taki_env.ACTIONS.index("say last card")


def make(**options: Any) -> Any:
    """Make the environment under its id."""
    return gymnasium.make("Taki-v0", **options)


class Lowest:
    """An agent that takes the lowest legal action and remembers the seats that it played."""

    name = "lowest"

    def __init__(self) -> None:
        """Start without memory."""
        self.seats: list[int] = []

    def act(self, view: View) -> Any:
        """Return the lowest legal action of each game."""
        self.seats += view.seats.tolist()
        return view.action_masks.argmax(axis=1)


class Answering:
    """An agent that returns what it is told to, for each game of the view."""

    name = "answering"

    def __init__(self, answer: Callable[[View], Any]) -> None:
        """Take the answer."""
        self.answer = answer

    def act(self, view: View) -> Any:
        """Return the answer."""
        return self.answer(view)


@contextmanager
def seconds(limit: int) -> Iterator[None]:
    """Interrupt what takes longer."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"longer than {limit} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def play(env: Any, seed: int | None, choose: int = 0) -> list[Any]:
    """Play a game at random; return all that was seen and paid."""
    rng = np.random.default_rng(choose)
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [(observation.tolist(), info["learner_seat"])]
    for _ in range(3000):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((observation.tolist(), reward, terminated, truncated))
        if terminated or truncated:
            return seen
    raise AssertionError("the game did not end")


# The contract -------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 10])
def test_gymnasiums_checker_accepts_it(num_players: int) -> None:
    """With unmasked samples, every render mode, a new array for every observation."""
    check_env(make(num_players=num_players, max_decisions=300).unwrapped)


@pytest.mark.parametrize("num_players", [2, 4, 10])
def test_sb3s_checker_accepts_it(num_players: int) -> None:
    """Through its wrappers, with unmasked samples."""
    sb3_check_env(make(num_players=num_players))


def test_spaces_are_those_of_the_design() -> None:
    """float32 Box in [0, 1] and 64 actions."""
    env = make()
    box = env.observation_space
    assert (box.low.min(), box.high.max(), box.dtype) == (0, 1, np.float32)
    assert box.shape == (taki_env.OBSERVATION_SIZE,) and env.action_space.n == 64


def test_masks_are_reached_through_wrappers() -> None:
    """By `get_wrapper_attr`, and in the info; both say the same at every step."""
    env = RecordEpisodeStatistics(TimeLimit(make(), 500))
    _, info = env.reset(seed=0)
    for _ in range(20):
        mask = env.get_wrapper_attr("action_masks")()
        assert (mask.dtype, mask.shape) == (np.int8, (64,)) and mask.any()
        assert np.array_equal(mask, info["action_mask"])
        _, _, terminated, truncated, info = env.step(int(mask.argmax()))
        if terminated or truncated:
            break


def test_a_vector_of_environments_plays_on() -> None:
    """Gymnasium's own vectorization resets games that ended."""
    envs = gymnasium.make_vec("Taki-v0", num_envs=3, vectorization_mode="sync")
    _, info = envs.reset(seed=0)
    ends = 0
    for _ in range(200):
        masks = np.stack(envs.call("action_masks"))
        _, _, terminated, _, info = envs.step(masks.argmax(axis=1))
        ends += int(terminated.sum())
    assert ends > 0 and "action_mask" in info


def test_observations_are_new_arrays() -> None:
    """What was returned is not overwritten by later steps."""
    env = make()
    first, info = env.reset(seed=0)
    kept, mask = first.copy(), info["action_mask"].copy()
    env.step(int(mask.argmax()))
    assert np.array_equal(first, kept) and np.array_equal(info["action_mask"], mask)


# Games --------------------------------------------------------------------------------------------


def test_reset_deals_the_game_of_the_seed() -> None:
    """`Game(num_players, rules, seed)`, seen from the learner's seat."""
    rules = Rules(tournament=True)
    env = make(num_players=3, rules=rules, learner_seat=0)
    observation, _ = env.reset(seed=8)
    table = Game(3, rules, 8)
    assert env.unwrapped.game.to_dict() == table.to_dict()
    assert np.array_equal(observation, table.observation(0))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("num_players", [2, 4])
def test_a_game_is_played_by_the_rules(num_players: int, variant: str) -> None:
    """Beside a `Game` in which the other seats play as the opponents do: all is the same."""
    rules, rng = VARIANTS[variant], np.random.default_rng(0)
    env = make(num_players=num_players, rules=rules, opponents=Lowest())
    observation, info = env.reset(seed=6)
    table, seat = Game(num_players, rules, 6), info["learner_seat"]
    terminated = truncated = False
    while not (terminated or truncated):
        while table.actor != seat:
            table.apply(table.legal_actions()[0])
        assert np.array_equal(observation, table.observation(seat))
        assert np.array_equal(info["action_mask"], table.action_mask())
        action = int(rng.choice(table.legal_actions()))
        observation, reward, terminated, truncated, info = env.step(action)
        table.apply(action)
    while not table.is_over and table.decisions < 2000:
        table.apply(table.legal_actions()[0])
    assert env.unwrapped.game.to_dict() == table.to_dict()
    assert (terminated, truncated, reward) == (
        *(table.is_over, not table.is_over),
        table.rewards()[seat],
    )


def test_the_winner_gets_one_and_a_loser_its_share() -> None:
    """+1 or -1/(n-1), and both occur."""
    env, paid = make(num_players=4, opponents="random"), set()
    for seed in range(40):
        end = play(env, seed)[-1]
        won = env.unwrapped.game.winner == env.unwrapped.reset(seed=seed)[1]["learner_seat"]
        assert end[1] == pytest.approx(1 if won else -1 / 3)
        paid.add(round(end[1], 3))
    assert paid == {1, -0.333}


def test_after_the_end_no_mask_is_left() -> None:
    """Neither in the info nor from the method."""
    env = make()
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, _, info = env.step(action)
    assert not info["action_mask"].any() and not env.unwrapped.action_masks().any()


def test_a_game_is_truncated_after_so_many_decisions_of_all_seats() -> None:
    """With reward 0."""
    end = play(make(max_decisions=15), seed=0)[-1]
    assert end[1:] == (0, False, True)


def test_a_step_before_a_reset_is_refused() -> None:
    """Also without Gymnasium's order-enforcing wrapper."""
    with pytest.raises(gymnasium.error.ResetNeeded):
        make().unwrapped.step(0)


def test_a_step_after_the_end_is_refused() -> None:
    """The game is over."""
    env = make()
    play(env, seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(0)


@pytest.mark.parametrize("seat", [1, 2])
def test_a_game_cut_off_before_the_learner_has_moved_is_an_error(seat: int) -> None:
    """Not an endless search for a deal in which the learner moves within the limit."""
    env = make(num_players=3, learner_seat=seat, max_decisions=1)
    with seconds(5), pytest.raises((ValueError, RuntimeError)):
        env.reset(seed=0)


# Seeds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponents", ["random", "greedy", {"random": 1, "greedy": 1}])
def test_the_same_seed_is_the_same_trajectory(opponents: Any) -> None:
    """In two environments, and twice in one."""
    one, two = make(num_players=3, opponents=opponents), make(num_players=3, opponents=opponents)
    assert play(one, 5) == play(two, 5) == play(one, 5)


def test_resets_without_a_seed_deal_the_next_games_of_it() -> None:
    """Each another, and the same again after the same seed."""
    env = make()
    games = [play(env, seed) for seed in (3, None, None, 3, None, None)]
    assert games[:3] == games[3:]
    assert games[0] != games[1] != games[2] != games[0]


def test_without_any_seed_games_differ() -> None:
    """Two environments deal from the system's randomness."""
    assert play(make(), None) != play(make(), None)


def test_the_learners_actions_do_not_change_the_next_deals() -> None:
    """Whatever was played, the second game of a seed is the same."""
    envs = [make(), make()]
    deals = []
    for choose, env in enumerate(envs):
        play(env, 4, choose)
        env.reset()
        deals.append(env.unwrapped.game.to_dict())
    assert deals[0] == deals[1]


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deep", "pickle"]
)
def test_a_copy_in_the_middle_of_a_game_goes_on_identically(copied: Callable[[Any], Any]) -> None:
    """The same cards and the same opponents."""
    env = make(num_players=3, opponents={"random": 1, "greedy": 1}).unwrapped
    _, info = env.reset(seed=2)
    for _ in range(5):
        info = env.step(int(info["action_mask"].argmax()))[4]
    twin = copied(env)
    for _ in range(200):
        action = int(env.action_masks().argmax())
        one, two = env.step(action), twin.step(action)
        assert np.array_equal(one[0], two[0]) and one[1:4] == two[1:4]
        if one[2] or one[3]:
            break
    assert play(env, None) == play(twin, None)


# Seats and opponents ------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_learners_seat_can_be_fixed(seat: int) -> None:
    """In every game."""
    env = make(num_players=3, learner_seat=seat)
    assert {env.reset(seed=seed)[1]["learner_seat"] for seed in range(20)} == {seat}


def test_the_learners_seat_is_random_otherwise() -> None:
    """Each of three about equally often in 300 games: 100 +- 4.5 standard deviations of 8.2."""
    env = make(num_players=3)
    seats = [env.reset(seed=None)[1]["learner_seat"] for _ in range(300)]
    assert all(63 < seats.count(seat) < 137 for seat in range(3))


@pytest.mark.parametrize(
    ("name", "other"), [("random", "greedy"), ("greedy", "expert"), ("expert", "random")]
)
def test_a_built_in_opponent_goes_by_its_name(name: str, other: str) -> None:
    """And differs from another one."""
    env, same, different = make(opponents=name), make(opponents=[name]), make(opponents=other)
    assert play(env, 1) == play(same, 1) != play(different, 1)


@pytest.mark.parametrize("make_env", [gymnasium.make, gymnasium.make_vec])
def test_any_spelling_of_an_agent_is_an_opponent(make_env: Callable[..., Any]) -> None:
    """The games are those against the agent itself, which is loaded with seed 0."""
    spelling = "search:simulations=5"

    def trace(opponents: Any) -> list[Any]:
        env = make_env("Taki-v0", num_players=3, opponents=opponents)
        observation, info = env.reset(seed=3)
        seen = [observation.tolist()]
        for _ in range(15):
            action = info["action_mask"].argmax(-1)
            observation, *_, info = env.step(action)
            seen.append(observation.tolist())
            if not info["action_mask"].any():
                break
        return seen

    assert trace(spelling) == trace(agents.load(spelling, 0)) != trace(agents.load(spelling, 1))


def test_equal_spellings_are_one_agent() -> None:
    """For several seats, and when opponents change."""
    spelling = "import:tests.envs.test_gymnasium:Lowest"
    pool = OpponentPool([spelling, spelling], [3])
    pool.change({spelling: 1.0, "random": 1.0})
    assert len(pool.agents) == len(POLICIES) + 1


@pytest.mark.parametrize("package", [None, types.ModuleType("agents")], ids=["none", "another"])
def test_without_the_package_of_agents_names_are_the_built_in_ones(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an installed wheel, where at most another package is called `agents`."""
    monkeypatch.setitem(sys.modules, "agents", package)
    play(make(opponents="expert"), 0)
    play(make(opponents=Lowest()), 0)
    for name, words in {
        "search:simulations=5": r"names: random, greedy, expert; .*checkout.* act\(view\)",
        "gredy": "unknown opponent 'gredy'; did you mean 'greedy'",
    }.items():
        with pytest.raises(ValueError, match=words):
            make(opponents=name)


def test_what_the_package_of_agents_lacks_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checkout without a dependency of `agents` names the dependency."""
    (tmp_path / "agents.py").write_text("import not_installed")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "agents")
    with pytest.raises(ModuleNotFoundError, match="not_installed"):
        make(opponents="search")


def test_greedy_is_the_default_opponent() -> None:
    """As DESIGN.md says."""
    assert play(make(), 2) == play(make(opponents="greedy"), 2)


def test_an_agent_object_plays_every_other_seat() -> None:
    """Here seats 0, 2 and 3."""
    agent = Lowest()
    play(make(num_players=4, opponents=agent, learner_seat=1), 0)
    assert set(agent.seats) == {0, 2, 3}


def test_one_opponent_a_seat_comes_in_seat_order_after_the_learner() -> None:
    """The learner has seat 1 of three: the first plays seat 2, the second seat 0."""
    first, second = Lowest(), Lowest()
    play(make(num_players=3, opponents=[first, second], learner_seat=1), 0)
    assert (set(first.seats), set(second.seats)) == ({2}, {0})


def test_names_and_agents_can_be_mixed() -> None:
    """One of each."""
    agent = Lowest()
    play(make(num_players=3, opponents=["random", agent], learner_seat=0), 0)
    assert set(agent.seats) == {2}


def test_a_weight_of_one_is_that_opponent() -> None:
    """And a weight of zero never plays."""
    one = play(make(num_players=3, opponents={"random": 1.0, "greedy": 0.0}), 4)
    assert one == play(make(num_players=3, opponents="random"), 4)


def test_opponents_are_drawn_by_their_weights() -> None:
    """One to three in 400 games of two players: 300 +- 4.5 standard deviations of 8.7."""
    rare, common = Lowest(), Lowest()
    env = make(opponents={rare: 1, common: 3}, learner_seat=1)
    games = 0
    for _ in range(400):
        before = len(common.seats)
        env.reset()
        games += len(common.seats) > before
    assert 261 < games < 339


@pytest.mark.parametrize(
    ("opponents", "error", "words"),
    [
        ("gredy", ValueError, "unknown agent 'gredy'; did you mean 'greedy'"),
        (["random", "randm"], ValueError, "unknown agent 'randm'; did you mean 'random'"),
        ({"greedi": 1}, ValueError, "unknown agent 'greedi'; did you mean 'greedy'"),
        ("search:simulation=5", ValueError, "did you mean 'simulations'"),
        ([], ValueError, "opponents is empty"),
        ({}, ValueError, "opponents is empty"),
        (["random"] * 3, ValueError, "opponents must be one, or 2 for 3 players, got 3"),
        ({"random": 0}, ValueError, "weights of opponents must be 0 or more"),
        ({"random": -1, "greedy": 2}, ValueError, "weights of opponents must be 0 or more"),
        ({"random": float("nan")}, ValueError, "weights of opponents must be 0 or more"),
        (7, TypeError, "an opponent must be a name or an object with act"),
        (None, TypeError, "an opponent must be a name or an object with act"),
    ],
)
def test_wrong_opponents_are_refused(opponents: Any, error: type, words: str) -> None:
    """The error suggests or says what is allowed."""
    with pytest.raises(error, match=words):
        make(num_players=3, opponents=opponents)


def test_an_agent_with_an_illegal_action_raises() -> None:
    """Never replaced by another action; the error names the agent."""
    agent = Answering(lambda view: np.full(len(view), SAY))
    with pytest.raises(IllegalActionError, match=r"Answering.*'say last card'.*legal:"):
        play(make(opponents=agent), 0)


@pytest.mark.parametrize(
    "answer",
    [
        lambda view: [0.0] * len(view),
        lambda view: [0, 0, 0],
        lambda view: None,
        lambda view: "draw",
    ],
)
def test_an_agent_must_return_one_whole_number_a_game(answer: Callable[[View], Any]) -> None:
    """Anything else is refused, naming the agent."""
    with pytest.raises(ValueError, match=r"Answering.* must return 1 action ids, one per game"):
        play(make(opponents=Answering(answer)), 0)


# Illegal actions and bad input --------------------------------------------------------------------

ILLEGAL = [SAY, 64, -1, np.int64(SAY), None, 1.5, "draw"]


@pytest.mark.parametrize("action", ILLEGAL)
def test_an_illegal_action_terminates_with_minus_one(action: Any) -> None:
    """By default, and the info says which action it was."""
    env = make().unwrapped
    env.reset(seed=0)
    before = env.game.to_dict()
    _, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1, True, False)
    assert info["illegal_action"] == action
    assert env.game.to_dict() == before


def test_a_legal_action_is_not_called_illegal() -> None:
    """The key is there only after an illegal one."""
    env = make()
    _, info = env.reset(seed=0)
    assert "illegal_action" not in env.step(int(info["action_mask"].argmax()))[4]


def test_after_an_illegal_action_no_mask_is_left() -> None:
    """The game has ended for the learner: in the info and from the method."""
    env = make().unwrapped
    env.reset(seed=0)
    info = env.step(SAY)[4]
    assert not info["action_mask"].any() and not env.action_masks().any()


def test_after_an_illegal_action_a_step_is_refused() -> None:
    """Until the next reset, which deals the next game."""
    env = make().unwrapped
    env.reset(seed=0)
    env.step(SAY)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    assert len(play(env, None)) > 1


@pytest.mark.parametrize("action", ILLEGAL)
def test_an_illegal_action_raises_if_asked_for(action: Any) -> None:
    """And changes nothing: the game goes on."""
    env = make(illegal_action="raise").unwrapped
    _, info = env.reset(seed=0)
    before = env.game.to_dict()
    with pytest.raises(IllegalActionError, match="legal: "):
        env.step(action)
    assert env.game.to_dict() == before
    env.step(int(info["action_mask"].argmax()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_players": 1}, "num_players must be an integer from 2 to 10"),
        ({"num_players": 11}, "num_players must be an integer from 2 to 10"),
        ({"learner_seat": 2}, "learner_seat must be 0 to 1"),
        ({"learner_seat": -1}, "learner_seat must be 0 to 1"),
        ({"learner_seat": 0.5}, "learner_seat must be 0 to 1"),
        ({"max_decisions": 0}, "max_decisions must be an integer of at least 1"),
        ({"illegal_action": "rise"}, "did you mean 'raise'"),
        ({"render_mode": "anssi"}, "did you mean 'ansi'"),
        ({"num_players": 10, "rules": Rules(hand_size=11)}, "cannot be dealt"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], words: str) -> None:
    """When the environment is made; the error says what is allowed."""
    from taki_env.envs.gymnasium_env import TakiEnv

    with pytest.raises(ValueError, match=words):
        TakiEnv(**options)


def test_ansi_rendering_shows_the_table() -> None:
    """The leading card and the hands in words."""
    env = make(render_mode="ansi")
    env.reset(seed=0)
    text = env.render()
    assert f"lead [{env.unwrapped.game.to_dict()['discard_pile'][-1]}]" in text
