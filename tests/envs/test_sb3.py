"""The Stable-Baselines3 vector environment: its contract, and the games that run in it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from taki_env import ACTIONS, OBSERVATION_SIZE, Game, IllegalActionError, Rules
from taki_env.envs.sb3 import TakiVecEnv

SAY = ACTIONS.index("say last card")


def choose(masks: Any, step: int) -> Any:
    """Return a legal action of each game that depends on nothing but its mask and the step."""
    chosen = np.zeros(len(masks), np.int64)
    for index, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        chosen[index] = legal[(step * 31 + int(legal.sum())) % len(legal)]
    return chosen


def play(env: TakiVecEnv, steps: int, seed: int | None = None) -> list[list[Any]]:
    """Return for each environment what it saw and was paid at each step."""
    if seed is not None:
        env.seed(seed)
    seen: list[list[Any]] = [[row.tolist()] for row in env.reset()]
    for step in range(steps):
        observations, rewards, dones, infos = env.step(choose(env.action_masks(), step))
        for index, rows in enumerate(seen):
            ended = infos[index].get("episode", {}).get("l")
            rows.append((observations[index].tolist(), rewards[index], dones[index], ended))
    return seen


def first_end(env: TakiVecEnv, limit: int = 500) -> tuple[int, Any, dict[str, Any], int]:
    """Play until a game ends; return its index, its reward, its info, and the steps taken."""
    env.reset()
    for step in range(limit):
        _, rewards, dones, infos = env.step(choose(env.action_masks(), step))
        if dones.any():
            index = int(dones.argmax())
            return index, rewards[index], infos[index], step + 1
    raise AssertionError("no game ended")


# The contract -------------------------------------------------------------------------------------


def test_it_is_a_vec_env_with_the_spaces_of_the_design() -> None:
    """float32 Box in [0, 1], 64 actions."""
    env = TakiVecEnv(3)
    assert isinstance(env, VecEnv) and env.num_envs == 3
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    assert env.action_space.n == 64  # type: ignore[attr-defined]


def test_reset_returns_an_observation_a_game() -> None:
    """float32 (num_envs, OBSERVATION_SIZE), each in the space."""
    observations = TakiVecEnv(5, 4, seed=0).reset()
    assert (observations.shape, observations.dtype) == ((5, OBSERVATION_SIZE), np.float32)
    assert observations.min() >= 0 and observations.max() <= 1


def test_a_step_returns_arrays_and_infos_a_game() -> None:
    """Observations, float32 rewards, bool dones, a list of dicts."""
    env = TakiVecEnv(5, seed=0)
    env.reset()
    observations, rewards, dones, infos = env.step(choose(env.action_masks(), 0))
    assert (observations.shape, observations.dtype) == ((5, OBSERVATION_SIZE), np.float32)
    assert (rewards.shape, rewards.dtype) == ((5,), np.float32)
    assert (dones.shape, dones.dtype) == ((5,), np.bool_)
    assert len(infos) == 5 and all(isinstance(info, dict) for info in infos)


def test_sb3_contrib_finds_the_masks() -> None:
    """`get_action_masks` gives those of `action_masks()`, zeros and ones, one row a game."""
    env = TakiVecEnv(4, 3, seed=0)
    env.reset()
    assert is_masking_supported(env)
    for step in range(30):
        masks = get_action_masks(env)
        assert masks.shape == (4, 64) and set(np.unique(masks)) == {0, 1}
        assert np.array_equal(masks, env.action_masks())
        env.step(choose(masks, step))


def test_masks_are_those_of_the_games() -> None:
    """And the learner is to move in each of them."""
    env = TakiVecEnv(4, 3, seed=0)
    env.reset()
    for step in range(30):
        for index, mask in enumerate(env.action_masks()):
            table = env.games.game(index)
            assert table.actor == env.games.seats[index]
            assert np.array_equal(mask, table.action_mask())
        env.step(choose(env.action_masks(), step))


@pytest.mark.parametrize(("indices", "rows"), [(None, [0, 1, 2]), (1, [1]), ([2, 0], [2, 0])])
def test_masks_of_some_games(indices: Any, rows: list[int]) -> None:
    """By index, as SB3 asks for them."""
    env = TakiVecEnv(3, seed=0)
    env.reset()
    masks = env.env_method("action_masks", indices=indices)
    assert np.array_equal(np.stack(masks), env.action_masks()[rows])


def test_another_method_of_single_games_is_refused() -> None:
    """There is none."""
    with pytest.raises(AttributeError, match="must be 'action_masks', got 'render'"):
        TakiVecEnv(2).env_method("render")


def test_sb3s_monitor_wraps_it() -> None:
    """`VecMonitor` adds its episodes."""
    env = VecMonitor(TakiVecEnv(4, seed=0))
    env.reset()
    for step in range(200):
        _, _, dones, infos = env.step(choose(np.stack(env.env_method("action_masks")), step))
        if dones.any():
            assert "episode" in infos[int(dones.argmax())]
            return
    raise AssertionError("no game ended")


# Ends ---------------------------------------------------------------------------------------------


def test_an_ended_game_reports_its_last_observation() -> None:
    """`terminal_observation` is of the game that ended: in phase over, not the next deal's."""
    env = TakiVecEnv(1, seed=0, learner_seat=0)
    env.reset()
    for step in range(500):
        twin = copy.deepcopy(env)
        action = choose(env.action_masks(), step)
        observations, rewards, dones, infos = env.step(action)
        if dones[0]:
            twin.games.step(action)
            table = twin.games.game(0)
            assert table.is_over
            assert np.array_equal(infos[0]["terminal_observation"], table.observation(0))
            assert not np.array_equal(observations[0], table.observation(0))
            assert rewards[0] == table.rewards()[0]
            return
    raise AssertionError("the game did not end")


