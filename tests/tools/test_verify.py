"""Part of the comparison of `tools.verify`: the engine and the reference agree."""

from __future__ import annotations

import pytest

from taki_env import Game
from tools.consequences import EXPECTED, KINDS, TRIPLES
from tools.reference import ACTIONS
from tools.verify import TREES, play_chunk, reference_sequences, sequences


def test_exactly_the_consequences_of_the_rules_occur() -> None:
    """In 20,000 decisions, every expected consequence occurs and no other."""
    tally = play_chunk((0, 0, 20_000))
    assert tally.differences == []
    assert tally.unexpected() == []
    assert tally.rare() == []
    assert set(tally.seats) == {2, 3, 4, 5, 6, 7, 8, 9, 10}
    assert len(tally.options) == 5  # each switch, and no option


def test_the_expected_consequences_name_every_kind_of_action() -> None:
    """The table has every kind of action, and every situation has an action."""
    kinds = {kind for _, kind, _ in TRIPLES}
    assert kinds == {KINDS[action] for action in ACTIONS}
    assert all(kinds for kinds in EXPECTED.values())


@pytest.mark.parametrize("name", TREES)
def test_the_number_of_sequences_is_that_of_the_reference(name: str) -> None:
    """Engine and reference have the same number of sequences of decisions to a small depth."""
    rules, players, seed, depth = TREES[name]
    game = Game(players, rules, seed)
    word = int(game.state["rng"][0])
    depth -= 2
    assert sequences(game, depth) == reference_sequences(game.to_dict(), word, depth)
