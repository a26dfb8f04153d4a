"""Play many games in a row and watch memory: ``python -m tools.soak``.

Every interface of many games plays random tournaments with 2 to 10 players and resets its games.
Memory must stay flat, every game must end or be truncated at the cap, and every truncation must be
reported.

    python -m tools.soak --decisions 10000000 --json soak.json --plot soak.png
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from agents.cli import check_different, check_folder, make_console, run
from agents.files import provenance, replacing, write_json
from taki_env import Batch, Rules, SelfPlay, UniformSampler
from taki_env.envs.sb3 import TakiVecEnv
from taki_env.envs.vector import TakiVectorEnv

GAMES = 64
CAP = 300
"""Decision cap, low enough that many games reach it."""
SAMPLES = 60
"""Number of memory readings of each interface."""
WARM_UP = 0.2
"""Fraction of the readings in which memory may grow."""
GROWTH_MIB = 8.0
"""Allowed growth between the first and the last readings after the warm-up, MiB."""
RULES = Rules(tournament=True, hand_size=2)
TABLES = np.arange(GAMES) % 9 + 2
"""Number of players of each game, 2 to 10."""


def memory() -> float:
    """Return the resident memory of this process, MiB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:  # no /proc: the maximum so far
        scale = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


@dataclass
class Count:
    """Counts of the games of one interface."""

    decisions: int = 0
    won: int = 0
    cut: int = 0
    longest: int = 0
    """Decisions of the longest game that ended; 0 if unknown."""
    memory: list[tuple[int, float]] = field(default_factory=list)
    """Readings: decisions so far, and MiB."""


Player = Callable[[int, Count], Iterator[None]]


def play_batch(seed: int, count: Count) -> Iterator[None]:
    """Play a `Batch`, reset by the caller."""
    batch, sample = Batch(GAMES, TABLES, RULES, seed), UniformSampler(GAMES, seed)
    while True:
        batch.step(sample(batch.legal))
        cut = ~batch.done & (batch.decisions >= CAP)
        over = batch.done | cut
        count.decisions += GAMES
        count.won += int(batch.done.sum())
        count.cut += int(cut.sum())
        if over.any():
            count.longest = max(count.longest, int(batch.decisions[over].max()))
            batch.reset(over)
        yield


def play_self(seed: int, count: Count) -> Iterator[None]:
    """Play `SelfPlay`."""
    table = SelfPlay(GAMES, TABLES, RULES, CAP, seed)
    sample = UniformSampler(GAMES, seed)
    while True:
        before = table.batch.decisions
        credits = table.step(sample(table.legal))
        ended = np.unique(credits.games)
        cut = np.unique(credits.games[credits.truncated])
        count.decisions += GAMES
        count.cut += cut.size
        count.won += ended.size - cut.size
        if ended.size:
            count.longest = max(count.longest, int(before[ended].max()) + 1)
        yield


def play_vector(seed: int, count: Count) -> Iterator[None]:
    """Play the Gymnasium vector environment."""
    opponents = {"random": 1, "greedy": 1}
    table = TakiVectorEnv(GAMES, TABLES, RULES, opponents, max_decisions=CAP)
    sample = UniformSampler(GAMES, seed)
    table.reset(seed=seed)
    rounds = 0
    while True:
        resetting = table._over.copy()
        before = table.games.batch.decisions
        _, _, terminated, truncated, _ = table.step(sample(table.games.legal))
        after = table.games.batch.decisions
        count.decisions += int(np.where(resetting, after, after - before).sum())
        count.won, count.cut = count.won + int(terminated.sum()), count.cut + int(truncated.sum())
        over = terminated | truncated
        if over.any():
            count.longest = max(count.longest, int(after[over].max()))
        rounds += 1
        if rounds % 500 == 0:
            table.reset(seed=seed + rounds)
        yield


def play_sb3(seed: int, count: Count) -> Iterator[None]:
    """Play the `VecEnv` of Stable-Baselines3."""
    opponents = {"random": 1, "greedy": 1}
    table = TakiVecEnv(GAMES, TABLES, RULES, opponents, max_decisions=CAP, seed=seed)
    sample = UniformSampler(GAMES, seed)
    table.reset()
    rounds = 0
    while True:
        before = table.games.batch.decisions
        _, _, dones, infos = table.step(sample(table.games.legal))
        after = table.games.batch.decisions
        count.decisions += int(np.where(dones, after, after - before).sum())
        cut = sum(infos[game]["TimeLimit.truncated"] for game in np.flatnonzero(dones))
        count.cut += cut
        count.won += int(dones.sum()) - cut
        rounds += 1
        if rounds % 500 == 0:
            table.seed(seed + rounds)
            table.reset()
        yield


