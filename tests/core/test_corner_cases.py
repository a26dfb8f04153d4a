"""Corner cases of RULES.md, reasoned by hand, section by section.

Hands named `A`, `B`, `C` are quiet: numbers that answer nothing. Unless a case says otherwise
seat 0 is to move on a red 7.
"""

from __future__ import annotations

from typing import Any

import pytest

from taki_env import CARDS, COLORS, Game, Rules
from tests.helpers import Shuffler, game, position

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
C = ["yellow 6", "yellow 8"]
NO_SYMBOL: dict[str, Any] = {"color": "red", "symbol": None}
STAGES: dict[str, Any] = {"rules": {"tournament": True}, "stages": [3, 3]}
STAGES3: dict[str, Any] = {"rules": {"tournament": True}, "stages": [3, 3, 3]}
TOP = ["red 1", "red 3", "red 4", "red 5", "red 6", "red 8", "red 9", "green 1", "green 3"]


def played(hands: list[list[str]], *actions: str, lead: str = "red 7", **changes: Any) -> Game:
    """Return the game after some actions."""
    table = game(hands, lead, **changes)
    for action in actions:
        table.apply(action)
    return table


def fields(table: Game, *names: str) -> list[Any]:
    """Return some fields of the position; `lead` is the leading card, `sizes` the hand sizes."""
    at = table.to_dict()
    at["lead"], at["sizes"] = at["discard_pile"][-1], [len(hand) for hand in at["hands"]]
    return [at[name] for name in names]


def sizes(table: Game) -> list[int]:
    """Return the hand sizes."""
    return fields(table, "sizes")[0]


def hand(table: Game, seat: int) -> list[str]:
    """Return a hand."""
    return table.to_dict()["hands"][seat]


def exactly(*cards: str) -> dict[str, Any]:
    """Return rules whose deck is just these cards."""
    return {"hand_size": 1, "deck": [cards.count(card) for card in CARDS]}


# Section 3: setup ---------------------------------------------------------------------------------

FEW_COLORED = Rules(hand_size=1, deck=(*([1] * 6), *([0] * 46), 2, 2, 2, 2, 4))


@pytest.mark.parametrize("seed", range(12))
def test_colorless_first_cards_go_to_the_bottom_in_turn(seed: int) -> None:
    """The leading card is the first colored one; those turned before it end up below, in order."""
    from taki_env.core.bits import seed_words

    deck = [card for index, card in enumerate(CARDS) for _ in range(FEW_COLORED.deck[index])]
    pile = Shuffler(int(seed_words(seed, 0)[0]))(deck)[2:]
    turned = next(place for place, card in enumerate(pile) if card.startswith("red"))
    at = Game(2, FEW_COLORED, seed).to_dict()
    assert at["discard_pile"] == [pile[turned]]
    assert at["draw_pile"] == [*pile[turned + 1 :], *pile[:turned]]


@pytest.mark.parametrize("symbol", ["stop", "+2", "change direction", "plus", "taki"])
def test_the_action_of_the_first_card_is_ignored(symbol: str) -> None:
    """Whatever is turned over, seat 0 begins a plain turn to the left."""
    deals = (Game(3, seed=seed).to_dict() for seed in range(300))
    at = next(at for at in deals if at["symbol"] == symbol)
    assert (at["turn"], at["phase"], at["direction"]) == (0, "play", 1)
    assert (at["pending_draw"], at["open_taki"], at["skip_next"]) == (0, False, False)


# Section 4: a turn --------------------------------------------------------------------------------


def test_change_direction_matches_by_symbol() -> None:
    """A symbol of two words is a symbol like any other."""
    hands = [["blue change direction", "blue 1"], B]
    table = game(hands, "red change direction")
    assert table.legal_names() == ["blue change direction"]


def test_without_a_symbol_only_the_color_matches() -> None:
    """After a King there is no symbol to match."""
    table = game([["red 1", "blue 7", "blue 1"], B], "king", **NO_SYMBOL)
    assert table.legal_names() == ["red 1"]


def test_a_named_color_matches_and_the_color_beneath_does_not() -> None:
    """After a Change Color to blue, blue is the color."""
    table = played([["change color", *B], ["red 7", *A], C], "change color to blue")
    assert table.legal_names() == A


def test_a_super_taki_that_leads_matches_a_taki_of_any_color() -> None:
    """Its symbol is taki: once the run is over, a blue taki matches it."""
    table = game([["blue taki", "blue 1"], B], "super taki", color="red", symbol="taki")
    assert table.legal_names() == ["blue taki"]


def test_only_a_breaker_to_play_leaves_the_draw_legal() -> None:
    """A Breaker never has to be played."""
    assert game([["+3 breaker", *A], B]).legal_names() == ["+3 breaker", "draw"]


def test_a_breaker_beside_a_playable_card_leaves_no_draw() -> None:
    """Who can play something else may not draw."""
    assert game([["+3 breaker", "red 1"], B]).legal_names() == ["red 1", "+3 breaker"]


@pytest.mark.parametrize("card", ["king", "+3", "super taki"])
def test_a_colorless_card_other_than_a_breaker_forbids_the_draw(card: str) -> None:
    """Colorless cards need no match, so their holder can play."""
    assert game([[card, *A], B]).legal_names() == [card]


def test_a_change_color_forbids_the_draw() -> None:
    """Four actions, and none of them is to draw."""
    names = game([["change color", *A], B]).legal_names()
    assert names == [f"change color to {color}" for color in COLORS]


def test_a_drawn_card_cannot_be_played_before_the_next_turn() -> None:
    """Seat 0 draws a red card and yet seat 1 is to move."""
    table = played([A, B], "draw", top=["red 1"])
    assert (hand(table, 0), table.turn, table.phase) == (["red 1", *A], 1, "play")


def test_on_a_stack_only_plus_two_king_and_draw_are_legal() -> None:
    """Neither the color nor any other colorless card helps, and draw is legal all the same."""
    hands = [["red 1", "blue +2", "super taki", "king", "+3", "+3 breaker", "change color"], B]
    table = game(hands, "red +2", pending_draw=2)
    assert table.legal_names() == ["blue +2", "king", "draw"]


