"""Many games at once: the same games as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from taki_env import (
    ACTIONS,
    OBSERVATION_SIZE,
    Batch,
    Game,
    IllegalActionError,
    Rules,
    UniformSampler,
    View,
)
from taki_env.base.threads import each_chunk
from tests.helpers import VARIANTS

Integers = npt.NDArray[np.int64]


def pick(legal: npt.NDArray[np.uint64], step: int) -> Integers:
    """Return a legal action of each game that depends on nothing but its legal set and the step."""
    chosen = np.zeros(legal.size, np.int64)
    for index, word in enumerate(legal.tolist()):
        actions = [action for action in range(64) if word >> action & 1]
        if actions:
            chosen[index] = actions[(step * 7919 + word) % len(actions)]
    return chosen


def play(batch: Batch, steps: int) -> None:
    """Play some decisions in every game."""
    for step in range(steps):
        batch.step(pick(batch.legal, step))


def play_out(batch: Batch, limit: int = 3000) -> None:
    """Play until every game is over."""
    for step in range(limit):
        if batch.done.all():
            return
        batch.step(pick(batch.legal, step))
    raise AssertionError("a game did not end")


def snapshot(batch: Batch) -> list[Any]:
    """Return the positions of all games."""
    return [batch.game(index).to_dict() for index in range(len(batch))]


def same(one: Any, two: Any) -> bool:
    """Return whether two arrays of states are equal, field by field."""
    return all(np.array_equal(one[name], two[name]) for name in one.dtype.names)


# The same games -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_game_zero_is_the_game_of_the_seed(variant: str) -> None:
    """Deal, play and refills are those of `Game(num_players, rules, seed)`."""
    rules = VARIANTS[variant]
    batch, table = Batch(3, 3, rules, seed=5), Game(3, rules, seed=5)
    for step in range(250):
        assert batch.game(0).to_dict() == table.to_dict()
        assert int(batch.legal[0]) == sum(1 << action for action in table.legal_actions())
        actions = pick(batch.legal, step)
        if table.is_over:
            break
        table.apply(int(actions[0]))
        batch.step(actions)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_games_do_not_depend_on_the_size_of_the_batch(size: int) -> None:
    """Game i of a smaller batch is game i of a larger one."""
    small, large = Batch(size, 4, seed=3), Batch(9, 4, seed=3)
    for step in range(60):
        assert snapshot(small) == snapshot(large)[:size]
        small.step(pick(small.legal, step))
        large.step(pick(large.legal, step))


def test_every_game_of_a_batch_is_another() -> None:
    """Fifty games, fifty deals."""
    assert len({str(at) for at in snapshot(Batch(50, seed=0))}) == 50


def test_batches_of_different_seeds_are_different() -> None:
    """No game of one is a game of the other."""
    one, two = ({str(at) for at in snapshot(Batch(50, seed=seed))} for seed in (0, 1))
    assert not one & two


def test_deals_names_the_game_to_deal() -> None:
    """The same deal in many games, for paired comparisons."""
    plain, dealt = snapshot(Batch(6, seed=2)), snapshot(Batch(4, seed=2, deals=[5, 5, 0, 3]))
    assert dealt == [plain[5], plain[5], plain[0], plain[3]]


def test_player_counts_can_be_mixed() -> None:
    """Each game has its own number of seats, and is the game of a plain batch of that number."""
    counts = [2, 10, 3, 7]
    mixed = Batch(4, counts, seed=6)
    play(mixed, 30)
    for index, players in enumerate(counts):
        plain = Batch(4, players, seed=6)
        play(plain, 30)
        assert mixed.game(index).to_dict() == plain.game(index).to_dict()
    assert mixed.num_players.tolist() == counts


def test_a_game_taken_out_is_a_copy() -> None:
    """Playing it leaves the batch alone."""
    batch = Batch(2, seed=0)
    before = snapshot(batch)
    table = batch.game(1)
    table.apply(table.legal_actions()[0])
    assert snapshot(batch) == before


# Arrays -------------------------------------------------------------------------------------------


def test_masks_observations_and_actors_are_those_of_each_game() -> None:
    """Row i equals the value of game i."""
    batch = Batch(12, [2, 3, 4] * 4, Rules(tournament=True), seed=1)
    for step in range(80):
        games = [batch.game(index) for index in range(12)]
        masks, observations = batch.action_masks(), batch.observations()
        for index, table in enumerate(games):
            assert np.array_equal(masks[index], table.action_mask())
            assert np.array_equal(observations[index], table.observation())
        assert batch.actors.tolist() == [table.actor for table in games]
        assert batch.decisions.tolist() == [table.decisions for table in games]
        assert batch.done.tolist() == [table.is_over for table in games]
        batch.step(pick(batch.legal, step))


def test_observations_of_given_seats() -> None:
    """One seat for all games, or one each."""
    batch = Batch(3, 4, seed=0)
    for seats in (2, [0, 3, 1]):
        seen = batch.observations(seats=seats)
        for index, seat in enumerate(np.broadcast_to(seats, 3).tolist()):
            assert np.array_equal(seen[index], batch.game(index).observation(seat))


@pytest.mark.parametrize("seats", [4, -1, [0, 1, 4]])
def test_a_seat_that_is_not_played_is_refused(seats: Any) -> None:
    """Seats are below the number of players."""
    with pytest.raises(ValueError, match="seats must be below the number of players"):
        Batch(3, 4, seed=0).observations(seats=seats)


def test_out_is_written_to_and_returned() -> None:
    """Of observations and of masks."""
    batch = Batch(5, seed=0)
    observations = np.full((5, OBSERVATION_SIZE), 9, np.float32)
    masks = np.full((5, 64), 9, np.int8)
    assert batch.observations(out=observations) is observations
    assert batch.action_masks(out=masks) is masks
    assert np.array_equal(observations, batch.observations())
    assert np.array_equal(masks, batch.action_masks())


@pytest.mark.parametrize(("shape", "dtype"), [((4, 64), np.int8), ((5, 64), np.int32)])
def test_a_wrong_out_is_refused(shape: tuple[int, int], dtype: Any) -> None:
    """The error says shape and type."""
    with pytest.raises(ValueError, match=r"out must be an array int8 \(5, 64\)"):
        Batch(5, seed=0).action_masks(out=np.zeros(shape, dtype))


def test_without_out_arrays_are_new() -> None:
    """What was returned is not overwritten later."""
    batch = Batch(5, seed=0)
    masks, observations = batch.action_masks(), batch.observations()
    kept = masks.copy(), observations.copy()
    play(batch, 5)
    batch.action_masks()
    batch.observations()
    assert np.array_equal(masks, kept[0]) and np.array_equal(observations, kept[1])


# Steps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [64, -1, 63, 2**40])
def test_an_illegal_action_changes_no_game(wrong: int) -> None:
    """The error names the game, the action and the legal ones; also the games before it stay."""
    batch = Batch(4, seed=0)
    before, legal = batch.states.copy(), batch.legal.copy()
    actions = pick(batch.legal, 0)
    actions[2] = wrong
    allowed = batch.game(2).legal_names()[0].replace("+", r"\+")
    with pytest.raises(IllegalActionError, match=rf"game 2: {wrong} .*legal: .*'{allowed}'"):
        batch.step(actions)
    assert same(batch.states, before)
    assert np.array_equal(batch.legal, legal)


def test_an_illegal_action_is_named_in_words() -> None:
    """Id and name."""
    with pytest.raises(IllegalActionError, match=r"63 \('say last card'\) is not legal"):
        Batch(1, seed=0).step([ACTIONS.index("say last card")])


@pytest.mark.parametrize("actions", [[0, 0], [0.0, 0.0, 0.0], [[0], [0], [0]], 0, [True] * 3])
def test_anything_but_one_whole_number_a_game_is_refused(actions: Any) -> None:
    """And nothing changes."""
    batch = Batch(3, seed=0)
    before = snapshot(batch)
    with pytest.raises(ValueError, match="actions must be 3 integers, one per game"):
        batch.step(actions)
    assert snapshot(batch) == before


def test_finished_games_are_left_as_they_are() -> None:
    """Whatever action is given for them."""
    batch = Batch(6, seed=0)
    play_out(batch)
    before = batch.states.copy()
    batch.step([0, 63, 64, -1, 99, 5])
    assert same(batch.states, before)


def test_finished_games_have_no_legal_action() -> None:
    """The word is 0 and the mask empty."""
    batch = Batch(6, seed=0)
    play_out(batch)
    assert not batch.legal.any() and not batch.action_masks().any()


# Rewards ------------------------------------------------------------------------------------------


def test_rewards_are_zero_before_the_end() -> None:
    """One row a game, as wide as the largest table."""
    rewards = Batch(3, [2, 5, 3], seed=0).rewards
    assert rewards.shape == (3, 5) and not rewards.any()


def test_rewards_pay_the_winner_and_charge_the_others() -> None:
    """Those of each game, and 0 for seats that are not played; every row sums to 0."""
    batch = Batch(8, [2, 5, 3, 4] * 2, seed=0)
    play_out(batch)
    for index, row in enumerate(batch.rewards):
        table = batch.game(index)
        assert row[: table.num_players].tolist() == table.rewards().tolist()
        assert not row[table.num_players :].any()
    assert np.allclose(batch.rewards.sum(axis=1), 0)


# Resets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where",
    [
        np.array([1, 3]),
        [1, 3],
        np.array([False, True, False, True]),
        [False, True, False, True],
        np.array([3, 1]),
        np.array([1, 3], np.uint8),
        np.array([-1, 1]),
    ],
)
def test_reset_deals_new_games_for_the_given_ones(where: Any) -> None:
    """By mask or by index; the other games continue."""
    batch = Batch(4, seed=0)
    play(batch, 12)
    before = snapshot(batch)
    batch.reset(where)
    after = snapshot(batch)
    assert [one == two for one, two in zip(before, after, strict=True)] == [True, False] * 2
    assert batch.decisions.tolist() == [12, 0, 12, 0]


def test_reset_without_games_resets_all() -> None:
    """And each time another deal."""
    batch = Batch(4, seed=0)
    deals = snapshot(batch)
    for _ in range(3):
        batch.reset()
        deals += snapshot(batch)
    assert len({str(at) for at in deals}) == 16


@pytest.mark.parametrize("where", [[], np.array([], np.int64), np.zeros(4, bool)])
def test_reset_of_no_game_changes_nothing(where: Any) -> None:
    """An empty list, an empty array, an empty mask."""
    batch = Batch(4, seed=0)
    play(batch, 3)
    before = snapshot(batch)
    batch.reset(where)
    assert snapshot(batch) == before


def test_reset_of_a_single_index() -> None:
    """A whole number names one game."""
    batch = Batch(4, seed=0)
    play(batch, 3)
    batch.reset(2)
    assert batch.decisions.tolist() == [3, 3, 0, 3]


@pytest.mark.parametrize("where", [[4], np.ones(3, bool), [0.0]])
def test_reset_of_a_game_that_is_not_there_is_refused(where: Any) -> None:
    """And nothing changes."""
    batch = Batch(4, seed=0)
    before = snapshot(batch)
    with pytest.raises((IndexError, ValueError)):
        batch.reset(where)
    assert (snapshot(batch), batch.episodes.tolist()) == (before, [0] * 4)


def test_a_new_deal_does_not_depend_on_earlier_play() -> None:
    """Episode k of game i is one deal, however long the games before it were."""
    played, fresh = Batch(2, seed=4), Batch(5, seed=4)
    play(played, 25)
    for batch in (played, fresh):
        batch.reset()
        batch.reset()
    assert snapshot(played) == snapshot(fresh)[:2]


def test_reset_games_play_on() -> None:
    """Legal sets are renewed with the deal."""
    batch = Batch(6, seed=0)
    play_out(batch)
    batch.reset(batch.done)
    play_out(batch)
    assert batch.episodes.tolist() == [1] * 6


# Views --------------------------------------------------------------------------------------------


def test_a_view_shows_what_the_actors_see() -> None:
    """Observations, masks, legal words, seats and numbers of players of the chosen games."""
    batch = Batch(6, [2, 3, 4] * 2, seed=1)
    play(batch, 20)
    games = np.array([4, 0, 5])
    view = batch.view(games)
    assert len(view) == 3 and isinstance(view, View)
    assert np.array_equal(view.observations, batch.observations()[games])
    assert np.array_equal(view.action_masks, batch.action_masks()[games])
    assert np.array_equal(view.legal, batch.legal[games])
    assert view.seats.tolist() == batch.actors[games].tolist()
    assert view.num_players.tolist() == [3, 2, 4]


def test_a_view_is_of_its_moment() -> None:
    """The batch plays on; the view stays as it was, also where it is first read later."""
    batch = Batch(4, seed=1)
    view = batch.view(np.arange(4))
    expected = batch.observations(), batch.action_masks(), batch.legal.copy()
    play(batch, 10)
    assert np.array_equal(view.observations, expected[0])
    assert np.array_equal(view.action_masks, expected[1])
    assert np.array_equal(view.legal, expected[2])


def test_sampled_states_have_a_row_a_game() -> None:
    """Records (B, k), and the batch is left alone."""
    batch = Batch(4, 3, seed=1)
    before = batch.states.copy()
    samples = batch.view(np.array([1, 2])).sample_states(5, np.random.default_rng(0))
    assert (samples.shape, samples.dtype) == ((2, 5), batch.states.dtype)
    assert same(batch.states, before)


def test_sampled_states_depend_on_the_generator_alone() -> None:
    """The same generator the same samples."""
    view = Batch(4, 3, seed=1).view(np.arange(4))
    one, two = (view.sample_states(3, np.random.default_rng(2)) for _ in range(2))
    assert same(one, two)


# Bad input ----------------------------------------------------------------------------------------


def test_samples_are_one_or_more_and_drawn_from_a_generator() -> None:
    """Zero samples, half a sample and a seed instead of a generator are refused."""
    view = Batch(4, 3, seed=1).view(np.arange(4))
    for k in (0, 1.5):
        with pytest.raises(ValueError, match="k must be an integer of at least 1"):
            view.sample_states(k, np.random.default_rng(2))  # type: ignore[arg-type]
    for rng in (None, 2):
        with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator"):
            view.sample_states(1, rng)  # type: ignore[arg-type]


@pytest.mark.parametrize("num_games", [0, -3])
def test_a_batch_of_no_games_is_refused(num_games: int) -> None:
    """One or more."""
    with pytest.raises(ValueError, match="num_games must be an integer of at least 1"):
        Batch(num_games)


@pytest.mark.parametrize("num_games", [2.5, "3", None])
def test_a_number_of_games_that_is_not_whole_is_refused(num_games: Any) -> None:
    """In the same words."""
    with pytest.raises((TypeError, ValueError), match="num_games must be"):
        Batch(num_games)


@pytest.mark.parametrize("num_players", [1, 11, [2, 3, 11, 4], 300])
def test_a_wrong_number_of_players_is_refused(num_players: Any) -> None:
    """In any game."""
    with pytest.raises(ValueError, match="num_players must be an integer from 2 to 10"):
        Batch(4, num_players)


@pytest.mark.parametrize("num_players", [[2, 3], [2] * 5, [[2] * 4], [2.5] * 4])
def test_player_counts_of_another_number_of_games_are_refused(num_players: Any) -> None:
    """One number, or one a game."""
    with pytest.raises(ValueError, match="num_players"):
        Batch(4, num_players)


@pytest.mark.parametrize("deals", [[0, 1], [0] * 5, [0.5] * 4])
def test_deals_of_another_number_of_games_are_refused(deals: Any) -> None:
    """One whole number a game."""
    with pytest.raises(ValueError, match="deals"):
        Batch(4, seed=0, deals=deals)


def test_a_deck_that_cannot_be_dealt_to_the_largest_table_is_refused() -> None:
    """Every number of players is checked: 10 x 11 + 12 + 1 = 123 cards for ten."""
    with pytest.raises(ValueError, match="= 123"):
        Batch(2, [2, 10], Rules(hand_size=11))


# Threads and the sampler --------------------------------------------------------------------------


def played(num_games: int, threads: int, steps: int = 300) -> Batch:
    """Return games after some uniformly random decisions; ended games are reset."""
    batch, sampler = Batch(num_games, 3, seed=9, threads=threads), UniformSampler(num_games, 4)
    for _ in range(steps):
        batch.step(sampler(batch.legal))
        batch.reset(batch.done)
    return batch


@pytest.mark.parametrize(("num_games", "threads"), [(7, 1), (7, 2), (4096, 2), (4096, 3)])
def test_neither_batch_size_nor_threads_change_a_game(num_games: int, threads: int) -> None:
    """Game 0 and game 6 are those of a batch of seven, observations and all."""
    few, many = played(7, 1), played(num_games, threads)
    for game in (0, 6):
        assert many.game(game).to_dict() == few.game(game).to_dict()
        assert np.array_equal(many.observations()[game], few.observations()[game])


def test_the_sampler_plays_game_i_the_same_in_any_batch() -> None:
    """One game alone draws the actions of the first of seven."""
    alone, many = played(1, 1), played(7, 1)
    assert alone.game(0).to_dict() == many.game(0).to_dict()


def test_samples_are_uniform_over_the_legal_actions() -> None:
    """Three actions, 30,000 draws: each a third, within five standard errors (408)."""
    legal = np.full(30_000, 1 | 1 << 17 | 1 << 63, np.uint64)
    counts = np.bincount(UniformSampler(30_000, 1)(legal), minlength=64)
    assert counts[[0, 17, 63]].sum() == 30_000
    assert np.abs(counts[[0, 17, 63]] - 10_000).max() < 408


def test_the_sampler_writes_to_out_and_gives_0_for_games_that_are_over() -> None:
    """An empty set has no action to draw."""
    out = np.full(2, -1)
    legal = np.array([0, 1 << 60], np.uint64)
    assert UniformSampler(2, 1)(legal, out) is out
    assert out.tolist() == [0, 60]


@pytest.mark.parametrize("legal", [np.zeros(3, np.uint64), np.zeros(2, np.int64)])
def test_the_sampler_refuses_other_shapes_and_types(legal: Any) -> None:
    """The error names the expected shape and type."""
    with pytest.raises(ValueError, match=r"legal must be uint64 \(2,\)"):
        UniformSampler(2)(legal)


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_a_number_of_threads_below_one_is_refused(threads: Any) -> None:
    """In the words of the other numbers."""
    with pytest.raises(ValueError, match="threads must be an integer of at least 1"):
        Batch(2, threads=threads)


@pytest.mark.parametrize("where", [[[0, 1], [2, 3]], True, np.zeros(3, np.bool_), [], [7]])
def test_what_names_no_games_changes_nothing(where: object) -> None:
    """Neither tables of indices, nor masks of another length, nor indices beyond the games."""
    batch = Batch(5, seed=0)
    states = batch.states.copy()
    if isinstance(where, list) and not where:
        batch.reset(where)
    else:
        with pytest.raises(IndexError):
            batch.reset(where)  # type: ignore[arg-type]
    assert np.array_equal(batch.states, states) and not batch.episodes.any()


def test_a_batch_resumes_from_its_state() -> None:
    """States, legal sets, episodes and kept actions; the copy plays and remembers the same."""
    one, two = (Batch(4, 3, seed=seed) for seed in (5, 5))
    for batch in (one, two):
        batch.keep_actions(100)
    play(one, 20)
    one.reset([1])
    play(one, 5)
    state = one.state_dict()
    assert sorted(state) == ["actions", "episodes", "legal", "states"]
    play(one, 5)
    two.load_state_dict(state)
    assert two.episodes.tolist() == [0, 1, 0, 0]
    play(two, 5)
    assert one.states.tobytes() == two.states.tobytes()
    assert np.array_equal(one.legal, two.legal) and np.array_equal(one.actions, two.actions)
    assert [two.game(k).record() for k in range(4)] == [one.game(k).record() for k in range(4)]


@pytest.mark.parametrize("wrong", ["missing", "shape", "episodes", "states", "table"])
def test_a_state_that_does_not_fit_changes_nothing(wrong: str) -> None:
    """An array is missing or has another shape, or its values are not those of such games."""
    batch = Batch(2, 3, seed=5)
    state, before = batch.state_dict(), batch.states.tobytes()
    if wrong == "missing":
        del state["episodes"]
    elif wrong == "shape":
        state["states"] = state["states"][:1]
    elif wrong == "episodes":
        state["episodes"][1] = -1
    elif wrong == "states":
        state["states"]["hand_sizes"][1, 0] += 1
    else:
        state["states"][:] = Batch(2, 4, seed=5).states
    with pytest.raises(ValueError):
        batch.load_state_dict(state)
    assert batch.states.tobytes() == before


def test_an_error_in_a_thread_is_raised_and_the_next_call_works() -> None:
    """No chunk is lost, and no thread either."""
    done = []

    def work(chunk: slice) -> None:
        done.append(chunk)
        if chunk.start:
            raise RuntimeError("in a thread")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="in a thread"):
            each_chunk(2, 10, work)
    assert sorted(chunk.start for chunk in done) == [0, 0, 5, 5]
