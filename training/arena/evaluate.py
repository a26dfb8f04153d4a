"""Play an agent against an opponent: ``python -m training.evaluate greedy random``.

The agent takes one seat and the opponent all others, as one lineup of `training.arena.tournament`:
every deal is played once from each seat, so that neither a seat nor a deal favors anyone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.progress import Progress

import agents
from agents.cli import check_different, check_folder, make_console, run
from agents.table.record_files import RECORDED, recording
from agents.validation import AgentError
from taki_env.base.checks import check_at_least_one, checked_seed
from taki_env.core.policies import POLICIES
from taki_env.core.rules import check_num_players
from taki_env.envs.opponents import Agent, remembers
from training.arena.command import write_results
from training.arena.report import rate_of
from training.arena.tournament import Tournament, name_of


@dataclass(frozen=True)
class Result:
    """Results of an agent in one seat against an opponent in all other seats."""

    agent: str
    opponent: str
    num_players: int
    seed: int
    games: int
    wins: int
    capped: int
    """Number of games that reached the decision cap; nobody wins them."""
    win_rate: float
    interval: tuple[float, float]
    """95% interval of the win rate over deals; see `agents.statistics.deal_interval`."""
    mean_decisions: float
    """Mean length of a game, in decisions of all seats."""

    def __str__(self) -> str:
        """Return the result as one line."""
        low, high = self.interval
        return (
            f"{self.agent} against {self.opponent}: {self.win_rate:.1%} "
            f"[{low:.1%}, {high:.1%}] of {self.games} games, {self.num_players} players "
            f"(parity {1 / self.num_players:.1%}), {self.mean_decisions:.1f} decisions a game"
        )


def evaluate(
    agent: str | Agent,
    opponent: str | Agent,
    games: int,
    num_players: int = 2,
    seed: int = 0,
    progress: Callable[[int], None] = lambda games: None,
    recorded: int = 0,
    record: Callable[[dict[str, Any]], None] = lambda record: None,
) -> Result:
    """Play whole deals of at least `games` games.

    Args:
        agent: agent in one seat, by its spelling as in `agents.load` or as an object.
        opponent: agent in all other seats.
        games: number of games, rounded up to a multiple of `num_players`.
        num_players: number of players, 2 to 10.
        seed: random seed for deals and agents.
        progress: called with the number of games after every batch.
        recorded: number of games to record, from the first.
        record: called with the record of each of these games (docs/records.md), in order.

    Raises:
        ValueError: an argument is out of range, or an agent is unknown.
        AgentError: an agent raised an exception, or its answer was not a legal action per game.
    """
    check_num_players(num_players)
    one, other = differently_named(agent, opponent)
    tournament = Tournament(
        [one, *[other] * (num_players - 1)], num_players, games, seed,
        time_limit=math.inf, lineup=True, recorded=recorded, record=record,
    )  # fmt: skip
    while played := tournament.play_batch():
        check_failures(tournament)
        progress(played)
    outcomes = tournament.outcomes.of_lineup(0, tournament.whole_deals)
    wins = outcomes.wins_by_member()[:, 0]
    rate = rate_of(wins, np.full(len(wins), float(num_players)))
    return Result(
        name_of(agent), name_of(opponent), num_players, seed, rate.games, int(rate.wins),
        outcomes.capped, rate.win_rate, rate.interval, float(outcomes.decisions.mean()),
    )  # fmt: skip


class Renamed:
    """An agent under another name."""

    def __init__(self, agent: Agent, name: str) -> None:
        self.name, self.act, self.remembers = name, agent.act, remembers(agent)


def differently_named(agent: str | Agent, opponent: str | Agent) -> tuple[str | Agent, str | Agent]:
    """Return the agents, one renamed if they are different but share a name.

    A tournament identifies agents by name.
    """
    if name_of(agent) == name_of(opponent) and agent != opponent:
        if not isinstance(agent, str):
            agent = Renamed(agent, f"{agent.name} (agent)")
        elif not isinstance(opponent, str):
            opponent = Renamed(opponent, f"{opponent.name} (opponent)")
    return agent, opponent


def check_failures(tournament: Tournament) -> None:
    """Raise AgentError if an agent forfeited a game, with the first example."""
    failures = tournament.outcomes.examples
    if failures:
        (agent, reason), (_, detail) = min(failures.items(), key=lambda item: item[1])
        words = detail if reason in ("exception", "illegal action") else f"{reason}: {detail}"
        raise AgentError(f"{tournament.names[agent]}: {words}")


@dataclass(frozen=True)
class EvaluateArgs:
    """Play an agent against an opponent, every deal from every seat."""

    agent: Annotated[str, tyro.conf.Positional]
    """Agent in one seat, such as expert, policy:PATH, import:MODULE:NAME."""
    opponent: Annotated[str, tyro.conf.Positional]
    """Agent in all other seats."""
    players: int = 2
    """Number of players, 2 to 10."""
    games: int = 10_000
    """Number of games, rounded up to whole deals."""
    seed: int = 0
    """Random seed for deals and agents."""
    json: Path | None = None
    """Output file for the JSON result."""
    record: Path | None = None
    """Output file for game records, one per line; see `python -m agents.replay`."""
    recorded: int = RECORDED
    """Maximum number of games to record, from the first."""


def prepare(args: EvaluateArgs) -> Callable[[], Result]:
    """Check the arguments, load the agents, and return the function that plays."""
    names = dict.fromkeys((args.agent, args.opponent))
    loaded = {name: name if name in POLICIES else agents.load(name, args.seed) for name in names}
    check_num_players(args.players)
    checked_seed(args.seed)
    check_at_least_one("--games", args.games)
    check_at_least_one("--recorded", args.recorded)
    files = {"--json": args.json, "--record": args.record}
    for option, file in files.items():
        check_folder(option, file)
    check_different(files)
    return lambda: work(args, loaded[args.agent], loaded[args.opponent])


def work(args: EvaluateArgs, agent: str | Agent, opponent: str | Agent) -> Result:
    """Play, write the result to a file if requested, and print it."""
    progress = Progress(transient=True, console=make_console(stderr=True))
    with progress as bar, recording(args.record) as record:
        task = bar.add_task("games", total=args.games)
        result = evaluate(
            agent, opponent, args.games, args.players, args.seed, lambda n: bar.advance(task, n),
            args.recorded if args.record else 0, record,
        )  # fmt: skip
    if args.json:
        write_results(args.json, asdict(result))
    print(result)
    return result


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(EvaluateArgs)))