def test_a_taken_stack_is_spent() -> None:
    """Once the four are drawn, the +2 leads like a number and its symbol matches."""
    table = played([A, ["yellow +2", "yellow 1"], C], "draw", lead="red +2", pending_draw=4)
    assert [*sizes(table), *fields(table, "turn", "pending_draw")] == [6, 2, 2, 1, 0]
    assert table.legal_names() == ["yellow +2"]


def test_a_stack_runs_in_the_direction_of_play() -> None:
    """To the right: seat 0 adds to two, seat 2 takes the four, seat 1 is next."""
    hands = [["red +2", *A], B, C]
    table = played(
        hands, "red +2", "draw", lead="blue +2", direction=-1, pending_draw=2, turn=0, actor=0
    )
    assert (sizes(table), table.turn) == ([2, 2, 6], 1)


def test_a_king_cancels_a_stack_for_good() -> None:
    """After the King's extra card the next player owes nothing."""
    table = played([["king", "blue 4", *A], B], "king", "blue 4", lead="red +2", pending_draw=6)
    assert fields(table, "pending_draw", "turn", "color", "sizes") == [0, 1, "blue", [2, 2]]


def test_voluntary_draw_allows_to_draw_with_a_playable_card() -> None:
    """The option adds draw in phase play."""
    table = game([["red 1", *A], B], rules={"voluntary_draw": True})
    assert table.legal_names() == ["red 1", "draw"]


@pytest.mark.parametrize("card", ["red plus", "red taki", "king"])
def test_voluntary_draw_is_for_phase_play_only(card: str) -> None:
    """After a Plus, in a run, after a King, it allows nothing."""
    table = played([[card, "red 1", *A], B], card, rules={"voluntary_draw": True})
    assert "draw" not in table.legal_names()


# Section 5: stop, +2, change direction, plus ------------------------------------------------------


def test_stop_skips_in_the_direction_of_play() -> None:
    """To the right seat 2 is skipped: seat 1 moves."""
    assert played([["red stop", *A], B, C], "red stop", direction=-1).turn == 1


def test_a_second_stop_is_played_on_the_first_by_the_same_of_two() -> None:
    """With two players the same player moves again, as often as they have stops."""
    table = played([["red stop", "blue stop", *A], B], "red stop", "blue stop")
    assert (table.turn, table.legal_names()) == (0, A)


def test_change_direction_with_two_players_only_turns_the_direction() -> None:
    """The other player moves."""
    table = played([["red change direction", *A], B], "red change direction")
    assert fields(table, "turn", "direction") == [1, -1]


def test_two_changes_of_direction_are_none() -> None:
    """0 turns play to seat 2, who turns it back to seat 0."""
    hands = [["red change direction", *A], B, ["red change direction", *C]]
    table = played(hands, "red change direction", "red change direction")
    assert fields(table, "turn", "direction") == [0, 1]


def test_a_plus_on_a_plus_owes_another_card() -> None:
    """Phase plus goes on, by color or symbol of the second Plus."""
    hands = [["red plus", "blue plus", "blue 1", "red 1"], B]
    table = played(hands, "red plus", "blue plus")
    assert (table.phase, table.legal_names()) == ("plus", ["blue 1"])


def test_a_plus_without_a_second_card_draws_one_and_ends_the_turn() -> None:
    """Draw is legal as nothing can be played."""
    table = played([["red plus", *A], B], "red plus", "draw")
    assert (sizes(table), table.turn, table.phase) == ([3, 2], 1, "play")


def test_a_plus_with_a_playable_card_leaves_no_draw() -> None:
    """The second card must be played if there is one."""
    assert played([["red plus", "red 1", *A], B], "red plus").legal_names() == ["red 1"]


def test_a_plus_with_only_a_breaker_leaves_the_choice() -> None:
    """The Breaker counts as the second card but never has to be played."""
    table = played([["red plus", "+3 breaker", *A], B], "red plus")
    assert table.legal_names() == ["+3 breaker", "draw"]


def test_a_breaker_as_the_second_card_costs_three() -> None:
    """It ends the turn; the Plus still leads."""
    table = played([["red plus", "+3 breaker", *A], B], "red plus", "+3 breaker")
    assert fields(table, "sizes", "turn", "phase", "lead") == [[5, 2], 1, "play", "red plus"]


def test_a_plus_whose_second_card_is_a_king_frees_a_third() -> None:
    """Phase king follows phase plus."""
    table = played([["red plus", "king", "blue 1", "blue 3"], B], "red plus", "king", "blue 1")
    assert fields(table, "phase", "actor", "color") == ["last_card", 0, "blue"]


def test_a_plus_whose_second_card_is_a_plus_three_asks_the_others() -> None:
    """The +3 is played in the same turn."""
    table = played([["red plus", "+3", *A], ["+3 breaker", *B]], "red plus", "+3")
    assert fields(table, "phase", "actor", "turn", "plus_three_by") == ["respond", 1, 0, 0]


def test_a_plus_whose_second_card_is_a_taki_opens_a_run() -> None:
    """A super taki takes the color of the Plus."""
    table = played([["red plus", "super taki", "red 1", *A], B], "red plus", "super taki")
    assert (table.phase, table.legal_names()) == ("run", ["red 1", "pass"])


# Section 5: king ----------------------------------------------------------------------------------


def test_a_king_frees_every_card_of_the_hand() -> None:
    """No match is needed, and pass is legal as well; draw is not."""
    hands = [["king", "king", "blue 1", "green taki", "super taki", "+3", "+3 breaker"], B]
    table = played(hands, "king")
    assert table.legal_names() == [
        *("green taki", "blue 1", "super taki", "king", "+3", "+3 breaker", "pass"),
    ]


def test_the_extra_card_acts() -> None:
    """A blue stop after a King skips the next player."""
    table = played([["king", "blue stop", *A], B, C], "king", "blue stop")
    assert fields(table, "turn", "color", "symbol") == [2, "blue", "stop"]


