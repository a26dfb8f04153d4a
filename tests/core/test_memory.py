"""What a seat remembers, and the hands that others can hold given their moves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agents
from agents.beliefs.chain import (
    BELIEFS,
    BURN_IN,
    EXPERT,
    RULES,
    SURPRISE,
    THIN,
    begin,
    has_deal,
    redeal,
    walk,
)
from agents.search.agent import CHUNK, SearchAgent
from agents.validation import CheckedAgent
from taki_env import ACTIONS, CARDS, SYMBOLS, Batch, Game, Rules, View
from taki_env.base.jit import entry
from taki_env.core.bits import seed_words
from taki_env.core.memory import Memory
from taki_env.core.policies import POLICIES
from taki_env.core.state import GAME_DTYPE
from taki_env.envs.learners import LearnerGames
from taki_env.records.position import write_position
from tests.game.test_hidden import permuted
from tests.helpers import VARIANTS, game
from training.arena.match import Contestant, Match
from training.arena.tournament import play

Position = dict[str, Any]
SMALL = tuple(
    2 if name in ("red 1", "green 1", "red 3", "blue 3", "green stop") else
    1 if name in ("blue 1", "green 3", "king", "change color", "red +2", "blue taki") else 0
    for name in CARDS
)  # fmt: skip
TEN = ["red 1", "red 3", "red 4", "green 1", "green 3", "green 4", "blue 1", "blue 3", "king", "+3"]


def random_game(num_players: int, variant: str, seed: int, decisions: int = 400) -> Game:
    """Return a game after n random decisions, or before its last one."""
    table, choose = Game(num_players, VARIANTS[variant], seed), random.Random(seed)
    for _ in range(decisions):
        action = choose.choice(table.legal_actions())
        after = table.clone()
        after.apply(action)
        if after.is_over:
            break
        table = after
    return table


def past(table: Game) -> Iterator[tuple[Position, int, Position]]:
    """Yield every action of a game, with the positions before and after it."""
    again = Game._of(table.history.starts, table.rules)
    for action in table.history.actions[0].tolist():
        before = again.to_dict()
        again.apply(action)
        yield before, action, again.to_dict()


def gains(before: Position, action: int, after: Position) -> list[Counter[str]]:
    """Return what each seat has drawn in an action."""
    drawn = [Counter(new) for new in after["hands"]]
    for cards, old in zip(drawn, before["hands"], strict=True):
        cards.subtract(old)
    if action < 60:
        drawn[before["actor"]][CARDS[min(action, 56)]] += 1
    return drawn


def expected(table: Game, seat: int) -> tuple[Position, list[tuple[int, int, bool]], Any]:
    """Return where a seat's memory starts, the moves, and who drew each card of the pile when."""
    moves, drawn = [], {}
    position = Game._of(table.history.starts, table.rules).to_dict()
    for before, action, after in past(table):
        got = gains(before, action, after)
        left = len(before["draw_pile"]) - sum(sum(one.values()) for one in got)
        if left != len(after["draw_pile"]) or position["phase"] == "respond":
            position, moves, drawn = after, [], {}  # shuffled, or nobody may know who was asked
            continue
        asked = before["phase"] == "respond"
        if not asked or ACTIONS[action] != "pass" or before["actor"] == seat:
            moves.append((before["actor"], action, asked))
        top = len(before["draw_pile"])
        for card in before["draw_pile"][: top - left]:
            top -= 1
            drawn[top] = card, {s for s, one in enumerate(got) if one[card] > 0}, len(moves) - 1
    return position, moves, drawn


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_seat_remembers_all_that_it_saw_since_the_last_shuffle(
    variant: str, players: int
) -> None:
    """Moves, who drew, and of the cards its own; compared with positions before and after."""
    compared = 0
    for seed in range(12):
        table = random_game(players, variant, seed, 15 * seed)
        seat, memory = table.actor, table.view(remember=True).memory
        assert memory is not None
        position, moves, drawn = expected(table, seat)
        count = memory.counts[0]
        found = memory.moves[0, :count][["actor", "action", "answers"]].tolist()
        assert [(actor, action, bool(asked)) for actor, action, asked in found] == moves
        start = memory.starts[0]
        assert start["hand_sizes"][:players].tolist() == [len(h) for h in position["hands"]]
        assert int(start["draw_size"]) == len(position["draw_pile"])
        assert set(np.flatnonzero(memory.drawers[0] >= 0)) == set(drawn)
        for place, (card, seats, move) in drawn.items():
            assert memory.drawers[0, place] in seats
            assert memory.drawn_at[0, place] == move
            own = memory.drawers[0, place] == seat
            assert int(start["draw_pile"][place]) == (CARDS.index(card) if own else 0)
        own = write_position(start, table.rules)["hands"]
        assert own[seat] == position["hands"][seat]
        assert not any(hand for other, hand in enumerate(own) if other != seat)
        compared += count > 0
    assert compared >= 6


