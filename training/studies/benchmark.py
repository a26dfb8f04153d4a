"""Measure the environment beside what people would use instead: ``python -m training.benchmark``.

All rows are measured in one process, round after round, so that the noise of a shared machine falls
on all of them alike; figures are medians over the rounds, ratios medians of the rounds' ratios.

    python -m training.benchmark --c               with `benchmarks/limit.c`, the yardstick
    pip install -e ".[peers]"                      adds RLCard, OpenSpiel and PettingZoo's games
    python -m training.benchmark --c --json FILE --chart PNG
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

import taki_env
from agents.cli import make_console, run
from agents.files import provenance, replacing, write_json
from taki_env import OBSERVATION_SIZE, Batch, Rules, UniformSampler
from taki_env.core.bits import seed_words
from taki_env.core.loops import play_random
from taki_env.core.state import GAME_DTYPE
from taki_env.envs.sb3 import TakiVecEnv
from taki_env.envs.vector import TakiVectorEnv
from taki_env.records.position import new_states
from training.trainers import selfplay
from training.trainers.sb3_policy import TakiPolicy

LIMIT_SOURCE = Path(__file__).parents[2] / "benchmarks" / "limit.c"
PLAYERS = (2, 4, 10)
BATCHES = (64, 1024, 16_384)
Measure = Callable[[], float]
"""Runs once and returns how much it did in a second."""


@dataclass(frozen=True)
class BenchmarkArgs:
    """Measure the environment, and the peers that are installed, in one run."""

    rounds: int = 5
    """Rounds; the figures are medians over them."""
    c: bool = False
    """Compile `benchmarks/limit.c` and compare with it."""
    scale: float = 1.0
    """Factor on the work of each row; below 1 for a quick look."""
    only: str = ""
    """Measure only rows whose name contains this (and the yardstick)."""
    json: Path | None = None
    """File for the figures."""
    chart: Path | None = None
    """PNG file for a bar chart."""


@dataclass(frozen=True)
class Row:
    """What is measured."""

    name: str
    unit: str
    measure: Measure
    yardstick: str | None = None
    """Row that this one is given as a ratio of."""
    cores: int = 1


def rate(work: Callable[[], int]) -> float:
    """Return how much `work` did in a second of wall time."""
    start = time.perf_counter()
    done = work()
    return done / (time.perf_counter() - start)


# Compiled loops -----------------------------------------------------------------------------------


def compile_limit(folder: Path) -> Path:
    """Return the compiled yardstick.

    Raises:
        ValueError: there is no C compiler, or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ValueError("--c needs a C compiler: none was found")
    program = folder / "limit"
    command = [compiler, "-O3", "-march=native", str(LIMIT_SOURCE), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"the C compiler failed: {done.stderr}")
    return program


def limit(program: Path, num_players: int, games: int) -> float:
    """Return the decisions a second of the C program."""
    command = [str(program), str(num_players), str(games)]
    return float(json.loads(subprocess.check_output(command))["per_s"])


def random_play(num_players: int, games: int, observed: bool) -> Measure:
    """Uniformly random play in one compiled loop."""
    states, wins = new_states(1, num_players, Rules()), np.zeros(11, np.int64)
    words = seed_words(0, np.arange(games))
    out = np.zeros(OBSERVATION_SIZE, np.float32)
    return lambda: rate(lambda: play_random(states, words, np.uint64(1), 2000, wins, out, observed))


