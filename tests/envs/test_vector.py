"""`gymnasium.make_vec("Taki-v0")`: one vector environment over many games."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from taki_env import OBSERVATION_SIZE, IllegalActionError
from taki_env.envs.gymnasium_env import TakiEnv
from taki_env.envs.vector import TakiVectorEnv


def first_legal(masks: np.ndarray) -> np.ndarray:
    """Return the lowest legal action of each row."""
    return masks.argmax(1)


def play_until_an_end(env: TakiVectorEnv, infos: dict[str, Any]) -> tuple[Any, ...]:
    """Step with the lowest legal actions until some game ends; return that step."""
    for _ in range(2000):
        step = env.step(first_legal(infos["action_mask"]))
        infos = step[4]
        if (step[2] | step[3]).any():
            return step
    raise AssertionError("no game ended")


def test_make_vec_gives_the_native_environment() -> None:
    """Its metadata name the autoreset mode."""
    env = gymnasium.make_vec("Taki-v0", num_envs=3, num_players=4, opponents="random")
    assert isinstance(env.unwrapped, TakiVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, infos = env.reset(seed=1)
    assert observations.shape == (3, OBSERVATION_SIZE) and observations.dtype == np.float32
    assert env.observation_space.contains(observations)
    assert infos["action_mask"].shape == (3, 64) and infos["action_mask"].dtype == np.int8
    assert infos["action_mask"].any(1).all()


@pytest.mark.parametrize("num_envs", [1, 7])
def test_game_0_is_that_of_the_single_environment(num_envs: int) -> None:
    """One seed, one trajectory, whatever is played beside it."""
    single = TakiEnv(3, opponents={"random": 1, "greedy": 1})
    vector = TakiVectorEnv(num_envs, 3, opponents={"random": 1, "greedy": 1})
    observation, info = single.reset(seed=5)
    observations, infos = vector.reset(seed=5)
    for _ in range(200):
        assert np.array_equal(observation, observations[0])
        assert np.array_equal(info["action_mask"], infos["action_mask"][0])
        actions = first_legal(infos["action_mask"])
        observation, reward, terminated, truncated, info = single.step(actions[0])
        observations, rewards, ends, cuts, infos = vector.step(actions)
        assert (reward, terminated, truncated) == (rewards[0], ends[0], cuts[0])
        if terminated or truncated:
            observation, info = single.reset()
            observations, rewards, ends, cuts, infos = vector.step(actions)
            assert rewards[0] == 0 and not ends[0] and not cuts[0]


def test_next_step_ignores_the_action_of_an_ended_game() -> None:
    """After an end the mask is all zero; the next step deals anew."""
    env = TakiVectorEnv(8, opponents="random")
    step = play_until_an_end(env, env.reset(seed=1)[1])
    ended = np.flatnonzero(step[2])
    assert not step[4]["action_mask"][ended].any()
    assert set(step[1][ended]) <= {1.0, -1.0}
    actions = first_legal(step[4]["action_mask"])
    actions[ended] = 63
    _, rewards, terminated, _, infos = env.step(actions)
    assert not terminated[ended].any() and not rewards[ended].any()
    assert infos["action_mask"][ended].any(1).all()


def test_same_step_deals_anew_at_once_and_hands_over_the_end() -> None:
    """The last observation and info are in `final_obs` and `final_info`."""
    env = TakiVectorEnv(8, opponents="random", autoreset_mode=AutoresetMode.SAME_STEP)
    step = play_until_an_end(env, env.reset(seed=1)[1])
    infos, ended = step[4], step[2]
    assert np.array_equal(infos["_final_obs"], ended)
    assert all((infos["final_obs"][game] is not None) == ended[game] for game in range(8))
    game = int(np.argmax(ended))
    over = infos["final_obs"][game][132:139]  # the phase, one-hot
    assert over.argmax() == 6 and over.sum() == 1
    assert not infos["final_info"]["action_mask"][game].any()
    assert infos["action_mask"].any(1).all()
    assert not np.array_equal(step[0][game], infos["final_obs"][game])


def test_disabled_leaves_the_reset_to_the_caller() -> None:
    """A step after an end raises; a mask resets those games alone."""
    env = TakiVectorEnv(4, opponents="random", autoreset_mode=AutoresetMode.DISABLED)
    step = play_until_an_end(env, env.reset(seed=1)[1])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(4, np.int64))
    observations, infos = env.reset(options={"reset_mask": step[2]})
    assert np.array_equal(observations[~step[2]], step[0][~step[2]])
    assert infos["action_mask"].any(1).all()
    env.step(first_legal(infos["action_mask"]))


@pytest.mark.parametrize("mask", [[True], np.zeros(2, bool), np.ones(2), "all"])
def test_an_invalid_reset_mask_is_refused(mask: Any) -> None:
    """Bool, one a game, some True."""
    env = TakiVectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="reset_mask must be bool"):
        env.reset(options={"reset_mask": mask})


def test_a_seed_with_a_reset_mask_is_refused() -> None:
    """A seed deals all games."""
    env = TakiVectorEnv(2)
    with pytest.raises(ValueError, match="reset_mask cannot be combined with a seed"):
        env.reset(seed=1, options={"reset_mask": np.ones(2, bool)})


def test_an_illegal_action_ends_its_game_alone() -> None:
    """Reward -1 and the action in the infos; the other games go on."""
    env = TakiVectorEnv(3, opponents="random")
    _, infos = env.reset(seed=1)
    actions = first_legal(infos["action_mask"])
    actions[1] = 63  # nobody has a last card to call in the first step
    _, rewards, terminated, truncated, infos = env.step(actions)
    assert terminated.tolist() == [False, True, False] and not truncated.any()
    assert rewards.tolist() == [0.0, -1.0, 0.0]
    assert infos["illegal_action"][1] == 63
    assert infos["_illegal_action"].tolist() == [False, True, False]
    assert infos["action_mask"].any(1).tolist() == [True, False, True]


@pytest.mark.parametrize("action", [63, 64, -1])
def test_an_illegal_action_raises_if_asked_for(action: int) -> None:
    """The first such game is named, and no game has changed."""
    env = TakiVectorEnv(3, opponents="random", illegal_action="raise")
    _, infos = env.reset(seed=1)
    actions = first_legal(infos["action_mask"])
    before = env.games.state_dict()
    actions[1] = action
    with pytest.raises(IllegalActionError, match=f"game 1: {action}"):
        env.step(actions)
    after = env.games.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], [0.5, 0.5], None])
def test_anything_but_one_action_a_game_is_refused(actions: Any) -> None:
    """In words that say how many."""
    env = TakiVectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="actions must be 2 integers"):
        env.step(actions)


def test_arrays_are_never_used_again() -> None:
    """What a step returned stays as it was."""
    env = TakiVectorEnv(4, opponents="random")
    first = env.reset(seed=1)
    kept = [first[0].copy(), first[1]["action_mask"].copy(), first[1]["learner_seat"].copy()]
    infos = first[1]
    for _ in range(30):
        infos = env.step(first_legal(infos["action_mask"]))[4]
    assert np.array_equal(first[0], kept[0])
    assert np.array_equal(first[1]["action_mask"], kept[1])
    assert np.array_equal(first[1]["learner_seat"], kept[2])


def test_mixed_player_counts_share_an_environment() -> None:
    """Each game has its own table size, seen in the observation."""
    env = TakiVectorEnv(3, num_players=[2, 5, 10])
    observations, _ = env.reset(seed=1)
    assert observations[:, 173:183].sum(1).tolist() == [2, 5, 10]  # who is at the table


def test_games_are_cut_off_with_reward_0() -> None:
    """After `max_decisions` of all seats."""
    env = TakiVectorEnv(20, max_decisions=12)
    step = play_until_an_end(env, env.reset(seed=1)[1])
    while not step[3].any():
        step = play_until_an_end(env, step[4])
    assert not step[1][step[3]].any() and not step[2][step[3]].any()


def test_render_gives_a_table_a_game() -> None:
    """In words."""
    env = TakiVectorEnv(2, render_mode="ansi")
    env.reset(seed=1)
    tables = env.render()
    assert tables is not None and len(tables) == 2 and all("lead [" in table for table in tables)
