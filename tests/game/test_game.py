"""One game: its public API, observations, seeds, copies."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from taki_env import (
    ACTIONS,
    CARDS,
    COLORS,
    LAYOUT,
    OBSERVATION_SIZE,
    PHASES,
    SYMBOLS,
    Game,
    IllegalActionError,
    Rules,
)
from tests.helpers import VARIANTS, game

QUIET = ["blue 1", "blue 3", "blue 4"]
OTHER = ["green 1", "green 3", "green 4"]
WON = {"winner": 0, "phase": "over"}
PLAYERS = [2, 3, 4, 7, 10]


def random_states(table: Game, choose: random.Random, limit: int = 1500) -> Iterator[Game]:
    """Yield the game in each of its states, moving on at random in between."""
    for _ in range(limit):
        yield table
        if table.is_over:
            return
        table.apply(choose.choice(table.legal_actions()))


def trace(table: Game, choose: random.Random, limit: int = 300) -> list[Any]:
    """Return the positions of a game that is played on at random."""
    return [state.to_dict() for state in random_states(table, choose, limit)]


# Names and actions --------------------------------------------------------------------------------


def test_there_are_57_cards_and_64_actions() -> None:
    """The vocabulary has the size of RULES.md sections 1 and 2."""
    assert (len(CARDS), len(ACTIONS)) == (57, 64)


@pytest.mark.parametrize(
    ("index", "name"),
    [
        (0, "red 1"),
        (1, "red 3"),
        (12, "red taki"),
        (13, "green 1"),
        (34, "blue stop"),
        (51, "yellow taki"),
        (52, "super taki"),
        (53, "king"),
        (54, "+3"),
        (55, "+3 breaker"),
        (56, "change color to red"),
        (59, "change color to yellow"),
        (60, "draw"),
        (61, "close taki"),
        (62, "pass"),
        (63, "say last card"),
    ],
)
def test_action_has_its_index(index: int, name: str) -> None:
    """Action indices are those of RULES.md section 2."""
    assert ACTIONS[index] == name


def test_every_player_starts_with_eight_cards() -> None:
    """Eight cards each, and seat 0 is first to act."""
    table = Game(4, seed=0)
    assert ([len(hand) for hand in table.to_dict()["hands"]], table.actor) == ([8] * 4, 0)


def test_legal_actions_ascend_and_match_their_names() -> None:
    """Ids ascend, and the names are the same actions in the same order."""
    table = game([["king", "red 1", "change color"], OTHER])
    assert table.legal_names() == [
        *("red 1", "king"),
        *(f"change color to {color}" for color in COLORS),
    ]


def test_mask_holds_exactly_the_legal_actions() -> None:
    """The mask is int8 (64,), one for each legal id and zero elsewhere."""
    table = game([["king", "red 1", "change color"], OTHER])
    mask = table.action_mask()
    assert (mask.shape, mask.dtype) == ((64,), np.int8)
    assert np.flatnonzero(mask).tolist() == table.legal_actions() == [0, 53, 56, 57, 58, 59]


def test_two_copies_are_one_action() -> None:
    """Playing one of two equal cards leaves the other."""
    table = game([["red 5", "red 5", *QUIET], OTHER])
    table.apply("red 5")
    assert table.to_dict()["hands"][0] == sorted(["red 5", *QUIET], key=CARDS.index)


@pytest.mark.parametrize("form", [int, np.int64, np.uint8, lambda a: np.array(a), ACTIONS.index])
def test_an_action_is_an_id_of_any_whole_kind_or_a_name(form: Any) -> None:
    """Python and NumPy integers, and names, mean the same action."""
    given = form("red 5") if form == ACTIONS.index else form(3)
    table = game([["red 5", *QUIET], OTHER])
    table.apply(given)
    assert table.to_dict()["discard_pile"][-1] == "red 5"


def test_decisions_are_counted() -> None:
    """Every action counts, also one that does not end a turn."""
    table = game([["red plus", "red 5", *QUIET], OTHER])
    table.apply("red plus")
    table.apply("red 5")
    assert table.decisions == 2


def test_a_finished_game_has_a_winner_and_no_legal_action() -> None:
    """After the last card there is a winner, an empty legal set, an empty mask."""
    table = game([["red 5"], OTHER])
    table.apply("red 5")
    assert (table.is_over, table.winner, table.phase) == (True, 0, "over")
    assert table.legal_actions() == [] and not table.action_mask().any()


# Rewards ------------------------------------------------------------------------------------------


def test_rewards_are_zero_before_the_end() -> None:
    """Rewards are 0 before the end."""
    assert Game(3, seed=0).rewards().tolist() == [0, 0, 0]


@pytest.mark.parametrize("num_players", range(2, 11))
def test_the_winner_gets_one_and_the_others_share_the_loss(num_players: int) -> None:
    """+1 for the winner, -1/(n-1) for each other seat, and the sum is 0."""
    table = game([["red 5"], *([card] for card in CARDS[13 : 12 + num_players])])
    table.apply("red 5")
    rewards = table.rewards()
    assert rewards[0] == 1 and np.allclose(rewards[1:], -1 / (num_players - 1))
    assert abs(rewards.sum()) < 1e-12


# Illegal actions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (4, "'red 6'"),
        ("red 6", "'red 6'"),
        ("close taki", "'close taki'"),
        (-1, "-1"),
        (64, "64"),
        (2**70, str(2**70)),
        (None, "None"),
        (True, "True"),
        (1.5, "1.5"),
        (np.float64(3), "3.0"),
        (np.array([3]), r"array\(\[3\]\)"),
        ([3], r"\[3\]"),
        ("red 55", "'red 55'"),
    ],
)
def test_an_illegal_action_is_named_and_changes_nothing(action: Any, words: str) -> None:
    """The error names the action and the legal ones; the position stays as it is."""
    table = game([["red 5", *QUIET], OTHER])
    before = table.to_dict()
    with pytest.raises(IllegalActionError, match=rf"{words}.*legal.*'red 5' \(3\)"):
        table.apply(action)
    assert (table.to_dict(), table.decisions) == (before, 0)


@pytest.mark.parametrize("action", ["draw", 60, None, "red 55"])
def test_an_action_after_the_end_is_refused_and_changes_nothing(action: Any) -> None:
    """After the end the error names the winner."""
    table = game([["red 5"], OTHER])
    table.apply("red 5")
    before = table.to_dict()
    with pytest.raises(IllegalActionError, match="the game is over, seat 0 has won"):
        table.apply(action)
    assert table.to_dict() == before


@pytest.mark.parametrize(
    ("word", "meant"),
    [("red5", "red 5"), ("Draw", "draw"), ("say lastcard", "say last card"), ("kng", "king")],
)
def test_a_misspelt_action_brings_a_suggestion(word: str, meant: str) -> None:
    """The nearest action name is suggested."""
    with pytest.raises(IllegalActionError, match=f"did you mean '{meant}'"):
        game([["red 5", *QUIET], OTHER]).apply(word)


def test_a_card_that_is_change_color_alone_is_no_action() -> None:
    """The card names no color; the four actions that do are near."""
    with pytest.raises(IllegalActionError, match="did you mean 'change color to"):
        game([["change color", *QUIET], OTHER]).apply("change color")


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [0, 1, 11, -2, 2.0, "2", None, True])
def test_a_wrong_number_of_players_is_refused(num_players: Any) -> None:
    """The error says which numbers are allowed."""
    with pytest.raises(ValueError, match="num_players must be an integer from 2 to 10"):
        Game(num_players)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    """The error says what a seed is."""
    with pytest.raises(ValueError, match="seed must be an integer"):
        Game(seed=seed)


@pytest.mark.parametrize("seat", [-1, 2, 0.5, True, "0"])
def test_a_wrong_seat_is_refused(seat: Any) -> None:
    """The error says which seats there are."""
    with pytest.raises(ValueError, match="seat must be an integer from 0 to 1"):
        Game(seed=0).observation(seat)


def test_rules_that_are_none_are_refused() -> None:
    """A mapping is not rules: they are a `Rules`."""
    with pytest.raises(TypeError, match=r"rules must be a taki_env\.Rules"):
        Game(rules={"tournament": True})  # type: ignore[arg-type]


def test_an_unknown_rule_option_brings_a_suggestion() -> None:
    """The nearest option is suggested."""
    with pytest.raises(ValueError, match="'tournamnt'; did you mean 'tournament'"):
        Rules.from_dict({"tournamnt": True})


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tournament": 1}, TypeError, "tournament must be True or False"),
        ({"hand_size": 8.0}, TypeError, "hand_size must be an integer"),
        ({"hand_size": 0}, ValueError, "hand_size must be an integer from 1 to 116"),
        ({"deck": (2,) * 56}, ValueError, "deck must be 57 integers"),
        ({"deck": (3, *(2,) * 56)}, ValueError, "copies of 'red 1' must be 0 to 2, got 3"),
        ({"deck": (2,) * 56 + (5,)}, ValueError, "copies of 'change color' must be 0 to 4, got 5"),
        ({"deck": (1.5, *(2,) * 56)}, ValueError, "deck must be 57 integers"),
        ({"deck": "mini"}, ValueError, "deck must be one of .*got .mini."),
    ],
)
def test_a_wrong_rule_option_is_refused(options: Any, error: type, words: str) -> None:
    """The error names the option and its allowed values."""
    with pytest.raises(error, match=words):
        Rules(**options)


def test_a_deck_that_is_one_card_short_cannot_be_dealt() -> None:
    """Players x hand size + colorless cards + 1 are needed: 2 x 8 + 12 + 1 = 29."""
    short = Rules(deck=(*([1] * 16), *([0] * 36), 2, 2, 2, 2, 4))
    with pytest.raises(ValueError, match="= 29"):
        Game(2, short)


def test_the_smallest_deck_can_be_dealt() -> None:
    """29 cards are enough for two players with the standard colorless cards."""
    enough = Rules(deck=(*([1] * 17), *([0] * 35), 2, 2, 2, 2, 4))
    assert Game(2, enough, seed=0).phase == "play"


def test_rules_are_hashable_and_frozen() -> None:
    """Equal rules have equal hashes, and no option can be set."""
    assert hash(Rules(deck=list(Rules().deck))) == hash(Rules())  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        Rules().tournament = True  # type: ignore[misc]


# Observations -------------------------------------------------------------------------------------


def seen(table: Game, name: str, seat: int | None = None) -> list[float]:
    """Return one feature of an observation."""
    start = 0
    for feature in LAYOUT:
        if feature.name == name:
            return table.observation(seat)[start : start + feature.size].tolist()
        start += feature.size
    raise KeyError(name)


def one_hot(index: int, size: int) -> list[float]:
    """Return a list of zeros with a one."""
    return [float(place == index) for place in range(size)]


def test_the_layout_covers_the_observation() -> None:
    """The sizes of all features add up to the observation's."""
    assert sum(feature.size for feature in LAYOUT) == OBSERVATION_SIZE