def test_a_plus_two_as_the_extra_card_starts_a_new_stack() -> None:
    """The King cancels six; the extra +2 asks for two."""
    table = played([["king", "blue +2", *A], B], "king", "blue +2", lead="red +2", pending_draw=6)
    assert fields(table, "pending_draw", "turn") == [2, 1]


def test_a_plus_as_the_extra_card_owes_a_second() -> None:
    """By the matching rule again: a blue card or a Plus."""
    table = played([["king", "blue plus", "red 1", *A], B], "king", "blue plus")
    assert (table.phase, table.legal_names()) == ("plus", A)


def test_a_taki_as_the_extra_card_opens_a_run_of_its_color() -> None:
    """The run is blue."""
    table = played([["king", "blue taki", "red 1", *A], B], "king", "blue taki")
    assert (table.phase, table.legal_names()) == ("run", [*A, "pass"])


def test_a_king_on_a_king_frees_another_card() -> None:
    """Phase king once more."""
    table = played([["king", "king", *A], B], "king", "king")
    assert (table.phase, table.legal_names()) == ("king", [*A, "pass"])


def test_a_declined_extra_card_costs_nothing() -> None:
    """The turn ends; the color beneath stays and there is no symbol."""
    table = played([["king", "red 1", *A], B], "king", "pass")
    assert fields(table, "sizes", "turn", "color", "symbol") == [[3, 2], 1, "red", None]


def test_a_king_that_leaves_one_card_is_followed_by_the_extra_card_first() -> None:
    """The call is due at the end of the turn: the extra card empties the hand and wins."""
    table = played([["king", "blue 1"], B], "king", "blue 1")
    assert table.winner == 0


def test_a_declined_extra_card_with_one_card_left_is_called() -> None:
    """The turn ends by playing the King."""
    assert played([["king", "blue 1"], B], "king", "pass").phase == "last_card"


def test_a_king_as_the_last_card_wins() -> None:
    """No extra card is owed."""
    assert played([["king"], B], "king").winner == 0


def test_a_breaker_as_the_extra_card_costs_three() -> None:
    """The King leads on, without a symbol."""
    table = played([["king", "+3 breaker", *A], B], "king", "+3 breaker")
    assert fields(table, "sizes", "turn", "lead", "symbol") == [[5, 2], 1, "king", None]


def test_a_change_color_as_the_extra_card_names_its_color() -> None:
    """The four actions are legal in phase king."""
    table = played([["king", "change color", *A], B], "king", "change color to green")
    assert fields(table, "color", "symbol", "turn") == ["green", None, 1]


# Section 5: breaker on one's own turn, colorless cards -------------------------------------------


def test_a_breaker_on_ones_own_turn_leaves_lead_color_and_symbol() -> None:
    """It goes beneath the leading card."""
    table = played([["+3 breaker", *A], B], "+3 breaker")
    assert fields(table, "lead", "color", "symbol", "turn") == ["red 7", "red", "7", 1]
    assert table.to_dict()["discard_pile"] == ["+3 breaker", "red 7"]


def test_a_breaker_as_the_only_card_does_not_win() -> None:
    """The three of its penalty are drawn first, and no call is due."""
    table = played([["+3 breaker"], B], "+3 breaker")
    assert (table.winner, sizes(table), table.phase) == (None, [3, 2], "play")


def test_a_breaker_comes_back_by_the_refill_that_its_penalty_needs() -> None:
    """Pile empty, nothing else beneath: the player draws the very Breaker, and then nothing."""
    hands = [["+3 breaker", "blue 1"], ["green 4"]]
    rules = exactly("+3 breaker", "blue 1", "green 4", "red 7")
    table = played(hands, "+3 breaker", rules=rules)
    assert fields(table, "hands", "discard_pile", "turn") == [
        [["blue 1", "+3 breaker"], ["green 4"]],
        ["red 7"],
        1,
    ]


def test_one_card_after_a_penalty_is_not_called() -> None:
    """The turn ended by drawing, though the only card drawn is the Breaker itself."""
    rules = exactly("+3 breaker", "green 4", "red 7")
    table = played([["+3 breaker"], ["green 4"]], "+3 breaker", rules=rules)
    assert fields(table, "phase", "turn", "sizes") == ["play", 1, [1, 1]]


def test_a_breaker_beneath_is_refilled_for_others() -> None:
    """A Breaker laid as a penalty may be drawn by another player after a refill."""
    rules = exactly("+3 breaker", "green 4", "red 7", "blue 1", "yellow 1", "yellow 3", "yellow 4")
    hands = [["+3 breaker", "blue 1"], ["green 4"]]
    top = ["yellow 1", "yellow 3", "yellow 4"]
    table = played(hands, "+3 breaker", "draw", rules=rules, top=top)
    assert hand(table, 1) == ["green 4", "+3 breaker"]


def test_a_super_taki_keeps_the_color() -> None:
    """Color stays, symbol becomes taki."""
    table = played([["super taki", *A], B], "super taki")
    assert fields(table, "color", "symbol", "open_taki", "phase") == ["red", "taki", True, "run"]


@pytest.mark.parametrize("card", ["super taki", "change color to blue", "+3", "+3 breaker"])
def test_a_spent_plus_three_takes_every_colorless_card(card: str) -> None:
    """An answered or drawn +3 is an ordinary leading card."""
    hands = [["super taki", "change color", "+3", "+3 breaker", "blue 1"], B]
    assert card in game(hands, "+3", **NO_SYMBOL).legal_names()


@pytest.mark.parametrize("card", ["super taki", "change color to blue", "+3", "king"])
def test_a_spent_plus_two_takes_every_colorless_card(card: str) -> None:
    """A +2 without a pending draw is an ordinary leading card."""
    hands = [["super taki", "change color", "+3", "king", "blue 1"], B]
    assert card in game(hands, "red +2").legal_names()


# Section 6: runs ----------------------------------------------------------------------------------


def test_a_taki_played_alone_cannot_be_closed() -> None:
    """Cards of its color, super taki and pass; a symbol does not match in a run."""
    table = played([["red taki", "red 1", "blue taki", "super taki", "king"], B], "red taki")
    assert table.legal_names() == ["red 1", "super taki", "pass"]