def batch_loop(num_games: int, decisions: int, observed: bool, threads: int = 1) -> Measure:
    """Sampling, stepping and re-dealing a `Batch` from Python."""
    batch = Batch(num_games, seed=0, threads=threads)
    sampler = UniformSampler(num_games, seed=1, threads=threads)
    out = np.empty((num_games, OBSERVATION_SIZE), np.float32)
    steps = max(1, decisions // num_games)

    def work() -> int:
        for _ in range(steps):
            if observed:
                batch.observations(out)
            batch.step(sampler(batch.legal))
            over = batch.legal == 0
            if over.any():
                batch.reset(over)
        return steps * num_games

    return lambda: rate(work)


# Environments -------------------------------------------------------------------------------------


def vector_loop(num_envs: int, opponents: str, decisions: int) -> Measure:
    """The vector environment, in the learners' decisions."""
    env = TakiVectorEnv(num_envs, opponents=opponents, autoreset_mode="SameStep")
    env.reset(seed=0)
    sampler, steps = UniformSampler(num_envs, seed=1), max(1, decisions // num_envs)

    def work() -> int:
        for _ in range(steps):
            env.step(sampler(env.games.legal))
        return steps * num_envs

    return lambda: rate(work)


def aec_loop(make: Callable[[], Any], decisions: int) -> Measure:
    """A masked random game after another: last, sample, step."""
    env = make()

    def work() -> int:
        done = 0
        while done < decisions:
            env.reset(seed=done)
            for agent in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                action = None
                if not (terminated or truncated):
                    action = env.action_space(agent).sample(observation["action_mask"])
                    done += 1
                env.step(action)
        return done

    return lambda: rate(work)


def gymnasium_loop(decisions: int) -> Measure:
    """The single environment, in the learner's decisions."""
    env = gymnasium.make("Taki-v0")

    def work() -> int:
        _, info = env.reset(seed=0)
        for _ in range(decisions):
            action = env.action_space.sample(info["action_mask"])
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return decisions

    return lambda: rate(work)


class FreeVecEnv(VecEnv):
    """An environment of the same shapes that costs nothing: what is left is the learner."""

    def __init__(self, num_envs: int) -> None:
        model = TakiVecEnv(num_envs, seed=0)
        super().__init__(num_envs, model.observation_space, model.action_space)
        self._observations = model.reset()
        self._masks = list(model.action_masks())
        self._zeros, self._going = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self.render_mode = None

    def reset(self) -> Any:
        """Return the same observations as ever."""
        return self._observations

    def step_async(self, actions: Any) -> None:
        """Ignore the actions."""

    def step_wait(self) -> tuple[Any, Any, Any, Any]:
        """Return the same as ever."""
        return self._observations, self._zeros.copy(), self._going, self._infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> Any:
        """Return the same masks as ever."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this object once for every game."""
        return [getattr(self, attr_name)] * self.num_envs

    def action_masks(self) -> Any:
        """Return the same masks as ever."""
        return self._masks

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Ignore the value."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Release nothing."""


def ppo(env: VecEnv, rollouts: int) -> Measure:
    """MaskablePPO with the network and settings of `training.trainers.train`, in frames."""
    model = MaskablePPO(
        TakiPolicy, env, n_steps=64, batch_size=2048, n_epochs=4, gamma=1.0, seed=0, device="cpu"
    )
    frames = 64 * env.num_envs * rollouts

    def work() -> int:
        torch.set_num_threads(2)
        model.learn(frames, reset_num_timesteps=False)
        return frames

    return lambda: rate(work)


def self_play(folder: Path, **options: Any) -> Measure:
    """`training.selfplay` with the network of `ppo`, in frames: decisions of all its seats."""
    trainer = selfplay.SelfPlayTrainer(selfplay.SelfPlayArgs(past_games=0.0, **options), folder)

    def work() -> int:
        torch.set_num_threads(2)
        trainer.iterate()
        return trainer.data.actions.size

    return lambda: rate(work)


IMPORT = "import taki_env"
FIRST_GAME = f"{IMPORT}; game = taki_env.Game(); game.apply(game.legal_actions()[0])"


def process_seconds(code: str, cache: Path) -> Measure:
    """Seconds of a new Python process that runs some code, with a cache of compiled code."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def measure() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=variables)
        return time.perf_counter() - start

    return measure


# Peers --------------------------------------------------------------------------------------------


def rlcard_uno(decisions: int) -> Measure:
    """RLCard's UNO, uniformly random among the legal actions."""
    import rlcard

    env, rng = rlcard.make("uno", config={"seed": 0}), np.random.default_rng(0)

    def work() -> int:
        done = 0
        while done < decisions:
            state, _ = env.reset()
            while not env.is_over():
                state, _ = env.step(int(rng.choice(list(state["legal_actions"]))))
                done += 1
        return done

    return lambda: rate(work)


def open_spiel_states(decisions: int) -> Measure:
    """OpenSpiel's crazy_eights from Python, with the observation of every decision."""
    import pyspiel

    game, rng = pyspiel.load_game("crazy_eights"), np.random.default_rng(0)

    def work() -> int:
        done = 0
        while done < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    actions, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(int(rng.choice(actions, p=weights)))
                else:
                    state.observation_tensor()
                    state.apply_action(int(rng.choice(state.legal_actions())))
                    done += 1
        return done

    return lambda: rate(work)


def open_spiel_bots(games: int) -> Measure:
    """OpenSpiel's crazy_eights in its C++ loop over random bots."""
    import pyspiel

    game = pyspiel.load_game("crazy_eights")
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(game.num_players())]

    def work() -> int:
        done = 0
        for seed in range(games):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, seed)
            done += sum(item.player >= 0 for item in state.full_history())
        return done

    return lambda: rate(work)


