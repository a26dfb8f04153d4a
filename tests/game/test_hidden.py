"""Hidden information: nothing that a seat sees or may do depends on cards that it cannot see."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from taki_env import CARDS, PHASES, Batch, Game, Rules, View
from taki_env.core.policies import GREEDY, choose_many
from tests.helpers import SMALL_DECK, VARIANTS, game, view_of

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
C = ["yellow 6", "yellow 8"]
Position = dict[str, Any]
PLAYABLE = [phase for phase in PHASES if phase != "over"]
SETTINGS = [
    *((2, "standard"), (3, "tournament"), (4, "deck"), (4, "all"), (7, "full_runs")),
    (10, "hand_size"),
]


def states_of(phase: str, wanted: int = 6) -> Iterator[Game]:
    """Yield games in a phase, some for each number of players and set of options."""
    for num_players, variant in SETTINGS:
        if variant == "all" and phase == "last_card":
            continue  # the option auto_last_card leaves no such phase
        choose, found, seed = random.Random(7), 0, 0
        while found < wanted:
            table = Game(num_players, VARIANTS[variant], seed)
            for _ in range(400):
                if table.is_over:
                    break
                if table.phase == phase and choose.random() < 0.5:
                    yield table.clone()
                    found += 1
                    if found == wanted:
                        break
                table.apply(choose.choice(table.legal_actions()))
            seed += 1


def permuted(at: Position, seat: int, choose: random.Random) -> Position:
    """Deal all cards that a seat cannot see at random; an asked actor keeps an answer."""
    out = copy.deepcopy(at)
    others = [other for other in range(len(at["hands"])) if other != seat]
    pool = [card for other in others for card in at["hands"][other]] + at["draw_pile"]
    kept: dict[int, list[str]] = {other: [] for other in others}
    if at["phase"] == "respond" and at["actor"] != seat:
        actor = at["actor"]
        answer = next(c for c in ("+3 breaker", "king") if c in at["hands"][actor])
        kept[actor] = [answer]
        pool.remove(answer)
    choose.shuffle(pool)
    for other in others:
        missing = len(at["hands"][other]) - len(kept[other])
        out["hands"][other] = kept[other] + [pool.pop() for _ in range(missing)]
    out["draw_pile"] = pool
    return out


# What a seat sees ---------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PLAYABLE)
def test_no_seat_sees_a_permutation_of_hidden_cards(phase: str) -> None:
    """Observations of every seat, and the mask of the actor, stay as they are."""
    choose = random.Random(1)
    for table in states_of(phase):
        at = table.to_dict()
        for seat in range(table.num_players):
            other = Game.from_dict(permuted(at, seat, choose))
            assert np.array_equal(other.observation(seat), table.observation(seat))
            if seat == table.actor:
                assert other.legal_actions() == table.legal_actions()


@pytest.mark.parametrize("phase", PLAYABLE)
def test_no_seat_sees_a_re_deal(phase: str) -> None:
    """`determinize` keeps the observation of its seat, and the mask of the actor."""
    for table in states_of(phase):
        for seat in range(table.num_players):
            other = table.determinize(seat, seed=seat)
            assert np.array_equal(other.observation(seat), table.observation(seat))
            assert other.actor == table.actor
            if seat == table.actor:
                assert other.legal_actions() == table.legal_actions()


PUBLIC = [
    *("rules", "discard_pile", "color", "symbol", "direction", "turn", "actor", "phase"),
    *("pending_draw", "open_taki", "can_close", "skip_next", "plus_three_by", "stages", "winner"),
]


@pytest.mark.parametrize("phase", PLAYABLE)
def test_a_re_deal_changes_nothing_that_lies_on_the_table(phase: str) -> None:
    """The own hand, the sizes of hands and piles, and all public fields stay."""
    for table in states_of(phase, wanted=3):
        at = table.to_dict()
        for seat in range(table.num_players):
            other = table.determinize(seat, seed=1).to_dict()
            assert {key: other[key] for key in PUBLIC} == {key: at[key] for key in PUBLIC}
            assert other["hands"][seat] == at["hands"][seat]
            assert [*map(len, other["hands"])] == [*map(len, at["hands"])]


@pytest.mark.parametrize("phase", PLAYABLE)
def test_a_re_dealt_game_is_a_sound_position(phase: str) -> None:
    """It can be read back: every card once, and an asked actor holds an answer."""
    for table in states_of(phase, wanted=3):
        for seat in range(table.num_players):
            at = table.determinize(seat, seed=5).to_dict()
            assert Game.from_dict(at).to_dict() == at


def test_a_re_deal_leaves_the_game_alone() -> None:
    """It is a copy."""
    table = Game(3, seed=0)
    before = table.to_dict()
    table.determinize(0, seed=1).apply(table.legal_actions()[0])
    assert table.to_dict() == before


# The +3: who was asked is not public --------------------------------------------------------------

BREAKERS = [["+3", *A], ["+3 breaker", *B], ["+3 breaker", *C], ["red 1", "red 3"]]


@pytest.mark.parametrize("seat", [0, 2, 3])
def test_nobody_else_sees_that_a_seat_was_asked_and_passed(seat: int) -> None:
    """Seat 1 passes, seat 2 is asked: the others' observations stay, even the one asked next."""
    table = game(BREAKERS)
    table.apply("+3")
    before = table.observation(seat)
    table.apply("pass")
    assert (table.actor, np.array_equal(table.observation(seat), before)) == (2, True)