@pytest.mark.parametrize(
    ("final", "field", "value"),
    [
        ("red stop", "turn", 2),
        ("red +2", "pending_draw", 2),
        ("red change direction", "direction", -1),
        ("red change direction", "turn", 2),
        ("red taki", "turn", 1),
        ("super taki", "turn", 1),
        ("red 1", "turn", 1),
        ("red plus", "phase", "plus"),
    ],
)
def test_closing_carries_out_the_final_card(final: str, field: str, value: Any) -> None:
    """Of three players; a final taki or super taki does nothing more."""
    table = played([["red taki", final, *A], B, C], "red taki", final, "close taki")
    assert fields(table, field, "open_taki") == [value, False]


@pytest.mark.parametrize("card", ["red stop", "red +2", "red change direction", "red plus"])
def test_cards_within_a_run_do_not_act(card: str) -> None:
    """Laid before a final number they do nothing."""
    table = played([["red taki", card, "red 1", *A], B, C], "red taki", card, "red 1", "close taki")
    assert fields(table, "turn", "pending_draw", "direction", "phase") == [1, 0, 1, "play"]


def test_a_super_taki_on_a_run_takes_its_color() -> None:
    """It counts as a taki of the run's color, and the run goes on."""
    table = played([["red taki", "super taki", "red 1", *A], B], "red taki", "super taki")
    assert fields(table, "color", "symbol", "phase") == ["red", "taki", "run"]
    assert table.legal_names() == ["red 1", "close taki", "pass"]


@pytest.mark.parametrize("final", ["red stop", "red +2", "red change direction", "red plus"])
def test_nothing_acts_in_a_run_left_open(final: str) -> None:
    """By pass the turn ends and the next player may use the run."""
    table = played([["red taki", final, *A], B, C], "red taki", final, "pass")
    assert fields(table, "turn", "phase", "open_taki", "can_close") == [1, "play", True, False]
    assert fields(table, "pending_draw", "direction", "skip_next") == [0, 1, False]


LEFT_OPEN: dict[str, Any] = {"lead": "red stop", "open_taki": True}


def test_a_card_of_its_color_is_laid_on_a_run_left_open() -> None:
    """The player is in phase run at once and may close."""
    table = played([["red 1", "red 3", *A], B, C], "red 1", **LEFT_OPEN)
    assert (table.phase, table.legal_names()) == ("run", ["red 3", "close taki", "pass"])


def test_closing_a_run_left_open_carries_out_only_the_new_final_card() -> None:
    """The stop beneath never acts."""
    table = played([["red 1", *A], B, C], "red 1", "close taki", **LEFT_OPEN)
    assert table.turn == 1


def test_a_run_left_open_cannot_be_closed_before_a_card_is_laid_on_it() -> None:
    """Phase play has no close and no pass."""
    assert game([["red 1", *A], B], **LEFT_OPEN).legal_names() == ["red 1"]


def test_a_super_taki_is_laid_on_a_run_left_open() -> None:
    """It does not open another one: it can be closed at once, and does nothing more."""
    table = played([["super taki", *A], B, C], "super taki", **LEFT_OPEN)
    assert table.legal_names() == ["close taki", "pass"]
    table.apply("close taki")
    assert fields(table, "turn", "open_taki") == [1, False]


def test_a_taki_of_the_color_is_laid_on_a_run_left_open() -> None:
    """As a card of the run's color."""
    table = played([["red taki", *A], B], "red taki", **LEFT_OPEN)
    assert fields(table, "phase", "can_close") == ["run", True]


def test_another_color_ends_a_run_left_open_and_acts_itself() -> None:
    """A blue stop on a red one: the run is over, and the blue stop skips seat 1."""
    table = played([["blue stop", *A], B, C], "blue stop", **LEFT_OPEN)
    assert fields(table, "open_taki", "turn", "color") == [False, 2, "blue"]


def test_a_taki_of_another_color_ends_a_run_left_open_and_opens_its_own() -> None:
    """It opens a run and so cannot be closed yet."""
    table = played([["blue taki", *A], B], "blue taki", lead="red taki", open_taki=True)
    assert fields(table, "color", "open_taki", "can_close") == ["blue", True, False]
    assert table.legal_names() == [*A, "pass"]


@pytest.mark.parametrize(
    ("card", "turn"), [("change color to red", 1), ("+3", 1), ("+3 breaker", 1), ("king", 0)]
)
def test_a_colorless_card_ends_a_run_left_open(card: str, turn: int) -> None:
    """Without carrying out its stop; even a Change Color that names the run's own color."""
    name = "change color" if card.startswith("change") else card
    table = played([[name, *A], B, C], card, **LEFT_OPEN)
    assert fields(table, "open_taki", "turn") == [False, turn]


def test_a_draw_leaves_the_run_open_for_the_player_after() -> None:
    """Seat 0 cannot play, draws, and seat 1 may lay a red card on the run."""
    table = played([A, ["red 1", *B]], "draw", "red 1", **LEFT_OPEN)
    assert fields(table, "phase", "actor", "can_close") == ["run", 1, True]


def test_a_plus_emptying_the_hand_on_a_run_owes_a_second_card() -> None:
    """The run is closed, nobody has won, and the only legal action is draw."""
    table = played([["red taki", "red plus"], B], "red taki", "red plus")
    assert fields(table, "phase", "open_taki", "winner", "sizes") == ["plus", False, None, [0, 2]]
    assert table.legal_names() == ["draw"]


def test_the_card_drawn_for_an_owed_second_card_is_not_called() -> None:
    """One card in hand after a turn that ended by drawing."""
    table = played([["red plus"], B], "red plus", "draw")
    assert fields(table, "sizes", "phase", "turn") == [[1, 2], "play", 1]


@pytest.mark.parametrize(
    "final", ["red stop", "red +2", "red change direction", "red taki", "super taki", "red 1"]
)
def test_emptying_the_hand_on_a_run_wins(final: str) -> None:
    """From more than one card to none needs no call."""
    assert played([["red taki", final], B], "red taki", final).winner == 0


