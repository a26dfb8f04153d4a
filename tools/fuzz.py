"""Fuzz everything that takes input from outside: ``python -m tools.fuzz``.

The targets read positions, records, rule options, names of agents, checkpoints, run folders, sweeps
and command lines. Random or mutated input must either be accepted, and then behave as described,
or be rejected with an error of a documented type and a message. Each target runs in its own
process, so that a crash is detected and reported.

    python -m tools.fuzz --seconds 60 --seed 0 --json fuzz.json
    python -m tools.fuzz --target sweeps --case 123           one input again, with its traceback
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
from tools.consequences import TRIPLES
from tools.positions import position_for
from tools.reference import Reference, Shuffler, full_rules
from tools.settings import VARIANTS
from tools.verify import difference
from training.trainers import experiment, rollouts, selfplay, train
from training.trainers.checkpoints import resume, save
from training.trainers.run_folder import CHECKPOINT_FILE, CONFIG_FILE, read_arguments, start

LONGEST = 120
"""CPU seconds after which an input counts as hanging."""
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 7, 255, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5, -1.5),
    *(math.nan, math.inf, "", "x", "red 5", "king", "+3 breaker", "play", "respond", "red", "draw"),
    *("\ud800", "\0", "a" * 300, "../x", [], [[]], ["red 5"], [None], {}, {"x": 1}, [0, 1]),
)


# Mutation ---------------------------------------------------------------------------------------


def containers(value: Any) -> Iterator[dict[Any, Any] | list[Any]]:
    """Yield all non-empty lists and mappings within a value."""
    if isinstance(value, dict | list):
        if value:
            yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)


def mutated(choose: random.Random, value: Any, junk: Sequence[Any] = JUNK) -> Any:
    """Return a copy of plain data with one to three random changes."""
    whole = [copy.deepcopy(value)]
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        change(choose, choose.choice(list(containers(whole))), junk)
        if not whole:
            return choose.choice(junk)
    return whole[0]


def change(choose: random.Random, part: dict[Any, Any] | list[Any], junk: Sequence[Any]) -> None:
    """Make one random change in a list or a mapping."""
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
    """Return bytes with parts flipped, removed, repeated or cut off."""
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


# Targets ------------------------------------------------------------------------------------------


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
    """An accepted position is read correctly and continues as in the reference."""
    valid = position_for(choose, choose.choice(TRIPLES)) if choose.random() < 0.5 else None
    position = mutated(choose, valid or played(choose).to_dict())
    seed = choose.randrange(100) if choose.random() < 0.98 else choose.choice(JUNK)
    kept = copy.deepcopy(position)
    game = Game.from_dict(position, seed)
    assert repr(position) == repr(kept), "reading a position changed it"
    if position["phase"] == "over":
        assert game.is_over
        return
    if position["draw_pile"] is None:
        position["draw_pile"] = game.to_dict()["draw_pile"]
    position["rules"] = full_rules(position["rules"])
    reference = Reference(position, Shuffler(int(seed_words(seed, 0)[0])))
    for _ in range(12):
        differs = difference(game, reference, as_position=True)
        assert differs is None, differs
        if game.is_over:
            break
        action = choose.choice(game.legal_names())
        game.apply(action)
        reference.apply(action)


def actions(choose: random.Random, folder: Path) -> None:
    """A rejected action changes nothing."""
    game = played(choose)
    before = game.to_dict()
    legal = choose.choice([*game.legal_actions(), *game.legal_names(), 0])
    action: Any = choose.choice(
        (choose.choice(JUNK), choose.randrange(-2, 70), legal, np.int64(70))
    )
    try:
        game.apply(action)
    except ValueError:
        assert game.to_dict() == before
        raise
    assert game.decisions > 0 and action is not True


def records(choose: random.Random, folder: Path) -> None:
    """An accepted record equals the record of the replayed game."""
    game = played(choose)
    seat = choose.choice((None, None, 0))
    record = mutated(choose, game.record(seat, note="a note"))
    if seat is not None and choose.random() < 0.7:
        positions_of(record)
        return
    last = Game.replay(record)[-1]
    again = last.record(None, record["names"], note=record["note"])
    for name in ("first", "steps", "result", "rules", "num_players"):
        value = record[name]
        if name == "steps":
            value = [{k: v for k, v in step.items() if k != "value"} for step in value]
        if name == "rules":
            value = Rules.from_dict(value).to_dict()
        if name != "first":
            assert value == again[name], f"{name}: {value!r} differs from {again[name]!r}"


def record_files(choose: random.Random, folder: Path) -> None:
    """A file of records is read completely, or the error names the line."""
    lines = [json.dumps(played(choose).record(choose.choice((None, 0)))) for _ in range(2)]
    file = folder / "games.jsonl"
    file.write_bytes(damaged(choose, "\n".join(lines).encode()))
    if choose.random() < 0.5:
        list(read_records(file))
    else:
        read_record(file, choose.choice((1, 2, 3, 0, -1)))


def options(choose: random.Random, folder: Path) -> None:
    """Accepted rule options, given as a mapping or as text, make a game."""
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
    *("search:time=0.01", "policy:agents/network/pretrained"),
    *("policy:agents/network/pretrained,sample=true", "policy:nothing.zip,trust=true"),
    *("import:tests.agents.test_agents:Nothing", "import:json:loads", "import:os:getcwd"),
    *("pretrained:sample=true", "expert:x=1", "policy:.", "policy:,", "search:belief=rules"),
)


def misspelled(choose: random.Random, text: str) -> str:
    """Return text with letters removed or inserted."""
    letters = list(text)
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
    """An agent that loads plays a legal action."""
    spec = choose.choice(SPECS)
    if spec.startswith("import:"):
        spec = spec[:7] + misspelled(choose, spec[7:]).replace("antigravity", "")
    else:
        spec = misspelled(choose, spec)
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
    """Return a run folder of self-play with a checkpoint, created once."""
    folder = Path(tempfile.mkdtemp(prefix="taki-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    training = start(replace(TINY, runs=folder), selfplay.SelfPlayTrainer)
    training.iterate()
    entry = {"steps": 32, "seconds": 1.0, "opponent": "greedy", "num_players": 2}
    training.history.append({**entry, "win_rate": 0.5, "games": 2})
    save(training)
    return training.folder


def mutated_state(choose: random.Random, state: Any) -> Any:
    """Return a state with mutated plain values or a changed tensor element."""
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
    """Return a zip file with one member replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return out.getvalue()


