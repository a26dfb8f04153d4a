"""Analyze a position with an agent: ``python -m agents.analyze POSITION.json --agent search``.

The position (RULES.md section 10) comes from a file, or from standard input for ``-``. The agent
sees what the seat to act sees. The output shows the same, or all hands with `--reveal`.

    python -m agents.analyze POSITION.json --agent search:simulations=20000 --json FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.table import Table

import agents
from agents import Agent
from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from agents.search.agent import Candidate
from agents.statistics import wilson_interval
from agents.validation import CheckedAgent, converting_errors
from taki_env import ACTIONS, ENV_ID, Game, View
from taki_env.base.checks import checked_seed
from taki_env.core.outcome import loser_reward
from taki_env.render.words import table_text


@runtime_checkable
class Analyst(Protocol):
    """An agent that reports its findings about each action, such as search."""

    def analyze(self, view: View) -> list[list[Candidate]]:
        """Return the legal actions of each game, best first."""


@runtime_checkable
class Predictor(Protocol):
    """An agent with action probabilities and a value, such as a network."""

    def predict(self, view: View) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the probabilities of the actions, (B, 64), and the expected returns, (B,)."""


@dataclass(frozen=True)
class AnalyzeArgs:
    """Show a position and an agent's analysis of its legal actions."""

    position: Annotated[str, tyro.conf.Positional]
    """File of the position (RULES.md section 10); - for standard input."""
    agent: str = "search"
    """Agent, such as search:simulations=20000, expert, policy:PATH, import:MODULE:NAME."""
    seed: int = 0
    """Random seed for the agent, and for the draw pile if the position leaves it open."""
    reveal: bool = False
    """Show all hands; the agent does not see them."""
    json: Path | None = None
    """Output file for the JSON report."""


def prepare(args: AnalyzeArgs) -> Callable[[], dict[str, Any]]:
    """Check the arguments, read the position and the agent, and return the function to execute."""
    check_folder("--json", args.json)
    checked_seed(args.seed)
    game = read_game(args.position, args.seed)
    agent = agents.load(args.agent, args.seed)
    return lambda: execute(args, game, agent)


def read_game(file: str, seed: int = 0) -> Game:
    """Return the game that a position file describes.

    Raises:
        ValueError: invalid JSON, an impossible position, or a game that is over.
        OSError: the file cannot be read.
    """
    name = "standard input" if file == "-" else file
    try:
        position = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text())
    except ValueError as error:
        raise ValueError(f"{name}: invalid JSON: {error}") from error
    except RecursionError as error:
        raise ValueError(f"{name}: not a position: it is nested too deeply") from error
    if not isinstance(position, dict):
        raise ValueError(f"{name}: a position must be a JSON object, got {type(position).__name__}")
    try:
        game = Game.from_dict(position, seed)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error
    if game.is_over:
        raise ValueError(f"{name}: the game is over, seat {game.winner} has won")
    return game


def execute(args: AnalyzeArgs, game: Game, agent: Agent) -> dict[str, Any]:
    """Analyze the position, write the JSON report if requested, print and return the analysis."""
    found = {"agent": args.agent, **analysis(game, agent)}
    if args.json:
        arguments = {"position": args.position, "agent": args.agent, "seed": args.seed}
        made_by = {**provenance(), "env": ENV_ID, "arguments": arguments}
        write_json(args.json, {**made_by, **found, "position": game.to_dict()})
    show(game, found, make_console(), args.reveal)
    return found


# The analysis -------------------------------------------------------------------------------------


def analysis(game: Game, agent: Agent) -> dict[str, Any]:
    """Return an agent's analysis of a game, ready for JSON.

    Keys: `actor`; then `candidates` for an `Analyst`, `value` and `probabilities` for a
    `Predictor`, or `action` for any other agent.

    Raises:
        AgentError: the agent raised an exception or returned an invalid answer.
    """
    view = game.view(remember=True)
    about: dict[str, Any] = {"actor": game.actor}
    if isinstance(agent, Analyst):
        with converting_errors(agent):
            return about | {"candidates": [described(one) for one in agent.analyze(view)[0]]}
    if isinstance(agent, Predictor):
        with converting_errors(agent):
            probabilities, values = agent.predict(view)
            names = {ACTIONS[a]: float(probabilities[0, a]) for a in game.legal_actions()}
            best_first = dict(sorted(names.items(), key=lambda item: -item[1]))
            return about | {"value": float(values[0]), "probabilities": best_first}
    return about | {"action": ACTIONS[CheckedAgent(agent).act(view)[0]]}


def described(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate ready for JSON; `value` and `interval` of an untried action are null."""
    found = {**asdict(candidate), "action": candidate.name}
    if not candidate.visits:
        return found | {"value": None, "interval": None, "line": line_names(candidate)}
    wins = candidate.value * candidate.visits
    interval = wilson_interval(min(wins, candidate.visits), candidate.visits)
    return found | {"interval": interval, "line": line_names(candidate)}


def line_names(candidate: Candidate) -> list[str]:
    """Return the names of the actions of a candidate's line."""
    return [ACTIONS[action] for action in candidate.line]


# The output ---------------------------------------------------------------------------------------


def show(game: Game, found: dict[str, Any], console: Console, reveal: bool = False) -> None:
    """Print the position as its actor sees it, and the analysis."""
    console.print(table_text(game.to_dict(), None if reveal else game.actor), markup=False)
    summary, table = f"{found['agent']}, for seat {game.actor}", None
    if "candidates" in found:
        table = candidates_table(found["candidates"])
    elif "probabilities" in found:
        lost = loser_reward(game.num_players)
        summary += f": expects {found['value']:+.2f}, where a win is +1 and a loss {lost:+.2g}"
        table = probabilities_table(found["probabilities"])
    else:
        summary += f": {found['action']}"
    console.print(summary, highlight=False, markup=False)
    if table:
        console.print(table, highlight=False, markup=False)


def candidates_table(candidates: list[dict[str, Any]]) -> Table:
    """Return a table with one row per action."""
    table = Table()
    table.add_column("action")
    for column in ("visits", "wins", "95 % interval"):
        table.add_column(column, justify="right")
    table.add_column("expected line")
    for one in candidates:
        figures = ("", "")
        if one["visits"]:
            low, high = one["interval"]
            figures = (f"{one['value']:.1%}", f"{low:.1%} to {high:.1%}")
        table.add_row(one["action"], f"{one['visits']:,}", *figures, expected(one))
    return table


def expected(candidate: Mapping[str, Any]) -> str:
    """Return the line after a candidate, as in "seat 1: draw; seat 0: red 5, close taki"."""
    steps: list[str] = []
    actor = candidate["seats"][0]
    for seat, action in zip(candidate["seats"][1:], candidate["line"][1:], strict=True):
        if steps and seat == actor:
            steps[-1] += f", {action}"
        else:
            steps.append(f"seat {seat}: {action}")
        actor = seat
    return "; ".join(steps)


def probabilities_table(probabilities: dict[str, float]) -> Table:
    """Return a table with one row per action."""
    table = Table()
    table.add_column("action")
    table.add_column("probability", justify="right")
    for name, probability in probabilities.items():
        table.add_row(name, f"{probability:.1%}")
    return table


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(AnalyzeArgs)))