def test_the_own_hand_is_seen_by_copies() -> None:
    """Copies of each type over 2, of change color over 4."""
    hand = ["red 5", "red 5", "king", "change color", "change color", "change color"]
    expected = np.zeros(57)
    expected[[3, 53, 56]] = 1, 0.5, 0.75
    assert seen(game([hand, OTHER]), "hand") == expected.tolist()


def test_a_hand_is_seen_by_its_own_seat() -> None:
    """Another seat's observation starts with that seat's hand."""
    expected = np.zeros(57)
    expected[[13, 14, 15]] = 0.5
    assert seen(game([QUIET, OTHER]), "hand", 1) == expected.tolist()


def test_the_discard_pile_is_seen_with_its_leading_card() -> None:
    """Copies beneath the leading card and the leading card itself."""
    table = game([QUIET, OTHER], under=["red 7", "change color", "+3 breaker"])
    expected = np.zeros(57)
    expected[[5, 55, 56]] = 1, 0.5, 0.25
    assert seen(table, "discard") == expected.tolist()


@pytest.mark.parametrize("color", COLORS)
def test_the_color_is_seen(color: str) -> None:
    """The active color, one-hot."""
    table = game([QUIET, OTHER], f"{color} 7")
    assert seen(table, "color") == one_hot(COLORS.index(color), 4)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_the_symbol_is_seen(symbol: str) -> None:
    """The leading symbol, one-hot."""
    table = game([QUIET, OTHER], f"red {symbol}")
    assert seen(table, "symbol") == one_hot(SYMBOLS.index(symbol), 14)


