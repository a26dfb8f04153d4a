"""Tournaments of duplicate deals: `play` returns a `Report`.

Every lineup plays the same deals, each deal once for every rotation of the lineup around the table,
so that neither cards nor seats favor anyone. Games come in the order of deal, lineup, rotation,
and each draws from a word of its own: a game is the same whatever is played beside it.
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
from taki_env.core.policies.builtin import POLICIES
from taki_env.core.rules import Rules, check_num_players
from taki_env.envs.opponents import Agent
from training.arena.match import REASONS, Contestant, Match
from training.arena.report import Outcomes, Report, make_report

GAMES, BATCH, MAX_DECISIONS, TIME_LIMIT = 10_000, 2000, 2000, 10.0
WORDS = 3
"""Stream of the seed that policies and agents draw from; deals come from stream 0."""


class Tournament:
    """A tournament that is played batch by batch.

    Args:
        entrants: spellings as in `agents.load`, or objects with a name and ``act(view)``. An object
            cannot be made anew after it hangs, so it is called again as it is.
        num_players: 2 to 10.
        games: of every lineup, rounded up to whole deals.
        seed: of the deals and of what policies and agents draw.
        batch: games at once. Bears on speed alone.
        max_decisions: a game is cut off after so many, and nobody wins it.
        time_limit: seconds that an agent has for a decision.
        lineup: the entrants are the one lineup, and may repeat. Otherwise every entrant plays
            one seat against each other one in all other seats.
        most_games: games of the lineups of slow entrants, by name, if less than `games`.
        rules: the options; standard rules by default.
        recorded: so many of the first games are given to `record` once they are played.
        record: is called with each of their records (docs/records.md), in order.

    Raises:
        ValueError: an argument out of its range, or an unknown agent.
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
        whole = {"games": games, "batch": batch, "max_decisions": max_decisions}
        whole |= {f"most_games of {name}": most for name, most in fewer.items()}
        for name, value in whole.items():
            check_at_least_one(name, value)
        if not time_limit > 0:
            raise ValueError(f"time_limit must be above 0 seconds, not {time_limit}")
        names = [name_of(entrant) for entrant in entrants]
        self.names = list(dict.fromkeys(names))
        numbers = [self.names.index(name) for name in names]
        self.lineups = one_lineup(numbers, num_players) if lineup else pairings(names, num_players)
        self.num_players, self.seed, self.batch = num_players, checked_seed(seed), batch
        self.max_decisions, self.time_limit = max_decisions, time_limit
        self.recorded, self.record = recorded, record
        self._seat_agents(entrants)
        rotated = [[np.roll(lineup, r) for r in range(num_players)] for lineup in self.lineups]
        self.seating: Integers = np.array(rotated)
        """Who sits where: entrants by (lineup, rotation, seat)."""
        self.deals = np.array(
            [math.ceil(min(games, *self._limits(lineup, fewer)) / num_players)
             for lineup in self.lineups]
        )  # fmt: skip
        """Deals of each lineup."""
        self.outcomes = Outcomes.empty(int(self.deals.max()), len(self.lineups), num_players)
        planned = np.arange(self.deals.max())[:, np.newaxis] < self.deals
        self._order = np.flatnonzero(np.repeat(planned, num_players))
        self.played = 0

    def _seat_agents(self, entrants: Sequence[str | Agent]) -> None:
        """Number the entrants as the compiled loops do, and make those that are not built in."""
        self._numbers = np.zeros(len(self.names), np.int64)
        self.contestants: dict[int, Contestant] = {}
        for name, entrant in distinct(entrants).items():
            index = self.names.index(name)
            self._numbers[index] = number = controller(entrant, index)
            if number >= len(POLICIES):
                make = (
                    partial(agents.load, entrant, self.seed)
                    if isinstance(entrant, str)
                    else partial(_itself, entrant)
                )
                self.contestants[number] = Contestant(name, make, self.time_limit)

    def _limits(self, lineup: Sequence[int], most_games: Mapping[str, int]) -> list[float]:
        return [most_games.get(self.names[index], math.inf) for index in lineup]

    @property
    def total(self) -> int:
        """Games in all."""
        return int(self._order.size)

    def play_batch(self) -> int:
        """Play the next games and return how many; 0 at the end."""
        games = self._order[self.played : self.played + self.batch]
        if games.size:
            deals, lineups, rotations = np.unravel_index(games, self.outcomes.winners.shape)
            table = self._table(deals, lineups, rotations)
            recorded = max(0, self.recorded - self.played)
            if recorded:
                table.batch.keep_actions(self.max_decisions)
            table.play()
            self._note(table, games)
            self.played += games.size
            for game, seated in enumerate(self.seating[lineups, rotations][:recorded]):
                self.record(table.record(game, [self.names[index] for index in seated]))
        return int(games.size)

    def _table(self, deals: Integers, lineups: Integers, rotations: Integers) -> Match:
        variants = lineups * MAX_PLAYERS + rotations
        return Match(
            Batch(deals.size, self.num_players, self.rules, self.seed, deals),
            self._numbers[self.seating[lineups, rotations]],
            self.contestants,
            seed_words(self.seed, deals, variants, WORDS),
            self.max_decisions,
        )

    def _note(self, table: Match, games: Integers) -> None:
        out = self.outcomes
        out.winners.flat[games] = table.winners
        out.losers.flat[games] = table.losers
        out.decisions.flat[games] = table.batch.decisions
        out.compiled.calls.extend(table.compiled.calls)
        for game, failure in table.failures.items():
            out.reasons.flat[games[game]] = REASONS.index(failure.reason)
            _, lineup, rotation = np.unravel_index(games[game], out.winners.shape)
            agent = int(self.seating[lineup, rotation, table.losers[game]])
            example = (int(games[game]), failure.detail)
            known = out.examples.setdefault((agent, failure.reason), example)
            out.examples[agent, failure.reason] = min(known, example)

    @property
    def whole_deals(self) -> int:
        """Deals that all their lineups have played to the end."""
        if self.played == self.total:
            return int(self.deals.max())
        return int(self._order[self.played]) // (len(self.lineups) * self.num_players)

    def report(self) -> Report:
        """Return the report of all whole deals; ValueError if there is none yet."""
        if not self.whole_deals:
            raise ValueError("no deal has been played to the end by all lineups")
        return make_report(self, self.whole_deals)


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
        entrants: this and the next three, see `Tournament`.
        num_players: 2 to 10.
        games: of every lineup.
        seed: of the deals and of what policies and agents draw.
        progress: is called with the number of games after every batch.
        options: the others of `Tournament`.
    """
    tournament = Tournament(entrants, num_players, games, seed, **options)
    while played := tournament.play_batch():
        progress(played)
    return tournament.report()


def name_of(entrant: str | Agent) -> str:
    """Return the name of an agent; TypeError if it is none."""
    if isinstance(entrant, str):
        return entrant
    name = getattr(entrant, "name", None)
    if not isinstance(name, str) or not callable(getattr(entrant, "act", None)):
        raise TypeError(f"an agent is a name or an object with name and act(view), not {entrant!r}")
    return name


def distinct(entrants: Sequence[str | Agent]) -> dict[str, str | Agent]:
    """Return the agents by name; ValueError if different ones have the same name."""
    found: dict[str, str | Agent] = {}
    for entrant in entrants:
        known = found.setdefault(name_of(entrant), entrant)
        if known is not entrant and known != entrant:
            raise ValueError(f"two different agents are called {name_of(entrant)!r}")
    return found


def controller(entrant: str | Agent, index: int) -> int:
    """Return the number of an entrant in the compiled loops: of its policy if it is built in."""
    if isinstance(entrant, str) and entrant in POLICIES:
        return POLICIES.index(entrant)
    return len(POLICIES) + index


def _itself(agent: Agent) -> Agent:
    return agent


def one_lineup(numbers: Sequence[int], num_players: int) -> list[tuple[int, ...]]:
    """Return the one lineup of all entrants; ValueError unless there is one for each seat."""
    if len(numbers) != num_players:
        raise ValueError(
            f"a lineup for {num_players} players names {num_players} agents, not {len(numbers)}"
        )
    return [tuple(numbers)]


def pairings(names: Sequence[str], num_players: int) -> list[tuple[int, ...]]:
    """Return the lineups of one against all others; two players need no order.

    Raises:
        ValueError: there are not two agents, or two of one name.
    """
    if len(names) < 2:
        raise ValueError(f"name at least two agents, not {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is named twice: only a lineup may repeat an agent")
    pairs = combinations if num_players == 2 else permutations
    return [(one, *[other] * (num_players - 1)) for one, other in pairs(range(len(names)), 2)]
