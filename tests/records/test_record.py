"""Records: full ones restore games, invalid ones are refused, a seat's shows what it saw."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taki_env
from taki_env import CARDS, ENV_ID, Batch, Game, RecordError, Rules
from taki_env.core.seen import seen_position
from taki_env.envs.learners import LearnerGames
from taki_env.records.position import KEYS, read_position
from taki_env.records.read import positions_of
from taki_env.records.write import COMMON_KEYS, FULL_KEYS, PLAY_KEYS, STEP_KEYS
from tests.helpers import VARIANTS, Shuffler, game, position

Record = dict[str, Any]
SETTINGS = [
    *((2, "standard"), (3, "tournament"), (4, "voluntary_draw"), (5, "full_runs")),
    *((6, "auto_last_card"), (7, "hand_size"), (8, "deck"), (9, "all"), (10, "standard")),
]
A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
C = ["yellow 6", "yellow 8"]


def played(num_players: int, rules: Rules, seed: int, most: int = 120) -> list[Game]:
    """Return a game of random actions before the first and after each."""
    choose, games = random.Random(seed), [Game(num_players, rules, seed)]
    while not games[-1].is_over and len(games) <= most:
        after = games[-1].clone()
        after.apply(choose.choice(after.legal_actions()))
        games.append(after)
    return games


def through_json(record: Record) -> Record:
    """Return what a file gives back."""
    back: Record = json.loads(json.dumps(record))
    return back


# There and back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_players", "variant"), SETTINGS)
def test_a_game_comes_back_from_its_record(num_players: int, variant: str) -> None:
    """Every position, the history, and the order of all cards that are still to be drawn."""
    games = played(num_players, VARIANTS[variant], seed=num_players)
    record = through_json(games[-1].record(names=[f"player {k}" for k in range(num_players)]))
    back = Game.replay(record)
    assert [one.to_dict() for one in back] == [one.to_dict() for one in games]
    assert back[-1].record(names=record["names"]) == record
    assert np.array_equal(back[-1].state["rng"], games[-1].state["rng"])


def test_a_record_holds_what_was_played() -> None:
    """Versions, rules, seed, players, the first position, and the result of a win in one card."""
    table = game([["red 1"], A], direction=-1)
    at = table.to_dict()
    table.apply("red 1")
    record = table.record(names=["one", "two"], values=[0.5], note="short")
    assert (record["env"], record["version"]) == (ENV_ID, taki_env.__version__)
    assert record["rules"] == Rules().to_dict()
    assert (record["num_players"], record["names"], record["note"]) == (2, ["one", "two"], "short")
    assert (record["seed"], record["deal"], record["episode"]) == (None, None, None)
    assert record["first"] == at
    assert record["steps"] == [{"actor": 0, "action": "red 1", "value": 0.5}]
    assert record["result"] == {"winner": 0, "rewards": [1.0, -1.0], "truncated": False}


def test_a_game_that_is_not_over_is_truncated() -> None:
    """Nobody has won and rewards are 0."""
    result = Game(3, seed=0).record()["result"]
    assert result == {"winner": None, "rewards": [0.0] * 3, "truncated": True}


def test_the_tables_of_keys_are_those_of_records() -> None:
    """What the documentation lists is there, in that order, and nothing else."""
    table = played(4, Rules(), seed=1)[-1]
    full, one = table.record(values=[0.1] * table.decisions), table.record(seat=1)
    assert sorted(full) == sorted({**COMMON_KEYS, **FULL_KEYS, **PLAY_KEYS})
    assert sorted(one) == sorted({**COMMON_KEYS, **PLAY_KEYS})
    keys = {key for record in (full, one) for step in record["steps"] for key in step}
    assert keys == set(STEP_KEYS)


# Games that share a history -----------------------------------------------------------------------


def test_the_games_of_a_replay_share_their_actions() -> None:
    """One buffer for all of them; a replay needs no more memory for later games."""
    games = Game.replay(through_json(played(3, Rules(), seed=2, most=30)[-1].record()))
    assert len({id(one._actions) for one in games}) == 1
    assert [len(one.record()["steps"]) for one in games] == list(range(len(games)))
    assert games[9].clone()._actions is games[9]._actions


def test_playing_on_from_a_game_in_the_middle_leaves_the_others_unchanged() -> None:
    """Also from a clone, and from the last game, whose actions are the whole buffer."""
    games = Game.replay(through_json(played(3, Rules(), seed=2, most=30)[-1].record()))
    last, clones = games[-1], [games[-1].clone()]
    records = [one.record() for one in games]
    k = next(k for k in range(5, 30) if len(games[k].legal_actions()) > 1)
    other = next(a for a in games[k].legal_names() if a != records[-1]["steps"][k]["action"])
    clones.append(games[k].clone())
    games[k].apply(other)
    last.apply(last.legal_actions()[0])
    changed = {k: other, len(games) - 1: last.record()["steps"][-1]["action"]}
    for number, (one, record) in enumerate(zip(games, records, strict=True)):
        steps = one.record()["steps"]
        assert steps[: len(record["steps"])] == record["steps"]
        added = [step["action"] for step in steps[len(record["steps"]) :]]
        assert added == ([changed[number]] if number in changed else [])
    assert [one.record() for one in clones] == [records[-1], records[k]]
    clones[0].apply(clones[0].legal_actions()[-1])
    assert clones[0].record()["steps"][:-1] == records[-1]["steps"]
    assert Game.replay(last.record())[-1].to_dict() == last.to_dict()


# Where a history starts ---------------------------------------------------------------------------


def test_a_clone_continues_the_history_of_its_original() -> None:
    """Neither changes the other's."""
    table = Game(2, seed=3)
    table.apply(table.legal_actions()[0])
    other = table.clone()
    other.apply(other.legal_actions()[0])
    assert len(table.record()["steps"]) == 1
    assert len(other.record()["steps"]) == 2
    assert other.record()["seed"] == 3


