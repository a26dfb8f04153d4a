"""The arena: duplicate deals, statistics, evaluation, failing agents, and the commands."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.builtin import GreedyAgent, RandomAgent
from agents.cli import make_console
from agents.statistics import deal_interval, wilson_interval
from agents.validation import AgentError, Failure, error_text
from taki_env import Batch, View
from taki_env.core.bits import seed_words
from taki_env.core.policies import POLICIES
from training.arena import command as arena
from training.arena import leaderboard, ratings
from training.arena.command import ArenaArgs
from training.arena.evaluate import evaluate
from training.arena.heatmap import plot_matrix
from training.arena.match import MOST_LIMITS, Contestant, Match
from training.arena.ratings import GROUPS, bootstrap, grouped, strengths
from training.arena.report import Report
from training.arena.tables import show
from training.arena.tournament import Tournament, play

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng()  # views of the arena have their own random words
AGENTS = """
import time
from agents.builtin import GreedyAgent


class Seeded(GreedyAgent):
    def __init__(self, seed):
        super().__init__()
        self.name = f"seeded {seed}"


def unseeded():
    return GreedyAgent()


class Slow(GreedyAgent):
    def act(self, view):
        time.sleep(0.01)
        return super().act(view)


class Hanging(GreedyAgent):
    made = 0

    def __init__(self):
        super().__init__()
        Hanging.made += 1

    def act(self, view):
        time.sleep(1000)


class Broken:
    def __init__(self):
        raise OSError("no weights")


class Shy(GreedyAgent):
    name = property(lambda self: 1 / 0)


class Number(GreedyAgent):
    name = 7


nothing = object
"""
"""Source of a user's module of agents."""


class Named:
    """An agent that changes the answers of greedy."""

    def __init__(self, name: str, answer: Callable[[View, Any], Any] = lambda v, a: a) -> None:
        self.name, self._answer, self._greedy = name, answer, GreedyAgent()

    def act(self, view: View) -> Any:
        """Return the changed actions."""
        return self._answer(view, self._greedy.act(view))


class AskedAgent:
    """A built-in policy that is asked as other agents are."""

    def __init__(self, name: str) -> None:
        self.name, self._agent = name, agents.load(name)

    def act(self, view: View) -> Any:
        """Return the policy's actions."""
        return self._agent.act(view)


def sampled() -> RandomAgent:
    """Return a random agent outside the compiled loop, which draws from the words of its view."""
    agent = RandomAgent()
    agent.name = "sampled"
    return agent


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports faster; a separate test covers the bootstrap."""
    monkeypatch.setattr(ratings, "RESAMPLES", 20)


@pytest.fixture
def own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a module of agents to the current folder and return its name."""
    (tmp_path / "own_agents.py").write_text(AGENTS)
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_agents", raising=False)
    return "own_agents"


# Deals and seats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3])
def test_equal_deterministic_agents_win_equal_shares_of_every_deal(num_players: int) -> None:
    """The same seat wins in every rotation, so each member of the lineup wins once per deal."""
    entrants = [Named(f"greedy {k}") for k in range(num_players)]
    report = play(entrants, num_players, 20 * num_players, lineup=True)
    assert report.capped == 0
    for rate in report.lineups[0].rates.values():
        assert (rate.wins, rate.games) == (20, 20 * num_players)
        assert rate.interval == wilson_interval(20, 20 * num_players)


def test_an_agent_against_itself_wins_half() -> None:
    """A lineup may repeat an agent; its win rate is per seat."""
    rate = play(["random", "random"], 2, 40, lineup=True).lineups[0].rates["random"]
    assert (rate.win_rate, rate.seats, rate.wins) == (0.5, 2, 40)


def test_every_lineup_and_rotation_plays_the_same_deal() -> None:
    """Deal 1 equals deal 1 of `Batch`, and every member of a lineup takes every seat."""
    tournament = Tournament(["random", "greedy"], num_players=3, games=6, seed=5)
    one, lineups, rotations = np.ones(6, int), np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    states = tournament._match(one, lineups, rotations).batch.states
    expected = Batch(2, 3, seed=5).states[1]
    assert all(state == expected for state in states)
    assert tournament.lineups == [(0, 1, 1), (1, 0, 0)]
    assert tournament.seating[0].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_games_are_rounded_up_to_whole_deals() -> None:
    """Seven games of three players take three deals, for each of the six ordered pairs."""
    report = play(["random", "greedy", sampled()], 3, 7)
    assert [lineup.games for lineup in report.lineups] == [9] * 6
    assert report.games == 54