@pytest.mark.parametrize("seat", [0, 2, 3])
def test_a_seat_that_could_not_answer_looks_like_one_that_passed(seat: int) -> None:
    """Seat 1 with or without a Breaker: when seat 2 is asked, nobody else sees a difference."""
    hands = [BREAKERS[0], ["blue 8", *B], *BREAKERS[2:]]
    asked, skipped = game(BREAKERS), game(hands)
    asked.apply("+3")
    asked.apply("pass")
    skipped.apply("+3")
    assert asked.actor == skipped.actor == 2
    assert np.array_equal(asked.observation(seat), skipped.observation(seat))


@pytest.mark.parametrize("seat", [0, 3])
def test_a_seat_does_not_see_who_is_asked(seat: int) -> None:
    """Seat 1 or seat 2 holds the Breaker: the others see that the +3 is unanswered, no more."""
    first = game([["+3", *A], ["+3 breaker", *B], ["blue 8", *C], ["red 1"]])
    second = game([["+3", *A], ["blue 8", *B], ["+3 breaker", *C], ["red 1"]])
    for table in (first, second):
        table.apply("+3")
    assert (first.actor, second.actor) == (1, 2)
    assert np.array_equal(first.observation(seat), second.observation(seat))


def test_when_all_have_passed_the_table_looks_as_if_nobody_was_asked() -> None:
    """Seats 1 and 2 keep their Breakers; what seat 3 sees is what it sees without Breakers."""
    top = ["red 4", "red 5", "red 6", "red 8", "red 9", "blue 8", "green 8", "green 9", "blue 9"]
    hands = [BREAKERS[0], ["blue 4", *B], ["blue 5", *C], BREAKERS[3]]
    asked, unasked = game(BREAKERS, top=top), game(hands, top=top)
    for action in ("+3", "pass", "pass"):
        asked.apply(action)
    unasked.apply("+3")
    assert asked.phase == unasked.phase == "play"
    assert np.array_equal(asked.observation(3), unasked.observation(3))


@pytest.mark.parametrize("seat", [0, 2, 3])
def test_a_re_deal_keeps_an_answer_with_the_asked_actor(seat: int) -> None:
    """Seat 1 is asked: in every re-deal it holds a Breaker or a King."""
    table = game([["+3", *A], ["king", *B], ["blue 8", *C], ["red 1", "red 3"]])
    table.apply("+3")
    for seed in range(100):
        hand = table.determinize(seat, seed).to_dict()["hands"][1]
        assert {"+3 breaker", "king"} & set(hand)


def test_the_kept_answer_may_be_another_card_than_the_real_one() -> None:
    """Seat 1 really holds a King; in some re-deals it holds only a Breaker, in some both."""
    table = game([["+3", *A], ["king", *B], ["blue 8", *C]])
    table.apply("+3")
    hands = [table.determinize(0, seed).to_dict()["hands"][1] for seed in range(200)]
    kinds = Counter(("king" in hand, "+3 breaker" in hand) for hand in hands)
    assert set(kinds) >= {(True, False), (False, True)}