def test_no_symbol_is_seen_after_a_king() -> None:
    """The last place of the symbol means that there is none."""
    table = game([QUIET, OTHER], "king", color="red", symbol=None)
    assert seen(table, "symbol") == one_hot(13, 14)


IN_PHASE: dict[str, dict[str, Any]] = {
    "play": {},
    "run": {"lead": "red taki", "phase": "run", "open_taki": True},
    "plus": {"lead": "red plus", "phase": "plus"},
    "king": {"lead": "king", "color": "red", "symbol": None, "phase": "king"},
    "respond": {
        **{"lead": "+3", "color": "red", "symbol": None, "phase": "respond"},
        **{"turn": 1, "actor": 0, "plus_three_by": 1},
    },
    "last_card": {"phase": "last_card"},
    "over": WON,
}


def in_phase(phase: str) -> Game:
    """Return a game in a phase, with seat 0 to act."""
    hands = {"over": [], "last_card": ["blue 1"]}
    return game([hands.get(phase, [*QUIET, "+3 breaker"]), OTHER], **IN_PHASE[phase])


@pytest.mark.parametrize("phase", PHASES)
def test_the_phase_is_seen(phase: str) -> None:
    """The phase, one-hot."""
    assert seen(in_phase(phase), "phase") == one_hot(PHASES.index(phase), 7)