def lacked(table: Game, *actions: str) -> set[str]:
    """Return the cards that the player of the last action cannot have held."""
    for action in actions:
        table.apply(action)
    memory = table.view(remember=True).memory
    assert memory is not None
    word = int(memory.moves[0, memory.counts[0] - 1]["lacks"])
    assert word >> 56 in (0, 15)  # Change Color is four actions
    return {CARDS[card] for card in range(57) if word >> card & 1}


RED = {f"red {symbol}" for symbol in SYMBOLS}
SEVENS = {"red 7", "green 7", "blue 7", "yellow 7"}
WILD = {"super taki", "king", "+3", "change color"}


def test_a_player_who_draws_had_nothing_to_play_but_a_breaker() -> None:
    """Neither the color nor the symbol on the table, nor a colorless card (section 4)."""
    assert lacked(game([["green 1", "blue 3"], ["red 3"]]), "draw") == RED | SEVENS | WILD


def test_drawing_a_stack_reveals_nothing() -> None:
    """Drawing is always legal there."""
    assert lacked(game([["blue 3"], ["red 3"]], "red +2", pending_draw=2), "draw") == set()


def test_a_voluntary_draw_reveals_nothing() -> None:
    """Nor does a call, a card, or a TAKI left open."""
    at_will = {"rules": {"voluntary_draw": True}}
    assert lacked(game([["blue 3", "red 1"], ["red 3"]], **at_will), "draw") == set()
    hands = [["red 1", "red taki", "blue 1", "blue 3"], ["red 3"]]
    assert lacked(game(hands), "red 1") == set()
    assert lacked(game(hands), "red taki", "pass") == set()
    assert lacked(game([["red 1", "blue 3"], ["red 3"]]), "red 1", "say last card") == set()


def test_under_full_runs_who_closes_had_no_more_of_the_color() -> None:
    """Super takis aside (section 9)."""
    rules = {"rules": {"full_runs": True}}
    hands = [["red 1", "red taki", "blue 1", "blue 3"], ["red 3"]]
    assert lacked(game(hands, **rules), "red taki", "red 1", "close taki") == RED


def twin_of(table: Game, choose: random.Random) -> Game | None:
    """Return a game with other hidden cards that has always looked the same to the actor, or None.

    It tries a deal at random.
    """
    seat = table.actor
    again = Game._of(table.history.starts, table.rules)
    twin = Game.from_dict(permuted(again.to_dict(), seat, choose), seed=choose.randrange(99))
    for action in table.history.actions[0].tolist():
        if twin.actor != again.actor or action not in twin.legal_actions():
            return None
        twin.apply(action)
        again.apply(action)
    alike = twin.actor == seat and twin.record(seat) == again.record(seat)
    return twin if alike else None


def twins() -> list[tuple[Game, Game]]:
    """Return games and their twins, in which the other hand has played the same cards."""
    found, choose = [], random.Random(5)
    rules = Rules(deck=SMALL, hand_size=3)
    for seed in range(400):
        table, other = Game(2, rules, seed), random.Random(seed)
        for _ in range(5):
            if not table.is_over:
                table.apply(other.choice(table.legal_actions()))
        if table.is_over or len(table.legal_actions()) < 2:
            continue
        for _ in range(100):
            twin = twin_of(table, choose)
            hidden = 1 - table.actor
            if twin and twin.to_dict()["hands"][hidden] != table.to_dict()["hands"][hidden]:
                found.append((table, twin))
                break
    return found


