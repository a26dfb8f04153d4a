"""No interface gives a seat more than its observation: everything public, from twins.

Twins are games that look the same to a seat: all cards that it cannot see are dealt anew, and the
random word that shuffles refills is another. Whatever a seat can reach must be equal in both.
`tests.game.test_hidden` does this for observations and re-deals, `tests.render.test_rendering` for
pictures, `tests.records.test_record` for records.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from taki_env import Game, SelfPlay, View, env, parallel_env, raw_env
from taki_env.core.policies import POLICIES
from taki_env.envs.gymnasium_env import TakiEnv
from taki_env.envs.sb3 import TakiVecEnv
from taki_env.envs.vector import TakiVectorEnv
from tests.game.test_hidden import PLAYABLE, permuted, states_of


def parts(value: Any) -> Iterator[Any]:
    """Yield all arrays, words and numbers in what a seat was given, and what it is made of."""
    if isinstance(value, dict):
        for key in value:
            yield key
            yield from parts(value[key])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from parts(one)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from parts(value.tolist())
    else:
        yield value
        base = getattr(value, "base", None)
        if isinstance(base, np.ndarray):  # a slice of something larger shows the whole
            yield base


def in_bytes(value: Any) -> list[tuple[str, bytes]]:
    """Return everything in bytes, to compare exactly and to search."""
    found = []
    for part in parts(value):
        array = np.asarray(part)
        words = array.tobytes() if array.dtype != object else repr(part).encode()
        found.append((f"{array.dtype} {array.shape}", words))
    return found


def public(one: Any) -> dict[str, Any]:
    """Return all public attributes of an object; methods without arguments are called."""
    found = {}
    for name in dir(one):
        value = None if name.startswith("_") else getattr(one, name)
        if inspect.ismethod(value):
            free = [p for p in inspect.signature(value).parameters.values() if p.default is p.empty]
            value = value() if not free else None
        found[name] = value
    return {name: value for name, value in found.items() if not name.startswith("_")}


# What each interface gives a seat -----------------------------------------------------------------


def by_view(table: Game, seat: int) -> Any:
    """All of a view, its samples and what the built-in policies do in it."""
    if seat != table.actor:
        return {}
    view = table.view()
    drawn = {
        "words": view.random_words(np.random.default_rng(1)),
        **{name: view.built_in(name, np.random.default_rng(1)) for name in POLICIES},
        "samples": view.sample_states(3, np.random.default_rng(1))["rng"],
    }
    memory = table.view(remember=True).memory._asdict()
    return {**public(view), **drawn, "memory": memory, "length": len(view)}


def seated(games: Any, table: Game, seat: int) -> tuple[Any, str]:
    """Put a table into a PettingZoo environment; return its core and the seat's agent."""
    games.reset(seed=0)
    core = games.unwrapped
    core.game = table.clone()
    core._select()
    return core, core.possible_agents[seat]


def of_aec(table: Game, seat: int, wrapped: bool) -> Any:
    """What an AEC environment tells an agent."""
    make = env if wrapped else raw_env
    games = make(num_players=table.num_players, rules=table.rules)
    _, agent = seated(games, table, seat)
    told = {"observe": games.observe(agent), "info": games.infos[agent], "agents": games.agents}
    return told | {"last": games.last() if seat == table.actor else None}


def by_raw_env(table: Game, seat: int) -> Any:
    """The bare AEC environment."""
    return of_aec(table, seat, wrapped=False)


def by_env(table: Game, seat: int) -> Any:
    """The guarded AEC environment."""
    return of_aec(table, seat, wrapped=True)


def by_parallel(table: Game, seat: int) -> Any:
    """The parallel environment."""
    games = parallel_env(num_players=table.num_players, rules=table.rules)
    core, agent = seated(games, table, seat)
    return core.observe(agent), core.infos[agent], games.observation_space(agent).shape


def place(games: Any, table: Game, seat: int) -> None:
    """Put a game into learners' games."""
    games.batch.states[0], games.batch.legal[0] = table._states[0], table._legal[0]
    games.seats[0], games.terminated[0], games.truncated[0] = seat, False, False


def by_gymnasium(table: Game, seat: int) -> Any:
    """The Gymnasium environment and its text; a learner sees the table when it is to move."""
    games = TakiEnv(table.num_players, table.rules, render_mode="ansi", reveal="actor")
    games.reset(seed=0)
    if seat != table.actor:
        return {}
    place(games._games, table, seat)
    return games._games.observations()[0], games._info(), games.action_masks(), games.render()


def by_vector(table: Game, seat: int) -> Any:
    """The Gymnasium vector environment and its text."""
    kwargs = {"render_mode": "ansi", "reveal": "actor"}
    games = TakiVectorEnv(2, table.num_players, table.rules, **kwargs)
    games.reset(seed=0)
    if seat != table.actor:
        return {}
    place(games.games, table, seat)
    return games.games.observations(), games._infos(), games.action_masks(), games.render()


def by_sb3(table: Game, seat: int) -> Any:
    """The environment for Stable-Baselines3."""
    games = TakiVecEnv(2, table.num_players, table.rules, seed=0)
    games.reset()
    if seat != table.actor:
        return {}
    place(games.games, table, seat)
    return games.games.observations(), games.action_masks(), games.env_method("action_masks")


def by_self_play(table: Game, seat: int) -> Any:
    """Self-play, and its views."""
    games = SelfPlay(2, table.num_players, table.rules, seed=0)
    if seat != table.actor:
        return {}
    games.batch.states[0], games.batch.legal[0] = table._states[0], table._legal[0]
    view = public(games.view(np.array([0])))
    return games.observations(), games.action_masks(), games.actors, games.legal, view


def by_record(table: Game, seat: int) -> Any:
    """The record of what a seat saw, and the game's texts."""
    return table.record(seat), repr(table) if table.phase != "respond" else None


INTERFACES = [
    *(by_view, by_raw_env, by_env, by_parallel, by_gymnasium, by_vector, by_sb3, by_self_play),
    by_record,
]


@pytest.mark.parametrize("told", INTERFACES)
def test_twins_tell_a_seat_the_same(told: Callable[[Game, int], Any]) -> None:
    """In every phase, from every seat; nor do they tell the random word."""
    choose, compared = random.Random(4), 0
    for phase in PLAYABLE:
        for number, table in enumerate(states_of(phase, wanted=1)):
            table = Game.from_dict(table.to_dict(), seed=number)  # both without a past
            for seat in {table.actor, (table.actor + 1) % table.num_players}:
                twin = Game.from_dict(permuted(table.to_dict(), seat, choose), seed=100 + number)
                one, other = in_bytes(told(table, seat)), in_bytes(told(twin, seat))
                assert one == other
                word = table._states["rng"].tobytes()
                assert not any(word in data for _, data in one)
                compared += bool(one)
    assert compared >= 30


def test_a_view_would_tell_on_a_public_record() -> None:
    """The comparison can fail: a view with its records in a public attribute is caught."""

    class Leaky(View):
        """Shows what it must not."""

        @property
        def states(self) -> Any:
            """The records."""
            return self._states

    table = Game(3, seed=1)
    twin = Game.from_dict(permuted(table.to_dict(), 0, random.Random(0)), seed=9)
    one, other = (in_bytes(public(Leaky(t._states, t._legal))) for t in (table, twin))
    assert one != other
    word = table._states["rng"].tobytes()
    assert any(word in data for _, data in one)
