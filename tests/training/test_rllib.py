"""RLlib: the environment, the training samples, a tiny run that plays without Ray.

Most tests need Ray, which `make test-rllib` installs.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agents
from agents.cli import make_console
from taki_env import IllegalActionError
from training.arena import tournament
from training.trainers import checkpoints, evaluation, rllib_train, run_folder
from training.trainers.rllib_train import RLlibArgs, RLlibTrainer

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: make test-rllib")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray warns about its own deprecations

TINY = RLlibArgs(
    num_env_runners=1,
    steps=200,
    rollout=100,
    batch_size=50,
    epochs=1,
    hidden=8,
    past_games=0.5,
    snapshot_every=1,
    evaluate_every=1,
    evaluation_games=2,
    final_games=2,
    threads=1,
)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"\[rllib\]"):
        rllib_train.prepare(TINY)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"players": 1}, "players"),
        ({"num_env_runners": -1}, "--num-env-runners"),
        ({"past_games": 1.5}, "--past-games"),
        ({"batch_size": 101}, "--batch-size"),
        ({"clip": 0.0}, "--clip"),
    ],
)
def test_bad_arguments(change: dict[str, Any], words: str) -> None:
    """The error names the option, before Ray starts."""
    with pytest.raises(ValueError, match=words):
        rllib_train.prepare(replace(TINY, **change))


def test_the_snapshot_takes_all_seats_but_one_of_its_share_of_games() -> None:
    """A quarter of 2000 games, within three standard errors; the learner's seat is any of four."""
    alone = []
    for number in range(2000):
        game = SimpleNamespace(id_=str(number))
        players = [rllib_train.module_of(f"player_{seat}", game, 4, 0.25) for seat in range(4)]
        assert players.count("learner") in (1, 4)
        if players.count("learner") == 1:
            alone.append(players.index("learner"))
    assert abs(len(alone) - 500) < 58 and set(alone) == {0, 1, 2, 3}


# The environment ----------------------------------------------------------------------------------


def make_env(num_players: int, **config: Any) -> Any:
    """Return an environment at its first decision."""
    from training.trainers.rllib_env import TakiMultiAgentEnv

    return TakiMultiAgentEnv({"num_players": num_players, **config})


def play(env: Any, seed: int) -> tuple[Any, ...]:
    """Play a game at random; return what the last step returned."""
    rng = np.random.default_rng(seed)
    (observations, _), result = env.reset(seed=seed), None
    while result is None or not (result[2]["__all__"] or result[3]["__all__"]):
        ((agent, seen),) = observations.items()
        assert agent == f"player_{env.game.actor}"
        assert env.observation_spaces[agent].contains(seen)
        legal = np.flatnonzero(seen["action_mask"])
        assert legal.tolist() == env.game.legal_actions() and len(legal) > 1
        result = env.step({agent: rng.choice(legal)})
        observations = result[0]
    return result


@needs_ray
@pytest.mark.parametrize("num_players", [2, 4])
def test_the_seat_with_a_choice_acts_and_all_get_their_reward(num_players: int) -> None:
    """+1 for the winner and -1/(n-1) for each other seat, in the step that ends the game."""
    env = make_env(num_players)
    observations, rewards, terminated, truncated, _ = play(env, 3)
    assert terminated == {"__all__": True} and truncated == {"__all__": False}
    others = {f"player_{seat}": -1 / (num_players - 1) for seat in range(num_players)}
    assert rewards == {**others, f"player_{env.game.winner}": 1} and not observations


@needs_ray
@pytest.mark.parametrize("num_players", [2, 4])
def test_truncation_is_without_reward_and_seen_by_all(num_players: int) -> None:
    """RLlib needs every seat's observation to bootstrap from its value."""
    env = make_env(num_players, max_decisions=5)
    observations, rewards, terminated, truncated, _ = play(env, 3)
    assert terminated == {"__all__": False} and truncated == {"__all__": True}
    assert env.game.decisions == 5 and not env.game.is_over
    assert set(observations) == set(rewards) == set(env.possible_agents)
    assert set(rewards.values()) == {0}


@needs_ray
def test_an_illegal_action_changes_nothing() -> None:
    """It raises IllegalActionError, as in `Game`."""
    env = make_env(2)
    ((agent, seen),) = env.reset(seed=1)[0].items()
    before = env.game.to_dict()
    with pytest.raises(IllegalActionError):
        env.step({agent: int(seen["action_mask"].argmin())})
    assert env.game.to_dict() == before


@needs_ray
def test_seeds_deal_games() -> None:
    """The same seed deals the same games; a game after it, and another worker, others."""
    from ray.rllib.env.env_context import EnvContext

    def deals(worker: int) -> list[Any]:
        env = make_env(2)
        env = type(env)(EnvContext({"num_players": 2}, worker_index=worker))
        first = env.reset(seed=1)[0], env.game.to_dict()
        return [first[1], (env.reset(), env.game.to_dict())[1]]

    one, again, other = deals(1), deals(1), deals(2)
    assert one == again and one[0] != one[1] and one[0] != other[0]


# Training samples ---------------------------------------------------------------------------------


@pytest.fixture
def games(request: pytest.FixtureRequest) -> tuple[Any, list[Any]]:
    """Return the configuration and the games of two rollouts; the parameter is the table size."""
    from training.trainers.rllib_env import WholeGames

    args = replace(TINY, num_env_runners=0, players=request.param, gae_lambda=1.0)
    config = rllib_train.configuration(args)
    runner = WholeGames(config=config)
    return config, [runner.sample(), runner.sample()]