def test_a_re_deal_starts_a_new_history() -> None:
    """Its record holds nothing of the real cards."""
    table = played(3, Rules(), seed=0, most=20)[-1]
    record = table.determinize(0, seed=5).record()
    assert (record["steps"], record["seed"]) == ([], None)
    assert record["first"] == table.determinize(0, seed=5).to_dict()


def test_a_position_draws_the_same_cards_again() -> None:
    """Its refill comes from the word of the record: an empty pile, and all others are hidden."""
    at = position([["blue 1"], ["green 4"]])
    at["discard_pile"], at["draw_pile"] = [*at["draw_pile"], "red 7"], []
    table = Game.from_dict(at, seed=11)
    table.apply("draw")
    record = through_json(table.record())
    assert Game.replay(record)[-1].to_dict() == table.to_dict()
    assert record["steps"][0]["draws"] == [[0, [record_of_refill(record, at)[0]]]]


def record_of_refill(record: Record, at: Record) -> list[str]:
    """Return the draw pile that the documented shuffle makes of the discard pile."""
    beneath = sorted(at["discard_pile"][:-1], key=CARDS.index)
    return Shuffler(int(record["word"], 16))(beneath)


def test_games_of_a_batch_know_their_history_if_actions_are_kept() -> None:
    """It starts with the deal, also after a reset; without kept actions it is empty."""
    kept, plain = (Batch(5, 3, seed=4, deals=[7, 8, 9, 10, 11]) for _ in range(2))
    kept.keep_actions(300)
    rng = np.random.default_rng(0)
    for turn in range(90):
        if turn == 30:
            kept.reset([2])
            plain.reset([2])
        actions = (rng.random((5, 64)) * kept.action_masks()).argmax(1)
        kept.step(actions)
        plain.step(actions)
    for index in range(5):
        record = through_json(kept.game(index).record())
        assert Game.replay(record)[-1].to_dict() == plain.game(index).to_dict()
        assert (record["seed"], record["deal"]) == (4, 7 + index)
        assert record["episode"] == int(index == 2)
        assert len(record["steps"]) == plain.decisions[index]
        assert plain.game(index).record()["steps"] == []


def test_a_record_starts_at_the_current_state_if_earlier_actions_were_not_kept() -> None:
    """A record is never partial."""
    batch = Batch(1, 2, seed=0)
    batch.keep_actions(3)
    for _ in range(4):
        batch.step(batch.action_masks().argmax(1))
    assert batch.game(0).record()["steps"] == []
    with pytest.raises(ValueError, match="before the first action"):
        batch.keep_actions(3)


