"""Outcomes: draws in the order of the rules, secrets, rewards; and what a seat sees of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from taki_env import ACTIONS, CARDS, Batch, Game, Rules
from taki_env.core.cards import CARD_INDEX, PASS, PLAY, RESPOND
from taki_env.core.history import Deal, History, deal_game, states_of
from taki_env.core.outcome import (
    draws_of,
    is_hidden_pass,
    loser_reward,
    played_card,
    rewards_of,
    seat_rewards,
)
from taki_env.core.seen import cards_drawn, play_card, seen_position, take_cards
from taki_env.records.position import new_states
from tests.helpers import game, position

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
C = ["yellow 6", "yellow 8"]
TOP = [f"green {symbol}" for symbol in (1, 3, 6, 7, 8, 9)]


def draws_after(table: Game, action: str) -> list[tuple[int, str]]:
    """Apply an action; return the seat and the name of each card that was drawn."""
    before = table.state
    table.apply(action)
    found = draws_of(before, ACTIONS.index(action), table.state)
    return [(seat, CARDS[card]) for seat, card in found]


def test_the_others_draw_for_a_plus_three_in_the_direction_of_play() -> None:
    """After a pass as well, where the actor is one of the others: seat 2 before seat 1."""
    expected = [*((2, card) for card in TOP[:3]), *((1, card) for card in TOP[3:])]
    assert draws_after(game([["+3", *A], B, C], direction=-1, top=TOP), "+3") == expected
    asked = game([["+3", *A], ["+3 breaker", *B], C], direction=-1, top=TOP)
    asked.apply("+3")
    assert asked.actor == 1
    assert draws_after(asked, "pass") == expected


def test_the_actor_draws_before_the_others() -> None:
    """Four cards for silence on the last card, then three for seat 1."""
    table = game([["+3", "red 1"], B], top=[*TOP, "red 9"])
    table.apply("+3")
    assert [seat for seat, _ in draws_after(table, "pass")] == [0] * 4 + [1] * 3


def test_cards_drawn_after_a_refill_come_from_the_new_pile() -> None:
    """Two cards are in the pile, one is beneath the +3, and then there is none."""
    at = position([["+3", *A], B], top=TOP[:2])
    rest = at["draw_pile"][2:]
    at["hands"][0] = sorted([*at["hands"][0], *rest[1:]], key=CARDS.index)
    at["draw_pile"], at["discard_pile"] = TOP[:2], [rest[0], "red 7"]
    found = draws_after(Game.from_dict(at), "+3")
    assert found[:2] == [(1, card) for card in TOP[:2]]
    assert found[2][0] == 1 and found[2][1] in (rest[0], "red 7")


def test_an_action_plays_its_card() -> None:
    """Change Color is one card with four actions; the last four actions play none."""
    cards = [played_card(action) for action in range(64)]
    assert cards == [*range(56), 56, 56, 56, 56, None, None, None, None]


def test_only_another_seats_pass_on_a_plus_three_is_hidden() -> None:
    """Not the actor's own, not another action, not a pass in another phase (section 7)."""
    assert is_hidden_pass(RESPOND, PASS, 1, 0)
    assert not is_hidden_pass(RESPOND, PASS, 1, 1)
    assert not is_hidden_pass(RESPOND, CARD_INDEX["king"], 1, 0)
    assert not is_hidden_pass(PLAY, PASS, 1, 0)


@pytest.mark.parametrize("num_players", [2, 3, 10])
def test_rewards_sum_to_zero(num_players: int) -> None:
    """+1 for the winner; the array form is the same."""
    rewards = seat_rewards(1, num_players)
    assert rewards[1] == 1 and rewards[0] == loser_reward(num_players)
    assert sum(rewards) == pytest.approx(0)
    hands = [["red 3", *A], ["red 1"], *([card] for card in CARDS[13 : 11 + num_players])]
    table = game(hands, turn=1, actor=1)
    assert rewards_of(table.state).tolist() == [seat_rewards(None, num_players)]
    table.apply("red 1")
    assert rewards_of(table.state).tolist() == [rewards] == [table.rewards().tolist()]


