"""Tournaments of duplicate deals: `play` returns a `Report`.

Every lineup plays the same deals, each deal once for every rotation of the lineup around the table,
so that neither cards nor seats favor anyone. Games are ordered by deal, lineup and rotation. Each
game draws from its own random word, so it does not depend on the other games of its batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

import agents
from taki_env import Batch
from taki_env.base.checks import check_at_least_one, checked_seed
from taki_env.base.types import Integers
from taki_env.core.bits import seed_words
from taki_env.core.cards import MAX_PLAYERS
from taki_env.core.policies import POLICIES
from taki_env.core.rules import Rules, check_num_players
from taki_env.envs.opponents import Agent
from training.arena.match import REASONS, Clock, Contestant, Match
from training.arena.outcomes import Outcomes
from training.arena.report import Report, make_report

GAMES, BATCH, MAX_DECISIONS, TIME_LIMIT = 10_000, 2000, 2000, 10.0
WORDS = 3
"""Stream of the seed that policies and agents draw from; deals come from stream 0."""


class Tournament:
    """A tournament, played batch by batch.

    Args:
        entrants: spellings as in `agents.load`, or objects with a name and ``act(view)``. An agent
            given by its spelling is loaded again after it hangs; an object is called again.
        num_players: number of players, 2 to 10.
        games: number of games per lineup, rounded up to whole deals.
        seed: random seed for deals, policies and agents.
        batch: number of simultaneous games. Affects speed only.
        max_decisions: decision cap; nobody wins a capped game.
        time_limit: time limit of an agent per decision, in seconds.
        lineup: play one lineup of the entrants, one per seat, which may repeat. Otherwise each
            entrant plays in one seat against each other entrant in all other seats.
        most_games: maximum number of games per lineup of slow entrants, by name.
        rules: rule options; standard rules by default.
        recorded: number of games to record, from the first.
        record: called with the record of each of these games (docs/records.md), in order, after
            the batch of the game.

    Raises:
        ValueError: an argument is out of range, an agent is unknown, or two different agents have
            the same name.
        TypeError: an entrant is not an agent.
        FileNotFoundError: the file of an agent does not exist.
    """

    def __init__(
        self,
        entrants: Sequence[str | Agent],
        num_players: int = 2,
        games: int = GAMES,
        seed: int = 0,
        batch: int = BATCH,
        max_decisions: int = MAX_DECISIONS,
        time_limit: float = TIME_LIMIT,
        lineup: bool = False,
        most_games: Mapping[str, int] | None = None,
        rules: Rules | None = None,
        recorded: int = 0,
        record: Callable[[dict[str, Any]], None] = lambda record: None,
    ) -> None:
        check_num_players(num_players)
        self.rules = rules or Rules()
        self.rules.check_players(num_players)
        fewer = dict(most_games or {})
        counts = {"games": games, "batch": batch, "max_decisions": max_decisions}
        counts |= {f"most_games of {name}": most for name, most in fewer.items()}
        for name, count in counts.items():
            check_at_least_one(name, count)
        if not time_limit > 0:
            raise ValueError(f"time_limit must be above 0 seconds, got {time_limit}")
        self.num_players, self.seed, self.batch = num_players, checked_seed(seed), batch
        self.max_decisions, self.recorded, self.record = max_decisions, recorded, record
        found = distinct(entrants)
        self.names = list(found)
        """Names of the agents; an agent's index is its position here."""
        names = [name_of(entrant) for entrant in entrants]
        indices = [self.names.index(name) for name in names]
        self.lineups = one_lineup(indices, num_players) if lineup else pairings(names, num_players)
        """Indices of agents in seat order, one tuple per lineup."""
        self._controllers = np.array([controller(one, k) for k, one in enumerate(found.values())])
        self._contestants = {
            number: Contestant(name, maker(entrant, self.seed), time_limit)
            for number, (name, entrant) in zip(self._controllers, found.items(), strict=True)
            if number >= len(POLICIES)
        }
        rotated = [[np.roll(lineup, r) for r in range(num_players)] for lineup in self.lineups]
        self.seating: Integers = np.array(rotated)
        """Index of the agent in each seat, (lineups, rotations, seats)."""
        most = [min(games, *(fewer.get(self.names[k], games) for k in of)) for of in self.lineups]
        self.deals: Integers = np.array([math.ceil(games / num_players) for games in most])
        """Number of deals of each lineup, (lineups,)."""
        self.outcomes = Outcomes.empty(int(self.deals.max()), len(self.lineups), num_players)
        self._compiled = Clock()
        planned = np.arange(self.deals.max())[:, np.newaxis] < self.deals
        self._order = np.flatnonzero(np.repeat(planned, num_players))
        self.played = 0
        """Number of games played."""

    @property
    def total(self) -> int:
        """Number of games of all lineups."""
        return int(self._order.size)

    def play_batch(self) -> int:
        """Play the next games and return their number, 0 at the end."""
        games = self._order[self.played : self.played + self.batch]
        if games.size:
            places = np.unravel_index(games, self.outcomes.winners.shape)
            match = self._match(*places)
            recorded = max(0, self.recorded - self.played)
            if recorded:
                match.batch.keep_actions(self.max_decisions)
            match.play()
            self._note(match, games)
            self.played += games.size
            for game, seated in enumerate(self.seating[places[1:]][:recorded]):
                self.record(match.record(game, [self.names[index] for index in seated]))
        return int(games.size)

    def _match(self, deals: Integers, lineups: Integers, rotations: Integers) -> Match:
        variants = lineups * MAX_PLAYERS + rotations
        return Match(
            Batch(deals.size, self.num_players, self.rules, self.seed, deals),
            self._controllers[self.seating[lineups, rotations]],
            self._contestants,
            seed_words(self.seed, deals, variants, WORDS),
            self.max_decisions,
        )

    def _note(self, match: Match, games: Integers) -> None:
        """Store how the games of a match ended; `games` are their positions in the outcomes."""
        out = self.outcomes
        out.winners.flat[games] = match.winners
        out.losers.flat[games] = match.losers
        out.decisions.flat[games] = match.batch.decisions
        self._compiled.calls.extend(match.compiled.calls)
        for game, failure in match.failures.items():
            out.reasons.flat[games[game]] = REASONS.index(failure.reason)
            _, lineup, rotation = np.unravel_index(games[game], out.winners.shape)
            agent = int(self.seating[lineup, rotation, match.losers[game]])
            example = (int(games[game]), failure.detail)
            known = out.examples.setdefault((agent, failure.reason), example)
            out.examples[agent, failure.reason] = min(known, example)

    @property
    def whole_deals(self) -> int:
        """Number of deals that all their lineups have played to the end."""
        if self.played == self.total:
            return int(self.deals.max())
        return int(self._order[self.played]) // (len(self.lineups) * self.num_players)

    def report(self) -> Report:
        """Return the report of all whole deals; raises ValueError if there is none."""
        if not self.whole_deals:
            raise ValueError("no deal has been played to the end by all lineups")
        own = {contestant.name: contestant.clock for contestant in self._contestants.values()}
        built_in = tuple(name for name in self.names if name not in own)
        clocks = {built_in: self._compiled}
        clocks |= {(name,): clock for name, clock in own.items()}
        return make_report(
            self.names,
            self.lineups,
            self.outcomes,
            np.minimum(self.deals, self.whole_deals),
            clocks,
            seed=self.seed,
            max_decisions=self.max_decisions,
            interrupted=self.played < self.total,
        )