def test_compiled_opponents_keep_their_actions_as_well() -> None:
    """Games against `greedy`, played by the first legal action, come back whole."""
    table = LearnerGames(6, 3, opponents="greedy", seed=1, max_decisions=200, keep_actions=True)
    plain = LearnerGames(6, 3, opponents="greedy", seed=1, max_decisions=200)
    for games in (table, plain):
        while (live := np.flatnonzero(~games.ended)).size:
            actions = [int(word) & -int(word) for word in games.legal[live]]
            games.step([word.bit_length() - 1 for word in actions], live)
    for index in range(6):
        back = Game.replay(through_json(table.game(index).record()))
        assert len(back) == table.batch.decisions[index] + 1
        assert back[-1].to_dict() == plain.game(index).to_dict()


# Who drew what ------------------------------------------------------------------------------------


def draws_of(table: Game) -> Any:
    """Return the draws of the last step."""
    return table.record()["steps"][-1].get("draws", [])


def test_a_drawn_card_is_the_top_of_the_pile() -> None:
    """Seat 0 can play nothing."""
    table = game([["blue 1"], A], top=["green 9", "green 8"])
    table.apply("draw")
    assert draws_of(table) == [[0, ["green 9"]]]


def test_an_unanswered_plus_three_is_drawn_in_the_direction_of_play() -> None:
    """To the right: seat 2 before seat 1."""
    top = [f"green {symbol}" for symbol in (1, 3, 6, 7, 8, 9)]
    table = game([["+3", *A], B, C], direction=-1, top=top)
    table.apply("+3")
    assert draws_of(table) == [[2, top[:3]], [1, top[3:]]]


def test_cards_that_two_seats_draw_alike_are_told_apart() -> None:
    """Both draw the same three types, in orders of their own."""
    top = ["green 1", "green 3", "green 6", "green 6", "green 1", "green 3"]
    table = game([["+3", *A], B, C], top=top)
    table.apply("+3")
    assert draws_of(table) == [[1, top[:3]], [2, top[3:]]]


def test_the_penalty_of_silence_is_drawn_before_the_plus_three() -> None:
    """Four cards for seat 0, then three for each other; the first seven could be theirs as well."""
    top = [f"green {symbol}" for symbol in (1, 3, 6, 7, 1, 3, 6)] + ["red 1", "red 3", "red 4"]
    table = game([["+3", "blue 1"], B, C], top=top)
    table.apply("+3")
    table.apply("pass")
    assert draws_of(table) == [[0, top[:4]], [1, top[4:7]], [2, top[7:]]]


def test_a_stage_is_drawn_before_the_plus_three_is_paid() -> None:
    """Seat 1 answers with its last card: it draws a stage of one card, seat 0 draws three."""
    top = ["green 1", "red 1", "red 3", "red 4"]
    rules = {"tournament": True}
    table = game(
        [["+3", *A], ["+3 breaker"], C], rules=rules, stages=[8, 2, 8], top=top, lead="red 7"
    )
    table.apply("+3")
    table.apply("+3 breaker")
    assert draws_of(table) == [[1, top[:1]], [0, top[1:]]]


def test_cards_after_a_refill_are_those_of_the_documented_shuffle() -> None:
    """Two cards are left for three seats; what was played beneath the lead is shuffled in."""
    at = position([["+3", *A], B, C], top=["green 1", "green 3"])
    pile = at["draw_pile"]
    at["draw_pile"], at["discard_pile"] = pile[:2], [*pile[2:], "red 7"]
    table = Game.from_dict(at, seed=2)
    table.apply("+3")
    record = table.record()
    beneath = sorted([*pile[2:], "red 7"], key=CARDS.index)
    new = Shuffler(int(record["word"], 16))(beneath)
    assert draws_of(table) == [[1, [*pile[:2], new[0]]], [2, new[1:4]]]


