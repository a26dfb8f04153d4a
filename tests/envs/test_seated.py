"""Seated games: who plays which seat, what an observer sees, and saved states."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.builtin import ExpertAgent
from taki_env import SelfPlay, View
from taki_env.core.arrays import unpack_masks
from taki_env.core.policies import POLICIES
from taki_env.envs.learners import LearnerGames
from taki_env.envs.narrator import Narrator
from taki_env.envs.seated import CALLER, SeatedGames, are_legal
from taki_env.game.batch import Batch
from taki_env.render.words import LastActions

MIXED = {name: 1.0 for name in POLICIES}


class Lowest:
    """An agent that takes the lowest legal action."""

    name = "lowest"

    def act(self, view: View) -> Any:
        """Return the lowest legal action of each game."""
        return view.action_masks.argmax(axis=1)


def step(games: LearnerGames, times: int, highest: bool = False) -> None:
    """Take the lowest or the highest legal actions, and replace ended games."""
    for _ in range(times):
        masks = unpack_masks(games.legal)
        games.step(63 - masks[:, ::-1].argmax(axis=1) if highest else masks.argmax(axis=1))
        games.replace_ended()


def started(opponents: Any, num_games: int = 6, **options: Any) -> LearnerGames:
    """Return games of three players, each with its learner to move."""
    games = LearnerGames(num_games, 3, opponents=opponents, seed=3, **options)
    games.restart()
    return games


def narrated(opponents: Any, num_games: int = 6) -> tuple[LearnerGames, list[LastActions]]:
    """Return games that are narrated, and their texts."""
    last = [LastActions() for _ in range(num_games)]
    return started(opponents, num_games, narrator=Narrator(last)), last


# Controllers --------------------------------------------------------------------------------------


def test_the_expert_by_name_plays_as_the_agent_does() -> None:
    """At every seat, in the same games."""
    compiled, asked = started("expert"), started(ExpertAgent())
    for _ in range(40):
        step(compiled, 1)
        step(asked, 1)
        assert compiled.batch.states.tobytes() == asked.batch.states.tobytes()


def test_built_in_policies_play_a_whole_game_without_the_caller() -> None:
    """One call ends every game."""
    games = SeatedGames(Batch(5, 3, seed=1))
    games.controllers[:, :3] = [0, 1, 2]
    assert games.advance(np.arange(5)).tolist() == [CALLER] * 5
    assert games.terminated.all() and games.batch.done.all() and not games.truncated.any()


def test_seats_are_the_callers_at_first() -> None:
    """Nobody acts before the caller does."""
    games = SeatedGames(Batch(3, seed=1), max_decisions=1)
    games.play()
    assert not games.batch.decisions.any() and not games.ended.any()
    games.apply(np.array([1]), games.batch.action_masks().argmax(1)[1:2])
    games.play()
    assert games.truncated.tolist() == [False, True, False]


def test_a_game_that_is_dealt_again_has_not_ended() -> None:
    """The others are left as they are."""
    games = SelfPlay(3, max_decisions=1, seed=1)
    assert games.step(games.action_masks().argmax(1)).truncated.all()
    assert not games.ended.any()


def test_are_legal() -> None:
    """Ids outside of 0 to 63 are not."""
    legal = np.array([1, 2, 1 << 63, 1, 1], np.uint64)
    assert are_legal(legal, np.array([0, 0, 63, 64, -1])).tolist() == [
        True,
        False,
        True,
        *[False] * 2,
    ]


# Observers ----------------------------------------------------------------------------------------


NARRATED = {"weights": MIXED, "agent": Lowest(), "per seat": ["random", Lowest()]}


@pytest.mark.parametrize("opponents", NARRATED.values(), ids=NARRATED.keys())
def test_narrated_games_are_the_same(opponents: Any) -> None:
    """With every kind of opponent, to the last random word."""
    plain, (games, last) = started(opponents), narrated(opponents)
    for _ in range(60):
        step(plain, 1)
        step(games, 1)
        for name, array in plain.state_dict().items():
            assert array.tobytes() == games.state_dict()[name].tobytes(), name
    assert any(texts.lines for texts in last)


def test_an_observer_sees_every_decision() -> None:
    """In order, with the positions around it."""
    seen: list[Any] = []
    games = SeatedGames(Batch(1, 2, seed=4), observer=lambda *args: seen.append(args))
    games.controllers[0, :2] = [0, 1]
    games.play()
    assert len(seen) == games.batch.decisions[0] and not any(by_caller for *_, by_caller in seen)
    for (_, _, _, after, _), (_, before, _, _, _) in pairwise(seen):
        assert after == before
    assert seen[-1][3] == games.game(0).to_dict()


# Saved states -------------------------------------------------------------------------------------


@pytest.mark.parametrize("opponents", [MIXED, ["expert", Lowest()]], ids=["weights", "per seat"])
def test_narrated_games_resume_from_their_state(opponents: Any) -> None:
    """And from that of games that are not narrated, which is the same."""
    games, plain = narrated(opponents)[0], started(opponents)
    step(games, 5)
    step(plain, 5)
    for state in (games.state_dict(), plain.state_dict()):
        again, _ = narrated(opponents)
        again.load_state_dict(state)
        step(again, 30, highest=True)
        other = started(opponents)
        other.load_state_dict(state)
        step(other, 30, highest=True)
        assert again.batch.states.tobytes() == other.batch.states.tobytes()


def test_a_state_saved_before_the_expert_was_built_in_resumes() -> None:
    """The games continue as they did in the code that saved them.

    saved_games.npz holds `LearnerGames(6, 3, opponents=..., seed=3)` of commit 150f232 after 8
    steps of `step`, with the opponents below, and the records and words after 40 more.
    """
    saved = dict(np.load(Path(__file__).with_name("saved_games.npz")))
    after, words = saved.pop("after"), saved.pop("words")
    state = {name.removeprefix("state_"): array for name, array in saved.items()}
    assert state["controllers"].max() == 2  # the agent's number
    games = LearnerGames(6, 3, opponents={"random": 1, "greedy": 1, Lowest(): 1}, seed=3)
    games.load_state_dict(state)
    at_table = games.state_dict()["controllers"][:, :3]
    assert np.array_equal(at_table, state["controllers"][:, :3])
    step(games, 40)
    assert games.batch.states.tobytes() == after.tobytes()
    assert np.array_equal(games.words, words)


def test_saved_numbers_of_agents_start_at_two() -> None:
    """Whatever policies are built in; those after `greedy` have numbers below that of learners."""
    games = started({"random": 1, "greedy": 1, "expert": 1, Lowest(): 1}, 50)
    saved = games.state_dict()["controllers"][:, :3]
    assert set(np.unique(saved)) == {-2, -1, 0, 1, 2}
    assert np.array_equal(saved == -2, games.controllers[:, :3] == POLICIES.index("expert"))
    again = LearnerGames(50, 3, opponents={"random": 1, Lowest(): 1}, seed=3)
    again.load_state_dict(games.state_dict())
    assert np.array_equal(again.controllers, games.controllers)


@pytest.mark.parametrize("number", [-3, 3, 100])
def test_a_state_with_unknown_opponents_is_refused(number: int) -> None:
    """Nothing was changed."""
    games = started({"random": 1, Lowest(): 1})
    state, before = games.state_dict(), games.state_dict()
    state["controllers"][0, 0] = number
    state["seats"][:] = 0
    with pytest.raises(ValueError, match="opponents that these games lack"):
        games.load_state_dict(state)
    for name, array in games.state_dict().items():
        assert array.tobytes() == before[name].tobytes()
