"""Positions with one right answer: what is right about it, and that the search agent finds it.

`puzzles.json` holds positions (RULES.md section 10), the one right action of each, and why. The
kind says how it is right: by "force" it wins whatever the hidden cards are; by "count" it wins far
more often than any other. Both are checked here without the search agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from taki_env import ACTIONS, Game
from taki_env.core.loops import apply_many, legal_many
from taki_env.core.policies import GREEDY, choose_many
from tests.helpers import view_of

Puzzle = dict[str, Any]
Worlds = list[Game]
PUZZLES: list[Puzzle] = json.loads((Path(__file__).parent / "puzzles.json").read_text())
KINDS = ("force", "count")
AGENT = "search:simulations=2000"
SEEDS = (0, 1, 2)
RE_DEALS = 30
DEPTH = 6
"""Own decisions after the first one within which a win must be forced; the longest takes five."""
OTHERS_DEPTH = 4
"""Decisions in a row of other seats that are followed; a win that takes longer is not counted."""
PLAYOUTS = 400
MARGIN = 0.15
"""Share of playouts by which an answer by counting must be ahead: above 4 standard errors."""


def of_each(kind: str | None = None) -> Callable[[Any], Any]:
    """Return the mark that runs a test for each puzzle of a kind, or of all."""
    chosen = [puzzle for puzzle in PUZZLES if kind in (None, puzzle["kind"])]
    return pytest.mark.parametrize("puzzle", chosen, ids=lambda puzzle: puzzle["name"])


def table_of(puzzle: Puzzle) -> Game:
    """Return the game of a puzzle."""
    return Game.from_dict(puzzle["position"])


def others_of(puzzle: Puzzle) -> list[str]:
    """Return the legal actions beside the answer."""
    return [name for name in table_of(puzzle).legal_names() if name != puzzle["answer"]]


def re_dealt(table: Game) -> Worlds:
    """Return games that look like this one to its actor."""
    return [table.determinize(table.actor, seed) for seed in range(RE_DEALS)]


def after(table: Game, action: int | str) -> Game:
    """Return a copy of a game in which an action was carried out."""
    following = table.clone()
    following.apply(action)
    return following


# The puzzles --------------------------------------------------------------------------------------


def test_every_puzzle_offers_a_choice() -> None:
    """The answer is legal, and so is something else; names are unique and reasons given."""
    assert len({puzzle["name"] for puzzle in PUZZLES}) == len(PUZZLES) >= 16
    for puzzle in PUZZLES:
        assert puzzle["kind"] in KINDS and puzzle["why"]
        assert puzzle["answer"] in table_of(puzzle).legal_names()
        assert others_of(puzzle)


def test_the_puzzles_cover_tables_and_phases() -> None:
    """Two to four players, every phase with a decision, both directions, every seat."""
    at = [puzzle["position"] for puzzle in PUZZLES]
    phases = {"play", "run", "plus", "king", "respond", "last_card"}
    assert {position["phase"] for position in at} == phases
    assert {len(position["hands"]) for position in at} == {2, 3, 4}
    assert {position["direction"] for position in at} == {1, -1}
    assert {position["actor"] for position in at} == {0, 1, 2, 3}


# By force -----------------------------------------------------------------------------------------


def up_to_own_decisions(world: Game, seat: int, depth: int = OTHERS_DEPTH) -> Worlds | None:
    """Return all games in which others may leave it to `seat`; None if one may escape it.

    A game escapes if it is lost, or goes on for longer than is looked at.
    """
    if world.is_over:
        return [] if world.winner == seat else None
    if world.actor == seat:
        return [world]
    if depth == 0:
        return None
    found: Worlds = []
    for action in world.legal_actions():
        reached = up_to_own_decisions(after(world, action), seat, depth - 1)
        if reached is None:
            return None
        found += reached
    return found


def is_forced(worlds: Iterable[Game], seat: int, depth: int = DEPTH) -> bool:
    """Tell whether `seat` wins all games, whatever the others do and without seeing their cards.

    Games in which it sees the same are decided by one action.
    """
    alike: dict[bytes, Worlds] = {}
    for world in worlds:
        reached = up_to_own_decisions(world, seat)
        if reached is None:
            return False
        for table in reached:
            alike.setdefault(table.observation(seat).tobytes(), []).append(table)
    return not alike or (
        depth > 0
        and all(
            any(
                is_forced((after(table, action) for table in tables), seat, depth - 1)
                for action in tables[0].legal_actions()
            )
            for tables in alike.values()
        )
    )


@of_each("force")
def test_the_answer_wins_by_force(puzzle: Puzzle) -> None:
    """In 30 re-deals, of which the actor knows nothing."""
    table = table_of(puzzle)
    assert is_forced((after(world, puzzle["answer"]) for world in re_dealt(table)), table.actor)


@of_each("force")
def test_nothing_else_wins_by_force(puzzle: Puzzle) -> None:
    """For every other action there is a re-deal it does not win, even if all cards were open."""
    table = table_of(puzzle)
    for action in others_of(puzzle):
        wins = (is_forced([after(world, action)], table.actor) for world in re_dealt(table))
        assert not all(wins), action


# By counting --------------------------------------------------------------------------------------


def win_shares(table: Game) -> dict[str, float]:
    """Return how often the actor wins after each legal action, all seats then playing greedy.

    The same re-deals for every action.
    """
    re_deals = view_of(table).sample_states(PLAYOUTS, np.random.default_rng(0))[0]
    games, words = np.arange(PLAYOUTS), np.ones(PLAYOUTS, np.uint64)
    shares = {}
    for first in table.legal_actions():
        states, legal = re_deals.copy(), np.zeros(PLAYOUTS, np.uint64)
        legal_many(states, legal)
        actions = np.full(PLAYOUTS, first)
        for _ in range(2000):
            apply_many(states, games, actions, legal)
            choose_many(GREEDY, states, legal, words, actions)
        shares[ACTIONS[first]] = float(np.mean(states["winner"] == table.actor))
    return shares


@of_each("count")
def test_the_answer_wins_far_more_often(puzzle: Puzzle) -> None:
    """By 15 points or more over every other action, in 400 greedy playouts of each."""
    shares = win_shares(table_of(puzzle))
    answer = shares.pop(puzzle["answer"])
    assert answer > max(shares.values()) + MARGIN, shares


# The search agent ---------------------------------------------------------------------------------


def choice(table: Game, seed: int) -> str:
    """Return what the search agent plays."""
    return ACTIONS[agents.load(AGENT, seed).act(view_of(table))[0]]


@of_each()
def test_search_finds_the_answer(puzzle: Puzzle) -> None:
    """With 2,000 simulations and each of three seeds."""
    assert [choice(table_of(puzzle), seed) for seed in SEEDS] == [puzzle["answer"]] * len(SEEDS)


@of_each()
def test_search_does_not_see_hidden_cards(puzzle: Puzzle) -> None:
    """Other hidden cards and the same seed: the same action, and the same figures behind it."""
    table = table_of(puzzle)
    twin = table.determinize(table.actor, seed=7)
    assert twin.to_dict() != table.to_dict()
    assert choice(twin, 0) == choice(table, 0)
    figures = [str(agents.load(AGENT, 0).analyze(view_of(game))) for game in (table, twin)]
    assert figures[0] == figures[1]