def test_nothing_left_to_draw_is_no_draw() -> None:
    """All cards are in hands; seat 0 has nothing to play and finds no card."""
    at = position([["blue 1"], A])
    at["hands"][1], at["draw_pile"] = [*A, *at["draw_pile"]], []
    table = Game.from_dict(at)
    table.apply("draw")
    assert table.record()["steps"] == [{"actor": 0, "action": "draw"}]


# What is refused ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound() -> Record:
    """Return a whole game of three players."""
    table = played(3, Rules(), seed=2, most=2000)[-1]
    assert table.is_over
    return through_json(table.record(names=["a", "b", "c"]))


def first_draw(record: Record) -> tuple[int, Record]:
    """Return the number and the step of the first draw."""
    steps = enumerate(record["steps"], 1)
    return next((number, step) for number, step in steps if "draws" in step)


def changed_draw(record: Record) -> str:
    """Put another card first."""
    number, step = first_draw(record)
    cards = step["draws"][0][1]
    cards[0] = "red 1" if cards[0] != "red 1" else "red 3"
    return rf"step {number}: the draws are .*, not .*"


def missing_draw(record: Record) -> str:
    """Leave a draw out."""
    number, step = first_draw(record)
    del step["draws"]
    return rf"step {number}: the draws are .*, not \[\]"


def other_action(record: Record) -> str:
    """Say that a player called a last card in the first turn."""
    record["steps"][0]["action"] = "say last card"
    return "step 1: 'say last card' .63. is not legal for seat 0"


def other_actor(record: Record) -> str:
    """Give the first step to seat 1."""
    record["steps"][0]["actor"] = 1
    return "step 1: the actor is seat 0, not 1"


def other_winner(record: Record) -> str:
    """Let the next seat win."""
    winner = record["result"]["winner"]
    record["result"]["winner"] = (winner + 1) % 3
    return f"result: winner is {winner}, not {(winner + 1) % 3}"


def cut_off(record: Record) -> str:
    """Drop the last step: the result is not that of the rest."""
    record["steps"].pop()
    return "result: winner is None"


def gone_on(record: Record) -> str:
    """Add a step after the end."""
    record["steps"].append({"actor": record["result"]["winner"], "action": "draw"})
    return f"step {len(record['steps'])}: .*the game is over"


def other_word(record: Record) -> str:
    """Change the random word of a game that a seed dealt."""
    record["word"] = "0123456789abcdef"
    return "first and word differ from what seed 2 deals"


def other_seed(record: Record) -> str:
    """Name another seed."""
    record["seed"] = 3
    return "first and word differ from what seed 3 deals"


def set_to(value: Any, *path: Any) -> Callable[[Record], str]:
    """Return what puts a value to a place in a record."""

    def change(record: Record) -> str:
        part: Any = record
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        return ""

    change.__name__ = f"{'.'.join(map(str, path))}={value}"
    return change


def without(*path: Any) -> Callable[[Record], str]:
    """Return what takes a key from a record."""

    def change(record: Record) -> str:
        part: Any = record
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]
        return "lacks the key"

    change.__name__ = f"without {'.'.join(map(str, path))}"
    return change