def test_twins_are_remembered_alike_and_searched_alike() -> None:
    """Memory and search reveal nothing about hidden cards except what was played."""
    pairs = twins()
    assert len(pairs) >= 20
    for number, (table, twin) in enumerate(pairs):
        words = seed_words(number, 0)
        views = [one.view(words, remember=True) for one in (table, twin)]
        assert_equal(*(view.memory for view in views))
        agent = SearchAgent(40)
        assert str(agent.analyze(views[0])) == str(agent.analyze(views[1]))


def test_who_was_asked_and_passed_is_not_remembered() -> None:
    """Seat 1 could have broken a +3, or had nothing to break it with: seat 0 knows no difference.

    Nobody answers, so seats 1 and 2 draw three cards each.
    """
    memories = []
    for card, passes in (("+3 breaker", ["pass"]), ("green 9", [])):
        hands = [["red 1", "red 3", "+3"], ["red 5", "red 8", card], ["red 6", "red 8", "green 3"]]
        top = ["blue 1", "blue 3", "blue 4", "yellow 1", "yellow 3", "yellow 4"]
        table = game([sorted(hand, key=CARDS.index) for hand in hands], "red 7", top=top)
        for action in ("+3", *passes, "red 5", "red 6"):
            table.apply(action)
        memory = table.view(remember=True).memory
        assert memory is not None and memory.counts.tolist() == [3]
        assert sorted(memory.drawers[0, memory.drawers[0] >= 0]) == [1, 1, 1, 2, 2, 2]
        memories.append(memory)
    assert memories[0].starts["draw_size"] == memories[1].starts["draw_size"]
    assert_equal(*memories)


def after_a_silence(third: str, last: str, passes: list[str]) -> tuple[Game, Memory]:
    """Return a game after a +3 and a silent last card, for which the draw pile is not enough.

    Seat 0 draws four cards for its silence, seats 1 and 2 three each: after the first four the
    played cards are shuffled.
    """
    hands = [["red 1", "+3"], ["blue 3", "blue 4", third], ["green 3", "green 4", "green 5"]]
    top = ["blue 6", "blue 8", "blue 9", last]
    under = ["red 3", "red 4", "red 5", "red 6", "red 8", "red 9", "blue 1", "blue 5"]
    cards = [*hands[0], *hands[1], *hands[2], *top, *under, "red 7"]
    rules = {"deck": [cards.count(card) for card in CARDS], "hand_size": 1}
    hands = [sorted(hand, key=CARDS.index) for hand in hands]
    table = game(hands, "red 7", rules=rules, top=top, under=under)
    for action in ("+3", "pass", *passes):
        table.apply(action)
    while table.actor != 2:
        table.apply(table.legal_names()[0])
    memory = table.view(remember=True).memory
    assert memory is not None
    return table, memory


def test_who_was_asked_before_a_shuffle_is_not_remembered() -> None:
    """Seat 1 can break the +3 and does not, or cannot: seat 2 has seen the same."""
    table, memory = after_a_silence("+3 breaker", "green 1", ["pass"])
    twin, other = after_a_silence("green 1", "+3 breaker", [])
    assert np.array_equal(table.observation(2), twin.observation(2))
    assert_equal(memory, other)


# Deals that agree with the past -------------------------------------------------------------------


@entry
def sample_hands(
    root: Any, memory: Any, belief: int, word: np.uint64, deals: int, out: Any
) -> bool:
    """Write the records of deals of a chain to `out`."""
    chain = begin(root[0], memory, 0, belief, BURN_IN, word)
    if not has_deal(chain):
        return False
    for k in range(deals):
        walk(chain, THIN)
        redeal(chain, root[0], out[k : k + 1], chain.word[0])
    return True


def sampled(table: Game, belief: int, deals: int) -> np.ndarray[Any, Any]:
    """Return records of deals that agree with what the actor remembers."""
    memory, out = table.view(remember=True).memory, np.empty(deals, GAME_DTYPE)
    assert sample_hands(table.state, memory, belief, np.uint64(99), deals, out)
    return out


def hands_of(records: Any, rules: Rules, seat: int) -> Counter[tuple[str, ...]]:
    """Count the hands of a seat."""
    return Counter(tuple(write_position(record, rules)["hands"][seat]) for record in records)


Move = tuple[int, str, list[str]]
"""Who did what, and what seat 0 held afterwards."""


