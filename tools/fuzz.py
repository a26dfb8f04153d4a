"""Random and mutated input at every door: ``python -m tools.fuzz``.

A door takes what comes from outside: positions, records, options, names of agents, checkpoints,
run folders, sweeps, command lines. Whatever is tried has to be taken, and then be what it says, or
be refused with an error of a documented type that has words. Each door is tried in a process of
its own, so that a crash is seen and told.

    python -m tools.fuzz --seconds 60 --seed 0 --json fuzz.json
    python -m tools.fuzz --door sweeps --case 123             one input again, with its traceback
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import importlib
import io
import json
import math
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, get_type_hints

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

import agents
from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from agents.network.checkpoint import CheckpointError
from agents.table.record_files import read_record, read_records
from taki_env import Game, IllegalActionError, RecordError, Rules
from taki_env.base.errors import UnknownOptionError
from taki_env.core.bits import seed_words
from taki_env.records.read import positions_of
from tests.helpers import VARIANTS, Shuffler
from tools.consequences import TRIPLES
from tools.positions import wished
from tools.reference import Reference, full_rules
from tools.verify import difference
from training.trainers import experiment, rollouts, selfplay, train
from training.trainers.checkpoints import resume, save
from training.trainers.run_folder import CHECKPOINT_FILE, CONFIG_FILE, read_arguments, start

LONGEST = 120
"""Seconds of computing after which an input counts as one that hangs."""
JUNK = (
    *(None, True, False, 0, -1, 1, 2, 7, 255, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5, -1.5),
    *(math.nan, math.inf, "", "x", "red 5", "king", "+3 breaker", "play", "respond", "red", "draw"),
    *("\ud800", "\0", "a" * 300, "../x", [], [[]], ["red 5"], [None], {}, {"x": 1}, [0, 1]),
)


# Changing what is sound ---------------------------------------------------------------------------


def containers(value: Any) -> Iterator[dict[Any, Any] | list[Any]]:
    """Yield all lists and mappings of a value that are not empty."""
    if isinstance(value, dict | list):
        if value:
            yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)


def mutated(choose: random.Random, value: Any, junk: Sequence[Any] = JUNK) -> Any:
    """Return a copy of plain data with one to three changes anywhere in it."""
    whole = [copy.deepcopy(value)]
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        change(choose, choose.choice(list(containers(whole))), junk)
        if not whole:
            return choose.choice(junk)
    return whole[0]


def change(choose: random.Random, part: dict[Any, Any] | list[Any], junk: Sequence[Any]) -> None:
    """Change one thing in a list or a mapping."""
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    key, other = choose.choice(keys), choose.choice(keys)
    kind = choose.randrange(6)
    if kind == 0:
        del part[key]
    elif kind == 1:
        part[key], part[other] = part[other], part[key]
    elif kind == 2 and isinstance(part, list):
        part.insert(other, copy.deepcopy(part[key]))
    elif kind == 3 and isinstance(part[key], int):
        part[key] += choose.choice((-1, 1))
    elif kind == 4 and isinstance(part, dict):
        part[str(key)[:-1]] = part.pop(key)
    else:
        part[key] = copy.deepcopy(choose.choice(junk))


def damaged(choose: random.Random, data: bytes) -> bytes:
    """Return bytes with some flipped, cut out, repeated, or missing at the end."""
    out = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 8))):
        start = choose.randrange(len(out) + 1)
        stop = min(len(out), start + choose.choice((1, 4, 64, 1000)))
        kind = choose.randrange(5)
        if kind == 0:
            del out[start:stop]
        elif kind == 1:
            out[start:start] = out[start:stop]
        elif kind == 2:
            out[start:stop] = choose.randbytes(stop - start)
        elif kind == 3:
            del out[start:]
        elif start < len(out):
            out[start] ^= 1 << choose.randrange(8)
    return bytes(out)


# Doors --------------------------------------------------------------------------------------------


def played(choose: random.Random, most: int = 40) -> Game:
    """Return a game after some random decisions."""
    game = Game(
        choose.choice((2, 3, 5)), choose.choice(list(VARIANTS.values())), choose.randrange(50)
    )
    for _ in range(choose.randrange(1, most)):
        if not game.is_over:
            game.apply(choose.choice(game.legal_actions()))
    return game


def positions(choose: random.Random, folder: Path) -> None:
    """A position that is taken is what it says, and plays on as the reference does."""
    sound = wished(choose, choose.choice(TRIPLES)) if choose.random() < 0.5 else None
    at = mutated(choose, sound or played(choose).to_dict())
    seed = choose.randrange(100) if choose.random() < 0.98 else choose.choice(JUNK)
    kept = copy.deepcopy(at)
    game = Game.from_dict(at, seed)
    assert repr(at) == repr(kept), "reading a position changed it"
    if at["phase"] == "over":
        assert game.is_over
        return
    if at["draw_pile"] is None:
        at["draw_pile"] = game.to_dict()["draw_pile"]
    at["rules"] = full_rules(at["rules"])
    reference = Reference(at, Shuffler(int(seed_words(seed, 0)[0])))
    for _ in range(12):
        differs = difference(game, reference, in_words=True)
        assert differs is None, differs
        if game.is_over:
            break
        action = choose.choice(game.legal_names())
        game.apply(action)
        reference.apply(action)


def actions(choose: random.Random, folder: Path) -> None:
    """What is no legal action changes nothing."""
    game = played(choose)
    before = game.to_dict()
    legal = choose.choice([*game.legal_actions(), *game.legal_names(), 0])
    action = choose.choice((choose.choice(JUNK), choose.randrange(-2, 70), legal, np.int64(70)))
    try:
        game.apply(action)
    except ValueError:
        assert game.to_dict() == before
        raise
    assert game.decisions > 0 and action is not True


def records(choose: random.Random, folder: Path) -> None:
    """A record that is taken is that of the game that it gives."""
    game = played(choose)
    seat = choose.choice((None, None, 0))
    record = mutated(choose, game.record(seat, note="a note"))
    if seat is not None and choose.random() < 0.7:
        positions_of(record)
        return
    last = Game.replay(record)[-1]
    again = last.record(None, record["names"], note=record["note"])
    for name in ("first", "steps", "result", "rules", "num_players"):
        told = record[name]
        if name == "steps":
            told = [{k: v for k, v in step.items() if k != "value"} for step in told]
        if name == "rules":
            told = Rules.from_dict(told).to_dict()
        if name != "first":
            assert told == again[name], f"{name}: {told!r} is not {again[name]!r}"


def record_files(choose: random.Random, folder: Path) -> None:
    """A file of records is read whole, or the line is named."""
    lines = [json.dumps(played(choose).record(choose.choice((None, 0)))) for _ in range(2)]
    file = folder / "games.jsonl"
    file.write_bytes(damaged(choose, "\n".join(lines).encode()))
    if choose.random() < 0.5:
        list(read_records(file))
    else:
        read_record(file, choose.choice((1, 2, 3, 0, -1)))


def options(choose: random.Random, folder: Path) -> None:
    """Options of the game, as a mapping and as words."""
    if choose.random() < 0.5:
        chosen = choose.choice(list(VARIANTS.values()))
        rules = Rules.from_dict(mutated(choose, chosen.to_dict()))
    else:
        names = ("tournament", "full_runs", "hand_size", "deck", "voluntary_draw", "x", "")
        values = ("", "=true", "=false", "=3", "=0", "=-1", "=x", "=", "==", "=99999999999", "=²")
        count = choose.randrange(4)
        rules = Rules.from_words(
            [choose.choice(names) + choose.choice(values) for _ in range(count)]
        )
    assert Rules.from_dict(rules.to_dict()) == rules
    Game(2, rules, seed=0)


SPECS = (
    *("random", "greedy", "expert", "search", "search:simulations=10,rollout=greedy", "pretrained"),
    *(
        "search:time=0.01",
        "policy:agents/network/pretrained",
        "policy:agents/network/pretrained,sample=true",
    ),
    *(
        "policy:nothing.zip,trust=true",
        "import:tests.agents.test_agents:Nothing",
        "import:json:loads",
    ),
    *("import:os:getcwd", "pretrained:sample=true", "expert:x=1", "policy:.", "policy:,"),
    "search:belief=rules",
)


def words_changed(choose: random.Random, words: str) -> str:
    """Return words with letters dropped, doubled or put in."""
    letters = list(words)
    for _ in range(choose.randrange(3)):
        place = choose.randrange(len(letters) + 1)
        if choose.random() < 0.5 and letters:
            del letters[place : place + choose.randrange(1, 4)]
        else:
            letters.insert(
                place, choose.choice((*":=,.-0123456789e \0/", "nan", "inf", "9" * 30, "²"))
            )
    return "".join(letters)


def agent_names(choose: random.Random, folder: Path) -> None:
    """An agent that is made plays a legal action."""
    spec = choose.choice(SPECS)
    if spec.startswith("import:"):
        spec = spec[:7] + words_changed(choose, spec[7:]).replace("antigravity", "")
    else:
        spec = words_changed(choose, spec)
    agent = agents.load(spec, seed=choose.randrange(3))
    if not spec.startswith("search") or spec == "search:simulations=10,rollout=greedy":
        view = Game(3, seed=1).view()
        assert int(view.legal[0]) >> int(agent.act(view)[0]) & 1


TINY = selfplay.SelfPlayArgs(
    steps=32, games=4, rollout=8, batch_size=16, hidden=8, players=(2,), evaluation_games=2,
    final_games=2, threads=1, epochs=1,
)  # fmt: skip


@cache
def run_folder() -> Path:
    """Return a run folder of self-play with a checkpoint, made once."""
    folder = Path(tempfile.mkdtemp(prefix="taki-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    training = start(replace(TINY, runs=folder), selfplay.SelfPlayTrainer)
    training.iterate()
    entry = {"steps": 32, "seconds": 1.0, "opponent": "greedy", "num_players": 2}
    training.history.append({**entry, "win_rate": 0.5, "games": 2})
    save(training)
    return training.folder


def tensors_changed(choose: random.Random, state: Any) -> Any:
    """Return a state in which plain values, or the numbers of a tensor, are others."""
    if choose.random() < 0.5:
        return mutated(choose, state)
    state = copy.deepcopy(state)
    holders = [
        (part, key)
        for part in containers(state)
        for key in (part if isinstance(part, dict) else range(len(part)))
        if isinstance(part[key], torch.Tensor) and part[key].numel()
    ]
    part, key = choose.choice(holders)
    flat = part[key].reshape(-1)
    if flat.dtype.is_floating_point:
        flat[choose.randrange(flat.numel())] = choose.choice((math.nan, math.inf, 1e30, 0.0))
    elif flat.dtype == torch.uint8:
        flat[choose.randrange(flat.numel())] = choose.randrange(256)
    else:
        flat[choose.randrange(flat.numel())] = choose.choice((-1, 0, 1, 9, 2**40))
    return state


def rewritten(file: Path, member: str, data: bytes) -> bytes:
    """Return a zip file in which one member is another."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return out.getvalue()