def test_an_ended_game_reports_its_episode() -> None:
    """The return, and the learner's decisions since the deal."""
    _, reward, info, steps = first_end(TakiVecEnv(4, seed=0))
    assert (info["episode"]["r"], info["episode"]["l"]) == (reward, steps)


def test_episode_lengths_begin_anew() -> None:
    """Over many games, the lengths of one environment add up to the steps taken."""
    env, lengths, done_at = TakiVecEnv(1, seed=3), 0, 0
    env.reset()
    for step in range(400):
        _, _, dones, infos = env.step(choose(env.action_masks(), step))
        if dones[0]:
            lengths += infos[0]["episode"]["l"]
            done_at = step + 1
    assert lengths == done_at > 0


def test_a_cut_game_says_that_it_was_truncated() -> None:
    """With reward 0 and the observation of its last position."""
    _, reward, info, _ = first_end(TakiVecEnv(2, seed=0, max_decisions=12))
    assert info["TimeLimit.truncated"] is True and reward == 0
    assert info["terminal_observation"].shape == (OBSERVATION_SIZE,)


def test_a_game_that_is_over_was_not_truncated() -> None:
    """`TimeLimit.truncated` is False."""
    assert first_end(TakiVecEnv(4, seed=0))[2]["TimeLimit.truncated"] is False


def test_games_that_go_on_have_empty_infos() -> None:
    """No terminal observation without an end."""
    env = TakiVecEnv(3, seed=0)
    env.reset()
    assert env.step(choose(env.action_masks(), 0))[3] == [{}, {}, {}]


def test_rewards_are_those_of_the_learner() -> None:
    """Of four players: 1 or -1/3 at an end, and 0 before."""
    env, paid = TakiVecEnv(16, 4, seed=0, opponents="random"), set()
    env.reset()
    for step in range(150):
        _, rewards, dones, _ = env.step(choose(env.action_masks(), step))
        assert not rewards[~dones].any()
        paid |= set(rewards[dones].round(3).tolist())
    assert {round(reward, 2) for reward in paid} == {1, -0.33}


def test_a_learner_is_always_to_move() -> None:
    """Also after deals that the opponents win before the learner has moved: two cards each."""
    env = TakiVecEnv(32, 6, Rules(hand_size=2), seed=0)
    env.reset()
    for step in range(100):
        assert env.action_masks().any(axis=1).all()
        env.step(choose(env.action_masks(), step))


# Arrays -------------------------------------------------------------------------------------------


def test_kept_arrays_are_not_overwritten() -> None:
    """Everything that is returned is the caller's."""
    env = TakiVecEnv(4, seed=0, max_decisions=20)
    kept: list[Any] = [env.reset()]
    for step in range(25):
        masks = env.action_masks()
        kept += [masks, *env.step(choose(masks, step))[:3]]
    copies = [array.copy() for array in kept]
    play(env, 25)
    assert all(np.array_equal(one, two) for one, two in zip(kept, copies, strict=True))


def test_changing_returned_arrays_changes_nothing() -> None:
    """Neither observations nor masks are the environment's own memory."""
    env, twin = TakiVecEnv(4, seed=0), TakiVecEnv(4, seed=0)
    env.reset()[:] = 9
    twin.reset()
    for step in range(20):
        actions = choose(twin.action_masks(), step)
        env.action_masks()[:] = 1
        one, two = env.step(actions), twin.step(actions)
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
        one[0][:] = 9
        actions[:] = 0


# Seeds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponents", ["random", {"random": 1, "greedy": 1}])
def test_the_same_seed_is_the_same_run(opponents: Any) -> None:
    """By argument, and by `seed()`, also of an environment that has played before."""
    one, two = (TakiVecEnv(3, 3, opponents=opponents, seed=4) for _ in range(2))
    assert play(one, 80) == play(two, 80)
    assert play(one, 80, seed=7) == play(two, 80, seed=7) == play(one, 80, seed=7)


