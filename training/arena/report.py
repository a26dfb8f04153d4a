"""The report of a tournament: what was won, how often, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from taki_env.base.types import Integers
from training.arena.match import NOBODY, REASONS, Clock
from training.arena.ratings import Floats, bootstrap, deal_interval, strengths

if TYPE_CHECKING:
    from training.arena.tournament import Tournament


@dataclass(frozen=True)
class Rate:
    """How often something won."""

    wins: float
    """Of all its seats; a forfeited game is won by the others in equal shares."""
    games: int
    seats: int
    """That it holds in each game."""
    win_rate: float
    """Wins a game and seat."""
    interval: tuple[float, float]
    """95 %, see `training.arena.ratings.deal_interval`."""


@dataclass(frozen=True)
class Lineup:
    """How a lineup fared."""

    agents: tuple[str, ...]
    deals: int
    games: int
    capped: int
    """Games cut off, which nobody wins."""
    forfeited: int
    rates: dict[str, Rate]
    """By agent."""


@dataclass(frozen=True)
class Rating:
    """The strength of an agent in Elo points."""

    agent: str
    elo: float
    interval: tuple[float, float]
    """95 %, by bootstrap over deals."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of games in decisions of all seats; forfeited games do not count."""

    games: int
    mean: float
    median: float
    percentile_95: float
    longest: int


@dataclass(frozen=True)
class Forfeits:
    """Games that an agent forfeited for one reason."""

    agent: str
    reason: str
    games: int
    example: str
    """What was wrong in the first of these games."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds a decision."""

    agents: tuple[str, ...]
    """Built-in policies act in one compiled loop and share an entry."""
    decisions: int
    mean: float
    percentile_95: float
    """A call's time is shared equally by the decisions that it was for."""


@dataclass(frozen=True)
class Report:
    """All that a tournament found; equal for equal games, as times are not compared."""

    agents: tuple[str, ...]
    num_players: int
    seed: int
    max_decisions: int
    games: int
    interrupted: bool
    """Fewer deals were played than planned."""
    lineups: tuple[Lineup, ...]
    matrix: dict[str, dict[str, Rate]]
    """``matrix[A][B]``: one A against B in all other seats."""
    ratings: tuple[Rating, ...]
    """From the strongest to the weakest."""
    zero: str
    """The agent whose rating is 0 by definition."""
    seats: tuple[Rate, ...]
    lengths: Lengths | None
    """None if every game was forfeited."""
    capped: int
    forfeits: tuple[Forfeits, ...]
    timing: tuple[Timing, ...] = field(compare=False)


@dataclass
class Outcomes:
    """How games ended, arrays (deals, lineups, rotations)."""

    winners: npt.NDArray[np.int8]
    """Seats; -1 for nobody."""
    losers: npt.NDArray[np.int8]
    """Seats that forfeited; -1 for nobody."""
    reasons: npt.NDArray[np.int8]
    """Of forfeits, indices of `REASONS`; -1 for none."""
    decisions: Integers
    examples: dict[tuple[int, str], tuple[int, str]]
    """The first game that an agent forfeited for a reason, and what was wrong."""
    compiled: Clock

    @classmethod
    def empty(cls, deals: int, lineups: int, rotations: int) -> Outcomes:
        """Return those of games that are yet to be played."""
        shape = (deals, lineups, rotations)
        seats = (np.full(shape, NOBODY, np.int8) for _ in range(3))
        return cls(*seats, np.zeros(shape, np.int64), {}, Clock())


def seat_shares(winners: npt.NDArray[np.int8], losers: npt.NDArray[np.int8], seats: int) -> Floats:
    """Return each seat's share of each win, (…, seats).

    The winner has it all; of a forfeited game all but the loser have the same.
    """
    at = np.arange(seats)
    won = winners[..., np.newaxis] == at
    lost = losers[..., np.newaxis]
    return won + ((lost != NOBODY) & (lost != at)) / (seats - 1)


class Shares:
    """Wins of a lineup's members, (deals, rotations, members)."""

    def __init__(self, outcomes: Outcomes, lineup: int, deals: int) -> None:
        winners, losers = outcomes.winners[:deals, lineup], outcomes.losers[:deals, lineup]
        seats = winners.shape[1]
        self.by_seat = seat_shares(winners, losers, seats).sum(1)
        """Wins of each deal, (deals, seats)."""
        rotations = np.arange(seats, dtype=np.int8)
        self.by_member = seat_shares(
            *(np.where(who == NOBODY, who, (who - rotations) % seats) for who in (winners, losers)),
            seats,
        ).sum(1)
        """Wins of each deal, (deals, members)."""
        self.capped = int(np.sum((winners == NOBODY) & (losers == NOBODY)))
        self.forfeited = int(np.sum(losers != NOBODY))


def rate_of(wins: Floats, games: Floats, seats: int = 1) -> Rate:
    """Return the rate of wins in deals, (D,), by something that holds so many seats in each."""
    total, number = float(wins.sum()), int(games.sum())
    interval = deal_interval(wins / seats, games)
    return Rate(total, number, seats, total / number / seats, interval)


def lineup_of(names: Sequence[str], members: Sequence[int], shares: Shares) -> Lineup:
    """Return how a lineup fared."""
    deals, seats = shares.by_member.shape
    games = np.full(deals, float(seats))
    rates = {}
    for index in dict.fromkeys(members):
        held = np.flatnonzero(np.array(members) == index)
        rates[names[index]] = rate_of(shares.by_member[:, held].sum(1), games, held.size)
    agents = tuple(names[index] for index in members)
    return Lineup(agents, deals, deals * seats, shares.capped, shares.forfeited, rates)