def test_laying_the_last_card_on_a_run_left_open_wins() -> None:
    """A single red card on the run of another player."""
    assert played([["red 1"], B], "red 1", **LEFT_OPEN).winner == 0


@pytest.mark.parametrize("card", ["red taki", "super taki"])
def test_a_taki_as_the_only_card_wins(card: str) -> None:
    """An empty hand wins at once."""
    assert played([[card], B], card).winner == 0


def test_one_card_within_a_run_is_not_called() -> None:
    """The turn has not ended."""
    assert played([["red taki", "red 1", "blue 1"], B], "red taki", "red 1").phase == "run"


def test_closing_a_run_with_one_card_left_is_called() -> None:
    """The turn ends by playing."""
    table = played([["red taki", "red 1", "blue 1"], B], "red taki", "red 1", "close taki")
    assert table.phase == "last_card"


def test_leaving_a_run_open_with_one_card_left_is_called() -> None:
    """The TAKI stays open through the call."""
    table = played([["red taki", "blue 1"], B], "red taki", "pass")
    assert fields(table, "phase", "open_taki") == ["last_card", True]
    table.apply("say last card")
    assert fields(table, "phase", "open_taki", "turn") == ["play", True, 1]


def test_silence_after_leaving_a_run_open_leaves_it_open() -> None:
    """Four are drawn and the next player may use the run."""
    table = played([["red taki", "blue 1"], B], "red taki", "pass", "pass")
    assert fields(table, "sizes", "open_taki", "turn") == [[5, 2], True, 1]


def test_full_runs_forbids_to_stop_while_the_color_is_in_hand() -> None:
    """Neither close nor pass, and a super taki may still be laid."""
    hands = [["red taki", "red 1", "red 3", "super taki", "blue 1"], B]
    table = played(hands, "red taki", "red 1", rules={"full_runs": True})
    assert table.legal_names() == ["red 3", "super taki"]


def test_full_runs_does_not_force_a_super_taki() -> None:
    """Super taki aside, no card of the color is left."""
    hands = [["red taki", "red 1", "super taki", "blue 1"], B]
    table = played(hands, "red taki", "red 1", rules={"full_runs": True})
    assert table.legal_names() == ["super taki", "close taki", "pass"]


def test_full_runs_leaves_a_taki_played_alone_open() -> None:
    """Without a card of the color only pass remains."""
    table = played([["red taki", *A], B], "red taki", rules={"full_runs": True})
    assert table.legal_names() == ["pass"]


def test_full_runs_holds_on_a_run_left_open() -> None:
    """Who lays a card on it must go on as well, although `can_close` is true."""
    table = played([["red 1", "red 3", *A], B], "red 1", rules={"full_runs": True}, **LEFT_OPEN)
    assert (table.legal_names(), fields(table, "can_close")) == (["red 3"], [True])


# Section 7: answering a +3 ------------------------------------------------------------------------

PLAYER = ["+3", *A]


def test_nobody_is_asked_who_cannot_answer() -> None:
    """A King two seats on is no answer: all draw at once and nobody loses a turn."""
    table = played([PLAYER, B, ["king", *C]], "+3")
    assert fields(table, "sizes", "phase", "turn") == [[2, 5, 6], "play", 1]


def test_the_next_player_may_answer_with_a_king_or_a_breaker() -> None:
    """Both are legal, beside pass."""
    table = played([PLAYER, ["king", "+3 breaker", *B], C], "+3")
    assert table.legal_names() == ["king", "+3 breaker", "pass"]


def test_another_player_may_answer_with_a_breaker_only() -> None:
    """A King beside it does not count for seat 2."""
    table = played([PLAYER, B, ["king", "+3 breaker", *C]], "+3")
    assert (table.actor, table.legal_names()) == (2, ["+3 breaker", "pass"])


def test_the_first_asked_is_next_in_the_direction_of_play() -> None:
    """To the right seat 2 is asked first, and its King counts."""
    hands = [PLAYER, ["+3 breaker", *B], ["king", *C]]
    table = played(hands, "+3", direction=-1)
    assert (table.actor, table.legal_names()) == (2, ["king", "pass"])
    table.apply("pass")
    assert (table.actor, table.legal_names()) == (1, ["+3 breaker", "pass"])


def test_to_the_right_the_left_neighbours_king_does_not_count() -> None:
    """Seat 1 is last in the direction of play: nobody can answer."""
    table = played([PLAYER, ["king", *B], C], "+3", direction=-1)
    assert fields(table, "phase", "turn", "sizes") == ["play", 2, [2, 6, 5]]


def test_each_asked_in_turn_and_when_all_pass_all_draw() -> None:
    """Two Breakers stay in hand; the +3 is spent and the next player moves."""
    table = played([PLAYER, ["+3 breaker", *B], ["+3 breaker", *C]], "+3", "pass", "pass")
    assert fields(table, "sizes", "turn", "plus_three_by", "lead") == [[2, 6, 6], 1, None, "+3"]


@pytest.mark.parametrize(
    ("direction", "first", "second"), [(1, TOP[:3], TOP[3:6]), (-1, TOP[3:6], TOP[:3])]
)
def test_the_three_are_drawn_in_the_direction_of_play(
    direction: int, first: list[str], second: list[str]
) -> None:
    """The next player draws the top three."""
    table = played([PLAYER, ["yellow 1"], ["yellow 3"]], "+3", direction=direction, top=TOP)
    assert (hand(table, 1), hand(table, 2)) == ([*first, "yellow 1"], [*second, "yellow 3"])


def test_a_breaker_answer_makes_the_player_of_the_plus_three_draw() -> None:
    """Play goes on with the seat after that player; the +3 still leads over the Breaker."""
    table = played([PLAYER, B, ["+3 breaker", *C]], "+3", "+3 breaker")
    assert fields(table, "sizes", "turn", "lead", "plus_three_by") == [[5, 2, 2], 1, "+3", None]
    assert "+3 breaker" in table.to_dict()["discard_pile"]