def test_an_asked_seat_that_is_not_next_keeps_a_breaker() -> None:
    """A King is no answer of seat 2."""
    table = game([["+3", *A], B, ["+3 breaker", *C]])
    table.apply("+3")
    for seed in range(100):
        assert "+3 breaker" in table.determinize(0, seed).to_dict()["hands"][2]


def test_the_asked_actor_keeps_its_own_hand_when_it_looks() -> None:
    """The re-deal of the actor's own view leaves its hand."""
    table = game([["+3", *A], ["+3 breaker", *B], C])
    table.apply("+3")
    assert table.determinize(1, 3).to_dict()["hands"][1] == [*B, "+3 breaker"]


# What a re-deal changes ---------------------------------------------------------------------------


def test_a_re_deal_changes_the_other_hands_and_the_draw_pile() -> None:
    """Thirty seeds, thirty deals."""
    table = Game(4, seed=0)
    deals = [table.determinize(2, seed).to_dict() for seed in range(30)]
    assert len({str(at["hands"]) for at in deals}) == 30
    assert len({str(at["draw_pile"]) for at in deals}) == 30


def test_the_same_seed_is_the_same_re_deal() -> None:
    """Nothing else is random."""
    table = Game(4, seed=0)
    assert table.determinize(2, 9).to_dict() == table.determinize(2, 9).to_dict()


def test_a_re_deal_does_not_depend_on_the_real_hidden_cards() -> None:
    """Two games that look the same to a seat have the same re-deals, now and after a refill."""
    at = Game(3, Rules(hand_size=6, deck=SMALL_DECK), seed=3).to_dict()
    twins = [Game.from_dict(at, 1), Game.from_dict(permuted(at, 0, random.Random(0)), 2)]
    one, two = (twin.determinize(0, 8) for twin in twins)
    choose = random.Random(2)
    for _ in range(200):
        assert one.to_dict() == two.to_dict()
        if one.is_over:
            break
        action = choose.choice(one.legal_actions())
        one.apply(action)
        two.apply(action)


def test_a_re_deal_changes_the_future_shuffles() -> None:
    """Nothing to re-deal but the order of the refill: it differs from the game's and by seed."""
    table = game([A, ["green 4"]])
    at = table.to_dict()
    at["discard_pile"], at["draw_pile"] = [*at["draw_pile"], "red 7"], []
    table = Game.from_dict(at)
    piles = set()
    for other in (table, *(table.determinize(0, seed) for seed in range(20))):
        other = other.clone()
        other.apply("draw")
        piles.add((*other.to_dict()["hands"][0], *other.to_dict()["draw_pile"]))
    assert len(piles) == 21


def test_every_hidden_card_lands_everywhere_equally_often() -> None:
    """Over 2,000 re-deals of 12 hidden cards in 12 places, each count is near 2,000 / 12."""
    hidden = [f"{color} {symbol}" for color in ("blue", "green") for symbol in "134567"]
    deck = [int(card in (*hidden, "red 1", "red 7")) for card in CARDS]
    hands = [["red 1"], hidden[:3], hidden[3:7]]
    table = game(hands, rules={"hand_size": 1, "deck": deck})
    places: Counter[tuple[str, int]] = Counter()
    for seed in range(2000):
        at = table.determinize(0, seed).to_dict()
        places.update((card, -1) for card in at["hands"][1])
        places.update((card, -2) for card in at["hands"][2])
        places.update((card, place) for place, card in enumerate(at["draw_pile"]))
    for card in hidden:
        for place, share in {-1: 3, -2: 4, 0: 1, 1: 1, 2: 1, 3: 1, 4: 1}.items():
            chance = share / 12
            deviation = (2000 * chance * (1 - chance)) ** 0.5
            assert abs(places[card, place] - 2000 * chance) < 4.5 * deviation


# Policies and views -------------------------------------------------------------------------------