def head_to_head(lineups: Sequence[Lineup]) -> dict[str, dict[str, Rate]]:
    """Return the rates of one agent against another in all other seats."""
    matrix: dict[str, dict[str, Rate]] = {}
    for lineup in lineups:
        one, other, *others = lineup.agents
        if one == other or {other, *others} != {other}:
            continue
        matrix.setdefault(one, {})[other] = lineup.rates[one]
        if not others:
            matrix.setdefault(other, {})[one] = lineup.rates[other]
    return matrix


def pair_counts(agents: int, members: Sequence[int], wins: Floats) -> Floats:
    """Return how often i beat j in each deal, (D, K, K): a winner beats each other seat."""
    counts = np.zeros((len(wins), agents, agents))
    for member, winner in enumerate(members):
        for loser in members:
            if winner != loser:
                counts[:, winner, loser] += wins[:, member]
    return counts


def ratings_of(names: Sequence[str], counts: Floats, seed: int) -> tuple[tuple[Rating, ...], str]:
    """Return the ratings, from the strongest on, and whose is 0: random's, or the first agent's."""
    zero = names.index("random") if "random" in names else 0
    elo = strengths(counts.sum(0))
    bounds = bootstrap(counts, zero, seed)
    ratings = [
        Rating(name, float(elo[k] - elo[zero]), (float(bounds[k, 0]), float(bounds[k, 1])))
        for k, name in enumerate(names)
    ]
    return tuple(sorted(ratings, key=lambda rating: -rating.elo)), names[zero]


def lengths_of(decisions: Integers) -> Lengths | None:
    """Return the lengths of games."""
    if not decisions.size:
        return None
    middle, long = np.percentile(decisions, (50, 95))
    mean, longest = float(decisions.mean()), int(decisions.max())
    return Lengths(decisions.size, mean, float(middle), float(long), longest)


def forfeits_of(tournament: Tournament, deals: int) -> tuple[Forfeits, ...]:
    """Return what agents forfeited, by agent and reason."""
    outcomes, names = tournament.outcomes, tournament.names
    games = np.nonzero(outcomes.losers[:deals] != NOBODY)
    _, lineups, rotations = games
    agents = tournament.seating[lineups, rotations, outcomes.losers[games]]
    found, counts = np.unique(
        np.stack([agents, outcomes.reasons[games]]), axis=1, return_counts=True
    )
    return tuple(
        Forfeits(names[agent], REASONS[k], count, outcomes.examples[agent, REASONS[k]][1])
        for (agent, k), count in zip(found.T.tolist(), counts.tolist(), strict=True)
    )


def timing_of(tournament: Tournament) -> tuple[Timing, ...]:
    """Return the times of decisions: of the built-in policies together, and of each agent."""
    others = {contestant.name: contestant.clock for contestant in tournament.contestants.values()}
    built_in = tuple(name for name in tournament.names if name not in others)
    clocks = {built_in: tournament.outcomes.compiled}
    clocks |= {(name,): clock for name, clock in others.items()}
    return tuple(timing(agents, clock) for agents, clock in clocks.items() if clock.calls)


def timing(agents: tuple[str, ...], clock: Clock) -> Timing:
    """Return the times of some calls, of which there is at least one."""
    seconds, decisions = np.array(clock.calls).T
    order = np.argsort(seconds)
    rank = np.searchsorted(np.cumsum(decisions[order]), 0.95 * decisions.sum())
    mean = float(np.average(seconds, weights=decisions))
    return Timing(agents, int(decisions.sum()), 1e3 * mean, 1e3 * float(seconds[order][rank]))


def make_report(tournament: Tournament, deals: int) -> Report:
    """Return the report of the first `deals` deals, all of whose games were played."""
    names, outcomes, seats = tournament.names, tournament.outcomes, tournament.num_players
    counts, won = np.zeros((deals, len(names), len(names))), np.zeros((deals, seats))
    games, decisions, lineups = np.zeros(deals), [], []
    for number, members in enumerate(tournament.lineups):
        own = min(deals, int(tournament.deals[number]))
        shares = Shares(outcomes, number, own)
        counts[:own] += pair_counts(len(names), members, shares.by_member)
        won[:own] += shares.by_seat
        games[:own] += seats
        lineups.append(lineup_of(names, members, shares))
        kept = outcomes.losers[:own, number] == NOBODY
        decisions.append(outcomes.decisions[:own, number][kept])
    ratings, zero = ratings_of(names, counts, tournament.seed)
    return Report(
        agents=tuple(names),
        num_players=seats,
        seed=tournament.seed,
        max_decisions=tournament.max_decisions,
        games=sum(lineup.games for lineup in lineups),
        interrupted=tournament.played < tournament.total,
        lineups=tuple(lineups),
        matrix=head_to_head(lineups),
        ratings=ratings,
        zero=zero,
        seats=tuple(rate_of(won[:, seat], games) for seat in range(seats)),
        lengths=lengths_of(np.concatenate(decisions)),
        capped=sum(lineup.capped for lineup in lineups),
        forfeits=forfeits_of(tournament, deals),
        timing=timing_of(tournament),
    )
