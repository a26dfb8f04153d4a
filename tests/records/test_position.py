"""The position format (RULES.md section 10): both ways, and what is refused."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from taki_env import CARDS, Game, Rules
from tests.helpers import VARIANTS, game, position

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
Position = dict[str, Any]
KEYS = [
    *("rules", "hands", "draw_pile", "discard_pile", "color", "symbol", "direction", "turn"),
    *("actor", "phase", "pending_draw", "open_taki", "can_close", "skip_next"),
    *("plus_three_by", "stages", "winner"),
]


MEANING_AT_THE_END = [
    *("rules", "hands", "draw_pile", "discard_pile", "color", "symbol", "phase"),
    *("stages", "winner"),
]


def meaning(at: Position) -> Position:
    """Return the fields of a position that mean anything: fewer when the game is over."""
    keys = MEANING_AT_THE_END if at["phase"] == "over" else KEYS
    return {key: at[key] for key in keys}


# Both ways ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_state_survives_the_round_trip(num_players: int, variant: str) -> None:
    """What is read from a written position, through JSON, is the same game."""
    choose = random.Random(num_players)
    table = Game(num_players, VARIANTS[variant], seed=num_players)
    for _ in range(350):
        at = table.to_dict()
        back = Game.from_dict(json.loads(json.dumps(at)))
        assert meaning(back.to_dict()) == meaning(at)
        assert (back.legal_actions(), back.rules) == (table.legal_actions(), table.rules)
        if table.is_over:
            break
        table.apply(choose.choice(table.legal_actions()))


def test_a_position_has_the_keys_of_the_format() -> None:
    """All of them and no others, in the order of section 10."""
    assert list(Game(seed=0).to_dict()) == KEYS


def test_hands_and_cards_beneath_the_lead_are_sorted() -> None:
    """By card index, whatever order was read."""
    at = game([["king", "red 1", "blue 3"], B], under=["king", "+3", "green 1"]).to_dict()
    assert at["hands"][0] == ["red 1", "blue 3", "king"]
    assert at["discard_pile"] == ["green 1", "king", "+3", "red 7"]


def test_the_top_of_the_draw_pile_is_drawn_next() -> None:
    """`draw_pile[0]`."""
    table = game([A, B], top=["yellow 9", "red 1"])
    table.apply("draw")
    assert table.to_dict()["hands"][0] == [*A, "yellow 9"]


def test_the_deck_is_written_only_if_it_is_not_the_standard_one() -> None:
    """As a list of 57 counts."""
    assert "deck" not in Game(seed=0).to_dict()["rules"]
    deck = list(VARIANTS["deck"].deck)
    assert Game(2, VARIANTS["deck"], seed=0).to_dict()["rules"]["deck"] == deck


def test_rules_may_leave_out_what_is_default() -> None:
    """An empty mapping is the standard rules."""
    assert Game.from_dict(position([A, B], rules={})).rules == Rules()


def test_stages_are_null_without_a_tournament() -> None:
    """And one a seat with one."""
    assert Game(3, seed=0).to_dict()["stages"] is None
    assert Game(3, Rules(tournament=True), seed=0).to_dict()["stages"] == [8, 8, 8]


def test_reading_leaves_its_input_alone() -> None:
    """Neither reading nor playing changes the mapping."""
    at = position([["red 5", *A], B], draw_pile=None, rules={"tournament": True}, stages=[8, 8])
    before = copy.deepcopy(at)
    Game.from_dict(at).apply("red 5")
    assert at == before


def test_a_written_position_is_not_tied_to_the_game() -> None:
    """Changing it does not change the game."""
    table = game([A, B])
    table.to_dict()["hands"][0].clear()
    assert table.to_dict()["hands"][0] == A


def test_reading_a_finished_game_looks_only_at_what_means_anything() -> None:
    """In phase over only hands, piles, color, symbol, stages and winner count."""
    noise = {"turn": 1, "actor": 1, "pending_draw": 4, "skip_next": True, "plus_three_by": 1}
    table = game([[], B], phase="over", winner=0, **noise)
    assert (table.is_over, table.winner, table.legal_actions()) == (True, 0, [])


# An unknown draw pile -----------------------------------------------------------------------------


def test_an_unknown_draw_pile_is_the_rest_of_the_deck() -> None:
    """All cards that are neither in hands nor played."""
    known = position([A, B])
    unknown = Game.from_dict({**known, "draw_pile": None}).to_dict()
    assert sorted(unknown["draw_pile"]) == sorted(known["draw_pile"])


def test_an_unknown_draw_pile_is_shuffled_by_the_seed() -> None:
    """The same seed the same order, thirty seeds thirty orders."""
    at = position([A, B], draw_pile=None)
    piles = [tuple(Game.from_dict(at, seed).to_dict()["draw_pile"]) for seed in [*range(30), 0]]
    assert piles[0] == piles[30] and len(set(piles)) == 30


def test_an_unknown_draw_pile_may_be_empty() -> None:
    """If everything is in hands and played."""
    at = position([A, B])
    at["discard_pile"] = [*at["draw_pile"], "red 7"]
    assert Game.from_dict({**at, "draw_pile": None}).to_dict()["draw_pile"] == []


# What is refused ----------------------------------------------------------------------------------

PLAIN = position([["red 5", *A], B])
RUN = position([A, B], "red taki", phase="run", open_taki=True)
PLUS = position([A, B], "red plus", phase="plus")
KING = position([A, B], "king", color="red", symbol=None, phase="king")
STACK = position([A, B], "red +2", pending_draw=2)
CALL = position([["blue 1"], B], phase="last_card")
STOP_CALL = position([["blue 1"], B], "red stop", phase="last_card", skip_next=True)
ASKED = position(
    [A, [*B, "+3 breaker"], ["king"]],
    "+3",
    **{"color": "red", "symbol": None, "phase": "respond", "actor": 1, "plus_three_by": 0},
)
TOURNAMENT = position([A, B], rules={"tournament": True}, stages=[3, 8])
OVER = position([[], B], phase="over", winner=0)
SOUND = {
    **{"play": PLAIN, "run": RUN, "plus": PLUS, "king": KING, "stack": STACK, "call": CALL},
    **{"stop call": STOP_CALL, "asked": ASKED, "tournament": TOURNAMENT, "over": OVER},
}


@pytest.mark.parametrize("name", SOUND)
def test_the_positions_that_the_bad_ones_are_made_of_are_sound(name: str) -> None:
    """Each is read and written back."""
    at = Game.from_dict(SOUND[name]).to_dict()
    assert {key: at[key] for key in KEYS[2:]} == {key: SOUND[name][key] for key in KEYS[2:]}


def put(key: str, value: Any) -> Callable[[Position], None]:
    """Return a change that sets a field."""

    def change(at: Position) -> None:
        at[key] = value

    return change


def drop(key: str) -> Callable[[Position], None]:
    """Return a change that takes a key away."""

    def change(at: Position) -> None:
        del at[key]

    return change


def card(place: str, index: int, name: Any) -> Callable[[Position], None]:
    """Return a change that writes another card."""

    def change(at: Position) -> None:
        at[place][index] = name

    return change


def in_hand(seat: int, *cards: str) -> Callable[[Position], None]:
    """Return a change that swaps a hand for other cards of the draw pile."""

    def change(at: Position) -> None:
        at["draw_pile"] += at["hands"][seat]
        at["hands"][seat] = list(cards)
        for name in cards:
            at["draw_pile"].remove(name)

    return change


def both(*changes: Callable[[Position], None]) -> Callable[[Position], None]:
    """Return a change that makes several."""

    def change(at: Position) -> None:
        for one in changes:
            one(at)

    return change


def lose(*cards: str) -> Callable[[Position], None]:
    """Return a change that takes cards out of the draw pile."""

    def change(at: Position) -> None:
        for name in cards:
            at["draw_pile"].remove(name)

    return change


def gain(*cards: str) -> Callable[[Position], None]:
    """Return a change that puts cards under the draw pile."""

    def change(at: Position) -> None:
        at["draw_pile"] += cards

    return change


BAD: list[tuple[Position, Callable[[Position], None], str]] = [
    # keys
    (PLAIN, drop("phase"), "lacks the key 'phase'"),
    (PLAIN, drop("draw_pile"), "lacks the key 'draw_pile'"),
    (PLAIN, put("colour", "red"), "unknown key 'colour' in the position; did you mean 'color'"),
    # rules
    (PLAIN, put("rules", None), "rules must be a mapping"),
    (PLAIN, put("rules", {"full_run": True}), "'full_run'; did you mean 'full_runs'"),
    (PLAIN, put("rules", {"tournament": 1}), "tournament must be True or False"),
    (PLAIN, put("rules", {"hand_size": 0}), "hand_size must be an integer from 1 to 116, got 0"),
    (PLAIN, put("rules", {"deck": [2] * 56}), "deck must be 57 integers"),
    # hands and piles
    (PLAIN, put("hands", [A]), "hands must be 2 to 10 lists"),
    (PLAIN, put("hands", [[]] * 11), "hands must be 2 to 10 lists"),
    (PLAIN, put("hands", "red 5"), "hands must be 2 to 10 lists"),
    (PLAIN, put("hands", ["red 5", "red 7"]), "hand 0 must be a list of card names"),
    (PLAIN, put("draw_pile", "king"), "draw_pile must be a list of card names"),
    (PLAIN, put("discard_pile", None), "discard_pile must be a list of card names"),
    (PLAIN, put("discard_pile", []), "discard_pile is empty"),
    (PLAIN, card("draw_pile", 0, "red l"), "unknown card 'red l' in draw_pile; did you mean 'red"),
    (PLAIN, card("draw_pile", 0, "kign"), "unknown card 'kign' in draw_pile; did you mean 'king'"),
    (PLAIN, card("discard_pile", 0, "rd 7"), "'rd 7' in discard_pile; did you mean 'red 7'"),
    (PLAIN, put("hands", [["bleu 1"], B]), "'bleu 1' in hand 0; did you mean 'blue 1'"),
    (PLAIN, card("draw_pile", 0, 7), "unknown card 7 in draw_pile"),
    (PLAIN, card("draw_pile", 0, "change color to red"), "'change color to red' in draw_pile"),
    (PLAIN, lose("yellow 9"), "1 'yellow 9' missing"),
    (PLAIN, lose("yellow 9", "yellow 9"), "2 'yellow 9' missing"),
    (PLAIN, gain("change color"), "1 'change color' too many"),
    (PLAIN, both(lose("king"), gain("red 5")), "1 'red 5' too many"),
    (PLAIN, both(lose("red 5"), gain("king")), "1 'red 5' missing"),
    (PLAIN, both(lose("red 5"), gain("red 1", "red 1")), "2 'red 1' too many"),
    (PLAIN, both(gain("red 5"), put("rules", {"deck": [2] * 57})), "too many"),
    (PLAIN, both(put("draw_pile", None), put("hands", [["king"] * 3, B])), "1 'king' too many"),
    # the table
    (PLAIN, put("color", "rad"), "color must be one of red, .*got 'rad'; did you mean 'red'"),
    (PLAIN, put("color", None), "color must be one of red, green, blue, yellow, got None"),
    (PLAIN, put("color", "blue"), "color must be 'red': 'red 7' leads"),
    (PLAIN, put("symbol", "+3"), "symbol must be one of .*got '\\+3'"),
    (PLAIN, put("symbol", "8"), "symbol must be '7': 'red 7' leads"),
    (PLAIN, put("symbol", None), "symbol must be '7': 'red 7' leads"),
    (KING, put("symbol", "7"), "symbol must be None: 'king' leads"),
    (PLAIN, put("phase", "playing"), "phase must be one of .*'playing'; did you mean 'play'"),
    (PLAIN, put("phase", 0), "phase must be one of .*got 0"),
    (
        PLAIN,
        both(put("discard_pile", ["red 7", "+3 breaker"]), lose("+3 breaker")),
        "a '\\+3 breaker' never leads",
    ),
    (PLAIN, put("direction", 0), "direction must be 1 or -1"),
    (PLAIN, put("direction", True), "direction must be 1 or -1"),
    (PLAIN, put("direction", "left"), "direction must be 1 or -1"),
    (PLAIN, put("turn", 2), "turn must be an integer from 0 to 1"),
    (PLAIN, put("turn", None), "turn must be an integer from 0 to 1"),
    (PLAIN, put("actor", -1), "actor must be an integer from 0 to 1"),
    (PLAIN, put("actor", 0.0), "actor must be an integer from 0 to 1"),
    (PLAIN, put("actor", 1), "phase 'play': actor must be turn"),
    (RUN, put("actor", 1), "phase 'run': actor must be turn"),
    (PLUS, put("actor", 1), "phase 'plus': actor must be turn"),
    (KING, put("actor", 1), "phase 'king': actor must be turn"),
    (PLAIN, put("open_taki", 1), "open_taki must be true or false"),
    (PLAIN, put("can_close", None), "can_close must be true or false"),
    (PLAIN, put("skip_next", "no"), "skip_next must be true or false"),
    # the stack
    (STACK, put("pending_draw", -2), "pending_draw must be an integer from 0 to"),
    (STACK, put("pending_draw", 2.0), "pending_draw must be an integer from 0 to"),
    (STACK, put("pending_draw", 3), "pending_draw must be even"),
    (PLAIN, put("pending_draw", 2), "a pending draw needs a '\\+2' to lead"),
    (STACK, put("open_taki", True), "a pending draw with an open TAKI"),
    (RUN, put("pending_draw", 2), "phase 'run': pending_draw must be 0"),
    (PLUS, put("pending_draw", 2), "phase 'plus': pending_draw must be 0"),
    (KING, put("pending_draw", 2), "phase 'king': pending_draw must be 0"),
    (ASKED, put("pending_draw", 2), "phase 'respond': pending_draw must be 0"),
    # runs
    (RUN, put("open_taki", False), "phase 'run': open_taki must be true"),
    (PLUS, put("open_taki", True), "phase 'plus': open_taki must be false"),
    (KING, put("open_taki", True), "phase 'king': open_taki must be false"),
    (ASKED, put("open_taki", True), "phase 'respond': open_taki must be false"),
    (PLAIN, put("can_close", True), "phase 'play': can_close must be false"),
    (RUN, in_hand(0), "phase 'run': seat 0 has no cards"),
    # calls and skips
    (CALL, in_hand(0, "blue 1", "blue 3"), "seat 0 must have exactly one card"),
    (CALL, in_hand(0), "seat 0 must have exactly one card"),
    (CALL, put("rules", {"auto_last_card": True}), "auto_last_card leaves nothing to call"),
    (PLAIN, put("skip_next", True), "phase 'play': skip_next must be false"),
    (CALL, put("skip_next", True), "phase 'last_card': skip_next must be false"),
    (PLUS, put("skip_next", True), "phase 'plus': skip_next must be false"),
    # plus and king
    (PLAIN, put("phase", "plus"), "phase 'plus': a plus must lead"),
    (PLAIN, put("phase", "king"), "phase 'king': a king must lead"),
    (KING, in_hand(0), "phase 'king': seat 0 has no cards"),
    # the +3
    (ASKED, put("plus_three_by", None), "phase 'respond': plus_three_by must be the seat"),
    (ASKED, put("plus_three_by", 3), "plus_three_by must be an integer from 0 to 2"),
    (ASKED, put("plus_three_by", 2), "plus_three_by must be turn, or null"),
    (ASKED, put("actor", 0), "actor must be another seat than turn"),
    (ASKED, put("actor", 2), "seat 2 holds no card to answer a \\+3 with"),
    (ASKED, in_hand(1, "red 1"), "seat 1 holds no card to answer a \\+3 with"),
    (PLAIN, put("plus_three_by", 0), "phase 'play': plus_three_by must be null"),
    (KING, put("plus_three_by", 0), "phase 'king': plus_three_by must be null"),
    (CALL, put("plus_three_by", 0), "plus_three_by needs a '\\+3' to lead"),
    (CALL, both(put("turn", 1)), "an answer needs a '\\+3' to lead"),
    (
        ASKED,
        both(put("phase", "last_card"), in_hand(1, "+3 breaker")),
        "phase 'last_card': the \\+3 was answered",
    ),
    # tournaments and the end
    (TOURNAMENT, put("stages", None), "stages must be a list of 2 integers"),
    (TOURNAMENT, put("stages", [3]), "stages must be a list of 2 integers"),
    (TOURNAMENT, put("stages", [3, 9]), "the stage of seat 1 must be an integer from 1 to 8"),
    (TOURNAMENT, put("stages", [0, 3]), "the stage of seat 0 must be an integer from 1 to 8"),
    (TOURNAMENT, put("stages", [3, True]), "the stage of seat 1 must be an integer from 1 to 8"),
    (PLAIN, put("stages", [8, 8]), "stages must be null"),
    (PLAIN, put("winner", 0), "winner must be null before phase 'over'"),
    (OVER, put("winner", None), "winner must be an integer from 0 to 1"),
    (OVER, put("winner", 2), "winner must be an integer from 0 to 1"),
    (OVER, put("winner", 1), "seat 1 cannot have won with cards in hand"),
    (OVER, both(put("rules", {"tournament": True})), "stages must be a list of"),
    (OVER, both(put("rules", {"tournament": True}), put("stages", [1, 2])), "the stage of seat 0"),
]


@pytest.mark.parametrize(
    ("sound", "change", "words"), BAD, ids=[f"{i}-{words}" for i, (_, _, words) in enumerate(BAD)]
)
def test_a_bad_position_is_refused_in_words(
    sound: Position, change: Callable[[Position], None], words: str
) -> None:
    """One fault makes a ValueError that names it, and the input stays as it was."""
    at = copy.deepcopy(sound)
    change(at)
    before = copy.deepcopy(at)
    with pytest.raises(ValueError, match=words):
        Game.from_dict(at)
    assert at == before


@pytest.mark.parametrize("at", [None, [], "position", 3])
def test_what_is_no_mapping_is_refused(at: Any) -> None:
    """A position is a mapping."""
    with pytest.raises(ValueError, match="a position must be a mapping"):
        Game.from_dict(at)


def test_the_first_wrong_card_is_named_by_card_index() -> None:
    """Every later card may be wrong as well."""
    at = copy.deepcopy(PLAIN)
    lose(*CARDS[14:30])(at)
    with pytest.raises(ValueError, match="1 'green 3' missing"):
        Game.from_dict(at)


def test_a_large_stack_does_not_wrap_around() -> None:
    """Whatever pending draw may be read, a +2 adds two to it."""
    at = position([["red +2", *A], B], "red +2", pending_draw=2)
    for pending in (16, 254, 256, 65534):
        at["pending_draw"] = pending
        try:
            table = Game.from_dict(at)
        except ValueError:
            continue
        table.apply("red +2")
        assert table.to_dict()["pending_draw"] == pending + 2


@pytest.mark.parametrize(
    ("lead", "changes", "words"),
    [
        ("red plus", {}, "owes a second card"),
        ("red stop", {}, "skip_next must be true"),
        ("red +2", {}, "leaves a pending draw"),
        ("+3", {"color": "red", "symbol": None}, "plus_three_by must be"),
    ],
)
def test_a_call_before_which_the_last_card_has_not_acted_is_refused(
    lead: str, changes: dict[str, Any], words: str
) -> None:
    """The card that ended the turn acts before the call is due (section 5)."""
    hands = [["blue 1"], ["green 4", "green 5"]]
    with pytest.raises(ValueError, match=words):
        Game.from_dict(position(hands, lead, phase="last_card", **changes))


def test_a_stop_on_a_taki_left_open_has_not_acted() -> None:
    """A player may leave the TAKI open and have one card left."""
    hands = [["blue 1"], ["green 4", "green 5"]]
    at = position(hands, "red stop", phase="last_card", open_taki=True, under=["red taki"])
    assert Game.from_dict(at).legal_names() == ["pass", "say last card"]