@pytest.mark.parametrize(("pending", "value"), [(0, 0), (4, 0.5), (12, 0.75)])
def test_the_pending_draw_is_seen(pending: int, value: float) -> None:
    """N / (n + 4)."""
    table = game([QUIET, OTHER], "red +2", pending_draw=pending)
    assert seen(table, "pending_draw") == [value]


@pytest.mark.parametrize("is_open", [False, True])
def test_an_open_taki_is_seen(is_open: bool) -> None:
    """One while a TAKI is open."""
    assert seen(game([QUIET, OTHER], open_taki=is_open), "open_taki") == [is_open]


@pytest.mark.parametrize("closable", [False, True])
def test_a_closable_run_is_seen(closable: bool) -> None:
    """One once a card was laid on the run."""
    table = game([QUIET, OTHER], "red taki", phase="run", open_taki=True, can_close=closable)
    assert seen(table, "can_close") == [closable]


@pytest.mark.parametrize("direction", [1, -1])
def test_the_direction_is_seen(direction: int) -> None:
    """One if play passes to the next seat number."""
    table = game([QUIET, OTHER, OTHER], direction=direction)
    assert seen(table, "direction") == [direction == 1]


FOUR = [[*QUIET, "+3 breaker"], OTHER, ["green 5"], ["green 6", "green 7", "green 8", "green 9"]]
ASKED: dict[str, Any] = {
    **{"lead": "+3", "color": "red", "symbol": None, "phase": "respond"},
    **{"turn": 1, "actor": 0, "plus_three_by": 1},
}


@pytest.mark.parametrize(("seat", "relative"), [(0, 1), (1, 0), (2, 3), (3, 2)])
def test_an_unanswered_plus_three_is_seen_relative_to_the_seat(seat: int, relative: int) -> None:
    """Whose +3 it is, counted from the observer in seat order."""
    assert seen(game(FOUR, **ASKED), "plus_three_by", seat) == one_hot(relative, 10)


def test_no_unanswered_plus_three_is_seen_as_zeros() -> None:
    """No seat is marked when no +3 awaits answers."""
    assert seen(game(FOUR), "plus_three_by") == [0] * 10


@pytest.mark.parametrize(("seat", "relative"), [(0, 1), (1, 0), (2, 3), (3, 2)])
def test_the_turn_is_seen_relative_to_the_seat(seat: int, relative: int) -> None:
    """Whose turn it is, counted from the observer in seat order."""
    assert seen(game(FOUR, turn=1, actor=1), "turn", seat) == one_hot(relative, 10)


def test_hand_sizes_are_seen_relative_to_the_seat() -> None:
    """N / (n + 4) from the observer on: seats 2, 3, 0, 1 hold 1, 4, 4, 3 cards."""
    expected = np.array([1 / 5, 4 / 8, 4 / 8, 3 / 7, *[0] * 6], np.float32)
    assert seen(game(FOUR), "hand_sizes", 2) == expected.tolist()