def test_the_first_breaker_ends_the_asking() -> None:
    """A second holder is not asked."""
    table = played([PLAYER, ["+3 breaker", *B], ["+3 breaker", *C]], "+3", "+3 breaker")
    assert fields(table, "sizes", "phase", "actor") == [[5, 2, 3], "play", 1]


def test_a_king_answer_makes_it_that_players_turn() -> None:
    """Nobody draws; phase king, with a free extra card."""
    table = played([PLAYER, ["king", *B], C], "+3", "king")
    assert fields(table, "sizes", "phase", "turn", "actor") == [[2, 2, 2], "king", 1, 1]
    assert table.legal_names() == [*B, "pass"]


def test_after_a_king_answer_play_goes_on_after_that_player() -> None:
    """Seat 1 plays its extra card; seat 2 follows."""
    table = played([PLAYER, ["king", "green 8", *B], C], "+3", "king", "green 8")
    assert fields(table, "turn", "color", "plus_three_by") == [2, "green", None]


def test_a_king_answer_keeps_the_color_beneath() -> None:
    """Red from the 7 under the +3."""
    table = played([PLAYER, ["king", *B], C], "+3", "king", "pass")
    assert fields(table, "color", "symbol", "turn") == ["red", None, 2]


def test_a_king_answer_as_the_last_card_wins() -> None:
    """An empty hand wins at once."""
    table = played([PLAYER, ["king"], C], "+3", "king")
    assert (table.winner, sizes(table)) == (1, [2, 0, 2])


def test_a_king_answer_as_the_last_card_of_a_stage_ends_the_turn() -> None:
    """Stage 2 draws two; the extra card lapses; the +3 stays cancelled; seat 2 moves."""
    table = played([PLAYER, ["king"], C], "+3", "king", **STAGES3)
    assert fields(table, "stages", "sizes", "phase", "turn") == [[3, 2, 3], [2, 2, 2], "play", 2]


def test_a_king_answer_leaving_one_card_is_called_on_ones_own_turn() -> None:
    """The extra card is declined: actor and turn are the answerer."""
    table = played([PLAYER, ["king", "green 4"], C], "+3", "king", "pass")
    assert fields(table, "phase", "actor", "turn") == ["last_card", 1, 1]


def test_a_plus_three_as_the_extra_card_of_a_king_answer_asks_anew() -> None:
    """Now seat 1's +3 awaits answers, first of seat 2."""
    hands = [["+3", *A], ["king", "+3", *B], ["+3 breaker", *C]]
    table = played(hands, "+3", "king", "+3")
    assert fields(table, "phase", "actor", "turn", "plus_three_by") == ["respond", 2, 1, 1]


def test_a_breaker_answer_as_the_last_card_wins() -> None:
    """Nobody draws any more."""
    table = played([PLAYER, B, ["+3 breaker"]], "+3", "+3 breaker")
    assert (table.winner, sizes(table)) == (2, [2, 2, 0])


def test_a_breaker_answer_as_the_last_card_of_a_stage_draws_before_the_player() -> None:
    """The answerer's two come first, then the player's three; play goes on after the player."""
    table = played([PLAYER, B, ["+3 breaker"]], "+3", "+3 breaker", top=TOP, **STAGES3)
    assert (hand(table, 2), hand(table, 0)) == (TOP[:2], [*TOP[2:5], *A])
    assert fields(table, "stages", "turn", "phase") == [[3, 3, 2], 1, "play"]


def test_a_breaker_answer_leaving_one_card_is_called_out_of_turn() -> None:
    """Phase last_card, actor the answerer, turn the player of the +3, nothing drawn yet."""
    table = played([PLAYER, B, ["+3 breaker", "yellow 6"]], "+3", "+3 breaker")
    assert fields(table, "phase", "actor", "turn", "sizes") == ["last_card", 2, 0, [2, 2, 1]]
    assert fields(table, "plus_three_by") == [None]


def test_a_silent_answerer_draws_four_before_the_player_draws_three() -> None:
    """The answerer's own hand is settled first."""
    hands = [PLAYER, B, ["+3 breaker", "yellow 6"]]
    table = played(hands, "+3", "+3 breaker", "pass", top=TOP)
    assert (hand(table, 2), hand(table, 0)) == ([*TOP[:4], "yellow 6"], [*TOP[4:7], *A])


def test_after_an_answerers_call_play_goes_on_after_the_player_of_the_plus_three() -> None:
    """To the right: after seat 0 comes seat 2."""
    hands = [PLAYER, ["+3 breaker", "green 4"], C]
    table = played(hands, "+3", "+3 breaker", "say last card", direction=-1)
    assert fields(table, "turn", "sizes", "phase") == [2, [5, 1, 2], "play"]


def test_a_plus_three_as_the_last_card_wins_before_anyone_answers() -> None:
    """The game ends when a hand is empty."""
    table = played([["+3"], ["+3 breaker", *B]], "+3")
    assert (table.winner, sizes(table)) == (0, [0, 3])


def test_the_call_comes_before_the_answers() -> None:
    """One card left after a +3: call first, then the others are asked."""
    table = played([["+3", "blue 1"], ["+3 breaker", *B]], "+3")
    assert fields(table, "phase", "actor", "plus_three_by") == ["last_card", 0, 0]
    table.apply("say last card")
    assert fields(table, "phase", "actor", "turn") == ["respond", 1, 0]


def test_silence_after_a_plus_three_draws_before_the_others() -> None:
    """Four for the silent player, then three for the other."""
    table = played([["+3", "blue 1"], ["green 4"]], "+3", "pass", top=TOP)
    assert (hand(table, 0), hand(table, 1)) == ([*TOP[:4], "blue 1"], [*TOP[4:7], "green 4"])


def test_a_plus_three_that_changes_stage_still_awaits_answers() -> None:
    """The effect of the last card on the others stands."""
    table = played([["+3"], ["+3 breaker", *B]], "+3", **STAGES)
    assert fields(table, "stages", "sizes", "phase", "actor") == [[2, 3], [2, 3], "respond", 1]


