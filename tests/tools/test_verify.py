"""The rules, proved on a share of `tools.verify`: the engine beside the reference."""

from __future__ import annotations

import pytest

from taki_env import Game
from tools.consequences import EXPECTED, KINDS, TRIPLES
from tools.reference import ACTIONS
from tools.verify import TREES, play_share, reference_sequences, sequences


def test_every_consequence_of_the_rules_is_met_and_no_other() -> None:
    """Twenty thousand decisions beside the reference; all that can follow does, nothing else."""
    found = play_share((0, 0, 20_000))
    assert found.wrong == []
    assert found.unexpected() == []
    assert found.unmet() == []
    assert set(found.seats) == {2, 3, 4, 5, 6, 7, 8, 9, 10}
    assert len(found.options) == 5  # each option, and none


def test_the_expected_consequences_name_every_kind_of_action() -> None:
    """No kind of action is left out of the table, and every situation has a way on."""
    kinds = {kind for _, kind, _ in TRIPLES}
    assert kinds == {KINDS[action] for action in ACTIONS}
    assert all(kinds for kinds in EXPECTED.values())


@pytest.mark.parametrize("name", TREES)
def test_the_number_of_sequences_is_that_of_the_reference(name: str) -> None:
    """All sequences of decisions to a small depth, counted twice."""
    rules, players, seed, depth = TREES[name]
    game = Game(players, rules, seed)
    word = int(game.state["rng"][0])
    depth -= 2
    assert sequences(game, depth) == reference_sequences(game.to_dict(), word, depth)