def likelihood(table: Game, moves: list[Move]) -> float:
    """Play moves over again; return how likely those of seat 1 are.

    Half of all players are experts who take any legal action one time in ten (`SURPRISE`), half
    always do.
    """
    expert, ones = agents.load("expert"), [1.0, 1.0]
    for actor, action, own in moves:
        legal = table.legal_names()
        if table.actor != actor or action not in legal:
            return 0.0
        if actor == 1:
            chosen = ACTIONS[expert.act(table.view())[0]] == action
            ones[0] *= SURPRISE / len(legal) + (1 - SURPRISE) * chosen
            ones[1] *= 1 / len(legal)
        table.apply(action)
        if table.to_dict()["hands"][0] != own:
            return 0.0
    return sum(ones) / 2


def played(rules: Rules, seed: int) -> tuple[Game, list[Move]]:
    """Return a game that experts have played until seat 0 moves again, and the moves."""
    table, expert = Game(2, rules, seed), agents.load("expert")
    moves: list[Move] = []
    while not table.is_over and (len(moves) < 5 or table.actor != 0):
        name = ACTIONS[expert.act(table.view())[0]]
        actor = table.actor
        table.apply(name)
        moves.append((actor, name, table.to_dict()["hands"][0]))
    return table, moves


@pytest.mark.parametrize("belief", [RULES, EXPERT])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_hands_are_drawn_as_often_as_they_are_likely(belief: int, seed: int) -> None:
    """All deals of a small deck, each weighed by what the other has done in it."""
    rules = Rules(deck=[TEN.count(card) for card in CARDS], hand_size=2)
    going = (s for s in range(100) if not played(rules, s)[0].is_over)
    deal = next(islice(going, seed, None))
    table, moves = played(rules, deal)
    at = Game(2, rules, deal).to_dict()
    unseen = at["hands"][1] + at["draw_pile"]
    weights: Counter[tuple[str, ...]] = Counter()
    for order in permutations(unseen):
        hands = [at["hands"][0], sorted(order[:2], key=CARDS.index)]
        start = Game.from_dict({**at, "hands": hands, "draw_pile": list(order[2:])})
        if weight := likelihood(start, moves):
            hand = tuple(start.to_dict()["hands"][1])
            weights[hand] += weight if belief == EXPERT else 1.0  # type: ignore[assignment]
    found = hands_of(sampled(table, belief, 20_000), rules, 1)
    assert set(found) <= set(weights) and len(weights) > 1
    total = sum(weights.values())
    distance = sum(abs(found[hand] / 20_000 - weights[hand] / total) for hand in weights) / 2
    assert distance < 0.03


def test_a_card_is_kept_as_often_as_it_is_likely_where_much_was_played() -> None:
    """Seat 1 has laid 24 red cards in a run and holds one card; the second red 1 is unseen.

    The hand is that red 1, or one of three others that lie in the pile otherwise. Either copy of
    red 1 can have been the one that was laid, unless both were in the hand: so that is half as
    likely as each other card, 1/7.
    """
    twice = [f"red {symbol}" for symbol in SYMBOLS if symbol not in ("1", "taki")] * 2
    laid = [*twice, "red 1"]
    others = ["green 1", "blue 3", "yellow 4"]
    rest = ["red 1", *others]
    hands = [["green 5", "green 6"], sorted(["red taki", *laid, "green 1"], key=CARDS.index)]
    pile = [card for card in rest if card != "green 1"]
    cards = [*hands[0], *hands[1], *pile, "red taki"]
    rules = {"deck": [cards.count(card) for card in CARDS], "hand_size": 1}
    table = game(hands, "red taki", rules=rules, top=pile, turn=1, actor=1)
    for action in ("red taki", *laid, "close taki", "say last card"):
        table.apply(action)
    assert table.actor == 0
    deals = 40_000
    found = hands_of(sampled(table, RULES, deals), table.rules, 1)
    assert {hand[0] for hand in found} == set(rest) and all(len(hand) == 1 for hand in found)
    assert abs(found["red 1",] / deals - 1 / 7) < 0.02
    for card in others:
        assert abs(found[card,] / deals - 2 / 7) < 0.02


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("players", [2, 4])
def test_every_deal_can_have_led_here(variant: str, players: int) -> None:
    """The actor sees the same in it, and no hand holds what its player lacked."""
    seen = 0
    for seed in range(8):
        table = random_game(players, variant, seed, 6 + 5 * seed)
        memory = table.view(remember=True).memory
        if not memory.counts[0]:
            continue
        for record in sampled(table, EXPERT, 5):
            at = write_position(record, table.rules)
            twin = Game.from_dict(at)
            seat = table.actor
            assert np.array_equal(twin.observation(seat), table.observation(seat))
            assert twin.legal_actions() == table.legal_actions()
            seen += 1
    assert seen >= 10