def greedy(view: View) -> list[int]:
    """Return the greedy policy's actions, from the records behind a view."""
    return greedy_on(view._states, view.legal)


def greedy_on(states: Any, legal: Any) -> list[int]:
    """Return the greedy policy's actions for records."""
    actions = np.zeros(len(states), np.int64)
    choose_many(GREEDY, states, legal, np.ones(len(states), np.uint64), actions)
    return actions.tolist()


@pytest.mark.parametrize(("num_players", "variant"), SETTINGS)
def test_greedy_does_not_depend_on_hidden_cards(num_players: int, variant: str) -> None:
    """In every state its action is the same in re-deals of what the actor cannot see."""
    batch = Batch(40, num_players, VARIANTS[variant], seed=1)
    rng = np.random.default_rng(0)
    for _ in range(120):
        live = np.flatnonzero(~batch.done)
        if not live.size:
            break
        view = batch.view(live)
        samples = view.sample_states(3, rng)
        expected = greedy(view)
        for sample in samples.T:
            assert greedy_on(np.ascontiguousarray(sample), view.legal) == expected
        masks = batch.action_masks()
        noise = rng.random(masks.shape) * masks
        mixed = noise.argmax(axis=1)
        mixed[live] = np.where(rng.random(live.size) < 0.5, mixed[live], expected)
        batch.step(mixed)


def test_samples_of_a_view_look_the_same_to_the_actor() -> None:
    """Observation and legal set of every sample are those of the view."""
    from taki_env.core.arrays import observe_states
    from taki_env.core.loops import legal_many

    batch = Batch(30, [2, 3, 4] * 10, Rules(tournament=True), seed=2)
    rng = np.random.default_rng(1)
    for _ in range(60):
        view = batch.view(np.flatnonzero(~batch.done))
        for sample in map(np.ascontiguousarray, view.sample_states(2, rng).T):
            legal = np.zeros(len(view), np.uint64)
            legal_many(sample, legal)
            assert np.array_equal(observe_states(sample, view.seats), view.observations)
            assert np.array_equal(legal, view.legal)
        batch.step((rng.random((30, 64)) * batch.action_masks()).argmax(axis=1))


def sampled(table: Game) -> Any:
    """Return re-deals of what the actor of a game cannot see, records (4,)."""
    return view_of(table).sample_states(4, np.random.default_rng(5))[0]


def test_samples_hold_no_trace_of_the_real_hidden_cards() -> None:
    """Two games that look the same to the actor give the same records, all of their memory.

    One was played from its deal and one was read, with other hidden cards; the records may differ
    in nothing but the count of decisions.
    """
    table, choose = Game(3, seed=3), random.Random(0)
    for _ in range(40):
        table.apply(choose.choice(table.legal_actions()))
    twin = Game.from_dict(permuted(table.to_dict(), table.actor, choose), 9)
    one, two = sampled(table), sampled(twin)
    differing = [name for name in one.dtype.names if not np.array_equal(one[name], two[name])]
    assert set(differing) <= {"decisions"}


def test_samples_do_not_tell_how_many_were_asked_and_passed() -> None:
    """Seat 3 may answer a +3: its samples are the same whether seat 1 passed or was not asked."""
    asked = game([["+3", *A], ["+3 breaker", *B], ["blue 8", *C], ["+3 breaker", "red 1"]])
    skipped = game([["+3", *A], ["blue 9", *B], ["blue 8", *C], ["+3 breaker", "red 1"]])
    asked.apply("+3")
    asked.apply("pass")
    skipped.apply("+3")
    assert asked.actor == skipped.actor == 3
    one, two = sampled(asked), sampled(skipped)
    differing = [name for name in one.dtype.names if not np.array_equal(one[name], two[name])]
    assert differing == []


def test_samples_of_one_state_have_different_random_words() -> None:
    """Twenty samples, twenty future shuffles, and as many orders of the draw pile."""
    view = Batch(1, 3, seed=0).view(np.array([0]))
    samples = view.sample_states(20, np.random.default_rng(0))[0]
    assert len(np.unique(samples["rng"])) == 20
    assert len(np.unique(samples["draw_pile"], axis=0)) == 20