def saved(state: Any) -> bytes:
    """Return a state as torch saves it."""
    out = io.BytesIO()
    torch.save(state, out)
    return out.getvalue()


def checkpoints(choose: random.Random, folder: Path) -> None:
    """A model that loads plays a legal action."""
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
        changed = saved(mutated_state(choose, dict(weights)))
        file.write_bytes(rewritten(sound, "policy.pth", changed))
    agent = agents.load(f"policy:{file}")
    view = Game(3, seed=1).view()
    assert int(view.legal[0]) >> int(agent.act(view)[0]) & 1


def run_folders(choose: random.Random, folder: Path) -> None:
    """A run that resumes can take another step."""
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
        checkpoint.write_bytes(saved(mutated_state(choose, state)))
    args = read_arguments(selfplay.SelfPlayArgs, ["--resume", str(folder)])
    training = resume(args, selfplay.SelfPlayTrainer)
    assert training.steps <= training.total
    training.table.step(
        [game.legal_actions()[0] for game in map(training.table.batch.game, range(4))]
    )


SMALL = tuple(value for value in JUNK if type(value) is not int or abs(value) < 100)
"""Junk without numbers large enough to exhaust memory."""
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
    """Return plain data as one line of TOML; null, which TOML lacks, as in JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return str(value)
    return json.dumps(value)


def sweeps(choose: random.Random, folder: Path) -> None:
    """An accepted sweep consists of runs that can start."""
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


TINY_RUN = ["--games", "4", "--rollout", "8", "--hidden", "8"]
COMMANDS: dict[str, list[str]] = {
    "training.trainers.train": [
        *("--envs", "4", "--rollout", "8", "--batch-size", "16", "--hidden", "8")
    ],
    "training.trainers.selfplay": [*TINY_RUN, "--players", "2", "3"],
    "training.trainers.rollouts": [*TINY_RUN, "--network-share", "0.5"],
    "training.trainers.experiment": ["sweep.toml"],
    "training.arena.evaluate": [
        *("greedy", "random", "--games", "10", "--players", "2", "--json", "a.json")
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
    *("nothing/a.json", "position.json", "/dev/null", "--players", "tournament", "\0", "9" * 12),
)


def command_lines(choose: random.Random, folder: Path) -> None:
    """A command line is accepted, or rejected before any work is done."""
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
class Target:
    """Code that reads input from outside."""

    check: Callable[[random.Random, Path], None]
    """Function that generates an input and tries it in an empty folder."""
    rejections: tuple[type[BaseException], ...]
    """Documented types of error; subclasses do not count."""
    share: float = 1.0
    """Relative share of the time."""


FILES = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)
CHECKPOINT = (CheckpointError, FileNotFoundError)
LINES = (ValueError, RecordError, *CHECKPOINT, *FILES[1:])
TARGETS = {
    "positions": Target(positions, (ValueError,)),
    "actions": Target(actions, (IllegalActionError,), 0.2),
    "records": Target(records, (RecordError,)),
    "files of records": Target(record_files, (RecordError,)),
    "options": Target(options, (ValueError, TypeError, UnknownOptionError), 0.3),
    "agents": Target(agent_names, (ValueError, *CHECKPOINT)),
    "checkpoints": Target(checkpoints, CHECKPOINT),
    "run folders": Target(run_folders, (ValueError, *CHECKPOINT), 2.0),
    "sweeps": Target(sweeps, (ValueError,)),
    "command lines": Target(command_lines, (SystemExit, UnknownOptionError, *LINES), 2.0),
}


# Running ------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """Results of the inputs to one target."""

    inputs: int = 0
    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    """Number of inputs by type of error."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Case number and error of each input that was handled wrongly."""


