"""The rules: hand-written cases, and the plain-Python reference beside the engine."""

from __future__ import annotations

import random

import pytest

from taki_env import Game, Rules
from taki_env.core.bits import seed_words
from tests.helpers import CASES, VARIANTS, Shuffler, rest_of_deck
from tools.reference import Reference

GAMES = 6
"""Games of each number of players under each option."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict) -> None:
    """Each step has its legal set, and the last position its expected fields."""
    game = Game.from_dict(case["position"])
    for step in case["steps"]:
        assert sorted(game.legal_names()) == step["legal"]
        game.apply(step["play"])
    end = game.to_dict()
    end["lead"], end["legal"] = end["discard_pile"][-1], sorted(game.legal_names())
    assert {key: end[key] for key in case["expect"]} == case["expect"]


def dealt_pair(num_players: int, rules: Rules, seed: int) -> tuple[Game, Reference]:
    """Return the engine's deal and the reference's from the same random word."""
    game = Game(num_players, rules, seed)
    shuffle = Shuffler(int(seed_words(seed, 0)[0]))
    deck = rest_of_deck(rules=rules)
    return game, Reference.deal(shuffle(deck), num_players, rules.to_dict(), shuffle)


@pytest.mark.parametrize("num_players", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("variant", VARIANTS)
def test_engine_agrees_with_the_reference(num_players: int, variant: str) -> None:
    """Legal sets and whole positions agree in every state of random games."""
    rules, choose = VARIANTS[variant], random.Random(num_players)
    for seed in range(GAMES):
        game, reference = dealt_pair(num_players, rules, seed)
        for _ in range(600):
            assert set(game.legal_names()) == reference.legal()
            assert game.to_dict() == reference.position()
            if game.is_over:
                break
            action = choose.choice(game.legal_names())
            game.apply(action)
            reference.apply(action)