def pettingzoo_game(name: str, decisions: int) -> Measure:
    """One of PettingZoo's classic games; `name` is a module and an attribute."""
    module, attribute = name.split(":")
    imported = importlib.import_module(f"pettingzoo.classic.{module}")
    return aec_loop(getattr(imported, attribute), decisions)


# All rows -----------------------------------------------------------------------------------------


def own_rows(scale: float, folder: Path) -> list[Row]:
    """Return the rows of this project."""

    def work(decisions: int) -> int:
        return max(1, int(decisions * scale))

    rows = []
    for players in PLAYERS:
        for observed in (False, True):
            name = f"compiled random play, {players} players" + ", observed" * observed
            measure = random_play(players, work(20_000 if not observed else 5_000), observed)
            rows.append(Row(name, "decisions/s", measure, f"limit.c, {players} players"))
    for games in BATCHES:
        for observed in (False, True):
            name = f"Batch from Python, {games:,} games" + ", observed" * observed
            measure = batch_loop(games, work(1_000_000), observed)
            rows.append(Row(name, "decisions/s", measure, "limit.c, 2 players"))
    measure = batch_loop(1_000_000, work(4_000_000), False)
    rows.append(
        Row("Batch from Python, 1,000,000 games", "decisions/s", measure, "limit.c, 2 players")
    )
    for threads in (1, 2):
        measure = batch_loop(65_536, work(4_000_000), False, threads)
        name = f"Batch from Python, 65,536 games, {threads} thread{'s' * (threads > 1)}"
        yardstick = None if threads == 1 else "Batch from Python, 65,536 games, 1 thread"
        rows.append(Row(name, "decisions/s", measure, yardstick, threads))
    for opponents in ("random", "greedy"):
        measure = vector_loop(1024, opponents, work(300_000))
        name = f"vector env, 1,024 games against {opponents}"
        rows.append(Row(name, "learner decisions/s", measure, "limit.c, 2 players"))
    for name, make, peer in (
        ("AEC raw_env", taki_env.raw_env, "PettingZoo connect_four raw_env"),
        ("AEC env", taki_env.env, "PettingZoo connect_four env"),
    ):
        rows.append(Row(name, "decisions/s", aec_loop(make, work(10_000)), peer))
    rows.append(Row("Gymnasium env", "learner decisions/s", gymnasium_loop(work(5_000))))
    free = ppo(FreeVecEnv(256), 1)
    rows.append(Row("MaskablePPO, free environment", "frames/s", free, cores=2))
    learner = ppo(TakiVecEnv(256, seed=0), 1)
    peer = "MaskablePPO, free environment"
    rows.append(Row("MaskablePPO, TakiVecEnv", "frames/s", learner, peer, cores=2))
    for name, options in (
        ("self-play", {}),
        ("self-play, as many updates", {"epochs": 4, "batch_size": 2048}),
    ):
        measure = self_play(folder / name, **options)
        rows.append(Row(name, "frames/s", measure, "MaskablePPO, TakiVecEnv", cores=2))
    for name, code in (("import, warm", IMPORT), ("import and first game, warm", FIRST_GAME)):
        rows.append(Row(name, "s", process_seconds(code, folder / "warm")))
    return rows


def peer_rows(scale: float) -> list[Row]:
    """Return the rows of the peers that are installed."""
    decisions, rows = max(1, int(10_000 * scale)), []
    for game in ("connect_four", "tictactoe"):
        if importlib.util.find_spec("pygame"):
            for attribute in ("raw_env", "env"):
                module = f"{game}.{game}:{attribute}"
                measure = pettingzoo_game(module, decisions)
                rows.append(Row(f"PettingZoo {game} {attribute}", "decisions/s", measure))
    if importlib.util.find_spec("rlcard"):
        rows.append(Row("RLCard UNO", "decisions/s", rlcard_uno(decisions)))
    if importlib.util.find_spec("pyspiel"):
        states, bots = open_spiel_states(decisions), open_spiel_bots(max(1, int(2_000 * scale)))
        rows.append(Row("OpenSpiel crazy_eights, states, observed", "decisions/s", states))
        rows.append(Row("OpenSpiel crazy_eights, C++ bots", "decisions/s", bots))
    return rows


def limit_rows(scale: float, folder: Path) -> list[Row]:
    """Return the rows of the yardstick in C."""
    program = compile_limit(folder)
    games = max(1, int(50_000 * scale))
    return [
        Row(f"limit.c, {n} players", "decisions/s", lambda n=n: limit(program, n, games))
        for n in PLAYERS
    ]