def test_auto_last_card_lets_an_answerer_keep_one_card_in_peace() -> None:
    """No call: the player of the +3 draws three at once."""
    hands = [PLAYER, B, ["+3 breaker", "yellow 6"]]
    table = played(hands, "+3", "+3 breaker", rules={"auto_last_card": True})
    assert fields(table, "phase", "turn", "sizes") == ["play", 1, [5, 2, 1]]


# Section 8: the last card -------------------------------------------------------------------------


def test_silence_on_a_stop_still_skips() -> None:
    """Four drawn, then seat 1 is skipped."""
    table = played([["red stop", "blue 1"], B, C], "red stop", "pass")
    assert fields(table, "sizes", "turn", "skip_next") == [[5, 2, 2], 2, False]


def test_a_stop_waits_for_the_call() -> None:
    """`skip_next` is set while the call is due."""
    table = played([["red stop", "blue 1"], B, C], "red stop")
    assert fields(table, "phase", "skip_next", "turn") == ["last_card", True, 0]


def test_silence_on_a_stop_with_two_players_moves_again() -> None:
    """The other player is skipped."""
    table = played([["red stop", "blue 1"], B], "red stop", "pass")
    assert fields(table, "sizes", "turn") == [[5, 2], 0]


def test_a_plus_two_is_pending_during_the_call() -> None:
    """It acts at once, and reaches the next player after the call."""
    table = played([["red +2", "blue 1"], B], "red +2")
    assert fields(table, "phase", "pending_draw") == ["last_card", 2]


def test_silence_on_a_plus_two_draws_four_and_leaves_the_stack() -> None:
    """The penalty is not taken from the stack."""
    table = played([["red +2", "blue 1"], B], "red +2", "pass")
    assert fields(table, "sizes", "pending_draw", "turn") == [[5, 2], 2, 1]


def test_a_direction_is_turned_during_the_call() -> None:
    """And the next player is on the other side, silent or not."""
    table = played([["red change direction", "blue 1"], B, C], "red change direction")
    assert fields(table, "phase", "direction") == ["last_card", -1]
    table.apply("pass")
    assert fields(table, "sizes", "turn") == [[5, 2, 2], 2]


def test_the_call_leaves_two_actions() -> None:
    """Say it or stay silent; a playable card does not matter."""
    table = played([["red 5", "red 1"], B], "red 5")
    assert table.legal_names() == ["pass", "say last card"]


def test_drawing_to_one_card_is_not_called() -> None:
    """Only a turn that ended by playing needs the call: an empty hand read back draws one."""
    table = played([[], B], "draw")
    assert fields(table, "sizes", "phase", "turn") == [[1, 2], "play", 1]


def test_a_plus_with_one_card_left_is_not_called_before_its_second_card() -> None:
    """The turn goes on; the second card empties the hand and wins."""
    assert played([["red plus", "red 1"], B], "red plus", "red 1").winner == 0


def test_a_plus_as_the_only_card_does_not_win() -> None:
    """The second card is owed: only draw is legal."""
    table = played([["red plus"], B], "red plus")
    assert (table.winner, table.phase, table.legal_names()) == (None, "plus", ["draw"])


@pytest.mark.parametrize("card", ["red stop", "red +2", "red change direction"])
def test_no_effect_of_the_winning_card_matters(card: str) -> None:
    """The game is over and nobody draws."""
    table = played([[card], B, C], card)
    assert (table.winner, table.legal_names(), sizes(table)) == (0, [], [0, 2, 2])


def test_auto_last_card_leaves_no_call() -> None:
    """Play goes on at once and nobody is punished."""
    table = played([["red 5", "blue 1"], B], "red 5", rules={"auto_last_card": True})
    assert fields(table, "phase", "turn", "sizes") == ["play", 1, [1, 2]]


# Section 8: the draw pile -------------------------------------------------------------------------


def test_a_refill_in_the_middle_of_a_draw_goes_on_drawing() -> None:
    """One card in the pile, three beneath the lead: four are drawn and the lead stays."""
    rules = exactly("blue 1", "green 4", "red +2", "yellow 1", "yellow 3", "yellow 4", "yellow 5")
    under = ["yellow 3", "yellow 4", "yellow 5"]
    table = played(
        [["blue 1"], ["green 4"]],
        "draw",
        **{"lead": "red +2", "under": under, "top": ["yellow 1"], "pending_draw": 4},
        rules=rules,
    )
    assert hand(table, 0) == ["blue 1", "yellow 1", *under]
    assert fields(table, "draw_pile", "discard_pile") == [[], ["red +2"]]


def test_a_pile_is_refilled_only_when_a_card_is_needed() -> None:
    """Drawing the last card of the pile leaves it empty."""
    rules = exactly("blue 1", "green 4", "red 7", "yellow 1", "yellow 3")
    table = played(
        [["blue 1"], ["green 4"]], "draw", rules=rules, top=["yellow 1"], under=["yellow 3"]
    )
    assert fields(table, "draw_pile", "discard_pile") == [[], ["yellow 3", "red 7"]]


def test_without_any_card_to_draw_play_goes_on() -> None:
    """Nothing is drawn and the turn passes."""
    rules = exactly("blue 1", "green 4", "red 7")
    table = played([["blue 1"], ["green 4"]], "draw", rules=rules)
    assert fields(table, "sizes", "turn", "phase") == [[1, 1], 1, "play"]


def test_a_stack_draws_what_there_is() -> None:
    """Two of four cards, and the stack is spent all the same."""
    rules = exactly("blue 1", "green 4", "red +2", "yellow 1", "yellow 3")
    table = played([["blue 1"], ["green 4"]], "draw", lead="red +2", pending_draw=4, rules=rules)
    assert fields(table, "sizes", "pending_draw", "turn") == [[3, 1], 0, 1]


