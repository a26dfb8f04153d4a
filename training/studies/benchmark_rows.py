"""Rows of the benchmark for this project and for the C program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

import taki_env
from taki_env import OBSERVATION_SIZE, Batch, Rules, UniformSampler
from taki_env.core.bits import seed_words
from taki_env.core.loops import play_random
from taki_env.envs.sb3 import TakiVecEnv
from taki_env.envs.vector import TakiVectorEnv
from taki_env.records.position import new_states
from training.trainers import selfplay
from training.trainers.sb3_policy import TakiPolicy

LIMIT_SOURCE = Path(__file__).parents[2] / "benchmarks" / "limit.c"
PLAYERS = (2, 4, 10)
BATCHES = (64, 1024, 16_384)
Measure: TypeAlias = Callable[[], float]
"""Function that runs once and returns a rate, or seconds."""


@dataclass(frozen=True)
class Row:
    """One measurement of the benchmark."""

    name: str
    unit: str
    measure: Measure
    yardstick: str | None = None
    """Name of the row to which the ratio is computed."""
    cores: int = 1
    """Number of cores the process may use."""


def rate(work: Callable[[], int]) -> float:
    """Return the units of work done in a second of wall time."""
    start = time.perf_counter()
    done = work()
    return done / (time.perf_counter() - start)


# Compiled loops -----------------------------------------------------------------------------------


def compile_limit(folder: Path) -> Path:
    """Compile `benchmarks/limit.c` and return the path of the program.

    Raises:
        ValueError: no C compiler is installed, or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ValueError("--c needs a C compiler; neither cc, gcc nor clang was found")
    program = folder / "limit"
    command = [compiler, "-O3", "-march=native", str(LIMIT_SOURCE), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"the C compiler failed: {done.stderr}")
    return program


def limit(program: Path, num_players: int, games: int) -> float:
    """Return the decisions a second of the C program in random play."""
    command = [str(program), str(num_players), str(games)]
    return float(json.loads(subprocess.check_output(command))["per_s"])


def random_play(num_players: int, games: int, observed: bool) -> Measure:
    """Measure uniformly random play in one compiled loop."""
    states, wins = new_states(1, num_players, Rules()), np.zeros(11, np.int64)
    words = seed_words(0, np.arange(games))
    out = np.zeros(OBSERVATION_SIZE, np.float32)
    return lambda: rate(
        lambda: int(play_random(states, words, np.uint64(1), 2000, wins, out, observed))
    )