def test_different_seeds_are_different_runs() -> None:
    """From the first observation on."""
    starts = {str(play(TakiVecEnv(1, seed=seed), 0)) for seed in range(20)}
    assert len(starts) == 20


def test_a_reset_without_a_seed_deals_other_games() -> None:
    """The run goes on."""
    env = TakiVecEnv(3, seed=0)
    assert not np.array_equal(env.reset(), env.reset())


@pytest.mark.parametrize("opponents", ["greedy", "random", {"random": 1, "greedy": 2}])
def test_a_game_does_not_depend_on_the_number_of_games(opponents: Any) -> None:
    """What environment i sees and is paid is the same in a batch of 2 and one of 7."""
    small, large = (TakiVecEnv(size, 3, opponents=opponents, seed=6) for size in (2, 7))
    assert play(small, 120) == play(large, 120)[:2]


def test_the_seed_deals_the_games_of_a_batch() -> None:
    """After `seed()` game 0 is `Game(num_players, rules, seed)`."""
    env = TakiVecEnv(2, 3, learner_seat=0)
    env.seed(5)
    observations = env.reset()
    assert env.games.game(0).to_dict() == Game(3, seed=5).to_dict()
    assert np.array_equal(observations[0], Game(3, seed=5).observation(0))


def test_a_seed_as_an_argument_is_that_seed() -> None:
    """The first games of `TakiVecEnv(..., seed=5)` are those after `seed(5)`."""
    one, two = TakiVecEnv(3, seed=5), TakiVecEnv(3, seed=0)
    two.seed(5)
    assert np.array_equal(one.reset(), two.reset())


def test_a_copy_in_the_middle_goes_on_identically() -> None:
    """Games, opponents, lengths."""
    env = TakiVecEnv(3, 4, opponents={"random": 1, "greedy": 1}, seed=1)
    play(env, 13)
    twin = copy.deepcopy(env)
    for step in range(100):
        actions = choose(env.action_masks(), step)
        one, two = env.step(actions), twin.step(actions)
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[2], two[2])
        episodes = [[info.get("episode") for info in infos] for infos in (one[3], two[3])]
        assert episodes[0] == episodes[1]


def test_player_counts_can_be_mixed() -> None:
    """One policy for every table size."""
    env = TakiVecEnv(3, [2, 5, 10], seed=0)
    env.reset()
    for step in range(60):
        env.step(choose(env.action_masks(), step))
    assert env.games.batch.num_players.tolist() == [2, 5, 10]


# Illegal actions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [SAY, 64, -1])
def test_an_illegal_action_raises_and_changes_no_game(wrong: int) -> None:
    """The error names the game, and the run goes on as if nothing had been tried."""
    env = TakiVecEnv(3, seed=0)
    env.reset()
    twin = copy.deepcopy(env)
    actions = choose(env.action_masks(), 0)
    with pytest.raises(IllegalActionError, match=f"game 1: {wrong} .*legal: "):
        env.step(np.array([actions[0], wrong, actions[2]]))
    one, two = env.step(actions), twin.step(actions)
    assert np.array_equal(one[0], two[0])
    assert env.lengths.tolist() == twin.lengths.tolist()


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), ()])
def test_anything_but_one_action_a_game_is_refused(shape: tuple[int, ...]) -> None:
    """And not read beyond the end of the array: three actions are needed."""
    env = TakiVecEnv(3, seed=0)
    env.reset()
    actions = choose(env.action_masks(), 0)
    with pytest.raises(ValueError, match=r"actions must be 3 integers"):
        env.step(np.resize(actions, shape))
    assert env.lengths.tolist() == [0, 0, 0]


def test_actions_that_are_not_whole_are_refused() -> None:
    """Never replaced by the whole number beneath."""
    env = TakiVecEnv(3, seed=0)
    env.reset()
    with pytest.raises(ValueError, match=r"actions must be 3 integers"):
        env.step(choose(env.action_masks(), 0) + 0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_envs": 0}, "must be an integer of at least 1"),
        ({"num_envs": 2, "num_players": 11}, "num_players must be an integer from 2 to 10"),
        ({"num_envs": 2, "opponents": "gredy"}, "did you mean 'greedy'"),
        ({"num_envs": 2, "learner_seat": 2}, "learner_seat must be 0 to 1"),
        ({"num_envs": 2, "max_decisions": 0}, "max_decisions must be an integer of at least 1"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], words: str) -> None:
    """When the environment is made."""
    with pytest.raises(ValueError, match=words):
        TakiVecEnv(**options)


def test_refused_opponents_leave_the_old_ones() -> None:
    """`change_opponents` with three opponents for two seats changes nothing."""
    env, twin = TakiVecEnv(2, 3, seed=0), TakiVecEnv(2, 3, seed=0)
    with pytest.raises(ValueError, match="opponents must be one, or 2 for 3 players"):
        env.games.change_opponents(["random"] * 3)
    assert play(env, 60) == play(twin, 60)