def test_a_plus_three_leaves_nothing_for_the_later_players() -> None:
    """Four cards for two players: three for the next, one for the one after."""
    top = ["yellow 1", "yellow 3", "yellow 4"]
    hands = [["+3", "blue 1", "blue 3"], ["green 4"], ["green 5"]]
    rules = exactly("+3", "blue 1", "blue 3", "green 4", "green 5", "red 7", *top)
    table = played(hands, "+3", rules=rules)
    assert fields(table, "sizes", "discard_pile") == [[2, 4, 2], ["+3"]]
    assert hand(table, 2) == ["red 7", "green 5"]


def test_a_refill_takes_a_second_copy_of_the_leading_card() -> None:
    """Only the leading card itself stays."""
    rules = exactly("blue 1", "green 4", "red 7", "red 7")
    table = played([["blue 1"], ["green 4"]], "draw", under=["red 7"], rules=rules)
    assert fields(table, "hands", "discard_pile") == [
        [["red 7", "blue 1"], ["green 4"]],
        ["red 7"],
    ]


def test_a_refill_takes_change_colors_but_the_leading_one() -> None:
    """Of three played Change Colors two come back."""
    cards = ["blue 1", "green 4", *["change color"] * 3]
    table = game(
        [["blue 1"], ["green 4"]],
        "change color",
        **{"under": ["change color"] * 2, "rules": exactly(*cards), **NO_SYMBOL},
    )
    table.apply("draw")
    assert fields(table, "hands", "draw_pile", "discard_pile") == [
        [["blue 1", "change color"], ["green 4"]],
        ["change color"],
        ["change color"],
    ]


# Section 8: tournament ----------------------------------------------------------------------------


def test_a_tournament_begins_in_stage_eight() -> None:
    """With eight cards for everyone."""
    at = Game(3, Rules(tournament=True), seed=0).to_dict()
    assert (at["stages"], [len(hand) for hand in at["hands"]]) == ([8] * 3, [8] * 3)


def test_a_tournament_begins_in_the_stage_of_the_hand_size() -> None:
    """The option is also the first stage."""
    at = Game(2, Rules(tournament=True, hand_size=3), seed=0).to_dict()
    assert (at["stages"], [len(hand) for hand in at["hands"]]) == ([3] * 2, [3] * 2)


@pytest.mark.parametrize(
    ("card", "field", "value"),
    [
        ("red 5", "turn", 1),
        ("red stop", "turn", 2),
        ("red +2", "pending_draw", 2),
        ("red change direction", "turn", 2),
        ("change color to blue", "color", "blue"),
        ("red taki", "open_taki", True),
        ("super taki", "open_taki", True),
        ("red taki", "phase", "play"),
        ("king", "phase", "play"),
        ("king", "turn", 1),
        ("+3", "sizes", [2, 5, 5]),
    ],
)
def test_the_effect_of_the_last_card_of_a_stage_stands(card: str, field: str, value: Any) -> None:
    """Its player is in stage 2 with two new cards; the turn ends, a King's extra card lapses."""
    name = "change color" if card.startswith("change") else card
    table = played([[name], B, C], card, **STAGES3)
    assert fields(table, "stages", field) == [[2, 3, 3], value]
    assert sizes(table)[0] == 2


def test_the_next_player_may_use_a_taki_that_changed_a_stage() -> None:
    """It stayed open."""
    table = played([["red taki"], ["red 1", *B], C], "red taki", "red 1", **STAGES3)
    assert fields(table, "phase", "can_close") == ["run", True]


def test_the_final_card_of_a_run_that_changes_a_stage_acts() -> None:
    """A hand emptied on a run closes it: the stop skips seat 1."""
    table = played([["red taki", "red stop"], B, C], "red taki", "red stop", **STAGES3)
    assert fields(table, "stages", "sizes", "turn", "open_taki") == [
        *([2, 3, 3], [2, 2, 2]),
        *(2, False),
    ]


def test_a_plus_does_not_change_a_stage() -> None:
    """Its second card is owed: draw, and stay in stage 3."""
    table = played([["red plus"], B, C], "red plus", "draw", **STAGES3)
    assert fields(table, "stages", "sizes") == [[3, 3, 3], [1, 2, 2]]


def test_a_breaker_on_ones_own_turn_does_not_change_a_stage() -> None:
    """Its penalty is drawn first."""
    table = played([["+3 breaker"], B, C], "+3 breaker", **STAGES3)
    assert fields(table, "stages", "sizes") == [[3, 3, 3], [3, 2, 2]]


def test_one_card_drawn_on_a_stage_change_is_not_called() -> None:
    """From stage 2 to stage 1 with one card."""
    table = played([["red 5"], B], "red 5", rules={"tournament": True}, stages=[2, 3])
    assert fields(table, "stages", "sizes", "phase", "turn") == [[1, 3], [1, 2], "play", 1]


def test_emptying_the_hand_in_stage_one_wins_the_tournament() -> None:
    """The winner's stage is then 0."""
    table = played([["red 5"], B], "red 5", rules={"tournament": True}, stages=[1, 3])
    assert fields(table, "stages", "winner", "phase") == [[0, 3], 0, "over"]


def test_the_last_card_of_a_stage_is_called_like_any_other() -> None:
    """Stages do not change the call."""
    assert played([["red 5", "blue 1"], B], "red 5", **STAGES).phase == "last_card"


def test_a_stage_change_draws_after_a_refill() -> None:
    """Pile empty: the two cards beneath the new lead come back."""
    rules = {**exactly("red 5", "green 4", "red 7", "yellow 1"), "tournament": True, "hand_size": 3}
    table = played(
        [["red 5"], ["green 4"]], "red 5", rules=rules, under=["yellow 1"], stages=[3, 3]
    )
    assert fields(table, "hands", "discard_pile") == [
        [["red 7", "yellow 1"], ["green 4"]],
        ["red 5"],
    ]


def test_an_actor_without_cards_can_only_draw() -> None:
    """Such a position can only be read back."""
    assert Game.from_dict(position([[], B])).legal_names() == ["draw"]


def test_an_actor_without_cards_on_a_stack_can_only_draw() -> None:
    """Two cards."""
    table = played([[], B], "draw", lead="red +2", pending_draw=2)
    assert fields(table, "sizes", "turn") == [[2, 2], 1]