# What a seat sees ---------------------------------------------------------------------------------


def seen(hands: list[list[str]], **changes: Any) -> dict[str, Any]:
    """Return what seat 0 sees of a position."""
    return seen_position(position(hands, **changes), 0)


def test_a_card_leads_but_a_breaker_goes_beneath() -> None:
    """Of another seat's hand one hidden card leaves."""
    at = seen([["red 5", "+3 breaker"], B])
    play_card(at, 0, ACTIONS.index("+3 breaker"))
    assert at["discard_pile"] == ["+3 breaker", "red 7"]
    play_card(at, 1, ACTIONS.index("red 1"))
    assert at["discard_pile"] == ["red 7", "+3 breaker", "red 1"]
    assert at["hands"] == [["red 5"], [None]]
    with pytest.raises(ValueError, match="seat 0 does not hold 'king'"):
        play_card(at, 0, ACTIONS.index("king"))


def test_drawn_cards_come_from_a_refill_where_the_pile_is_too_small() -> None:
    """All played cards but the leading one (section 8)."""
    at = {**seen([A, B], under=["red 1", "red 3"]), "draw_pile": [None]}
    take_cards(at, [(0, ["red 1", "blue 1"])], 0)
    assert at["hands"][0] == ["red 1", "blue 1", "blue 1", "blue 3"]
    assert (at["draw_pile"], at["discard_pile"]) == ([None], ["red 7"])
    with pytest.raises(ValueError, match="more cards are drawn than there are"):
        take_cards(at, [(1, [None, None])], 0)


def test_cards_of_a_hidden_hand_are_counted() -> None:
    """Seat 1 plays a card and draws another one: None is one card drawn."""
    before = seen([A, B])
    before["actor"] = 1
    after = {**before, "hands": [A, [None, None, None]]}
    assert cards_drawn(before, "red 1", after, 1) == [None, None]
    assert cards_drawn(before, "pass", after, 0) == []


# Histories ----------------------------------------------------------------------------------------


def test_a_history_leads_to_its_game_and_to_no_other() -> None:
    """Nor does one with an illegal action lead anywhere."""
    table = Game(3, seed=4)
    start = table.state
    assert table.deal == Deal(4) and table.history.leads_to(start).all()
    for _ in range(20):
        table.apply(table.legal_actions()[-1])
    starts, actions, lengths = table.history
    assert starts.tobytes() == start.tobytes()
    assert table.history.leads_to(table.state).all()
    assert not table.history.leads_to(start).any()
    assert not History(starts, actions, lengths - 1).leads_to(table.state).any()
    assert not History(starts, actions * 0 + 255, lengths).leads_to(table.state).any()
    states = states_of(table.history)
    assert (states[0].tobytes(), states[-1].tobytes()) == (start.tobytes(), table.state.tobytes())


def test_a_deal_is_that_of_a_batch() -> None:
    """Game 2 of a batch after one reset, by its numbers."""
    batch = Batch(3, 2, seed=9)
    batch.reset([2])
    dealt = deal_game(new_states(1, 2, Rules()), Deal(9, 2, 1))
    assert dealt.tobytes() == batch.states[2].tobytes()
    assert Game.from_deal(2, Rules(), 9, 2, 1).state.tobytes() == dealt.tobytes()


def test_a_batch_returns_the_histories_that_it_keeps() -> None:
    """From the deal, or from now on where it keeps none."""
    batch, games = Batch(3, 2, seed=9), np.array([2, 0])
    assert batch.history(games).lengths.tolist() == [0, 0]
    batch.keep_actions(10)
    for _ in range(4):
        batch.step(batch.action_masks().argmax(1))
    history = batch.history(games)
    assert history.lengths.tolist() == [4, 4]
    assert history.leads_to(batch.states[games]).all()
    other = Batch(3, 2, seed=9)
    other.step(other.action_masks().argmax(1))
    assert other.history(games).starts.tobytes() == other.states[games].tobytes()
