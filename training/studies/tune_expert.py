"""Find weights for the expert by evolution: ``python -m training.tune_expert``.

Variants of the expert's weights play greedy, random and the expert itself at two and four players,
the same deals within a generation; CMA-ES (Hansen 2016) moves on to the better ones. Starts from
the weights in `taki_env.core.policies.expert`, which came out of such runs, and prints a table to
put in their place; needs `pip install cma`.
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
"""First spread of a weight: so much of its size, but not less than so much."""
SEEDS_A_GENERATION = 10


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
    """Return the win rate of an expert with some weights.

    Args:
        weights: of the expert in the first seat.
        others: who else plays: `EXPERT`, with the weights of `rival`, or a built-in policy.
        deals: each is played from every seat.
        seed: of the deals.
        rival: weights.
    """
    kinds = np.array([EXPERT, *others])
    wins = np.zeros(kinds.size)
    table = np.stack([weights, *[rival] * len(others)])
    states = new_states(1, kinds.size, Rules())
    play_deals(states, base_word(seed), deals, kinds, table, wins)
    return float(wins[0] / (deals * kinds.size))


def fitness(weights: Weights, deals: int, seed: int, rival: Weights) -> float:
    """Return what evolution raises: win rates at two and four players, weighed."""

    def rate(others: list[int], share: float) -> float:
        return win_rate(weights, others, max(1, int(deals * share)), seed, rival)

    two = rate([GREEDY], 1) + 0.5 * rate([RANDOM], 0.5) + rate([EXPERT], 1)
    return two + rate([GREEDY] * 3, 0.35) + 0.6 * rate([EXPERT] * 3, 0.3)


@dataclass(frozen=True)
class TuneArgs:
    """Find weights for the expert by evolution, from those that it has."""

    generations: int = 150
    """Steps of the evolution; some 1.2 seconds each."""
    population: int = 20
    """Variants in each."""
    deals: int = 2000
    """Deals that each variant plays in its largest match."""
    seed: int = 1
    """Of the variants and the deals."""
    json: Path | None = None
    """File for the weights."""


def prepare(args: TuneArgs) -> Callable[[], None]:
    """Check the arguments and return the evolution."""
    for name in ("generations", "population", "deals"):
        if getattr(args, name) < 2:
            raise ValueError(f"--{name} must be 2 or more, not {getattr(args, name)}")
    if args.json:
        check_folder("--json", args.json)
    try:
        import cma
    except ImportError:
        raise ValueError("evolution needs the package cma: pip install cma") from None
    options = {"popsize": args.population, "seed": args.seed, "verbose": -9}
    return lambda: evolve(args, cma.CMAEvolutionStrategy(np.zeros(len(WEIGHTS)), 0.5, options))


def evolve(args: TuneArgs, strategy: Any) -> None:
    """Run the evolution; print the weights and how they fare, and write them to the file.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it early, with the weights found by the end of a generation.
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
    """Return win rates of weights and of the expert's, on deals that evolution did not see."""
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
