"""Play an agent against an opponent: ``python -m training.evaluate greedy random``.

Every deal is played once from each seat, so that neither a seat nor a deal favors anyone; the
other seats are all the opponent's.
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
import taki_env
from agents.cli import check_different, check_folder, make_console, run
from agents.files import provenance, write_json
from agents.statistics import wilson_interval
from agents.table.record_files import RECORDED, recording
from agents.validation import CheckedAgent
from taki_env.base.checks import check_at_least_one
from taki_env.core.policies.builtin import POLICIES
from taki_env.core.rules import check_num_players
from taki_env.envs.learners import LearnerGames
from taki_env.envs.opponents import Agent, remembers

BATCH = 2000


@dataclass(frozen=True)
class Result:
    """How an agent fared against an opponent at one table size."""

    agent: str
    opponent: str
    num_players: int
    seed: int
    games: int
    wins: int
    capped: int
    """Games cut off undecided; they count as not won."""
    win_rate: float
    interval: tuple[float, float]
    """Wilson 95 % interval of the win rate."""
    mean_decisions: float
    """Mean length of a game, in decisions of all seats."""

    def __str__(self) -> str:
        """Return the result in a line."""
        low, high = self.interval
        return (
            f"{self.agent} against {self.opponent}: {self.win_rate:.1%} "
            f"[{low:.1%}, {high:.1%}] of {self.games} games, {self.num_players} players "
            f"(parity {1 / self.num_players:.1%}), {self.mean_decisions:.1f} decisions a game"
        )


def evaluate(
    agent: Agent,
    opponent: str | Agent,
    games: int,
    num_players: int = 2,
    seed: int = 0,
    progress: Callable[[int], None] = lambda games: None,
    recorded: int = 0,
    record: Callable[[dict[str, Any]], None] = lambda record: None,
) -> Result:
    """Play at least `games` games, a whole number of deals from every seat.

    Args:
        agent: takes one seat.
        opponent: takes all others.
        games: 1 or more; rounded up to a multiple of `num_players`.
        num_players: 2 to 10.
        seed: of the deals and the built-in opponents.
        progress: is called with the number of games after every batch.
        recorded: so many of the first games are given to `record` once they are played.
        record: is called with each of their records (docs/records.md), in order.
    """
    if games < 1:
        raise ValueError(f"games must be 1 or more, not {games}")
    name = opponent if isinstance(opponent, str) else opponent.name
    deals = math.ceil(games / num_players)
    games, wins, capped, decisions = deals * num_players, 0, 0, 0
    for start in range(0, games, BATCH):
        numbers = np.arange(start, min(start + BATCH, games))
        table = LearnerGames(
            numbers.size, num_players, None, opponent, numbers % num_players,
            seed=seed, deals=numbers // num_players,
            keep_actions=start < recorded or remembers(agent),
        )  # fmt: skip
        play_out(table, agent)
        for game in range(min(numbers.size, recorded - start)):
            names = [name] * num_players
            names[table.seats[game]] = agent.name
            record(table.game(game).record(names=names))
        wins += int(np.sum(table.rewards > 0))
        capped += int(table.truncated.sum())
        decisions += int(table.batch.decisions.sum())
        progress(numbers.size)
    return Result(
        agent.name, name, num_players, seed, games, wins, capped, wins / games,
        wilson_interval(wins, games), decisions / games,
    )  # fmt: skip


def play_out(table: LearnerGames, agent: Agent) -> None:
    """Let an agent play the learner's seats to the end of all games."""
    while (live := np.flatnonzero(~table.ended)).size:
        table.step(agent.act(table.batch.view(live)), live)


@dataclass(frozen=True)
class EvaluateArgs:
    """Play an agent against an opponent, every deal from every seat."""

    agent: Annotated[str, tyro.conf.Positional]
    """Who takes one seat, such as expert, policy:PATH, import:MODULE:NAME."""
    opponent: Annotated[str, tyro.conf.Positional]
    """Who takes all other seats."""
    players: int = 2
    """Seats at the table, 2 to 10."""
    games: int = 10_000
    """Games, rounded up to whole deals."""
    seed: int = 0
    """Of the deals and the agents."""
    json: Path | None = None
    """File for the result."""
    record: Path | None = None
    """File for the games, one a line; see `agents.table.replay`."""
    recorded: int = RECORDED
    """Games to record at most: the first ones."""


def prepare(args: EvaluateArgs) -> Callable[[], Result]:
    """Check the arguments, load the agents, and return the match to play."""
    agent = agents.load(args.agent, args.seed)
    built_in = args.opponent in POLICIES  # compiled: faster by name than as an agent
    opponent = (
        args.opponent if built_in else CheckedAgent(agents.load(args.opponent, args.seed + 1))
    )
    check_num_players(args.players)
    if args.games < 1:
        raise ValueError(f"--games must be 1 or more, not {args.games}")
    check_at_least_one("--recorded", args.recorded)
    files = {"--json": args.json, "--record": args.record}
    for option, file in files.items():
        check_folder(option, file)
    check_different(files)
    return lambda: play(args, CheckedAgent(agent), opponent)


def play(args: EvaluateArgs, agent: Agent, opponent: str | Agent) -> Result:
    """Play, write the result to a file if asked to, and print it."""
    progress = Progress(transient=True, console=make_console(stderr=True))
    with progress as bar, recording(args.record) as record:
        task = bar.add_task("games", total=args.games)
        result = evaluate(
            agent, opponent, args.games, args.players, args.seed, lambda n: bar.advance(task, n),
            args.recorded if args.record else 0, record,
        )  # fmt: skip
    if args.json:
        write_json(args.json, {**provenance(), "env": taki_env.ENV_ID, **asdict(result)})
    print(result)
    return result


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(EvaluateArgs)))
