"""Decks by name: what is in them, and that the engine plays them by the rules."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from taki_env import CARDS, Batch, Game, Rules
from taki_env.core.cards import NUM_COLORED
from taki_env.core.decks import DECKS
from tests.core.test_rules import dealt_pair

SMALL = [name for name in DECKS if name != "standard"]


def test_small_decks_hold_all_kinds_of_cards() -> None:
    """Of numbers one is enough; colors do not count."""
    held = {card for name in SMALL for card, copies in enumerate(DECKS[name].counts) if copies}
    symbols = {CARDS[card].partition(" ")[2] for card in held if card < NUM_COLORED}
    assert symbols >= {"stop", "+2", "change direction", "plus", "taki"}
    assert symbols & set("13456789")
    assert held >= set(range(NUM_COLORED, len(CARDS)))


def test_a_name_brings_cards_and_hand_size() -> None:
    """Six cards, two in a hand; a hand size that is given goes before."""
    rules = Rules(deck="mini-1")
    names = [CARDS[card] for card, copies in enumerate(rules.deck) for _ in range(copies)]
    assert names == ["red 1", "red 1", "red stop", "green 1", "green 1", "green stop"]
    assert rules.hand_size == 2
    assert Rules(deck="mini-1", hand_size=1).hand_size == 1
    assert Rules(deck="standard") == Rules() and Rules().hand_size == 8
    assert Rules.from_dict(rules.to_dict()) == rules


def test_a_given_hand_size_is_never_replaced() -> None:
    """Eight cards, the default of the standard deck, are more than `mini-1` has."""
    for make in (
        lambda: Rules(deck="mini-1", hand_size=8),
        lambda: Rules.from_dict({"deck": "mini-1", "hand_size": 8}),
        lambda: Rules.from_words(["deck=mini-1", "hand_size=8"]),
    ):
        with pytest.raises(ValueError, match="hand_size must be an integer from 1 to 6, got 8"):
            make()


def test_an_unknown_deck_is_rejected() -> None:
    """The nearest name is suggested."""
    with pytest.raises(ValueError, match=r"deck must be one of .*'mini1'; did you mean 'mini-1'"):
        Rules(deck="mini1")


@pytest.mark.parametrize("calls", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_engine_agrees_with_the_reference(name: str, calls: bool) -> None:
    """Legal sets and whole positions agree, and no card is lost, in every state of random games."""
    rules, choose = Rules(deck=name, auto_last_card=not calls), random.Random(1)
    deck = Counter(dict(zip(CARDS, rules.deck, strict=True)))
    for seed in range(10):
        game, reference = dealt_pair(2, rules, seed)
        for _ in range(60):
            position = game.to_dict()
            assert set(game.legal_names()) == reference.legal()
            assert position == reference.position()
            assert Game.from_dict(position).legal_names() == game.legal_names()
            places = (*position["hands"], position["draw_pile"], position["discard_pile"])
            assert Counter(card for place in places for card in place) == deck
            if game.is_over:
                break
            action = choose.choice(game.legal_names())
            game.apply(action)
            reference.apply(action)


@pytest.mark.parametrize("name", SMALL)
def test_a_batch_plays_a_small_deck(name: str) -> None:
    """The observed hands and discards are never more than the deck; some games end."""
    rules = Rules(deck=name)
    batch, rng = Batch(200, 2, rules, seed=3), np.random.default_rng(0)
    counts = np.array(rules.deck)
    for _ in range(100):
        seen = batch.observations()
        held = seen[:, :57] + seen[:, 57:114]
        held[:, :56] *= 2
        held[:, 56] *= 4
        assert (held <= counts).all()
        batch.step((batch.action_masks() * rng.random((200, 64))).argmax(1))
    assert batch.done.any()
