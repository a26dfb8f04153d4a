"""The report of a tournament: win rates, ratings, lengths of games, forfeits and decision times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.statistics import Floats, deal_interval
from taki_env.base.types import Integers
from training.arena.match import NOBODY, REASONS, Clock
from training.arena.outcomes import Outcomes
from training.arena.ratings import bootstrap, strengths


@dataclass(frozen=True)
class Rate:
    """A win rate with its interval."""

    wins: float
    """Total wins; a forfeited game is shared equally by the other seats."""
    games: int
    seats: int
    """Number of seats held in each game."""
    win_rate: float
    """Wins per game and seat."""
    interval: tuple[float, float]
    """95% interval over deals; see `agents.statistics.deal_interval`."""


@dataclass(frozen=True)
class Lineup:
    """Results of a lineup."""

    agents: tuple[str, ...]
    """Agents in seat order."""
    deals: int
    """Number of deals, each played once per rotation."""
    games: int
    capped: int
    """Number of games that reached the decision cap; nobody wins them."""
    forfeited: int
    rates: dict[str, Rate]
    """Win rates by agent."""


@dataclass(frozen=True)
class Rating:
    """The rating of an agent in Elo points."""

    agent: str
    elo: float
    """Elo points above the agent at 0."""
    interval: tuple[float, float]
    """95% interval, by bootstrap over deals."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of games in decisions of all seats, without forfeited games."""

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
    """One of `training.arena.match.REASONS`."""
    games: int
    example: str
    """Error message of the first of these games."""


@dataclass(frozen=True)
class Timing:
    """Decision times in milliseconds. A call's time is divided by the decisions it returned."""

    agents: tuple[str, ...]
    """Names of the agents; built-in policies act in one compiled loop and share an entry."""
    decisions: int
    mean: float
    percentile_95: float


@dataclass(frozen=True)
class Report:
    """The results of a tournament. Comparison ignores decision times."""

    agents: tuple[str, ...]
    num_players: int
    seed: int
    max_decisions: int
    """Decision cap; nobody wins a capped game."""
    games: int
    interrupted: bool
    """Whether fewer deals were played than planned."""
    lineups: tuple[Lineup, ...]
    matrix: dict[str, dict[str, Rate]]
    """``matrix[A][B]``: win rate of A in one seat against B in all other seats."""
    ratings: tuple[Rating, ...]
    """Ratings, strongest first."""
    zero: str
    """Agent at rating 0 by definition."""
    seats: tuple[Rate, ...]
    lengths: Lengths | None
    """None if every game was forfeited."""
    capped: int
    forfeits: tuple[Forfeits, ...]
    timing: tuple[Timing, ...] = field(compare=False)


def rate_of(wins: Floats, games: Floats, seats: int = 1) -> Rate:
    """Return the rate of wins over deals, both (D,), for a holder of `seats` seats per game."""
    total, number = float(wins.sum()), int(games.sum())
    interval = deal_interval(wins / seats, games)
    return Rate(total, number, seats, total / number / seats, interval)


def lineup_of(names: Sequence[str], members: Sequence[int], outcomes: Outcomes) -> Lineup:
    """Return the results of a lineup.

    Args:
        names: names of all agents.
        members: indices of the lineup's agents in `names`.
        outcomes: outcomes of the lineup, arrays (deals, rotations).
    """
    wins = outcomes.wins_by_member()
    deals, seats = wins.shape
    games = np.full(deals, float(seats))
    rates = {}
    for index in dict.fromkeys(members):
        held = np.flatnonzero(np.array(members) == index)
        rates[names[index]] = rate_of(wins[:, held].sum(1), games, held.size)
    agents = tuple(names[index] for index in members)
    return Lineup(agents, deals, deals * seats, outcomes.capped, outcomes.forfeited, rates)


def head_to_head(lineups: Sequence[Lineup]) -> dict[str, dict[str, Rate]]:
    """Return the win rates of each agent in one seat against each other in all other seats."""
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
    """Return the number of times i beat j in each deal, (D, K, K).

    A winner beats the agent of each other seat; an agent does not beat itself.

    Args:
        agents: number of agents, K.
        members: indices of the lineup's agents.
        wins: wins of each member, (D, members).
    """
    counts = np.zeros((len(wins), agents, agents))
    for member, winner in enumerate(members):
        for loser in members:
            if winner != loser:
                counts[:, winner, loser] += wins[:, member]
    return counts