def stop_hanging(signum: int, frame: FrameType | None) -> None:
    """Interrupt an input that takes too long."""
    raise TimeoutError(f"no result after {LONGEST} seconds")


def run_case(name: str, seed: int, case: int) -> str | None:
    """Try one input; return the type of the error that rejects it, or None if it is accepted.

    Raises:
        BaseException: any error that is not a documented rejection with a message.
    """
    target, choose = TARGETS[name], random.Random(f"{seed}/{name}/{case}")
    with tempfile.TemporaryDirectory(prefix="taki-fuzz-") as folder:
        try:
            target.check(choose, Path(folder))
        except target.rejections as error:
            has_message = isinstance(error, SystemExit) or str(error).strip()
            if type(error) not in target.rejections or not has_message:
                raise
            return type(error).__name__
    return None


def run_target(name: str, seed: int, cases: int, seconds: float = math.inf) -> Outcome:
    """Try inputs one after another, up to a number of cases or a time."""
    outcome, until = Outcome(), time.monotonic() + seconds
    previous = signal.signal(signal.SIGPROF, stop_hanging)
    try:
        while outcome.inputs < cases and time.monotonic() < until:
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                with warnings.catch_warnings(action="ignore"):
                    rejected = run_case(name, seed, outcome.inputs)
                if rejected:
                    outcome.rejected[rejected] += 1
                else:
                    outcome.accepted += 1
            except KeyboardInterrupt:
                break
            except BaseException as error:
                lines = traceback.format_exception(error)
                outcome.failures.append({"case": outcome.inputs, "error": "".join(lines[-3:])})
            outcome.inputs += 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    return outcome


def run_in_process(name: str, seed: int, seconds: float) -> Outcome:
    """Run a target in a separate process; a crash is a failure."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        sender.send(run_target(name, seed, sys.maxsize, seconds))

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        outcome: Outcome = receiver.recv()
        return outcome
    except EOFError:
        process.join()
        error = f"the process ended with exit code {process.exitcode}"
        return Outcome(failures=[{"case": None, "error": error}])
    finally:
        process.join()


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FuzzArgs:
    """Try random and mutated input on every target."""

    seconds: float = 60
    """Seconds for all targets together."""
    seed: int = 0
    """Random seed; case k of a target is the same in every run."""
    target: str | None = None
    """Name of the only target to run."""
    case: int | None = None
    """Number of the only input of --target to run; an error shows its traceback."""
    json: Path | None = None
    """Output file for the JSON report."""


def table_of(outcomes: dict[str, Outcome]) -> Table:
    """Return the table to print."""
    table = Table("target", "inputs", "accepted", "rejected", "failures")
    for name, outcome in outcomes.items():
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(outcome.rejected.items()))
        numbers = f"{outcome.inputs:,}", f"{outcome.accepted:,}"
        table.add_row(name, *numbers, kinds, f"{len(outcome.failures):,}")
    return table


def run_all(args: FuzzArgs, console: Console) -> bool:
    """Run the targets, print and write the results; return whether there was no failure."""
    names = [args.target] if args.target else list(TARGETS)
    whole = sum(TARGETS[name].share for name in names)
    outcomes: dict[str, Outcome] = {}
    try:
        for name in track(names, "targets", console=make_console(stderr=True), transient=True):
            seconds = args.seconds * TARGETS[name].share / whole
            outcomes[name] = run_in_process(name, args.seed, seconds)
    except KeyboardInterrupt:
        console.print("stopped; results so far:")
    console.print(table_of(outcomes))
    for name, outcome in outcomes.items():
        for failure in outcome.failures[:3]:
            console.print(f"{name}, case {failure['case']}: {failure['error']}")
    if args.json:
        targets = {
            name: {**vars(outcome), "rejected": dict(sorted(outcome.rejected.items()))}
            for name, outcome in outcomes.items()
        }
        write_json(args.json, {**provenance(), "seed": args.seed, "targets": targets})
    if len(outcomes) < len(names):
        raise KeyboardInterrupt
    return not any(outcome.failures for outcome in outcomes.values())


def prepare(args: FuzzArgs) -> Callable[[], bool]:
    """Check the arguments and return the work; it returns whether there was no failure."""
    if args.target is not None and args.target not in TARGETS:
        raise ValueError(f"--target must be one of {', '.join(TARGETS)}, got {args.target}")
    if not 0 < args.seconds < math.inf or args.seed < 0:
        raise ValueError("--seconds must be above 0, --seed at least 0")
    if args.case is not None and not args.target:
        raise ValueError("--case needs --target")
    check_folder("--json", args.json, ".json")
    return lambda: execute(args)


def execute(args: FuzzArgs) -> bool:
    """Run all targets, or the one case; return whether there was no failure."""
    console = make_console()
    if args.case is None:
        run_folder()  # created once, before the processes fork
        return run_all(args, console)
    rejected = run_case(str(args.target), args.seed, args.case)
    console.print(f"rejected: {rejected}" if rejected else "accepted")
    return True


if __name__ == "__main__":
    sys.exit(not run(lambda: prepare(tyro.cli(FuzzArgs))))  # 1 if there was a failure