def play(
    entrants: Sequence[str | Agent],
    num_players: int = 2,
    games: int = GAMES,
    seed: int = 0,
    progress: Callable[[int], None] = lambda games: None,
    **options: Any,
) -> Report:
    """Play a tournament and return its report.

    Args:
        entrants: agents, as in `Tournament`.
        num_players: number of players, 2 to 10.
        games: number of games per lineup, rounded up to whole deals.
        seed: random seed for deals, policies and agents.
        progress: called with the number of games after every batch.
        options: other arguments of `Tournament`.
    """
    tournament = Tournament(entrants, num_players, games, seed, **options)
    while played := tournament.play_batch():
        progress(played)
    return tournament.report()


def name_of(entrant: str | Agent) -> str:
    """Return the name of an agent; raises TypeError if it is not an agent."""
    if isinstance(entrant, str):
        return entrant
    name = getattr(entrant, "name", None)
    if not isinstance(name, str) or not callable(getattr(entrant, "act", None)):
        raise TypeError(
            f"an agent must be a name or an object with name and act(view), got {entrant!r}"
        )
    return name


def distinct(entrants: Sequence[str | Agent]) -> dict[str, str | Agent]:
    """Return the agents by name; raises ValueError if two different agents have one name."""
    found: dict[str, str | Agent] = {}
    for entrant in entrants:
        known = found.setdefault(name_of(entrant), entrant)
        if known is not entrant and known != entrant:
            raise ValueError(f"two different agents are called {name_of(entrant)!r}")
    return found


def controller(entrant: str | Agent, index: int) -> int:
    """Return who chooses for an agent in a `Match`: a built-in policy, or a contestant."""
    if isinstance(entrant, str) and entrant in POLICIES:
        return POLICIES.index(entrant)
    return len(POLICIES) + index


def maker(entrant: str | Agent, seed: int) -> Callable[[], Agent]:
    """Return a function that loads a new agent from its spelling, or returns the given object."""
    return partial(agents.load, entrant, seed) if isinstance(entrant, str) else lambda: entrant


def one_lineup(indices: Sequence[int], num_players: int) -> list[tuple[int, ...]]:
    """Return the lineup of all entrants; raises ValueError unless there is one for each seat."""
    if len(indices) != num_players:
        raise ValueError(
            f"a lineup for {num_players} players needs {num_players} agents, got {len(indices)}"
        )
    return [tuple(indices)]


def pairings(names: Sequence[str], num_players: int) -> list[tuple[int, ...]]:
    """Return the lineups of one against all others; at two players, one lineup per pair.

    Raises:
        ValueError: there are fewer than two names, or a name is repeated.
    """
    if len(names) < 2:
        raise ValueError(f"a tournament needs at least two agents, got {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is named twice; only a lineup may repeat an agent")
    pairs = combinations if num_players == 2 else permutations
    return [(one, *[other] * (num_players - 1)) for one, other in pairs(range(len(names)), 2)]
