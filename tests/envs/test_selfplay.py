"""Self-play over a batch: who acts, and who is credited with what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from taki_env import Game, IllegalActionError, SelfPlay


def first_legal(games: SelfPlay) -> np.ndarray:
    """Return the lowest legal action of each game."""
    return games.action_masks().argmax(1)


@pytest.mark.parametrize("num_players", [2, 3, [2, 3, 4, 10]])
def test_each_game_is_the_single_game_and_every_seat_is_credited_once(
    num_players: int | list[int],
) -> None:
    """Beside a `Game` for game 0: actors, and at its end the last decision of each seat."""
    games = SelfPlay(4, num_players, seed=3)
    alone = Game(int(games.batch.num_players[0]), seed=3)
    last: dict[int, int] = {}
    for step in range(3000):
        assert games.actors[0] == alone.actor
        action = first_legal(games)
        last[alone.actor] = step
        alone.apply(int(action[0]))
        credits = games.step(action)
        mine = credits.games == 0
        if alone.is_over:
            assert dict(zip(credits.seats[mine], credits.decisions[mine], strict=True)) == last
            assert not credits.truncated[mine].any()
            expected = [alone.rewards()[seat] for seat in credits.seats[mine]]
            assert credits.rewards[mine].tolist() == expected
            return
        assert not mine.any()
    raise AssertionError("the game did not end")


def test_an_ended_game_is_dealt_anew_with_nothing_carried_over() -> None:
    """Every credit is of the game that ended: later than the end before it."""
    games = SelfPlay(8, 3, seed=1)
    end = np.full(8, -1)
    credited = 0
    for step in range(2000):
        credits = games.step(first_legal(games))
        assert (credits.decisions > end[credits.games]).all()
        end[credits.games] = step
        credited += credits.games.size
        assert games.legal.all()
    assert credited > 50


def test_a_game_that_is_cut_off_credits_zero_to_all_who_decided() -> None:
    """After three decisions of two players each game ends without a winner."""
    games = SelfPlay(5, 2, max_decisions=3, seed=1)
    assert games.step(first_legal(games)).games.size == 0
    assert games.step(first_legal(games)).games.size == 0
    credits = games.step(first_legal(games))
    assert set(credits.games.tolist()) == {0, 1, 2, 3, 4}
    assert credits.truncated.all() and not credits.rewards.any()
    assert games.batch.decisions.tolist() == [0] * 5


def test_an_illegal_action_changes_nothing() -> None:
    """No game has moved, no step is counted."""
    games = SelfPlay(2, seed=1)
    before = games.batch.states.copy()
    with pytest.raises(IllegalActionError, match="game 1"):
        games.step([int(first_legal(games)[0]), 63])
    assert games.steps == 0 and (games.batch.states == before).all()


def test_bad_arguments_are_refused() -> None:
    """In the words of the batch."""
    with pytest.raises(ValueError, match="max_decisions must be an integer of at least 1"):
        SelfPlay(2, max_decisions=0)
    with pytest.raises(ValueError, match="num_players must be an integer from 2 to 10"):
        SelfPlay(2, 11)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("actions", lambda array: array.astype(np.int8)),
        ("actions", lambda array: array.tolist()),
        ("actions", lambda array: None),
        ("actions", lambda array: array[:1]),
        ("last", lambda array: array + 0.5),
        ("last", lambda array: np.where(np.arange(3) == 2, 0, array)),  # a seat that is not there
        ("last", lambda array: array + 1),
        ("legal", lambda array: array.astype(np.int64)),
    ],
)
def test_a_state_of_other_arrays_is_refused(name: str, broken: Callable[[Any], Any]) -> None:
    """Nothing was changed; a state of these games goes on with their past."""
    games = SelfPlay(2, np.array([2, 3]), seed=1, keep_actions=True)
    begun = SelfPlay(2, np.array([2, 3]), seed=1, keep_actions=True)
    games.step(first_legal(games))
    state = games.state_dict()
    if name == "last":
        state["last"][0] = [0, 0, -1]  # game 0 is one of two players
    before = begun.state_dict()
    with pytest.raises(ValueError, match=r"the saved state must have|state of the games"):
        begun.load_state_dict({**state, name: broken(state[name])}, games.steps)
    for key, array in begun.state_dict().items():
        assert np.array_equal(array, before[key])
    begun.load_state_dict(games.state_dict(), games.steps)
    memories = [g.view(np.arange(2)).memory for g in (games, begun)]
    assert memories[0].counts.tolist() == memories[1].counts.tolist() == [1, 1]


def test_without_being_asked_no_actions_are_kept() -> None:
    """They take memory, and few agents look back."""
    games = SelfPlay(2, seed=1)
    assert games.view(np.arange(2)).memory is None and "actions" not in games.state_dict()
