"""What an agent makes of a position: ``python -m agents.analyze POSITION.json --agent search``.

The position (RULES.md section 10) comes from a file, or from standard input for ``-``. Agents see
what the seat to act sees; so does the reader, unless `--reveal` is given.

    python -m agents.analyze POSITION.json --agent search:simulations=20000 --json FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
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
from agents.validation import CheckedAgent, blaming
from taki_env import ACTIONS, ENV_ID, Game, View
from taki_env.base.checks import checked_seed
from taki_env.render.words import table_text


@runtime_checkable
class Analyst(Protocol):
    """An agent that tells what it found out about each action."""

    def analyze(self, view: View) -> list[list[Candidate]]:
        """Return the legal actions of each game, best first."""


@runtime_checkable
class Predictor(Protocol):
    """An agent that plays by probabilities and values positions."""

    def predict(self, view: View) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the probabilities of the actions, (B, 64), and the expected returns, (B,)."""


@dataclass(frozen=True)
class AnalyzeArgs:
    """Show a position, and what an agent makes of the actions in it."""

    position: Annotated[str, tyro.conf.Positional]
    """File of a position, RULES.md section 10; - for standard input."""
    agent: str = "search"
    """Its spelling, such as search:simulations=20000, expert, policy:PATH, import:MODULE:NAME."""
    seed: int = 0
    """Of what the agent draws, and of a draw pile that the position leaves open."""
    reveal: bool = False
    """Show all hands. The agent does not see them."""
    json: Path | None = None
    """File for the analysis."""


def prepare(args: AnalyzeArgs) -> Callable[[], dict[str, Any]]:
    """Check the arguments, read the position, load the agent, and return the analysis to make."""
    check_folder("--json", args.json)
    checked_seed(args.seed)
    game = read_game(args.position, args.seed)
    agent = agents.load(args.agent, args.seed)
    return lambda: work(args, game, agent)


def read_game(file: str, seed: int = 0) -> Game:
    """Return the game of a file.

    Raises:
        ValueError: it holds no JSON, no possible position, or a game that is over.
        OSError: it cannot be read.
    """
    name = "standard input" if file == "-" else file
    try:
        position = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text())
    except ValueError as error:
        raise ValueError(f"{name} is no JSON: {error}") from error
    except RecursionError as error:
        raise ValueError(f"{name} is no position: it is nested too deep") from error
    if not isinstance(position, dict):
        raise ValueError(f"{name} holds no position but a {type(position).__name__}")
    try:
        game = Game.from_dict(position, seed)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error
    if game.is_over:
        raise ValueError(f"{name}: the game is over, seat {game.winner} has won")
    return game


def work(args: AnalyzeArgs, game: Game, agent: Agent) -> dict[str, Any]:
    """Write the analysis to the file if asked to, print it, and return it."""
    found = {"agent": args.agent, **analysis(game, agent)}
    if args.json:
        arguments = {"position": args.position, "agent": args.agent, "seed": args.seed}
        made_by = {**provenance(), "env": ENV_ID, "arguments": arguments}
        write_json(args.json, {**made_by, **found, "position": game.to_dict()})
    show(game, found, make_console(), args.reveal)
    return found


# What agents say ----------------------------------------------------------------------------------


def analysis(game: Game, agent: Agent) -> dict[str, Any]:
    """Return what an agent makes of a game, ready for JSON.

    `actor`; then `candidates`, of an agent that analyzes; `value` and `probabilities`, of one that
    predicts; or only `action`, the choice of any other.

    Raises:
        AgentError: the agent raised an exception, or its answer is none.
    """
    view = game.view(remember=True)
    about: dict[str, Any] = {"actor": game.actor}
    if isinstance(agent, Analyst):
        with blaming(agent):
            return about | {"candidates": [described(one) for one in agent.analyze(view)[0]]}
    if isinstance(agent, Predictor):
        with blaming(agent):
            probabilities, values = agent.predict(view)
            names = {ACTIONS[a]: float(probabilities[0, a]) for a in game.legal_actions()}
            best_first = dict(sorted(names.items(), key=lambda item: -item[1]))
            return about | {"value": float(values[0]), "probabilities": best_first}
    return about | {"action": ACTIONS[CheckedAgent(agent).act(view)[0]]}


def described(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate in words and figures; those of an action that was not tried are null."""
    found = {**asdict(candidate), "action": candidate.name}
    if not candidate.visits:
        return found | {"value": None, "interval": None, "line": words_of(candidate)}
    wins = candidate.value * candidate.visits
    interval = wilson_interval(min(wins, candidate.visits), candidate.visits)
    return found | {"interval": interval, "line": words_of(candidate)}


def words_of(candidate: Candidate) -> list[str]:
    """Return the names of the actions of a line."""
    return [ACTIONS[action] for action in candidate.line]


# What is printed ----------------------------------------------------------------------------------


def show(game: Game, found: dict[str, Any], console: Console, reveal: bool = False) -> None:
    """Print the position as its actor sees it, and the analysis."""
    console.print(table_text(game.to_dict(), None if reveal else game.actor), markup=False)
    words, table = f"{found['agent']}, for seat {game.actor}", None
    if "candidates" in found:
        table = candidates_table(found["candidates"])
    elif "probabilities" in found:
        lost = -1 / (game.num_players - 1)
        words += f": expects {found['value']:+.2f}, where a win is +1 and a loss {lost:+.2g}"
        table = probabilities_table(found["probabilities"])
    else:
        words += f": {found['action']}"
    console.print(words, highlight=False, markup=False)
    if table:
        console.print(table, highlight=False, markup=False)


def candidates_table(candidates: list[dict[str, Any]]) -> Table:
    """Return a row for each action, the most tried first."""
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


def expected(candidate: dict[str, Any]) -> str:
    """Return what follows a candidate, as in "seat 1: draw; seat 0: red 5, close taki"."""
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
    """Return a row for each action, the most likely first."""
    table = Table()
    table.add_column("action")
    table.add_column("probability", justify="right")
    for name, probability in probabilities.items():
        table.add_row(name, f"{probability:.1%}")
    return table


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(AnalyzeArgs)))