PLAYERS: dict[str, Player] = {
    "Batch": play_batch,
    "SelfPlay": play_self,
    "Gymnasium vector": play_vector,
    "SB3 VecEnv": play_sb3,
}


def soak(
    play: Player, decisions: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> Count:
    """Play a number of decisions, with memory readings at even intervals."""
    count, due = Count(), 0.0
    for _ in play(seed, count):
        if count.decisions >= due:
            count.memory.append((count.decisions, memory()))
            due += decisions / SAMPLES
            progress(count.decisions)
        if count.decisions >= decisions:
            return count
    raise AssertionError("a player stopped by itself")


def growth(count: Count) -> float:
    """Return the growth between the first and the last readings after the warm-up, MiB."""
    readings = np.array([mib for _, mib in count.memory])[int(len(count.memory) * WARM_UP) :]
    fifth = max(1, len(readings) // 5)
    return float(readings[-fifth:].mean() - readings[:fifth].mean())


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SoakArgs:
    """Play many games with every interface and check that memory stays flat."""

    decisions: int = 10_000_000
    """Number of decisions of all seats, with each interface."""
    seed: int = 0
    """Random seed for deals and actions."""
    json: Path | None = None
    """Output file for the JSON report."""
    plot: Path | None = None
    """Output PNG file for the curves of memory."""


def plot(found: dict[str, Count], path: Path) -> None:
    """Draw memory above its first reading, over the decisions."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, count in found.items():
        decisions, readings = np.array(count.memory).T
        axes.plot(decisions, readings - readings[0], label=f"{name}, from {readings[0]:.0f} MiB")
    axes.axhline(GROWTH_MIB, color="gray", linestyle="--", label="allowed after the warm-up")
    axes.set(xlabel="decisions", ylabel="memory above its first reading, MiB")
    axes.grid(alpha=0.3)
    axes.legend(loc="center right")
    with replacing(path) as partial:
        figure.savefig(partial)


def as_json(found: dict[str, Count]) -> dict[str, Any]:
    """Return the counts, ready for JSON."""
    return {
        name: {**vars(count), "growth_mib": round(growth(count), 2)}
        for name, count in found.items()
    }


def play_all(args: SoakArgs) -> dict[str, Count]:
    """Play with each interface; after Ctrl-C, return those that finished."""
    columns = (
        TextColumn("{task.description} {task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    found: dict[str, Count] = {}
    console = make_console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        try:
            for name, play in PLAYERS.items():
                task = bar.add_task(name, total=args.decisions)

                def show(done: int, task: Any = task) -> None:
                    bar.update(task, completed=done)

                found[name] = soak(play, args.decisions, args.seed, show)
        except KeyboardInterrupt:
            console.print("stopped; results so far:")
    return found


def prepare(args: SoakArgs) -> Callable[[], bool]:
    """Check the arguments and return the work; it returns whether memory stayed flat."""
    if args.decisions < SAMPLES * GAMES or args.seed < 0:
        raise ValueError(f"--decisions must be at least {SAMPLES * GAMES:,}, --seed at least 0")
    check_folder("--json", args.json, ".json")
    check_folder("--plot", args.plot, ".png")
    check_different({"--json": args.json, "--plot": args.plot})
    return lambda: execute(args)


def execute(args: SoakArgs) -> bool:
    """Play, print and write the results; return whether memory stayed flat."""
    found, console = play_all(args), make_console()
    table = Table("", "decisions", "won", "truncated", "longest", "MiB", "growth")
    for name, count in found.items():
        numbers = (count.decisions, count.won, count.cut, count.longest)
        mib = f"{count.memory[-1][1]:.0f}", f"{growth(count):+.2f}"
        table.add_row(name, *(f"{number:,}" if number else "" for number in numbers), *mib)
    console.print(table)
    if args.json:
        arguments = {"decisions": args.decisions, "seed": args.seed, "cap": CAP}
        write_json(args.json, {**provenance(), **arguments, "played": as_json(found)})
    if args.plot and found:
        plot(found, args.plot)
    if len(found) < len(PLAYERS):
        raise KeyboardInterrupt
    return all(growth(count) < GROWTH_MIB and count.longest <= CAP for count in found.values())


if __name__ == "__main__":
    sys.exit(not run(lambda: prepare(tyro.cli(SoakArgs))))  # 1 if memory grew
