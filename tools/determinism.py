"""One seed, one game, everywhere: ``python -m tools.determinism``.

What every interface of the package plays from one seed (actions, observations, masks, results) is
hashed: in this process, in processes started in every way, in threads, after pickling and copying
in the middle, without the compiler, from a folder that cannot be written to, and in other versions
of Python. All hashes of a row have to be the same; what cannot be tried here says why.

    python -m tools.determinism
    python -m tools.determinism --json determinism.json --pythons .venv312/bin/python
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import taki_env
from taki_env import Batch, Game, Rules, SelfPlay, env, parallel_env

ROOT = Path(__file__).parents[1]
PACKAGE = Path(taki_env.__file__).parent
RULES = Rules(tournament=True, hand_size=4)
SEED, PLAYERS, DECISIONS = 5, 3, 60
Copy = Callable[[Any], Any]


class Trace:
    """A hash of what is seen and done, and the choice of actions that depends on nothing else."""

    def __init__(self) -> None:
        self.digest, self.words = hashlib.sha256(), 88172645463325252

    def add(self, *values: Any) -> None:
        """Add arrays and plain values."""
        for value in values:
            array = np.ascontiguousarray(value)
            self.digest.update(array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())

    def choose(self, mask: Any) -> int:
        """Return a legal action, and add it."""
        legal = np.flatnonzero(mask)
        self.words = (self.words * 6364136223846793005 + 1442695040888963407) % 2**64
        action = int(legal[(self.words >> 33) % len(legal)])
        self.add(action)
        return action


# What is played; `copied` is applied in the middle ------------------------------------------------


def play_game(copied: Copy) -> str:
    """Play a `Game`; seats see it in turn."""
    trace, game = Trace(), Game(PLAYERS, RULES, SEED)
    for number in range(DECISIONS):
        game = copied(game) if number == DECISIONS // 2 else game
        if game.is_over:
            break
        trace.add(game.actor, game.observation())
        game.apply(trace.choose(game.action_mask()))
    trace.add(game.rewards(), game.observation(0))
    trace.digest.update(json.dumps(game.to_dict()).encode())
    return trace.digest.hexdigest()


def play_batch(copied: Copy) -> str:
    """Play a `Batch` with two threads."""
    trace, batch = Trace(), Batch(5, [2, 3, 4, 5, 10], RULES, SEED, threads=2)
    for number in range(DECISIONS):
        batch = copied(batch) if number == DECISIONS // 2 else batch
        batch.reset(batch.done)
        masks = batch.action_masks()
        trace.add(batch.actors, batch.observations(), masks)
        batch.step([trace.choose(mask) for mask in masks])
        trace.add(batch.rewards, batch.done)
    return trace.digest.hexdigest()


def play_self(copied: Copy) -> str:
    """Play `SelfPlay`."""
    trace, table = Trace(), SelfPlay(4, PLAYERS, RULES, max_decisions=40, seed=SEED)
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        trace.add(table.actors, table.observations())
        trace.add(*table.step([trace.choose(mask) for mask in table.action_masks()]))
    return trace.digest.hexdigest()


def play_aec(copied: Copy) -> str:
    """Play the AEC environment."""
    trace, table = Trace(), env(num_players=PLAYERS, rules=RULES)
    table.reset(seed=SEED)
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        if not table.agents:
            break
        seen, reward, terminated, truncated, _ = table.last()
        trace.add(seen["observation"], seen["action_mask"], reward, terminated, truncated)
        table.step(None if terminated or truncated else trace.choose(seen["action_mask"]))
    return trace.digest.hexdigest()


def play_parallel(copied: Copy) -> str:
    """Play the parallel environment."""
    trace, table = Trace(), parallel_env(num_players=PLAYERS, rules=RULES)
    seen, _ = table.reset(seed=SEED)
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        if not table.agents:
            break
        masks = {agent: seen[agent]["action_mask"] for agent in table.agents}
        actions = {a: trace.choose(mask) if mask.any() else None for a, mask in masks.items()}
        seen, rewards, *ended, _ = table.step(actions)
        trace.add(*(part["observation"] for part in seen.values()), [*rewards.values()])
        trace.add(*([*flags.values()] for flags in ended))
    return trace.digest.hexdigest()


def play_gymnasium(copied: Copy) -> str:
    """Play the Gymnasium environment."""
    from taki_env.envs.gymnasium_env import TakiEnv

    trace, table = Trace(), TakiEnv(PLAYERS, RULES, {"random": 1, "greedy": 1})
    seen, info = table.reset(seed=SEED)
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        trace.add(seen, info["action_mask"], info["learner_seat"])
        seen, reward, terminated, truncated, info = table.step(trace.choose(info["action_mask"]))
        trace.add(reward, terminated, truncated)
        if terminated or truncated:
            seen, info = table.reset()
    return trace.digest.hexdigest()


def play_vector(copied: Copy) -> str:
    """Play the Gymnasium vector environment."""
    from taki_env.envs.vector import TakiVectorEnv

    opponents = {"random": 1, "greedy": 1}
    trace, table = Trace(), TakiVectorEnv(4, PLAYERS, RULES, opponents, autoreset_mode="SameStep")
    seen, infos = table.reset(seed=SEED)
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        actions = np.array([trace.choose(mask) for mask in infos["action_mask"]])
        trace.add(seen)
        seen, *results, infos = table.step(actions)
        trace.add(*results)
    return trace.digest.hexdigest()


def play_sb3(copied: Copy) -> str:
    """Play the `VecEnv` of Stable-Baselines3."""
    from taki_env.envs.sb3 import TakiVecEnv

    trace, table = Trace(), TakiVecEnv(4, PLAYERS, RULES, {"random": 1, "greedy": 1}, seed=SEED)
    seen = table.reset()
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        trace.add(seen)
        seen, rewards, dones, _ = table.step(
            np.array([trace.choose(mask) for mask in table.action_masks()])
        )
        trace.add(rewards, dones)
    return trace.digest.hexdigest()


PLAYED: dict[str, Callable[[Copy], str]] = {
    "Game": play_game,
    "Batch": play_batch,
    "SelfPlay": play_self,
    "AEC": play_aec,
    "parallel": play_parallel,
    "Gymnasium": play_gymnasium,
    "Gymnasium vector": play_vector,
    "SB3 VecEnv": play_sb3,
}


def same(value: Any) -> Any:
    """Copy nothing."""
    return value


def hashes(copied: Copy = same) -> dict[str, str]:
    """Return the hash of everything that is played; leaves out what a library is missing for."""
    names = dict(PLAYED)
    if importlib.util.find_spec("stable_baselines3") is None:
        del names["SB3 VecEnv"]
    return {name: play(copied)[:16] for name, play in names.items()}


# Where --------------------------------------------------------------------------------------------


class SkippedError(Exception):
    """What cannot be tried here, and why."""


def pickled(value: Any) -> Any:
    """Return a copy through bytes."""
    return pickle.loads(pickle.dumps(value))


def in_process(method: str) -> dict[str, str]:
    """Play in a process that is started in a way."""
    if method not in multiprocessing.get_all_start_methods():
        raise SkippedError("this system has no such way")
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(hashes)


def in_threads() -> dict[str, str]:
    """Play in four threads at once."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: hashes(), range(4)))
    return next((one for one in found if one != found[0]), found[0])