def batch_loop(num_games: int, decisions: int, observed: bool, threads: int = 1) -> Measure:
    """Measure sampling, stepping and resetting a `Batch` from Python."""
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
    """Measure the vector environment, in learners' decisions."""
    env = TakiVectorEnv(num_envs, opponents=opponents, autoreset_mode="SameStep")
    env.reset(seed=0)
    sampler, steps = UniformSampler(num_envs, seed=1), max(1, decisions // num_envs)

    def work() -> int:
        for _ in range(steps):
            env.step(sampler(env.games.legal))
        return steps * num_envs

    return lambda: rate(work)


def aec_loop(make: Callable[[], Any], decisions: int) -> Measure:
    """Measure an AEC environment with masked random actions: last, sample, step."""
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
    """Measure the Gymnasium environment, in learner's decisions."""
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
    """An environment of the same shapes without any work, to measure the learner alone."""

    def __init__(self, num_envs: int) -> None:
        model = TakiVecEnv(num_envs, seed=0)
        super().__init__(num_envs, model.observation_space, model.action_space)
        self._observations = model.reset()
        self._masks = list(model.action_masks())
        self._zeros, self._dones = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self.render_mode = None

    def reset(self) -> Any:
        """Return constant observations."""
        return self._observations

    def step_async(self, actions: Any) -> None:
        """Ignore the actions."""

    def step_wait(self) -> tuple[Any, Any, Any, Any]:
        """Return constant results."""
        return self._observations, self._zeros.copy(), self._dones, self._infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> Any:
        """Return constant masks."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this object once for every game."""
        return [getattr(self, attr_name)] * self.num_envs

    def action_masks(self) -> Any:
        """Return constant masks."""
        return self._masks

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Ignore the value."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for every game."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Do nothing."""


def ppo(env: VecEnv, rollouts: int) -> Measure:
    """Measure MaskablePPO with the network and settings of `training.train`, in frames."""
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
    """Measure `training.selfplay` with the same network, in frames: decisions of all seats."""
    trainer = selfplay.SelfPlayTrainer(selfplay.SelfPlayArgs(past_games=0.0, **options), folder)

    def work() -> int:
        torch.set_num_threads(2)
        trainer.iterate()
        return trainer.data.actions.size

    return lambda: rate(work)


IMPORT = "import taki_env"
FIRST_GAME = f"{IMPORT}; game = taki_env.Game(); game.apply(game.legal_actions()[0])"


def process_seconds(code: str, cache: Path) -> Measure:
    """Measure the seconds of a new Python process that runs `code` with a Numba cache."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def measure() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=variables)
        return time.perf_counter() - start

    return measure


# Rows ---------------------------------------------------------------------------------------------


def limit_rows(scale: float, folder: Path) -> list[Row]:
    """Return the rows of the C program."""
    program = compile_limit(folder)
    games = max(1, int(50_000 * scale))
    return [
        Row(f"limit.c, {n} players", "decisions/s", partial(limit, program, n, games))
        for n in PLAYERS
    ]


def own_rows(scale: float, folder: Path) -> list[Row]:
    """Return the rows of this project.

    Args:
        scale: Factor on the work of each row.
        folder: Folder for run folders and compiled code.
    """

    def work(decisions: int) -> int:
        return max(1, int(decisions * scale))

    return [
        *compiled_rows(work),
        *batch_rows(work),
        *environment_rows(work),
        *training_rows(folder),
        *import_rows(folder),
    ]


def compiled_rows(work: Callable[[int], int]) -> list[Row]:
    """Return the rows of random play in one compiled loop."""
    rows = []
    for players in PLAYERS:
        for observed in (False, True):
            name = f"compiled random play, {players} players" + ", observed" * observed
            measure = random_play(players, work(20_000 if not observed else 5_000), observed)
            rows.append(Row(name, "decisions/s", measure, f"limit.c, {players} players"))
    return rows


def batch_rows(work: Callable[[int], int]) -> list[Row]:
    """Return the rows of `Batch`."""
    rows, limit_row = [], "limit.c, 2 players"
    for games in BATCHES:
        for observed in (False, True):
            name = f"Batch from Python, {games:,} games" + ", observed" * observed
            measure = batch_loop(games, work(1_000_000), observed)
            rows.append(Row(name, "decisions/s", measure, limit_row))
    measure = batch_loop(1_000_000, work(4_000_000), False)
    rows.append(Row("Batch from Python, 1,000,000 games", "decisions/s", measure, limit_row))
    one_thread = "Batch from Python, 65,536 games, 1 thread"
    measure = batch_loop(65_536, work(4_000_000), False)
    rows.append(Row(one_thread, "decisions/s", measure))
    measure = batch_loop(65_536, work(4_000_000), False, threads=2)
    name = "Batch from Python, 65,536 games, 2 threads"
    rows.append(Row(name, "decisions/s", measure, one_thread, cores=2))
    return rows


def environment_rows(work: Callable[[int], int]) -> list[Row]:
    """Return the rows of the environments."""
    vector = [
        Row(
            f"vector env, 1,024 games against {opponents}",
            "learner decisions/s",
            vector_loop(1024, opponents, work(300_000)),
            "limit.c, 2 players",
        )
        for opponents in ("random", "greedy")
    ]
    raw, guarded = (aec_loop(make, work(10_000)) for make in (taki_env.raw_env, taki_env.env))
    return [
        *vector,
        Row("AEC raw_env", "decisions/s", raw, "PettingZoo connect_four raw_env"),
        Row("AEC env", "decisions/s", guarded, "PettingZoo connect_four env"),
        Row("Gymnasium env", "learner decisions/s", gymnasium_loop(work(5_000))),
    ]


def training_rows(folder: Path) -> list[Row]:
    """Return the rows of training."""
    free, learner = "MaskablePPO, free environment", "MaskablePPO, TakiVecEnv"
    plain = self_play(folder / "self-play")
    many = self_play(folder / "self-play, as many updates", epochs=4, batch_size=2048)
    return [
        Row(free, "frames/s", ppo(FreeVecEnv(256), 1), cores=2),
        Row(learner, "frames/s", ppo(TakiVecEnv(256, seed=0), 1), free, cores=2),
        Row("self-play", "frames/s", plain, learner, cores=2),
        Row("self-play, as many updates", "frames/s", many, learner, cores=2),
    ]


def import_rows(folder: Path) -> list[Row]:
    """Return the rows of new processes with compiled code in the cache."""
    warm = folder / "warm"
    return [
        Row("import, warm", "s", process_seconds(IMPORT, warm)),
        Row("import and first game, warm", "s", process_seconds(FIRST_GAME, warm)),
    ]
