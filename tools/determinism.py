"""Check that one seed gives the same games everywhere: ``python -m tools.determinism``.

Hashes what every interface of the package plays from one seed (actions, observations, masks,
results): in this process, in processes started in every way, in threads, after pickling and copying
in mid-game, without the compiler, from a read-only folder, and in other versions of Python. All
hashes of an interface must be equal. What cannot be tried here is reported with the reason.

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
    """A hash of everything seen and done, and a generator of actions that needs no library."""

    def __init__(self) -> None:
        self.digest, self.word = hashlib.sha256(), 88172645463325252

    def add(self, *values: Any) -> None:
        """Add arrays and plain values."""
        for value in values:
            array = np.ascontiguousarray(value)
            self.digest.update(array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())

    def choose(self, mask: Any) -> int:
        """Return a legal action, and add it to the hash."""
        legal = np.flatnonzero(mask)
        self.word = (self.word * 6364136223846793005 + 1442695040888963407) % 2**64
        action = int(legal[(self.word >> 33) % len(legal)])
        self.add(action)
        return action


# Interfaces; `copied` is applied in mid-game ----------------------------------------------------


def play_game(copied: Copy) -> str:
    """Play a `Game`, observed by the actor."""
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
    seen: Any = table.reset()
    for number in range(DECISIONS):
        table = copied(table) if number == DECISIONS // 2 else table
        trace.add(seen)
        seen, rewards, dones, _ = table.step(
            np.array([trace.choose(mask) for mask in table.action_masks()])
        )
        trace.add(rewards, dones)
    return trace.digest.hexdigest()


INTERFACES: dict[str, Callable[[Copy], str]] = {
    "Game": play_game,
    "Batch": play_batch,
    "SelfPlay": play_self,
    "AEC": play_aec,
    "parallel": play_parallel,
    "Gymnasium": play_gymnasium,
    "Gymnasium vector": play_vector,
    "SB3 VecEnv": play_sb3,
}


def unchanged(value: Any) -> Any:
    """Return the value itself."""
    return value


def hashes(copied: Copy = unchanged) -> dict[str, str]:
    """Return the hash of each interface, except those that need a missing library."""
    names = dict(INTERFACES)
    if importlib.util.find_spec("stable_baselines3") is None:
        del names["SB3 VecEnv"]
    return {name: play(copied)[:16] for name, play in names.items()}


# Places -------------------------------------------------------------------------------------------


class SkippedError(Exception):
    """A place that cannot be tried here; the message is the reason."""


def pickled(value: Any) -> Any:
    """Return a copy made by pickling."""
    return pickle.loads(pickle.dumps(value))


def in_process(method: str) -> dict[str, str]:
    """Play in a process that is started by a method of multiprocessing."""
    if method not in multiprocessing.get_all_start_methods():
        raise SkippedError("this system lacks the start method")
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(hashes)


def in_threads() -> dict[str, str]:
    """Play in four threads at once."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: hashes(), range(4)))
    return next((one for one in found if one != found[0]), found[0])


def in_interpreter(
    python: str = sys.executable, folder: Path = ROOT, **variables: str
) -> dict[str, str]:
    """Play in another interpreter, with the package from `folder`."""
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
    """Play with the package in a read-only folder, with or without a home folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(PACKAGE, folder / "taki_env", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "home").mkdir()
        (folder / "file").touch()
        # root can write to a read-only folder; a file in place of the cache folder stops it too
        (folder / "taki_env" / "__pycache__").touch()
        (folder / "taki_env").chmod(0o555)
        try:
            found = in_interpreter(folder=folder, HOME=str(folder / ("home" if home else "file")))
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
        raise SkippedError("not installed")
    if subprocess.run([program, "-c", needs], capture_output=True).returncode:
        raise SkippedError("not installed, or its dependencies are missing")
    return in_interpreter(program)


def version_of(python: str) -> str:
    """Return the name and version of an interpreter, or its path if it does not run."""
    code = "import platform; print('Python', platform.python_version())"
    program = shutil.which(python)
    done = program and subprocess.run([program, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done and done.returncode == 0 else python


def places(pythons: tuple[str, ...]) -> dict[str, Callable[[], dict[str, str]]]:
    """Return a function for each place, which plays there and returns the hashes."""
    return {
        "here": hashes,
        "pickled in the middle": lambda: hashes(pickled),
        "deepcopied in the middle": lambda: hashes(copy.deepcopy),
        "four threads": in_threads,
        "fork": lambda: in_process("fork"),
        "spawn": lambda: in_process("spawn"),
        "forkserver": lambda: in_process("forkserver"),
        "compiler off": lambda: in_interpreter(NUMBA_DISABLE_JIT="1"),
        "package read-only": lambda: read_only(home=True),
        "package read-only, no home": lambda: read_only(home=False),
        **{version_of(python): partial(other_python, python) for python in pythons},
    }


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeterminismArgs:
    """Play from one seed in every place and compare the hashes."""

    pythons: tuple[str, ...] = ("python3.11", "python3.12", "python3.13")
    """Interpreters to try; they need the dependencies of the package."""
    json: Path | None = None
    """Output file for the JSON report."""


def verdict(found: dict[str, str], expected: dict[str, str]) -> dict[str, str]:
    """Return "same", "differs" or "—" for each interface."""
    return {
        name: "same" if found.get(name) == expected[name] else "differs" if name in found else "—"
        for name in expected
    }


def matrix(args: DeterminismArgs) -> dict[str, Any]:
    """Return the hashes here and the verdicts of each place."""
    from rich.progress import track

    from agents.cli import make_console

    expected = hashes()
    found: dict[str, dict[str, Any]] = {}
    tried = places(args.pythons)
    console = make_console(stderr=True)
    for place in track(tried, "places", console=console, transient=True):
        try:
            found[place] = {"cells": verdict(tried[place](), expected)}
        except SkippedError as error:
            found[place] = {"skipped": str(error)}
        except Exception as error:  # a failure in one place must not hide the others
            found[place] = {"failed": str(error)}
    return {"hashes": expected, "places": found}


def is_sound(figures: dict[str, Any]) -> bool:
    """Return whether nothing differs and nothing failed."""
    found = figures["places"].values()
    verdicts = [word for place in found for word in place.get("cells", {}).values()]
    return "differs" not in verdicts and not any("failed" in place for place in found)


def prepare(args: DeterminismArgs) -> Callable[[], bool]:
    """Return the work; it returns whether all hashes are the same."""
    from rich.table import Table

    from agents.cli import check_folder, make_console
    from agents.files import provenance, write_json

    check_folder("--json", args.json, ".json")

    def work() -> bool:
        console, figures = make_console(), matrix(args)
        table = Table("", *figures["hashes"])
        for place, result in figures["places"].items():
            verdicts = result.get("cells", {}).values()
            table.add_row(place, *(verdicts or [result.get("skipped") or result["failed"]]))
        console.print(table)
        if args.json:
            write_json(args.json, {**provenance(), **figures})
        return is_sound(figures)

    return work


if __name__ == "__main__":
    import tyro

    from agents.cli import run

    sys.exit(not run(lambda: prepare(tyro.cli(DeterminismArgs))))  # 1 if anything differs
