"""Search for weights of the expert by evolution: ``python -m training.tune_expert``.

Variants of the expert's weights play greedy, random and the current expert at two and four players,
with the same deals within a generation; CMA-ES (Hansen 2016) moves towards the better ones. The
command starts from the weights in `taki_env.core.policies.expert`, which came from such runs, and
prints a table to replace them. It needs `pip install cma`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.progress import Progress

from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from taki_env import Rules
from taki_env.base.jit import entry
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, base_word, next_random, seed_word
from taki_env.core.cards import OVER
from taki_env.core.engine import apply_action, deal, legal_actions
from taki_env.core.policies import GREEDY, RANDOM, choose
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, WEIGHTS, Weights, choose_expert
from taki_env.core.state import States
from taki_env.records.position import new_states
from training.cli import stopping

EXPERT = -1
MAX_DECISIONS = 2000
SMALLEST_STEP, RELATIVE_STEP = 0.5, 0.4
"""Initial spread of a weight: a minimum, and a fraction of its size."""
SEEDS_A_GENERATION = 10
"""Distance between the seeds of two generations."""


@entry
def play_deals(
    states: States,
    base: np.uint64,
    deals: Int,
    kinds: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    wins: npt.NDArray[np.float64],
) -> None:
    """Play every deal once for each rotation of the entrants and add to their `wins`.

    Entrant i is a built-in policy of number ``kinds[i]``, or an expert with ``weights[i]``.
    """
    s, seats, word = states[0], kinds.size, base | ONE
    for index in range(deals):
        for rotation in range(seats):
            deal(s, seed_word(base, np.uint64(index), ZERO))
            while s["phase"] != OVER and s["decisions"] < MAX_DECISIONS:
                entrant = (s["actor"] + rotation) % seats
                legal = legal_actions(s)
                word = next_random(word)
                if kinds[entrant] == EXPERT:
                    apply_action(s, choose_expert(s, legal, weights[entrant]))
                else:
                    apply_action(s, choose(kinds[entrant], s, legal, word))
            if s["phase"] == OVER:
                wins[(s["winner"] + rotation) % seats] += 1


def win_rate(weights: Weights, others: list[int], deals: int, seed: int, rival: Weights) -> float:
    """Return the win rate of an expert with given weights.

    Args:
        weights: Weights of the expert.
        others: Other players: `EXPERT`, with the weights of `rival`, or a built-in policy.
        deals: Number of deals; each is played from every seat.
        seed: Random seed of the deals.
        rival: Weights of the other experts.
    """
    kinds = np.array([EXPERT, *others])
    wins = np.zeros(kinds.size)
    table = np.stack([weights, *[rival] * len(others)])
    states = new_states(1, kinds.size, Rules())
    play_deals(states, base_word(seed), deals, kinds, table, wins)
    return float(wins[0] / (deals * kinds.size))


def fitness(weights: Weights, deals: int, seed: int, rival: Weights) -> float:
    """Return the weighted sum of win rates at two and four players that evolution maximizes."""

    def rate(others: list[int], fraction: float) -> float:
        return win_rate(weights, others, max(1, int(deals * fraction)), seed, rival)

    two = rate([GREEDY], 1) + 0.5 * rate([RANDOM], 0.5) + rate([EXPERT], 1)
    return two + rate([GREEDY] * 3, 0.35) + 0.6 * rate([EXPERT] * 3, 0.3)


@dataclass(frozen=True)
class TuneArgs:
    """Improve the weights of the expert by evolution."""

    generations: int = 150
    """Number of generations, about 1.2 seconds each."""
    population: int = 20
    """Number of variants in each generation."""
    deals: int = 2000
    """Number of deals in the largest match of a variant."""
    seed: int = 1
    """Random seed for variants and deals."""
    json: Path | None = None
    """Output file for the weights, JSON."""


def prepare(args: TuneArgs) -> Callable[[], None]:
    """Check the arguments and return the evolution."""
    for name in ("generations", "population", "deals"):
        if getattr(args, name) < 2:
            raise ValueError(f"--{name} must be at least 2, got {getattr(args, name)}")
    if args.json:
        check_folder("--json", args.json)
    try:
        import cma
    except ImportError:
        raise ValueError("evolution needs the package cma: pip install cma") from None
    options = {"popsize": args.population, "seed": args.seed, "verbose": -9}
    return lambda: evolve(args, cma.CMAEvolutionStrategy(np.zeros(len(WEIGHTS)), 0.5, options))


def evolve(args: TuneArgs, strategy: Any) -> None:
    """Run the evolution; print the weights and their win rates, and write the file.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the evolution early, after a whole generation.
    """
    console = make_console()
    scale = np.maximum(SMALLEST_STEP, np.abs(DEFAULT_WEIGHTS) * RELATIVE_STEP)
    with stopping(console, "generation") as stopped, Progress(console=console) as bar:
        for generation in bar.track(range(args.generations), description="generations"):
            deals = SEEDS_A_GENERATION * generation + 1
            steps = strategy.ask()
            variants = [DEFAULT_WEIGHTS + step * scale for step in steps]
            strategy.tell(
                steps, [-fitness(v, args.deals, deals, DEFAULT_WEIGHTS) for v in variants]
            )
            if stopped():
                break
    found = np.round(DEFAULT_WEIGHTS + strategy.mean * scale, 1)
    table = dict(zip(WEIGHTS, found.tolist(), strict=True))
    console.print(table)
    figures = compare(found)
    console.print("win rates of these weights and of the expert's, 20,000 games each:", figures)
    if args.json:
        write_json(args.json, {**provenance(), "weights": table, "win_rates": figures})
    if generation + 1 < args.generations:
        raise KeyboardInterrupt


def compare(weights: Weights) -> dict[str, tuple[float, float]]:
    """Return win rates of new and current weights, on deals that evolution did not use."""
    matches = {
        "random": [RANDOM], "greedy": [GREEDY], "expert": [EXPERT],
        "three greedy": [GREEDY] * 3, "three expert": [EXPERT] * 3,
    }  # fmt: skip
    return {
        name: (
            win_rate(weights, others, 20_000 // (1 + len(others)), 0, DEFAULT_WEIGHTS),
            win_rate(DEFAULT_WEIGHTS, others, 20_000 // (1 + len(others)), 0, DEFAULT_WEIGHTS),
        )
        for name, others in matches.items()
    }


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(TuneArgs)))