def test_two_players_meet_once() -> None:
    """One lineup fills both entries of the matrix, which add up to one."""
    report = play(["random", "greedy"], 2, 100)
    one, other = report.matrix["random"]["greedy"], report.matrix["greedy"]["random"]
    assert len(report.lineups) == 1
    assert one.wins + other.wins == one.games == 100
    assert one.interval == pytest.approx((1 - other.interval[1], 1 - other.interval[0]))


def test_slow_agents_play_fewer_deals() -> None:
    """The limit shortens only the lineups of its agent."""
    entrants = ["random", "greedy", sampled()]
    report = play(entrants, 2, 40, most_games={"sampled": 10})
    games = {lineup.agents: lineup.games for lineup in report.lineups}
    assert games == {
        ("random", "greedy"): 40, ("random", "sampled"): 10, ("greedy", "sampled"): 10,
    }  # fmt: skip
    with pytest.raises(ValueError, match="most_games of sampled must be an integer of at least 1"):
        play(entrants, 2, 40, most_games={"sampled": 0})
    alone = play(entrants[:2], 2, 40)
    assert report.matrix["random"]["greedy"] == alone.matrix["random"]["greedy"]


def test_a_report_does_not_depend_on_the_batch_size() -> None:
    """Agents that sample, re-deal or fail included, at three players."""

    def flawed(view: View, actions: Any) -> Any:
        if np.any(view.random_words(RNG) % 50 == 0):
            raise ZeroDivisionError("one time in fifty")
        return actions

    def redealing(view: View, actions: Any) -> Any:
        held = view.sample_states(3, RNG)["change_colors"].astype(int)  # (games, 3, seats)
        return np.where(held.sum((1, 2)) % 2, actions, view.built_in("random", RNG))

    entrants = ["random", "greedy", sampled(), Named("flawed", flawed)]
    entrants.append(Named("redealing", redealing))
    reports = [play(entrants, 3, 30, 1, batch=batch) for batch in (7, 500)]
    assert reports[0] == reports[1]
    assert {row.agent for row in reports[0].forfeits} == {"flawed"}
    assert reports[0] != play(entrants, 3, 30, 2)


@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_a_built_in_policy_plays_as_well_compiled_as_asked(name: str) -> None:
    """Greedy and expert draw nothing, so their games are the same either way."""
    asked, compiled = (play([one, sampled()], 3, 60) for one in (AskedAgent(name), name))
    assert asked.lineups == compiled.lineups


def test_the_expert_leaves_the_words_of_the_others_alone() -> None:
    """A compiled expert changes nothing for compiled policies that draw, at the same table."""
    asked, compiled = (play([one, "random"], 3, 60) for one in (AskedAgent("expert"), "expert"))
    assert asked.lineups == compiled.lineups


def test_words_of_a_decision_depend_on_what_the_seat_knows() -> None:
    """Not on the games beside it; and they differ between games, seats and decisions."""
    words = seed_words(0, np.arange(50), stream=3)
    table = Match(Batch(50, 2), np.full((50, 2), len(POLICIES)), {}, words)
    rng = np.random.default_rng()
    drawn = [table.view(np.arange(50)).random_words(rng)]
    assert table.view(np.array([7])).random_words(rng) == drawn[0][7]
    for _ in range(20):
        live = np.flatnonzero(table.batch.legal)
        table.accept(live, table.batch.view(live).built_in("random", rng))
        drawn.append(table.view(np.flatnonzero(table.batch.legal)).random_words(rng))
    every = np.concatenate(drawn)
    assert np.unique(every).size == every.size


# Statistics ---------------------------------------------------------------------------------------