@pytest.mark.parametrize("num_players", range(2, 11))
def test_who_is_at_the_table_is_seen(num_players: int) -> None:
    """As many ones as players."""
    table = Game(num_players, seed=0)
    assert seen(table, "at_table", num_players - 1) == [1] * num_players + [0] * (10 - num_players)


def test_stages_are_seen_relative_to_the_seat() -> None:
    """Stage over first stage: from seat 2 on, stages 3, 4, 8, 2 of 8."""
    table = game(FOUR, rules={"tournament": True}, stages=[8, 2, 3, 4])
    assert seen(table, "stages", 2) == [3 / 8, 4 / 8, 8 / 8, 2 / 8, *[0] * 6]


def test_the_draw_pile_is_seen_by_its_size() -> None:
    """116 cards less 3 + 3 in hand and 1 leading: 109."""
    assert seen(game([QUIET, OTHER]), "draw_pile") == [np.float32(109 / 116)]


@pytest.mark.parametrize("option", ["tournament", "voluntary_draw", "full_runs", "auto_last_card"])
def test_a_rule_option_is_seen(option: str) -> None:
    """One for the option that is on, zero for the others."""
    table = Game(2, Rules(**{option: True}), seed=0)
    on = {feature.name: seen(table, feature.name) for feature in LAYOUT[-5:-1]}
    assert on == {name: [name == option] for name in on}


def test_the_hand_size_is_seen() -> None:
    """N / (n + 4)."""
    assert seen(Game(2, Rules(hand_size=4), seed=0), "hand_size") == [0.5]


def test_the_observation_is_the_actors_by_default() -> None:
    """Without a seat, the actor's: also where it is not the player on turn."""
    table = game(FOUR, **ASKED)
    assert (table.actor, table.turn) == (0, 1)
    assert np.array_equal(table.observation(), table.observation(0))


def test_observations_are_new_arrays() -> None:
    """Changing one does not change the next."""
    table = Game(seed=0)
    table.observation()[:] = 5
    assert table.observation().max() <= 1


# All states of random games -----------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_mover_can_move_and_the_cards_are_the_deck(num_players: int, variant: str) -> None:
    """In every state: a legal action before the end, and every card in exactly one place."""
    rules = VARIANTS[variant]
    deck = Counter(dict(zip(CARDS, rules.deck, strict=True)))
    for state in random_states(Game(num_players, rules, seed=1), random.Random(num_players)):
        at = state.to_dict()
        places = [*at["hands"], at["draw_pile"], at["discard_pile"]]
        assert Counter(card for place in places for card in place) == deck
        assert state.is_over or state.action_mask().any()


@pytest.mark.parametrize("num_players", range(2, 11))
def test_observations_are_of_one_size_and_within_zero_and_one(num_players: int) -> None:
    """For every seat in every state: float32 (OBSERVATION_SIZE,) in [0, 1]."""
    rules = VARIANTS["all" if num_players % 2 else "tournament"]
    for state in random_states(Game(num_players, rules, seed=2), random.Random(0), 400):
        for seat in range(num_players):
            vector = state.observation(seat)
            assert (vector.shape, vector.dtype) == ((OBSERVATION_SIZE,), np.float32)
            assert vector.min() >= 0 and vector.max() <= 1


# Seeds --------------------------------------------------------------------------------------------


def test_the_same_seed_is_the_same_game() -> None:
    """Two games of a seed have the same positions under the same choices."""
    one, two = (trace(Game(3, seed=7), random.Random(1)) for _ in range(2))
    assert one == two


def test_different_seeds_are_different_deals() -> None:
    """A hundred seeds, a hundred deals."""
    deals = {str(Game(seed=seed).to_dict()["hands"]) for seed in range(100)}
    assert len(deals) == 100


def test_without_a_seed_deals_differ() -> None:
    """The system's randomness deals when no seed is given."""
    assert Game().to_dict() != Game().to_dict()


def refilled(seed: int) -> list[str]:
    """Return the pile after a refill, from one and the same position."""
    at = game([QUIET, OTHER]).to_dict()
    at["discard_pile"] = [*at["draw_pile"], "red 7"]
    at["draw_pile"] = []
    table = Game.from_dict(at, seed)
    table.apply("draw")
    return [*table.to_dict()["draw_pile"], *table.to_dict()["hands"][0]]