def test_search_knows_who_has_drawn() -> None:
    """Seat 1 drew on a red card: it has no red, so that red keeps it from going out."""
    hands = [["red 1", "red 5", "green 5", "green 1"], ["green 3", "green 4", "green 8"]]
    table = game(hands, "red 9", turn=1, actor=1)
    table.apply("draw")
    records = sampled(table, RULES, 200)
    for record in records:
        held = write_position(record, table.rules)["hands"][1]
        assert len(held) == 4 and sum(card in RED for card in held) <= 1  # the one that was drawn


# Who remembers ------------------------------------------------------------------------------------


def assert_equal(one: Memory | None, other: Memory | None) -> None:
    """Two memories of the same games are equal, byte for byte."""
    assert one is not None and other is not None
    for name, array in one._asdict().items():
        assert array.tobytes() == getattr(other, name).tobytes(), name


def test_a_batch_remembers_what_a_game_does() -> None:
    """If its actions are kept, from deal to deal; not if there were too many."""
    batch, games = Batch(6, 3, seed=4), [Game(3, seed=4)]
    batch.keep_actions(30)
    assert Batch(6, 3, seed=4).view(np.arange(6)).memory is None
    choose = random.Random(1)
    for _ in range(30):
        if games[0].is_over:
            break
        actions = [choose.choice(batch.game(i).legal_actions() or [0]) for i in range(6)]
        games[0].apply(actions[0])
        batch.step(actions)
        if not games[0].is_over:
            assert_equal(batch.view(np.array([0])).memory, games[0].view(remember=True).memory)
    batch.reset()
    assert batch.view(np.arange(6)).memory.counts.tolist() == [0] * 6
    little = Batch(1, 3, seed=4)
    little.keep_actions(2)
    for wanted in (1, 2, 0):
        little.step([little.game(0).legal_actions()[0]])
        assert little.view(np.array([0])).memory.counts.tolist() == [wanted]


def test_a_view_remembers_the_games_of_its_time() -> None:
    """However late the memory is read."""
    batch = Batch(2, 2, seed=4)
    batch.keep_actions(30)
    batch.step([batch.game(i).legal_actions()[0] for i in range(2)])
    views = [batch.view(np.arange(2)) for _ in range(2)]
    early = views[0].memory
    batch.step([batch.game(i).legal_actions()[0] for i in range(2)])
    batch.reset()
    assert_equal(early, views[1].memory)


class Historian:
    """Plays the first legal action, and keeps what it remembers."""

    name, remembers = "historian", True

    def __init__(self) -> None:
        self.seen: list[int] = []

    def act(self, view: View) -> Any:
        """Return the first legal actions."""
        assert view.memory is not None
        self.seen += view.memory.counts.tolist()
        return view.action_masks.argmax(axis=1)


def test_agents_that_remember_do_so_wherever_they_play() -> None:
    """In the arena, as opponents, and through the wrapper that checks answers."""
    arena, opponent = Historian(), Historian()
    table = Match(
        Batch(4, 2, seed=1), np.array([[len(POLICIES), 0]] * 4),
        {len(POLICIES): Contestant("historian", lambda: arena)}, seed_words(1, np.arange(4)),
    )  # fmt: skip
    table.play()
    games = LearnerGames(4, 2, opponents=CheckedAgent(opponent), seed=1)
    games.restart()
    for _ in range(5):
        masks = games.batch.action_masks()[~games.ended]
        games.step(masks.argmax(axis=1), np.flatnonzero(~games.ended))
        games.replace_ended()
    assert max(arena.seen) > 5 and max(opponent.seen) > 5
    assert LearnerGames(4, 2, opponents="greedy", seed=1).batch.actions is None