def ratings_of(names: Sequence[str], counts: Floats, zero: int, seed: int) -> tuple[Rating, ...]:
    """Return the ratings, strongest first, from counts of pairs in each deal, (D, K, K)."""
    elo = strengths(counts.sum(0))
    bounds = bootstrap(counts, zero, seed)
    ratings = [
        Rating(name, float(elo[k] - elo[zero]), (float(bounds[k, 0]), float(bounds[k, 1])))
        for k, name in enumerate(names)
    ]
    return tuple(sorted(ratings, key=lambda rating: -rating.elo))


def lengths_of(decisions: Integers) -> Lengths | None:
    """Return the lengths of games, or None without games."""
    if not decisions.size:
        return None
    middle, long = np.percentile(decisions, (50, 95))
    mean, longest = float(decisions.mean()), int(decisions.max())
    return Lengths(decisions.size, mean, float(middle), float(long), longest)


def forfeits_of(
    names: Sequence[str], lineups: Sequence[Sequence[int]], outcomes: Outcomes, deals: int
) -> tuple[Forfeits, ...]:
    """Return the forfeited games of the first `deals` deals by agent and reason."""
    games = np.nonzero(outcomes.losers[:deals] != NOBODY)
    _, numbers, rotations = games
    members = (outcomes.losers[games] - rotations) % len(lineups[0])
    agents = np.array(lineups)[numbers, members]
    found, counts = np.unique(
        np.stack([agents, outcomes.reasons[games]]), axis=1, return_counts=True
    )
    return tuple(
        Forfeits(names[agent], REASONS[k], count, outcomes.examples[agent, REASONS[k]][1])
        for (agent, k), count in zip(found.T.tolist(), counts.tolist(), strict=True)
    )


def timing_of(agents: tuple[str, ...], clock: Clock) -> Timing:
    """Return the decision times of agents that share a clock with at least one call."""
    seconds, decisions = np.array(clock.calls).T
    order = np.argsort(seconds)
    rank = np.searchsorted(np.cumsum(decisions[order]), 0.95 * decisions.sum())
    mean = float(np.average(seconds, weights=decisions))
    return Timing(agents, int(decisions.sum()), 1e3 * mean, 1e3 * float(seconds[order][rank]))


def make_report(
    names: Sequence[str],
    lineups: Sequence[Sequence[int]],
    outcomes: Outcomes,
    deals: Integers,
    clocks: Mapping[tuple[str, ...], Clock],
    *,
    seed: int,
    max_decisions: int,
    interrupted: bool,
) -> Report:
    """Return the report of deals that were played to the end.

    Args:
        names: names of the agents.
        lineups: indices of agents in `names`, in seat order.
        outcomes: outcomes of all games, arrays (deals, lineups, rotations).
        deals: number of deals of each lineup to report, (lineups,).
        clocks: clocks by the agents that share them.
        seed: random seed of the tournament and of the bootstrap.
        max_decisions: decision cap.
        interrupted: whether fewer deals were played than planned.
    """
    most, seats = int(deals.max()), outcomes.winners.shape[2]
    parts = [outcomes.of_lineup(lineup, own) for lineup, own in enumerate(deals.tolist())]
    counts, wins = np.zeros((most, len(names), len(names))), np.zeros((most, seats))
    for members, part in zip(lineups, parts, strict=True):
        own = len(part.winners)
        counts[:own] += pair_counts(len(names), members, part.wins_by_member())
        wins[:own] += part.wins_by_seat()
    games = seats * (np.arange(most)[:, np.newaxis] < deals).sum(1).astype(float)
    found = [lineup_of(names, *of) for of in zip(lineups, parts, strict=True)]
    finished = [part.decisions[part.losers == NOBODY] for part in parts]
    zero = names.index("random") if "random" in names else 0
    return Report(
        agents=tuple(names),
        num_players=seats,
        seed=seed,
        max_decisions=max_decisions,
        games=int(games.sum()),
        interrupted=interrupted,
        lineups=tuple(found),
        matrix=head_to_head(found),
        ratings=ratings_of(names, counts, zero, seed),
        zero=names[zero],
        seats=tuple(rate_of(wins[:, seat], games) for seat in range(seats)),
        lengths=lengths_of(np.concatenate(finished)),
        capped=sum(part.capped for part in parts),
        forfeits=forfeits_of(names, lineups, outcomes, most),
        timing=tuple(timing_of(agents, clock) for agents, clock in clocks.items() if clock.calls),
    )