def saved(state: Any) -> bytes:
    """Return what torch writes of a state."""
    out = io.BytesIO()
    torch.save(state, out)
    return out.getvalue()


def checkpoints(choose: random.Random, folder: Path) -> None:
    """A model that is loaded has finite weights and plays a legal action."""
    sound, file = run_folder() / "model.zip", folder / "model.zip"
    kind = choose.randrange(3)
    if kind == 0:
        file.write_bytes(damaged(choose, sound.read_bytes()))
    elif kind == 1:
        with zipfile.ZipFile(sound) as archive:
            data = json.loads(archive.read("data"))
        file.write_bytes(rewritten(sound, "data", json.dumps(mutated(choose, data)).encode()))
    else:
        with zipfile.ZipFile(sound) as archive:
            weights = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
        changed = saved(tensors_changed(choose, dict(weights)))
        file.write_bytes(rewritten(sound, "policy.pth", changed))
    agent = agents.load(f"policy:{file}")
    view = Game(3, seed=1).view()
    assert int(view.legal[0]) >> int(agent.act(view)[0]) & 1


def run_folders(choose: random.Random, folder: Path) -> None:
    """A run that is gone on with is one that can learn and play on."""
    sound = run_folder()
    for name in (CONFIG_FILE, CHECKPOINT_FILE):
        shutil.copy(sound / name, folder / name)
    config, checkpoint = folder / CONFIG_FILE, folder / CHECKPOINT_FILE
    kind = choose.randrange(4)
    if kind == 0:
        config.write_bytes(damaged(choose, config.read_bytes()))
    elif kind == 1:
        config.write_text(json.dumps(mutated(choose, json.loads(config.read_text()), SMALL)))
    elif kind == 2:
        checkpoint.write_bytes(damaged(choose, checkpoint.read_bytes()))
    else:
        state = torch.load(checkpoint, weights_only=True)
        checkpoint.write_bytes(saved(tensors_changed(choose, state)))
    args = read_arguments(selfplay.SelfPlayArgs, ["--resume", str(folder)])
    training = resume(args, selfplay.SelfPlayTrainer)
    assert training.steps <= training.total
    training.table.step(
        [game.legal_actions()[0] for game in map(training.table.batch.game, range(4))]
    )