def test_learners_games_resume_with_what_opponents_remember() -> None:
    """A copy of the state continues as the original does."""

    def made() -> LearnerGames:
        return LearnerGames(3, 2, opponents=SearchAgent(20, seed=3), seed=1)

    def step(games: LearnerGames) -> None:
        games.opponents.agents[-1]._rng = np.random.default_rng(5)
        games.step(games.batch.action_masks().argmax(axis=1))
        games.replace_ended()

    games = made()
    games.restart()
    for _ in range(4):
        step(games)
    again = made()
    again.load_state_dict(games.state_dict())
    for _ in range(6):
        step(games)
        step(again)
        assert games.batch.states.tobytes() == again.batch.states.tobytes()
        assert np.array_equal(games.batch.actions, again.batch.actions)


def test_the_past_of_another_game_is_forgotten() -> None:
    """A state of games of another seed, or with other actions, leaves nothing to remember."""

    def made(seed: int) -> tuple[Historian, LearnerGames]:
        opponent = Historian()
        games = LearnerGames(8, 3, opponents=opponent, seed=seed)
        games.restart()
        return opponent, games

    def step(games: LearnerGames, times: int) -> None:
        for _ in range(times):
            live = np.flatnonzero(~games.ended)
            games.step(games.batch.action_masks()[live].argmax(axis=1), live)

    _, games = made(1)
    step(games, 6)
    state = games.state_dict()
    for seed, action in ((1, None), (2, None), (3, None), (1, 5), (1, 60), (1, 255)):
        opponent, others = made(seed)
        changed = {**state, "actions": state["actions"].copy()}
        if action is not None:
            changed["actions"][:] = action
        opponent.seen.clear()
        others.load_state_dict(changed)
        step(others, 1)
        assert opponent.seen and (max(opponent.seen) > 5) == (seed == 1 and action is None)
        before = [int(others.game(index).history.lengths[0]) for index in range(8)]
        assert (max(before) > 5) == (seed == 1 and action is None)


def test_opponents_that_come_later_remember_the_games_that_are_dealt_from_then_on() -> None:
    """Games that have started have no history."""
    games, opponent = LearnerGames(4, 2, opponents="random", seed=1), Historian()
    games.restart()
    for _ in range(4):
        games.step(games.batch.action_masks().argmax(axis=1))
        games.replace_ended()
    games.change_opponents(opponent)
    games.reset()
    for _ in range(5):
        live = np.flatnonzero(~games.ended)
        games.step(games.batch.action_masks()[live].argmax(axis=1), live)
    assert max(opponent.seen) >= 5


def test_belief_changes_how_search_plays() -> None:
    """The name shows the belief, and with the same random words the play differs."""
    assert SearchAgent(50).name == "search:simulations=50"
    assert SearchAgent(50, belief="rules").name == "search:simulations=50,belief=rules"
    assert [SearchAgent(belief=belief).remembers for belief in BELIEFS] == [False, True, True]
    with pytest.raises(ValueError, match="belief must be one of uniform, rules, expert"):
        SearchAgent(belief="none")
    reports = [play([f"search:simulations=50,belief={b}", "expert"], 2, 40) for b in BELIEFS]
    assert len({str(report.lengths) for report in reports}) == 3


def test_a_searcher_remembers_by_the_clock_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree grows over several calls, each with its own chain."""
    table = random_game(3, "standard", 3, 30)
    view = table.view(remember=True)
    assert view.memory is not None and view.memory.counts[0] > 5
    clock = SimpleNamespace(perf_counter=iter([0.0, 0.1, 0.2]).__next__)  # a chunk takes 100 ms
    monkeypatch.setattr("agents.search.agent.time", clock)
    (found,) = SearchAgent(milliseconds=300).analyze(view)
    assert sum(candidate.visits for candidate in found) == 2 * CHUNK
    assert sorted(candidate.action for candidate in found) == table.legal_actions()


def test_a_game_may_be_long_beyond_measure() -> None:
    """No memory is taken for actions that will hardly be."""
    report = play(["search:simulations=2", "expert"], 2, 2, max_decisions=10**12)
    assert report.lengths.games == 2


def test_in_the_arena_a_searcher_that_remembers_plays_the_same_whatever_the_batch() -> None:
    """Also by threads."""
    entrants = ["search:simulations=20", "expert"]
    assert play(entrants, 3, 21, batch=4) == play(entrants, 3, 21)