CHANGES = [
    *(changed_draw, missing_draw, other_action, other_actor, other_winner, cut_off, gone_on),
    *(other_word, other_seed, without("word"), without("steps", 0, "actor"), without("result")),
    *(set_to(2, "format"), set_to("Taki-v1", "env"), set_to(1, "version"), set_to(2, "seat")),
    *(set_to(4, "num_players"), set_to(True, "num_players"), set_to("abc", "names")),
    *(set_to(["a", "b"], "names"), set_to({"tournament": True}, "rules"), set_to(-1, "seed")),
    *(set_to(2**64, "deal"), set_to(None, "episode"), set_to("0" * 16, "word"), set_to(3, "note")),
    *(set_to("extra", "extra"), set_to({}, "steps"), set_to(None, "steps", 0), set_to([], "first")),
    *(set_to(2, "steps", 0, "action"), set_to(float("nan"), "steps", 0, "value")),
    *(set_to({}, "steps", 0, "changes"), set_to(0, "result", "truncated")),
    *(set_to(None, "first", "draw_pile"), set_to(1, "first", "actor"), set_to([], "result")),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_false_record_is_refused(sound: Record, change: Callable[[Record], str]) -> None:
    """The error names the place and the fault."""
    record = copy.deepcopy(sound)
    with pytest.raises(RecordError, match=change(record) or "."):
        Game.replay(record)


@pytest.mark.parametrize("record", [None, 3, [], "record", {}])
def test_what_is_not_a_record_is_refused(record: Any) -> None:
    """Anything that JSON can hold."""
    with pytest.raises(RecordError):
        Game.replay(record)


@pytest.mark.parametrize(
    "arguments",
    [
        *({"seat": 3}, {"seat": True}, {"names": ["a"]}, {"names": [1, 2, 3]}),
        *({"values": [0.5]}, {"note": 3}),
    ],
)
def test_arguments_that_fit_no_game_are_refused(arguments: Any) -> None:
    """Before anything is written."""
    with pytest.raises(ValueError):
        Game(3, seed=0).record(**arguments)


def paths(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all places in a record."""
    items = part.items() if isinstance(part, dict) else enumerate(part)
    found = []
    for key, value in items:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += paths(value, (*path, key))
    return found


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.sampled_from([2**63, -(2**70), 1e308, "", "red 5", "draw", "pass", "play", "over", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=3,
)


@pytest.mark.parametrize("seat", [None, 1])
@settings(
    max_examples=120, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_any_value_in_a_record_is_accepted_or_refused(
    short: dict[Any, Record], seat: int | None, data: st.DataObject
) -> None:
    """No other error occurs, and a full record that is accepted agrees with its games."""
    record = copy.deepcopy(short[seat])
    *way, last = data.draw(st.sampled_from(paths(record)))
    part: Any = record
    for key in way:
        part = part[key]
    part[last] = data.draw(JUNK)
    try:
        positions = positions_of(record)
    except RecordError:
        return
    assert len(positions) == len(record["steps"]) + 1
    if record["seat"] is None:
        steps = [{"value": None, **step} for step in Game.replay(record)[-1].record()["steps"]]
        assert steps == [{**step, "value": None} for step in record["steps"]]


@pytest.fixture(scope="module")
def short() -> dict[Any, Record]:
    """Return the beginning of a game, in full and as seat 1 saw it."""
    table = played(3, Rules(), seed=5, most=12)[-1]
    return {seat: through_json(table.record(seat)) for seat in (None, 1)}


# What one seat saw --------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_players", "variant"), SETTINGS)
def test_a_seats_record_gives_back_what_it_saw(num_players: int, variant: str) -> None:
    """Its positions are the game's, in order, with hidden cards left out; the last is the end."""
    games = played(num_players, VARIANTS[variant], seed=20 + num_players, most=80)
    for seat in (0, num_players - 1):
        found = positions_of(through_json(games[-1].record(seat)))
        saw = [seen_position(one.to_dict(), seat) for one in games]
        rest = iter(saw)
        assert all(position in rest for position in found)
        assert (found[0], found[-1]) == (saw[0], saw[-1])


def test_a_seats_record_cannot_be_replayed() -> None:
    """It lacks the hidden cards."""
    with pytest.raises(RecordError, match="what seat 1 saw; only a full record"):
        Game.replay(Game(2, seed=0).record(seat=1))


def test_a_seats_record_shows_its_own_cards_alone() -> None:
    """Own hand and draws, the number of the others' cards, and nothing that restores the deal."""
    table = game([["blue 1"], A], top=["green 9", "green 8"])
    table.apply("draw")
    record = table.record(seat=0, values=[0.25])
    assert not {"seed", "deal", "episode", "word", "note"} & set(record)
    assert record["first"]["hands"] == [["blue 1"], [None, None]]
    assert set(record["first"]["draw_pile"]) == {None}
    assert record["steps"][0]["draws"] == [[0, ["green 9"]]]
    assert record["steps"][0]["value"] == 0.25
    other = table.record(seat=1, values=[0.25])
    assert other["steps"][0]["draws"] == [[0, [None]]]
    assert "value" not in other["steps"][0]


TOP = ["red 4", "red 5", "red 6", "red 8", "red 9", "blue 8", "green 8", "green 9", "blue 9"]


def plus_three(holders: dict[int, str], seats: int = 4) -> Game:
    """Return a game in which seat 0 plays a +3 that all holders of an answer let stand."""
    hands = [["+3", *A], ["blue 4", *B], ["blue 5", *C], ["red 1", "red 3"]][:seats]
    for seat, card in holders.items():
        hands[seat][0] = card
    table = game(hands, top=TOP)
    table.apply("+3")
    while table.phase == "respond":
        table.apply("pass")
    return table


@pytest.mark.parametrize("holders", [{1: "+3 breaker"}, {1: "king"}, {1: "king", 2: "+3 breaker"}])
def test_nobody_else_reads_that_a_seat_let_a_plus_three_stand(holders: dict[int, str]) -> None:
    """The records of seats 0 and 3 are those of a game in which nobody was asked."""
    asked, unasked = plus_three(holders), plus_three({})
    for seat in (0, 3):
        assert asked.record(seat) == unasked.record(seat)
    assert len(asked.record()["steps"]) == 1 + len(holders)
    steps = asked.record(1)["steps"]
    assert [step["action"] for step in steps] == ["+3", "pass"]


def test_a_record_that_starts_with_a_hidden_pass_starts_after_it() -> None:
    """Read in phase `respond`: in seat 0's record the +3 has been drawn from the start."""
    table = game([["+3", *A], ["+3 breaker", *B], C], top=TOP)
    table.apply("+3")
    table = Game.from_dict(table.to_dict())
    table.apply("pass")
    record = table.record(seat=0)
    assert record["steps"] == []
    assert record["first"] == seen_position(table.to_dict(), 0)


def test_an_unfinished_record_does_not_tell_who_is_asked() -> None:
    """Seat 1 or seat 2 holds the Breaker."""
    hands = [["+3", *A], ["blue 8", *B], ["blue 9", *C], ["red 1"]]
    records = []
    for holder in (1, 2):
        dealt = copy.deepcopy(hands)
        dealt[holder][0] = "+3 breaker"
        table = game(dealt)
        table.apply("+3")
        assert table.actor == holder
        records.append(table.record(seat=3))
    one, other = records
    assert one["steps"][-1]["changes"]["actor"] is None
    assert one == other


@pytest.mark.parametrize(("num_players", "variant"), [(2, "standard"), (3, "deck"), (4, "all")])
def test_hidden_cards_leave_no_trace_in_a_seats_record(num_players: int, variant: str) -> None:
    """Two hidden cards change places, and seat 0 sees the same game."""
    choose, compared = random.Random(3), 0
    for seed in range(3):
        table = played(num_players, VARIANTS[variant], seed, most=20)[-1]
        record = table.record(0)
        for _ in range(15):
            other = twin(table, choose)
            if other is not None and own_hands(other) == own_hands(table):
                assert other.record(0) == record
                compared += other.record()["first"] != table.record()["first"]
    assert compared > 8


def own_hands(table: Game) -> list[list[str]]:
    """Return the hand of seat 0 in everything that it saw."""
    return [at["hands"][0] for at in positions_of(table.record(0))]


def twin(table: Game, choose: random.Random) -> Game | None:
    """Return the game with two hidden cards exchanged, or None if it cannot look like this one."""
    at = table.record()["first"]
    places = [(hand, k) for hand in at["hands"][1:] for k in range(len(hand))]
    places += [(at["draw_pile"], k) for k in range(len(at["draw_pile"]))]
    (one, j), (other, k) = choose.sample(places, 2)
    one[j], other[k] = other[k], one[j]
    found = Game._of(*read_position(at, table.history.starts["rng"][0]))
    for step in table.record(0)["steps"]:
        let_stand(found, step)
        if (found.actor, step["action"] in found.legal_names()) != (step["actor"], True):
            return None
        found.apply(step["action"])
    if table.phase != "respond":
        let_stand(found)
    return found if found.phase == table.phase else None


def let_stand(table: Game, step: Record | None = None) -> None:
    """Let the others pass who are asked to answer a +3 and do not do so in a step."""
    while table.phase == "respond" and table.actor != 0:
        if step and step["actor"] == table.actor and step["action"] in table.legal_names():
            return
        table.apply("pass")