SMALL = tuple(value for value in JUNK if type(value) is not int or abs(value) < 100)
"""No sizes that a machine could be asked to hold."""
SWEEP = {
    "training": "selfplay",
    "seeds": [0, 1],
    "runs": "runs",
    "arguments": {"steps": 256, "players": [2, 3], "hidden": 16, "rules": ["tournament"]},
    "settings": {
        "plain": {"symmetric": False},
        "other": {"gae_lambda": 0.9, "opponents": ["greedy"]},
    },
}


def toml(value: Any) -> str:
    """Return plain data in one line of TOML; what TOML lacks as JSON has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return str(value)
    return json.dumps(value)


def sweeps(choose: random.Random, folder: Path) -> None:
    """A sweep that is read is made of runs that can begin."""
    data = mutated(choose, SWEEP, SMALL)
    lines = data.items() if isinstance(data, dict) else [("x", data)]
    text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in lines)
    content = text.encode(errors="surrogatepass")
    file = folder / "sweep.toml"
    file.write_bytes(damaged(choose, content) if choose.random() < 0.3 else content)
    experiment.prepare(experiment.ExperimentArgs(file))
    jobs = experiment.read_sweep(file)
    assert jobs
    for job in jobs[:1]:
        job.args.check()


COMMANDS: dict[str, list[str]] = {
    "training.trainers.train": [
        "--envs",
        "4",
        "--rollout",
        "8",
        "--batch-size",
        "16",
        "--hidden",
        "8",
    ],
    "training.trainers.selfplay": [
        "--games",
        "4",
        "--rollout",
        "8",
        "--hidden",
        "8",
        "--players",
        "2",
        "3",
    ],
    "training.trainers.rollouts": [
        "--games",
        "4",
        "--rollout",
        "8",
        "--hidden",
        "8",
        "--network-share",
        "0.5",
    ],
    "training.trainers.experiment": ["sweep.toml"],
    "training.arena.evaluate": [
        "greedy",
        "random",
        "--games",
        "10",
        "--players",
        "2",
        "--json",
        "a.json",
    ],
    "training.arena.command": [
        *("greedy", "random", "--players", "2", "--games", "10", "--time-limit", "0.5"),
        *("--batch", "4", "--max-decisions", "100", "--csv", "a.csv", "--plot", "a.png"),
    ],
    "training.arena.leaderboard": ["--games", "4", "--seed", "1"],
    "training.studies.tune_expert": ["--generations", "1", "--population", "4", "--deals", "2"],
    "training.studies.search_speed": ["--games", "2", "--simulations", "8", "--rounds", "1"],
    "training.studies.benchmark": ["--rounds", "1", "--scale", "0.1", "--only", "step"],
    "agents.table.analyze": ["position.json", "--agent", "greedy", "--seed", "1", "--reveal"],
    "agents.table.replay": ["games.jsonl", "--line", "1", "--seat", "0", "--html", "a.html"],
}
WORDS = (
    *("-1", "0", "1", "x", "", "nan", "inf", "1e3", "2.5", "--json", "--seed", "--help", "--", "."),
    *(
        "nothing/a.json",
        "position.json",
        "/dev/null",
        "--players",
        "tournament",
        "\0",
        "999999999999",
    ),
)


def command_lines(choose: random.Random, folder: Path) -> None:
    """A command line is taken, or refused before any work is done."""
    name = choose.choice(list(COMMANDS))
    words = COMMANDS[name].copy()
    for _ in range(choose.choice((0, 1, 1, 2))):
        place = choose.randrange(len(words))
        kind = choose.randrange(3)
        if kind == 0:
            del words[place]
        elif kind == 1:
            words[place] = choose.choice(WORDS)
        else:
            words.insert(place, choose.choice(WORDS))
        words = words or [""]
    (folder / "position.json").write_text(json.dumps(Game(2, seed=0).to_dict()))
    (folder / "games.jsonl").write_text(json.dumps(Game(2, seed=0).record()) + "\n")
    (folder / "sweep.toml").write_text("seeds = [0]\n[arguments]\nhidden = 8\n")
    module = importlib.import_module(name)
    kind = get_type_hints(module.prepare)["args"]
    learns = module in (train, selfplay, rollouts)
    quiet = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        args = read_arguments(kind, words) if learns else tyro.cli(kind, args=words)
        module.prepare(args)


@dataclass(frozen=True)
class Door:
    """Where something comes from outside."""

    enter: Callable[[random.Random, Path], None]
    """Makes an input and tries it in an empty folder."""
    refusals: tuple[type[BaseException], ...]
    """What it documents to raise; other types do not count as refusals, not even below these."""
    share: float = 1.0
    """Of the time."""


FILES = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)
CHECKPOINT = (CheckpointError, FileNotFoundError)
LINES = (ValueError, RecordError, *CHECKPOINT, *FILES[1:])
DOORS = {
    "positions": Door(positions, (ValueError,)),
    "actions": Door(actions, (IllegalActionError,), 0.2),
    "records": Door(records, (RecordError,)),
    "files of records": Door(record_files, (RecordError,)),
    "options": Door(options, (ValueError, TypeError, UnknownOptionError), 0.3),
    "agents": Door(agent_names, (ValueError, *CHECKPOINT)),
    "checkpoints": Door(checkpoints, CHECKPOINT),
    "run folders": Door(run_folders, (ValueError, *CHECKPOINT), 2.0),
    "sweeps": Door(sweeps, (ValueError,)),
    "command lines": Door(command_lines, (SystemExit, UnknownOptionError, *LINES), 2.0),
}  # fmt: skip


# Trying -------------------------------------------------------------------------------------------


@dataclass
class Tried:
    """What came of the inputs at one door."""

    inputs: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """By type of error."""
    wrong: list[dict[str, Any]] = field(default_factory=list)
    """Inputs that were neither taken as they are nor refused: their number, and what was raised."""


def hangs(signum: int, frame: FrameType | None) -> None:
    """End an input that takes too long."""
    raise TimeoutError(f"no answer after {LONGEST} seconds")


def try_case(name: str, seed: int, case: int) -> str | None:
    """Try one input; returns the type of the error that refuses it, or None if it is taken.

    Raises:
        BaseException: whatever is no documented illegal_action_message.
    """
    door, choose = DOORS[name], random.Random(f"{seed}/{name}/{case}")
    with tempfile.TemporaryDirectory(prefix="taki-fuzz-") as folder:
        try:
            door.enter(choose, Path(folder))
        except door.refusals as error:
            words = isinstance(error, SystemExit) or str(error).strip()
            if type(error) not in door.refusals or not words:
                raise
            return type(error).__name__
    return None


def try_door(name: str, seed: int, cases: int, seconds: float = math.inf) -> Tried:
    """Try inputs one after the other, up to a number of them or a time."""
    tried, until = Tried(), time.monotonic() + seconds
    previous = signal.signal(signal.SIGPROF, hangs)
    try:
        while tried.inputs < cases and time.monotonic() < until:
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                with warnings.catch_warnings(action="ignore"):
                    refused = try_case(name, seed, tried.inputs)
                if refused:
                    tried.refused[refused] += 1
                else:
                    tried.accepted += 1
            except KeyboardInterrupt:
                break
            except BaseException as error:
                lines = traceback.format_exception(error)
                tried.wrong.append({"case": tried.inputs, "error": "".join(lines[-3:])})
            tried.inputs += 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    return tried


def try_apart(name: str, seed: int, seconds: float) -> Tried:
    """Try a door in a process of its own, and tell if that crashes."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        sender.send(try_door(name, seed, sys.maxsize, seconds))

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        words = f"the process ended with {process.exitcode}"
        return Tried(wrong=[{"case": None, "error": words}])
    finally:
        process.join()


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FuzzArgs:
    """Try random and mutated input at every door."""

    seconds: float = 60
    """For all doors together."""
    seed: int = 0
    """Of the inputs: case k of a door is the same in every run."""
    door: str | None = None
    """Only this one."""
    case: int | None = None
    """Only this input of --door, here and now: an error shows its traceback."""
    json: Path | None = None
    """File to write the figures to."""