def measured(rows: Sequence[Row], rounds: int, console: Console) -> dict[str, list[float]]:
    """Return the figures of every row, one a round; Ctrl-C leaves the rounds before it."""
    figures: dict[str, list[float]] = {row.name: [] for row in rows}
    all_cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("warming up", total=len(rows) * (rounds + 1))
        try:
            for number in range(rounds + 1):
                for row in rows:
                    words = row.name if number else f"warming up: {row.name}"
                    bar.update(task, description=words)
                    with pinned(all_cores, row.cores):
                        figure = row.measure()
                    if number:  # the first round compiles
                        figures[row.name].append(figure)
                    bar.advance(task)
        except KeyboardInterrupt:
            console.print("stopped: figures of the rounds so far")
    return figures


@contextmanager
def pinned(all_cores: set[int], cores: int) -> Iterator[None]:
    """Keep this process, and those that it starts, on some of the cores."""
    if not all_cores:
        yield
        return
    os.sched_setaffinity(0, set(sorted(all_cores)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def report(rows: Sequence[Row], figures: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return a line for each row: median, spread, and the median of the ratios by round."""
    lines = []
    for row in rows:
        values = figures[row.name]
        if not values:
            continue
        line = {"name": row.name, "unit": row.unit, "median": median(values)}
        line |= {"lowest": min(values), "highest": max(values), "rounds": len(values)}
        of = figures.get(row.yardstick or "")
        if of:
            pairs = zip(values, of, strict=False)
            line |= {"yardstick": row.yardstick, "ratio": median(v / y for v, y in pairs)}
        lines.append(line)
    return lines


def table(lines: Sequence[dict[str, Any]]) -> Table:
    """Return the figures as a table."""
    shown = Table("row", "median", "lowest", "highest", "unit", "ratio", "of")
    for line in lines:
        numbers = [f"{line[key]:,.4g}" if line[key] < 1000 else f"{line[key]:,.0f}"
                   for key in ("median", "lowest", "highest")]  # fmt: skip
        ratio = f"{line['ratio']:.3g}" if "ratio" in line else ""
        shown.add_row(line["name"], *numbers, line["unit"], ratio, line.get("yardstick", ""))
    return shown


def draw_chart(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the rates as bars on a logarithmic axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [line for line in lines if line["unit"] != "s"][::-1]
    figure = Figure(figsize=(9, 0.27 * len(shown) + 1), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    peers = ("limit.c", "PettingZoo", "RLCard", "OpenSpiel", "MaskablePPO, free")
    colors = ["tab:gray" if line["name"].startswith(peers) else "tab:blue" for line in shown]
    axes.barh([line["name"] for line in shown], [line["median"] for line in shown], color=colors)
    axes.set(xscale="log", xlabel="decisions or frames a second (median), logarithmic")
    axes.grid(axis="x", alpha=0.3)
    with replacing(path) as beside:
        figure.savefig(beside)


def prepare(args: BenchmarkArgs) -> Callable[[], Any]:
    """Check the arguments and return the work."""
    if args.rounds < 1 or args.scale <= 0:
        raise ValueError("--rounds must be 1 or more and --scale above 0")
    for file in (args.json, args.chart):
        if file and not file.parent.is_dir():
            raise ValueError(f"there is no folder {file.parent}")
    return lambda: measure(args)


def measure(args: BenchmarkArgs) -> list[dict[str, Any]]:
    """Measure, print the table, write what was asked for.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it early; all is of the rounds before.
    """
    console = make_console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = limit_rows(args.scale, folder) if args.c else []
        rows += own_rows(args.scale, folder) + peer_rows(args.scale)
        kept = {r.yardstick for r in rows if args.only in r.name} if args.only else set()
        rows = [row for row in rows if args.only in row.name or row.name in kept]
        cold = process_seconds(FIRST_GAME, folder / "cold")() if not args.only else None
        figures = measured(rows, args.rounds, console)
        lines = report(rows, figures)
    if cold is not None:
        lines.append({"name": "import and first game, cold", "unit": "s", "median": cold,
                      "lowest": cold, "highest": cold, "rounds": 1})  # fmt: skip
    console.print(table(lines))
    console.print(f"{GAME_DTYPE.itemsize} bytes a game, at any number of players")
    if args.json:
        facts = {"bytes_a_game": GAME_DTYPE.itemsize, "arguments": plain(args), "rows": lines}
        write_json(args.json, provenance() | facts)
    if args.chart:
        draw_chart(lines, args.chart)
    if any(len(found) < args.rounds for found in figures.values()):
        raise KeyboardInterrupt
    return lines


def plain(args: BenchmarkArgs) -> dict[str, Any]:
    """Return the arguments that the figures depend on."""
    return {"rounds": args.rounds, "c": args.c, "scale": args.scale, "only": args.only}


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(BenchmarkArgs)))