def test_wilson_interval_of_textbook_values() -> None:
    """0 of 10 gives [0, 0.2775] and 5 of 10 gives [0.2366, 0.7634] (Newcombe 1998)."""
    assert wilson_interval(0, 10) == pytest.approx((0, 0.27753), abs=1e-5)
    assert wilson_interval(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    with pytest.raises(ValueError, match="wins must be"):
        wilson_interval(11, 10)


def test_interval_of_hand_made_deals() -> None:
    """16 deals of two games: 4 with no win, 8 with one, 4 with two.

    The mean is 1/2, the variance 8 x 1/4 / 15, and Student's t with 15 degrees is 2.13145.
    """
    wins = np.repeat([0.0, 1.0, 2.0], [4, 8, 4])
    margin = 2.13145 * math.sqrt(2 / 15 / 16)
    expected = (0.5 - margin, 0.5 + margin)
    assert deal_interval(wins, np.full(16, 2.0)) == pytest.approx(expected, abs=1e-6)


def test_intervals_of_deals_that_agree_are_wilsons() -> None:
    """One deal, or equal deals, give no estimate of the variance between deals."""
    assert deal_interval(np.array([1.0]), np.array([2.0])) == wilson_interval(1, 2)
    assert deal_interval(np.ones(30), np.full(30, 2.0)) == wilson_interval(30, 60)


def test_strengths_are_recovered_from_the_counts_that_they_predict() -> None:
    """Bradley-Terry: i beats j in w_i / (w_i + w_j) of the games."""
    elo = np.array([0.0, 100.0, 250.0, -60.0])
    odds = 10 ** (elo / 400)
    counts = 1e5 * odds[:, None] / (odds[:, None] + odds)
    np.fill_diagonal(counts, 0)
    assert strengths(counts) == pytest.approx(elo - elo.mean(), abs=0.1)


def test_strengths_agree_with_luces_choice_at_larger_tables() -> None:
    """One of strength w against three of strength v wins w / (w + 3 v) of the games."""
    w, v = 10 ** (150 / 400), 1.0
    one_wins, other_wins = w / (w + 3 * v), 3 * v / (w + 3 * v)
    counts = 1e5 * np.array([[0, 3 * one_wins], [other_wins, 0]])  # a winner beats each other seat
    first, second = strengths(counts)
    assert first - second == pytest.approx(150, abs=0.1)


def test_strengths_stay_finite_without_a_win() -> None:
    """An agent that loses every game is far below; without games all strengths are equal."""
    first, second = strengths(np.array([[0.0, 1000.0], [0.0, 0.0]]))
    assert 800 < first - second < 4000
    assert strengths(np.zeros((3, 3))) == pytest.approx(np.zeros(3), abs=1e-9)


def test_bootstrap_has_the_width_of_the_known_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,500 deals, each won outright: the error of the log odds is 0.04, 6.95 Elo points."""
    monkeypatch.setattr(ratings, "RESAMPLES", 1000)
    counts = np.zeros((2500, 2, 2))
    counts[::2, 0, 1] = counts[1::2, 1, 0] = 2
    (low, high), zero = bootstrap(counts, zero=1, seed=0)
    assert zero.tolist() == [0, 0]
    assert high - low == pytest.approx(2 * 1.96 * 6.95, rel=0.1)
    assert low < 0 < high


def test_groups_of_deals_keep_all_of_them() -> None:
    """Rows that are GROUPS apart are summed; fewer rows stay as they are."""
    rows = np.ones((2 * GROUPS + 5, 4))
    assert grouped(rows).shape == (GROUPS, 4)
    assert grouped(rows)[:, 0].tolist() == [3] * 5 + [2] * (GROUPS - 5)
    assert np.array_equal(grouped(rows[:7]), rows[:7])


def test_greedy_is_rated_above_random_at_zero() -> None:
    """In any order of names; without random, the first agent is at 0."""
    report = play(["greedy", "random"], 2, 1000)
    first, second = report.ratings
    assert (first.agent, second.agent, second.elo, report.zero) == ("greedy", "random", 0, "random")
    assert 0 < first.interval[0] < first.elo < first.interval[1]
    assert play([sampled(), "greedy"], 2, 10).zero == "sampled"


def test_capped_games_have_no_winner() -> None:
    """Nobody can empty a hand in three decisions."""
    report = play(["random", "greedy"], 2, 20, max_decisions=3)
    assert (report.capped, report.games) == (20, 20)
    assert report.lengths and (report.lengths.mean, report.lengths.longest) == (3, 3)
    assert report.matrix["greedy"]["random"].interval == wilson_interval(0, 20)
    assert {rating.elo for rating in report.ratings} == {0}
    assert all(seat.win_rate == 0 for seat in report.seats)


def test_win_rates_of_seats_add_up_to_one() -> None:
    """If no game is capped."""
    report = play(["random", "greedy"], 4, 400)
    assert report.capped == 0
    assert sum(seat.win_rate for seat in report.seats) == pytest.approx(1)
    assert {seat.games for seat in report.seats} == {800}


def test_times_are_those_of_decisions() -> None:
    """A sleep of 2 ms per call shows; the built-in policy has a separate entry."""

    def slow(view: View, actions: Any) -> Any:
        time.sleep(0.002)
        return actions

    built_in, asked = play([Named("slow", slow), "random"], 2, 4, batch=1).timing
    assert (built_in.agents, asked.agents) == (("random",), ("slow",))
    assert built_in.mean < 1 <= 2 <= asked.mean <= 100
    assert asked.percentile_95 >= 2


# Evaluation ---------------------------------------------------------------------------------------


def test_evaluation_agrees_with_the_arena() -> None:
    """The figures are those of the agent's seat in the lineup, whatever the batch size."""
    report = play(["random", "greedy", "greedy"], 3, 60, seed=4, lineup=True, batch=7)
    rate, result = report.lineups[0].rates["random"], evaluate("random", "greedy", 60, 3, seed=4)
    assert (result.wins, result.games, result.win_rate) == (rate.wins, rate.games, rate.win_rate)
    assert result.interval == rate.interval
    assert report.lengths and result.mean_decisions == report.lengths.mean


def test_an_agent_against_itself_wins_exactly_its_share_of_duplicate_deals() -> None:
    """Greedy is deterministic, so it wins one of the two games of each deal."""
    for agent in ("greedy", agents.load("greedy")):
        result = evaluate(agent, "greedy", games=200)
        assert (result.agent, result.opponent) == ("greedy", "greedy")
        assert (result.wins, result.games) == (100, 200)
        assert result.interval == wilson_interval(100, 200)


@pytest.mark.parametrize("num_players", [3, 10])
def test_evaluation_rotates_all_seats(num_players: int) -> None:
    """At any table size the deterministic greedy wins one game of each deal."""
    result = evaluate("greedy", "greedy", 20 * num_players, num_players)
    assert result.wins + result.capped >= 20 >= result.wins


def test_different_agents_with_one_name_are_told_apart() -> None:
    """An evaluation reports no agent as playing against itself because of its name."""
    first = Named("greedy", lambda view, actions: view.built_in("random", RNG))
    one, other = evaluate(first, "greedy", 100), evaluate("greedy", first, 100)
    assert (one.agent, one.opponent) == (other.agent, other.opponent) == ("greedy", "greedy")
    assert one.win_rate < 0.5 < other.win_rate


def test_greedy_beats_random() -> None:
    """By the margin of plain rules of thumb: at least 68% of duplicate deals."""
    assert evaluate("greedy", "random", games=20_000).win_rate >= 0.68


@pytest.mark.parametrize("first", [True, False])
def test_a_failing_agent_ends_the_evaluation(first: bool) -> None:
    """One failure is enough: forfeits never count as losses."""

    def flawed(view: View, actions: Any) -> Any:
        if np.any(view.legal == np.uint64(1 << 60)):  # the only legal action is to draw
            raise LookupError("cannot draw")
        return actions

    sides = (Named("flawed", flawed), "greedy")
    with pytest.raises(AgentError, match=r"^flawed: LookupError: cannot draw$"):
        evaluate(*(sides if first else reversed(sides)), games=60)


# Agents that fail ---------------------------------------------------------------------------------


def leave(view: View, actions: Any) -> None:
    """Try to end the program."""
    sys.exit(3)


FLAWS: dict[str, tuple[Callable[[View, Any], Any], str]] = {
    "illegal action": (lambda view, actions: actions - 100, "not an action"),
    "wrong shape": (lambda view, actions: actions[:, None], r"(1, 1), not (1,)"),
    "wrong type": (lambda view, actions: actions.astype(float), "float64, not integers"),
    "exception": (lambda view, actions: {}["key"], "KeyError: 'key'"),
}


@pytest.mark.parametrize("reason", FLAWS)
def test_an_agent_that_fails_loses_and_the_others_share_the_win(reason: str) -> None:
    """At three players each of the other seats has half a win; other pairs play on."""
    answer, words = FLAWS[reason]
    report = play([Named("flawed", answer), "random", "greedy"], 3, 30)
    lineup = next(x for x in report.lineups if x.agents == ("flawed", "random", "random"))
    assert lineup.rates["flawed"].wins == lineup.rates["flawed"].win_rate == 0
    assert lineup.rates["random"].wins + lineup.capped == 30
    assert lineup.forfeited > 20  # another may win before the first move
    (forfeits,) = report.forfeits
    assert (forfeits.agent, forfeits.reason) == ("flawed", reason)
    assert words in forfeits.example
    assert report.matrix["greedy"]["random"].win_rate > 0.4
    assert report.ratings[-1].agent == "flawed"


def test_the_win_of_a_forfeited_game_is_shared_equally() -> None:
    """At four players in one deal, when the failing agent moves first in all rotations."""
    report = play([Named("flawed", leave), *map(Named, "abc")], 4, 40, lineup=True)
    rates = report.lineups[0].rates
    forfeited = report.lineups[0].forfeited
    assert report.forfeits[0].reason == "exception"
    assert forfeited == 40 and all(rates[name].wins == pytest.approx(40 / 3) for name in "abc")
    assert report.lengths is None


def test_only_the_guilty_games_are_forfeited() -> None:
    """An agent that fails whenever one of its games is flawed loses that game alone."""

    def fails_at_pass(view: View, actions: Any) -> Any:
        if np.any(view.legal == np.uint64(1 << 60)):  # nothing but to draw
            raise LookupError("cannot draw")
        return actions

    batched, alone = (
        play([Named("flawed", fails_at_pass), "greedy"], 2, 60, batch=batch) for batch in (60, 1)
    )
    assert batched == alone
    (forfeits,) = batched.forfeits
    assert 0 < forfeits.games < 60 and forfeits.example == "LookupError: cannot draw"
    assert batched.matrix["flawed"]["greedy"].wins > 0


def test_an_agent_that_hangs_is_made_anew_and_then_disqualified(own_code: str) -> None:
    """The third call for a game beyond the limit is the last; that of the batch does not count."""
    spec = f"import:{own_code}:Hanging"
    report = play([spec, "random"], 2, 8, time_limit=0.02)
    reasons = {forfeits.reason: forfeits.games for forfeits in report.forfeits}
    assert reasons["time limit"] == 3
    assert report.matrix[spec]["random"].wins == 0
    assert reasons["disqualified"] + 3 == report.lineups[0].forfeited
    assert sys.modules[own_code].Hanging.made == 4
    assert "no answer within 0.02 s" in report.forfeits[0].example


def test_a_hanging_agent_does_not_hold_up_many_games(own_code: str) -> None:
    """It costs ten limits for the batch, ten for a part, and three for single games."""
    report = play([f"import:{own_code}:Hanging", "random"], 2, 200, time_limit=0.02)
    assert sys.modules[own_code].Hanging.made == 5  # one more after each call but the last
    reasons = {forfeits.reason: forfeits.games for forfeits in report.forfeits}
    assert reasons["time limit"] == 3 and reasons["disqualified"] > 100


def test_an_agent_that_is_slow_for_many_games_plays_on() -> None:
    """It is asked for fewer games at once and forfeits none."""

    def slow(view: View, actions: Any) -> Any:
        time.sleep(0.02 * len(view))
        return actions

    contestant = Contestant("slow", lambda: Named("slow", slow), time_limit=0.1)
    words = seed_words(0, np.arange(60), stream=3)
    numbers = np.tile([len(POLICIES), 0], (60, 1))
    table = Match(Batch(60, 2), numbers, {len(POLICIES): contestant}, words, 6)
    table.play()
    assert contestant.most_games == MOST_LIMITS and contestant.hangs == 0
    assert not table.failures


def test_an_agent_that_is_slow_within_its_limit_plays_on() -> None:
    """The limit of a call is that of a decision times the games in it."""

    def slow(view: View, actions: Any) -> Any:
        time.sleep(0.002 * len(view))
        return actions

    assert not play([Named("slow", slow), "random"], 2, 6, time_limit=0.5).forfeits


def test_without_a_limit_no_thread_is_needed() -> None:
    """The answers are the same."""
    entrants = [Named("asked"), "random"]
    assert play(entrants, 2, 20, time_limit=math.inf) == play(entrants, 2, 20)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, SystemExit])