@needs_ray
@pytest.mark.parametrize("games", [2, 4], indirect=True)
def test_every_decision_is_a_sample_with_the_result_of_its_seat(games: Any) -> None:
    """With lambda 1 every value target, up to the last decision, is the result of the seat."""
    config, (rollout, _) = games
    assert sum(map(len, rollout)) >= TINY.rollout
    seats = [seat for game in rollout for seat in game.agent_episodes.values()]
    assert all(game.is_terminated and game.env_t_started == 0 for game in rollout)
    decisions = sum(map(len, rollout))
    assert sum(map(len, seats)) == decisions
    learners = [seat for seat in seats if seat.module_id == "learner"]
    expected: dict[bytes, float] = {}
    for seat in learners:
        rewards = seat.get_rewards()
        assert not rewards[:-1].any() and rewards[-1] != 0
        for row in seat.get_observations(slice(0, len(seat)))["observation"]:
            expected[row.tobytes()] = rewards[-1]
    assert len(expected) == sum(map(len, learners))  # observations are distinct

    learner = config.build_learner(env=make_env(2))
    batch = learner._learner_connector(
        rl_module=learner.module, batch={}, episodes=rollout, shared_data={}
    )["learner"]
    chosen = batch["loss_mask"]
    seen = batch["obs"]["observation"][chosen].numpy()
    wanted = [expected.pop(row.tobytes()) for row in seen]  # RLlib does not order the seats
    assert not expected
    np.testing.assert_allclose(batch["value_targets"][chosen].numpy(), wanted, atol=1e-5)


@needs_ray
@pytest.mark.parametrize("games", [2], indirect=True)
def test_a_rollout_deals_other_games_than_the_last(games: Any) -> None:
    """RLlib seeds the environment before each sample."""
    deals = [
        next(iter(game.agent_episodes.values())).get_observations(0)["observation"].tobytes()
        for rollout in games[1]
        for game in rollout
    ]
    assert len(set(deals)) == len(deals) > 2


# Training -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    """Run a small local Ray."""
    import ray

    ray.init(
        num_cpus=1, include_dashboard=False, object_store_memory=100 * 2**20, log_to_driver=False
    )
    yield
    ray.shutdown()


def modules(training: RLlibTrainer, *names: str) -> list[dict[str, Any]]:
    """Return the weights of modules in the learner and in every env runner."""
    learning = training.algorithm.learner_group.get_weights()
    playing = training.algorithm.env_runner_group.foreach_env_runner(
        lambda runner: runner.module.get_state()
    )
    return [weights[name] for weights in (learning, *playing) for name in names]


def same(several: list[dict[str, Any]]) -> bool:
    """Return whether all weights are equal."""
    first, *others = several
    return all(np.array_equal(first[key], other[key]) for other in others for key in first)


@pytest.fixture(scope="module")
def stopped(local_ray: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that Ctrl-C stopped after its first rollout."""
    with pytest.MonkeyPatch.context() as patch:
        iterate = RLlibTrainer.iterate

        def pressed(trainer: RLlibTrainer) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            iterate(trainer)

        patch.setattr(RLlibTrainer, "iterate", pressed)
        training = run_folder.start(
            replace(TINY, runs=tmp_path_factory.mktemp("runs")), RLlibTrainer
        )
        with pytest.raises(KeyboardInterrupt):
            training.train(make_console())
    assert same(modules(training, "learner")) and same(modules(training, "learner", "past"))
    training.algorithm.stop()
    return training.folder


@needs_ray
def test_more_env_runners_than_cores_are_refused(local_ray: None) -> None:
    """RLlib would wait silently for cores."""
    with pytest.raises(ValueError, match="2: Ray has 1 core"):
        rllib_train.prepare(replace(TINY, num_env_runners=2))


@needs_ray
def test_a_stopped_run_plays_in_the_arena_without_ray(stopped: Path) -> None:
    """`policy:PATH` loads what RLlib trained; every action of its games is legal."""
    results = json.loads((stopped / "results.json").read_text())
    assert not results["finished"] and results["steps"] >= TINY.rollout
    assert {entry["opponent"] for entry in results["evaluation"]} == {*evaluation.YARDSTICKS}
    loaded = agents.load(f"policy:{stopped}")
    report = tournament.play([loaded, "random"], games=4, seed=1, time_limit=math.inf)
    assert report.matrix[loaded.name]["random"].games == 4 and report.capped == 0


@needs_ray
def test_resume_continues_from_the_checkpoint(stopped: Path) -> None:
    """Weights, optimizer and step count are restored, also with other env runners."""
    args = run_folder.read_arguments(
        RLlibArgs, ["--resume", str(stopped), "--num-env-runners", "0"]
    )
    assert args == replace(TINY, runs=stopped.parent, resume=stopped, num_env_runners=0)
    before = agents.load(f"policy:{stopped}").network.state_dict()
    training = checkpoints.resume(args, RLlibTrainer)
    weights = training.network.state_dict()
    assert all(before[key].equal(weights[key]) for key in before)
    assert same(modules(training, "learner", "past"))
    training.train(make_console())
    training.algorithm.stop()
    results = json.loads((stopped / "results.json").read_text())
    assert results["finished"] and results["steps"] >= TINY.steps
    assert len({entry["steps"] for entry in results["history"]}) == 3
    after = agents.load(f"policy:{stopped}").network.state_dict()
    assert any(not before[key].equal(after[key]) for key in before)
    assert [folder.name for folder in stopped.glob("rllib-*")] == ["rllib-2"]