def table_of(found: dict[str, Tried]) -> Table:
    """Return the table to print."""
    table = Table("door", "inputs", "taken", "refused", "wrong")
    for name, tried in found.items():
        words = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tried.refused.items()))
        numbers = f"{tried.inputs:,}", f"{tried.accepted:,}"
        table.add_row(name, *numbers, words, f"{len(tried.wrong):,}")
    return table


def try_all(args: FuzzArgs, console: Console) -> bool:
    """Try the doors, print and write what came of it; returns whether nothing was wrong."""
    names = [args.door] if args.door else list(DOORS)
    whole = sum(DOORS[name].share for name in names)
    found: dict[str, Tried] = {}
    try:
        for name in track(names, "doors", console=make_console(stderr=True), transient=True):
            found[name] = try_apart(name, args.seed, args.seconds * DOORS[name].share / whole)
    except KeyboardInterrupt:
        console.print("stopped; these were tried:")
    console.print(table_of(found))
    for name, tried in found.items():
        for one in tried.wrong[:3]:
            console.print(f"{name}, case {one['case']}: {one['error']}")
    if args.json:
        doors = {
            name: {
                "inputs": tried.inputs, "taken": tried.accepted,
                "refused": dict(sorted(tried.refused.items())), "wrong": tried.wrong,
            }
            for name, tried in found.items()
        }  # fmt: skip
        write_json(args.json, {**provenance(), "seed": args.seed, "doors": doors})
    if len(found) < len(names):
        raise KeyboardInterrupt
    return not any(tried.wrong for tried in found.values())


def prepare(args: FuzzArgs) -> Callable[[], bool]:
    """Check the arguments and return the work; it returns whether nothing was wrong."""
    if args.door is not None and args.door not in DOORS:
        raise ValueError(f"--door must be one of {', '.join(DOORS)}, not {args.door}")
    if (
        not 0 < args.seconds < math.inf
        or args.seed < 0
        or (args.case is not None and not args.door)
    ):
        raise ValueError("--seconds must be above 0, --seed 0 or more, and --case needs --door")
    check_folder("--json", args.json, ".json")

    def work() -> bool:
        console = make_console()
        if args.case is None:
            run_folder()
            return try_all(args, console)
        refused = try_case(str(args.door), args.seed, args.case)
        console.print(f"refused: {refused}" if refused else "taken")
        return True

    return work


if __name__ == "__main__":
    sys.exit(not run(lambda: prepare(tyro.cli(FuzzArgs))))  # 1 if anything was wrong