def test_whatever_an_agent_raises_is_its_failure(kind: type[BaseException]) -> None:
    """Ctrl-C reaches the main thread, never that of an agent."""

    def raising(view: View, actions: Any) -> None:
        raise kind

    report = play([Named("raising", raising), "random"], 2, 4)
    assert report.forfeits[0].reason == "exception"
    assert kind.__name__ in report.forfeits[0].example


class Lazy:
    """An answer that does its work when it becomes an array."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work

    def __array__(self, *args: Any, **options: Any) -> Any:
        """Do it."""
        return self._work()


def leaving() -> None:
    """Raise what ends a program."""
    raise SystemExit(2)


@pytest.mark.parametrize(
    ("work", "time_limit", "reasons"),
    [
        (lambda: time.sleep(1000), 0.02, {"time limit", "disqualified"}),
        (leaving, 10.0, {"wrong type"}),
    ],
)
def test_an_answer_that_does_its_work_late_is_the_agents(
    work: Callable[[], Any], time_limit: float, reasons: set[str]
) -> None:
    """It is within the time limit, and whatever it raises loses a game and no more."""
    lazy = Named("lazy", lambda view, actions: Lazy(work))
    report = play([lazy, "random"], 2, 8, time_limit=time_limit)
    assert {forfeits.reason for forfeits in report.forfeits} == reasons


def test_the_time_of_a_late_answer_is_the_agents() -> None:
    """What making an array of it takes counts as its decision."""

    def late(view: View, actions: Any) -> Lazy:
        return Lazy(lambda: time.sleep(0.01) or actions)

    contestant = Contestant("late", lambda: Named("late", late))
    contestant.ask(Batch(1).view(np.arange(1)))
    assert contestant.clock.calls[0][0] >= 0.01


class WordlessError(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        """Fail."""
        raise ValueError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("first line\n  second line"), "RuntimeError: first line second line"),
        (TypeError("\x1b[1mno type\x1b[0m"), "TypeError: no type"),
        (LookupError(), "LookupError"),
        (WordlessError(), "WordlessError: message unavailable"),
        (ValueError("x" * 1000), f"ValueError: {'x' * 300}…"),
    ],
)
def test_an_error_is_told_in_a_line(error: Exception, words: str) -> None:
    """Its type, and all that it says, within reason."""
    error.add_note("a note")
    assert error_text(error) == words


def test_an_interrupt_without_a_time_limit_is_passed_on() -> None:
    """The agent is called in the main thread then."""

    def interrupted(view: View, actions: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play([Named("interrupted", interrupted), "random"], 2, 4, time_limit=math.inf)


def test_an_agent_cannot_change_the_game() -> None:
    """What it is given are copies: it cannot make an illegal action legal."""

    def cheat(view: View, actions: Any) -> Any:
        view.legal[:] = 2**64 - 1
        return actions * 0 + 63  # to call the last card at any time

    report = play([Named("cheat", cheat), "random"], 2, 10)
    assert report.forfeits[0].reason == "illegal action"


def test_an_agent_that_cannot_be_made_anew_is_disqualified() -> None:
    """After its first hang."""
    made: list[Named] = []

    def make() -> Named:
        if made:
            raise OSError("no weights")
        made.append(Named("hanging", lambda view, actions: time.sleep(1000)))
        return made[0]

    contestant = Contestant("hanging", make, time_limit=0.01)
    view = Batch(1).view(np.arange(1))
    answers = [contestant.ask(view) for _ in range(2)]
    assert [answer.reason for answer in answers if isinstance(answer, Failure)] == [
        "time limit",
        "disqualified",
    ]


# Imported agents ----------------------------------------------------------------------------------


def test_own_agents_are_imported(own_code: str) -> None:
    """A class that takes a seed, and a function that does not."""
    assert agents.load(f"import:{own_code}:Seeded", seed=4).name == "seeded 4"
    assert agents.load(f"import:{own_code}:unseeded").name == "greedy"
    assert "import:MODULE:NAME" in agents.list()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("own_agents", "written import:MODULE:NAME"),
        (":Seeded", "written import:MODULE:NAME"),
        ("not_there:Seeded", "not_there cannot be imported: ModuleNotFoundError"),
        ("own_agents:Missing", "own_agents has no class or function Missing"),
        ("own_agents:Broken", "own_agents.Broken raised OSError: no weights"),
        ("leaving:Agent", "leaving cannot be imported: SystemExit: 3"),
        ("own_agents:Shy", "own_agents.Shy is not an agent: its name or act raises ZeroDiv"),
        ("own_agents:Number", r"needs a name and a method act\(view\)"),
        ("own_agents:nothing", r"needs a name and a method act\(view\)"),
    ],
)
def test_an_import_that_fails_names_the_reason(own_code: str, target: str, words: str) -> None:
    """Every mistake has a distinct message."""
    with pytest.raises(ValueError, match=words):
        agents.load(f"import:{target}")


# The commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agents": ("gredy", "random")}, "did you mean 'greedy'"),
        ({"agents": ("greedy",)}, "at least two agents, got 1"),
        ({"agents": ()}, "at least two agents, got 0"),
        ({"agents": ("greedy", "greedy")}, "'greedy' is named twice"),
        ({"players": 1}, "num_players must be an integer from 2 to 10, got 1"),
        ({"players": 11}, "num_players must be an integer from 2 to 10, got 11"),
        ({"games": 0}, "games must be an integer of at least 1"),
        ({"batch": 0}, "batch must be an integer of at least 1"),
        ({"max_decisions": 0}, "max_decisions must be an integer of at least 1"),
        ({"time_limit": 0.0}, "time_limit must be above 0"),
        ({"seed": -1}, "seed must be"),
        ({"players": 3, "lineup": True}, "a lineup for 3 players needs 3 agents, got 2"),
        ({"json": Path("/not/there/x.json")}, "--json: folder .* does not exist"),
        ({"json": Path("/")}, "--json: / is not a file"),
        ({"json": Path("/dev/null")}, "--json: /dev/null is not a file"),
        ({"csv": Path("/proc/x.csv")}, "--csv: cannot write to /proc"),
        ({"plot": Path("matrix")}, "--plot: the file name must end in .png, got 'matrix'"),
        ({"plot": Path("a.pgn")}, "--plot: the file name must end in .png"),
        ({"json": Path("x"), "csv": Path("./x")}, "--json and --csv name the same file, x"),
        ({"lineup": True, "plot": Path("x.png")}, "--plot shows all pairings"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], words: str) -> None:
    """The message says what is allowed."""
    with pytest.raises(ValueError, match=words):
        arena.prepare(replace(ArenaArgs(("random", "greedy")), **change))


def test_an_object_that_is_not_an_agent_is_refused() -> None:
    """An object needs a name and `act`."""
    with pytest.raises(TypeError, match="an agent must be a name or an object"):
        play([object(), "random"])  # type: ignore[list-item]


def test_different_agents_have_different_names() -> None:
    """Also in a lineup, which may repeat an agent."""
    one = Named("same")
    assert play([one, one], 2, 4, lineup=True).agents == ("same",)
    with pytest.raises(ValueError, match="two different agents are called 'same'"):
        play([one, Named("same")], 2, 4, lineup=True)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with the output files of the command."""
    args = ArenaArgs(
        ("random", "greedy"), 3, games=30, json=tmp_path / "a.json", csv=tmp_path / "a.csv"
    )
    arena.prepare(replace(args, plot=tmp_path / "a.png"))()
    return tmp_path