def elsewhere(
    python: str = sys.executable, folder: Path = ROOT, **variables: str
) -> dict[str, str]:
    """Play in another interpreter, which finds the package in a folder first."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join((str(folder), str(ROOT)))
    code = "import json; from tools.determinism import hashes; print(json.dumps(hashes()))"
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, cwd=folder,
        env={**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def read_only(home: bool) -> dict[str, str]:
    """Play with the package in a folder that cannot be written to, with a home folder or none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(PACKAGE, folder / "taki_env", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "home").mkdir()
        (folder / "file").touch()
        # root may write anywhere: a file in the place of a folder stops it as well
        (folder / "taki_env" / "__pycache__").touch()
        (folder / "taki_env").chmod(0o555)
        try:
            found = elsewhere(folder=folder, HOME=str(folder / ("home" if home else "file")))
        finally:
            (folder / "taki_env").chmod(0o755)
        kept = any((folder / "home").rglob("*.nbi"))
        if kept != home:
            raise RuntimeError(f"compiled code was {'' if kept else 'not '}kept at home")
        return found


def other_python(python: str) -> dict[str, str]:
    """Play in another version of Python."""
    program = shutil.which(python)
    needs = "import numba, numpy, gymnasium, pettingzoo"
    if program is None:
        raise SkippedError("it is not installed")
    if subprocess.run([program, "-c", needs], capture_output=True).returncode:
        raise SkippedError("it is not installed, or lacks what the package needs")
    return elsewhere(program)


