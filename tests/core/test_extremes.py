"""Extreme tables: the game always moves on, or is cut off at its cap and says so."""

from __future__ import annotations

import random

import numpy as np
import pytest

from taki_env import CARDS, Batch, Game, Rules, SelfPlay, UniformSampler, raw_env
from taki_env.core.cards import NUM_COLORED, STANDARD_DECK
from taki_env.envs.gymnasium_env import TakiEnv
from taki_env.envs.sb3 import TakiVecEnv
from taki_env.envs.vector import TakiVectorEnv
from tests.helpers import rest_of_deck

LIMIT = 30
STALEMATE = Rules(hand_size=1, deck=tuple(int(c in ("red 1", "green 3", "blue 4")) for c in CARDS))
"""Three cards that never match: one leads, two are held, and there is nothing to draw."""
NO_NUMBERS = Rules(
    hand_size=3,
    deck=tuple(
        copies if card >= NUM_COLORED or card % 13 >= 8 else 0
        for card, copies in enumerate(STANDARD_DECK)
    ),
)


def test_a_stalemate_is_one() -> None:
    """Both can only draw, and draw nothing."""
    game = Game(2, STALEMATE, seed=0)
    for number in range(10):
        assert game.legal_names() == ["draw"] and game.actor == number % 2
        game.apply("draw")
        assert [*map(len, game.to_dict()["hands"])] == [1, 1]


def test_the_aec_environment_cuts_a_stalemate_off() -> None:
    """After the cap, every agent is truncated, with reward 0."""
    env = raw_env(num_players=2, rules=STALEMATE, max_decisions=LIMIT)
    env.reset(seed=0)
    for _ in range(LIMIT):
        assert not any(env.truncations.values())
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert set(env.rewards.values()) == {0}


def test_the_gymnasium_environment_cuts_a_stalemate_off() -> None:
    """The learner decides every other time."""
    env = TakiEnv(2, STALEMATE, max_decisions=LIMIT)
    _, info = env.reset(seed=0)
    for _ in range(LIMIT):
        _, reward, terminated, truncated, info = env.step(
            int(np.flatnonzero(info["action_mask"])[0])
        )
        if truncated:
            break
    assert truncated and not terminated and reward == 0 and env.game.decisions == LIMIT


def test_many_games_cut_stalemates_off() -> None:
    """The vector environments and self-play say so for each game."""
    draws = np.full(3, 60)
    vector = TakiVectorEnv(3, 2, STALEMATE, learner_seat=0, max_decisions=LIMIT)
    vector.reset(seed=0)
    many = TakiVecEnv(3, 2, STALEMATE, learner_seat=0, max_decisions=LIMIT, seed=0)
    many.reset()
    table = SelfPlay(3, 2, STALEMATE, LIMIT, seed=0)
    for number in range(1, LIMIT // 2 + 1):
        *_, terminated, truncated, _ = vector.step(draws)
        _, _, dones, infos = many.step(draws)
        credits = [table.step(draws) for _ in range(2)][1]
        last = number == LIMIT // 2
        assert np.all(truncated == last) and not terminated.any()
        assert np.all(dones == last)
        assert [info.get("TimeLimit.truncated", False) for info in infos] == [last] * 3
        assert len(credits.games) == 6 * last and credits.truncated.all()


def test_ten_players_hold_all_cards() -> None:
    """Nothing to draw and nothing beneath the leading card: play moves on all the same."""
    choose = random.Random(0)
    for seed in range(4):
        cards = rest_of_deck(["red 7"])
        choose.shuffle(cards)
        at = Game(10, seed=0).to_dict()
        at |= {"hands": [cards[seat::10] for seat in range(10)], "draw_pile": []}
        at |= {"discard_pile": ["red 7"], "color": "red", "symbol": "7"}
        game = Game.from_dict(at, seed)
        for _ in range(400):
            if not game.is_over:
                game.apply(choose.choice(game.legal_actions()))
        end = game.to_dict()
        cards = [
            *end["draw_pile"],
            *end["discard_pile"],
            *(c for hand in end["hands"] for c in hand),
        ]
        assert sorted(cards) == sorted(rest_of_deck())


@pytest.mark.parametrize("num_players", [2, 10])
def test_a_deck_without_numbers_plays_to_the_end(num_players: int) -> None:
    """Everything that is played acts; random play ends most games, and the cap the others."""
    batch, sample = Batch(50, num_players, NO_NUMBERS, seed=1), UniformSampler(50, 1)
    for _ in range(2000):
        assert np.all((batch.legal == 0) == batch.done)
        batch.step(sample(batch.legal))
    assert batch.done.mean() > 0.9


def test_empty_piles_and_silence_still_move_on() -> None:
    """The last card is not called, and there are no four cards to draw: the turn passes."""
    at = Game(2, seed=0).to_dict()
    cards = rest_of_deck(["red 7"], ["blue 1"])
    at |= {"hands": [["blue 1"], cards], "draw_pile": [], "discard_pile": ["red 7"]}
    at |= {"color": "red", "symbol": "7", "phase": "last_card"}
    game = Game.from_dict(at)
    game.apply("pass")
    assert (game.actor, game.phase, len(game.to_dict()["hands"][0])) == (1, "play", 1)