def test_the_same_seed_is_the_same_reshuffle() -> None:
    """A refill depends on the seed alone."""
    assert refilled(5) == refilled(5)


def test_different_seeds_are_different_reshuffles() -> None:
    """Fifty seeds refill the same cards in fifty orders."""
    assert len({tuple(refilled(seed)) for seed in range(50)}) == 50


def test_global_generators_are_neither_read_nor_moved() -> None:
    """Seeding `random` and `numpy.random` changes no game, and games leave them alone."""
    traces = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        states = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
        traces.append(trace(Game(2, Rules(hand_size=3), seed=3), random.Random(0)))
        after = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
        assert states == after
    assert traces[0] == traces[1]


# Copies -------------------------------------------------------------------------------------------


def midway(decisions: int = 40) -> Game:
    """Return a game of three in its middle."""
    for state in random_states(Game(3, Rules(tournament=True), seed=4), random.Random(4)):
        if state.decisions == decisions:
            return state
    raise AssertionError("the game is over")


COPIES = [Game.clone, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))]


@pytest.mark.parametrize("copied", COPIES, ids=["clone", "deepcopy", "pickle"])
def test_a_copy_goes_on_identically(copied: Any) -> None:
    """A copy draws and shuffles the same cards as the original."""
    table = midway()
    twin = copied(table)
    assert trace(twin, random.Random(9), 1500) == trace(table, random.Random(9), 1500)


@pytest.mark.parametrize("copied", COPIES, ids=["clone", "deepcopy", "pickle"])
def test_playing_a_copy_leaves_the_original(copied: Any) -> None:
    """Nothing is shared between a copy and its original."""
    table = midway()
    before, legal = table.to_dict(), table.legal_actions()
    trace(copied(table), random.Random(9))
    assert (table.to_dict(), table.legal_actions()) == (before, legal)


def test_a_copy_keeps_the_count_of_decisions() -> None:
    """A clone is the same moment of the same game."""
    assert midway(12).clone().decisions == 12


def test_the_text_of_a_game_shows_the_table() -> None:
    """`str` shows the leading card and every hand."""
    text = str(game([["red 5", "king"], ["green 3"]]))
    assert all(word in text for word in ("red 7", "red 5", "king", "green 3"))


def test_the_repr_names_the_phase_and_the_actor() -> None:
    """`repr` is one line."""
    assert repr(in_phase("king")) == "<Game: 2 players, phase 'king', seat 0 acts>"


def test_an_unknown_rule_option_is_refused_with_the_nearest_one() -> None:
    """By keyword and from a mapping alike."""
    for make in (lambda: Rules(tournamet=True), lambda: Rules.from_dict({"tournamet": True})):
        with pytest.raises(ValueError, match="unknown rule option 'tournamet'; did you mean 'tour"):
            make()


def test_rules_are_copied_and_pickled_like_any_value() -> None:
    """Equal and hashable after each."""
    rules = Rules(tournament=True, hand_size=5)
    assert pickle.loads(pickle.dumps(rules)) == copy.deepcopy(rules) == rules
    assert len({rules, replace(rules, hand_size=4), replace(rules)}) == 2


def test_a_deck_without_cards_is_refused_in_words() -> None:
    """Before the hand size is looked at."""
    with pytest.raises(ValueError, match="deck has no cards"):
        Rules(deck=(0,) * 57)


def test_rule_options_are_read_from_words() -> None:
    """Flags by name, numbers and truth values after an equals sign."""
    rules = Rules.from_words(["tournament", "hand_size=5", "full_runs=false"])
    assert rules == Rules(tournament=True, hand_size=5)
    with pytest.raises(TypeError, match="did you mean 'tournament'"):
        Rules.from_words(["tournamet"])
    with pytest.raises(ValueError, match="hand_size is given twice"):
        Rules.from_words(["hand_size=5", "hand_size=6"])
    with pytest.raises(TypeError, match="hand_size must be an integer, got 'five'"):
        Rules.from_words(["hand_size=five"])
    with pytest.raises(TypeError, match="tournament must be True or False"):
        Rules.from_words(["tournament=1"])