def version_of(python: str) -> str:
    """Return the version of an interpreter in words, or its name if it does not run."""
    code = "import platform; print('Python', platform.python_version())"
    program = shutil.which(python)
    done = program and subprocess.run([program, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done and done.returncode == 0 else python


def cells(pythons: tuple[str, ...]) -> dict[str, Callable[[], dict[str, str]]]:
    """Return where everything is played."""
    return {
        "here": hashes,
        "pickled in the middle": lambda: hashes(pickled),
        "deepcopied in the middle": lambda: hashes(copy.deepcopy),
        "four threads": in_threads,
        "fork": lambda: in_process("fork"),
        "spawn": lambda: in_process("spawn"),
        "forkserver": lambda: in_process("forkserver"),
        "compiler off": lambda: elsewhere(NUMBA_DISABLE_JIT="1"),
        "package read-only": lambda: read_only(home=True),
        "package read-only, no home": lambda: read_only(home=False),
        **{version_of(python): partial(other_python, python) for python in pythons},
    }


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeterminismArgs:
    """Play everything from one seed, everywhere, and compare."""

    pythons: tuple[str, ...] = ("python3.11", "python3.12", "python3.13")
    """Interpreters with the package's dependencies."""
    json: Path | None = None
    """File to write the matrix to."""


def verdict(found: dict[str, str], expected: dict[str, str]) -> dict[str, str]:
    """Return in a word for each row whether it is as here."""
    return {
        name: "same" if found.get(name) == expected[name] else "differs" if name in found else "—"
        for name in expected
    }


def matrix(args: DeterminismArgs) -> dict[str, Any]:
    """Return what came of each cell."""
    from rich.progress import track

    from agents.cli import make_console

    expected, found = hashes(), {}
    places = cells(args.pythons)
    console = make_console(stderr=True)
    for place in track(places, "places", console=console, transient=True):
        try:
            found[place] = {"cells": verdict(places[place](), expected)}
        except SkippedError as error:
            found[place] = {"skipped": str(error)}
        except Exception as error:  # one place is not to hide the others
            found[place] = {"failed": str(error)}
    return {"hashes": expected, "places": found}


def is_sound(figures: dict[str, Any]) -> bool:
    """Tell whether nothing differs and nothing failed."""
    places = figures["places"].values()
    words = [word for place in places for word in place.get("cells", {}).values()]
    return "differs" not in words and not any("failed" in place for place in places)


def prepare(args: DeterminismArgs) -> Callable[[], bool]:
    """Return the work, which returns whether all is the same."""
    from rich.table import Table

    from agents.cli import check_folder, make_console
    from agents.files import provenance, write_json

    check_folder("--json", args.json, ".json")

    def work() -> bool:
        console, figures = make_console(), matrix(args)
        table = Table("", *figures["hashes"])
        for place, result in figures["places"].items():
            words = result.get("cells", {}).values()
            table.add_row(place, *(words or [result.get("skipped") or result["failed"]]))
        console.print(table)
        if args.json:
            write_json(args.json, {**provenance(), **figures})
        return is_sound(figures)

    return work


if __name__ == "__main__":
    import tyro

    from agents.cli import run

    sys.exit(not run(lambda: prepare(tyro.cli(DeterminismArgs))))  # 1 if anything differs