def test_the_json_file_holds_the_report_and_its_provenance(files: Path) -> None:
    """Times are under one key, so that everything else can be compared."""
    found = json.loads((files / "a.json").read_text())
    assert {"commit", "versions", "hardware", "env", "timing"} <= found.keys()
    assert found["arguments"]["agents"] == ["random", "greedy"]
    report = play(["random", "greedy"], 3, 30)
    again = json.loads(json.dumps(asdict(report)))
    del again["timing"]
    assert {key: found[key] for key in again} == again


def test_the_csv_file_has_one_row_per_lineup(files: Path) -> None:
    """With the win rate of its first agent."""
    with (files / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["lineup"] for row in rows] == ["random greedy greedy", "greedy random random"]
    for row in rows:
        assert float(row["win_rate"]) == float(row["wins"]) / int(row["games"])
        assert float(row["low"]) <= float(row["win_rate"]) <= float(row["high"])


def test_the_heat_map_is_a_png(files: Path) -> None:
    """No other file is left in the folder."""
    assert (files / "a.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in files.iterdir()} == {"a.json", "a.csv", "a.png"}


def test_the_report_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Every table has its title; the table of forfeits appears only if there are any."""
    arena.prepare(ArenaArgs(("random", "greedy"), games=20))()
    shown = capsys.readouterr().out
    for words in ("Win rate", "ratings, random fixed at 0", "Seats", "Lengths", "milliseconds"):
        assert words in shown
    assert "Forfeited" not in shown
    arena.prepare(ArenaArgs(("random", "greedy", "greedy"), 3, 9, lineup=True))()
    assert "random greedy greedy: wins per game and seat" in capsys.readouterr().out


def test_brackets_and_colons_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], own_code: str, tmp_path: Path
) -> None:
    """In names and in errors: neither as markup, nor as an emoji, nor as math in a heat map."""
    text = """
from agents.builtin import GreedyAgent

class x(GreedyAgent):
    def act(self, view):
        raise RuntimeError("[/nothing] [bold] :x:")
"""
    (tmp_path / "x.py").write_text(text)
    arena.prepare(ArenaArgs(("import:x:x", "random"), games=4))()
    shown = capsys.readouterr().out
    assert "import:x:x" in shown and "RuntimeError: [/nothing] [bold] :x:" in shown
    report = play([Named("[/a] $x_{$"), Named("[b]")], games=4)
    show(report, make_console())
    assert "[/a] $x_{$" in capsys.readouterr().out
    plot_matrix(report, tmp_path / "a.png")


def test_files_are_written_before_the_report_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A failing console loses no results."""

    def broken(report: Report, console: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(arena, "show", broken)
    args = ArenaArgs(
        ("random", "greedy"), games=4, json=tmp_path / "a.json", csv=tmp_path / "a.csv"
    )
    with pytest.raises(BrokenPipeError):
        arena.prepare(replace(args, plot=tmp_path / "a.png"))()
    assert len(list(tmp_path.iterdir())) == 3


def interrupted(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start the command with a slow agent and send Ctrl-C while it plays."""
    marker = "        open('playing', 'a').write('.')\n"
    text = AGENTS.replace("        time.sleep(0.01)\n", marker + "        time.sleep(0.01)\n")
    (folder / "own_agents.py").write_text(text)
    command = [sys.executable, "-m", "training.arena", "random", "import:own_agents:Slow", "greedy"]
    running = subprocess.Popen(
        [*command, *options], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    playing = folder / "playing"
    while running.poll() is None and not (playing.exists() and playing.stat().st_size > 40):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    return running


def test_ctrl_c_reports_the_whole_deals_and_exits_with_130(tmp_path: Path) -> None:
    """Every lineup has played the same number of deals."""
    running = interrupted(tmp_path, "--batch", "5", "--json", "a.json")
    shown, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "interrupted: the report covers the deals that every lineup has played" in shown
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["interrupted"]
    deals = {lineup["deals"] for lineup in found["lineups"]}
    assert len(deals) == 1 and 0 < deals.pop() < 5000


def test_an_interrupted_tournament_agrees_with_a_shorter_one() -> None:
    """The report of the first deals equals that of a tournament of those deals alone."""
    tournament = Tournament(["random", "greedy", sampled()], 2, 100, batch=50)
    tournament.play_batch()  # 6 games a deal: 8 deals and 2 games more
    report = tournament.report()
    assert report.interrupted and report.games == 48
    whole = play(["random", "greedy", sampled()], 2, 16)
    assert replace(report, interrupted=False) == whole


def test_without_a_whole_deal_there_is_no_report() -> None:
    """The error names the reason."""
    tournament = Tournament(["random", "greedy"], 2, 10, batch=1)
    tournament.play_batch()
    with pytest.raises(ValueError, match="no deal has been played to the end"):
        tournament.report()


def test_the_leaderboard_plays_all_its_agents_at_every_number_of_players(tmp_path: Path) -> None:
    """It writes the file and the heat maps that the docs use."""
    file = tmp_path / "leaderboard.json"
    reports: list[Report] = leaderboard.prepare(
        leaderboard.LeaderboardArgs(games=12, json=file, images=tmp_path)
    )()
    assert [report.num_players for report in reports] == list(leaderboard.PLAYERS)
    tables = json.loads(file.read_text())["tables"]
    assert {"random", "greedy"} <= set(tables[0]["agents"])
    assert len(list(tmp_path.glob("leaderboard_*p.png"))) == len(tables)


def test_ctrl_c_ends_the_leaderboard_with_what_was_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file is marked as interrupted and lacks the numbers of players that were not reached."""
    played = Tournament.play_batch

    def pressed(tournament: Tournament) -> int:
        if tournament.num_players == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return played(tournament)

    monkeypatch.setattr(Tournament, "play_batch", pressed)
    monkeypatch.setattr(leaderboard, "ENTRIES", {"random": 120, "greedy": 120})
    monkeypatch.setattr(leaderboard, "BATCH", 50)
    file = tmp_path / "leaderboard.json"
    work = leaderboard.prepare(leaderboard.LeaderboardArgs(games=120, json=file, images=tmp_path))
    with pytest.raises(KeyboardInterrupt):
        work()
    found = json.loads(file.read_text())
    assert found["interrupted"]
    tables = [(table["num_players"], table["interrupted"]) for table in found["tables"]]
    assert tables == [(2, False), (3, True)]
    assert len(list(tmp_path.glob("leaderboard_*p.png"))) == 2
