"""Compiled code: the same with the compiler off, never stale, and working without a cache."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taki_env
from taki_env import Batch, Game
from taki_env.base import jit as _jit
from taki_env.core.bits import seed_words
from taki_env.core.policies import POLICIES
from taki_env.envs.learners import LearnerGames
from taki_env.envs.seated import advance_many
from tests.helpers import VARIANTS, Shuffler, rest_of_deck
from tools.reference import Reference

ROOT = Path(__file__).parents[2]
PACKAGE = Path(taki_env.__file__).parent

WARNINGS = [
    *("-W", "error::RuntimeWarning"),
    *("-W", "ignore:overflow encountered in scalar multiply:RuntimeWarning"),
]
"""Plain NumPy says so where counting bits wraps around, as it must."""


def python(code: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter that finds modules in a folder first."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    env = {**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, *WARNINGS, "-c", code]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


# Without the compiler -----------------------------------------------------------------------------


def random_games() -> str:
    """Play random games beside the reference; return a digest of all positions and observations."""
    digest = hashlib.sha256()
    for variant, num_players in (("all", 3), ("tournament", 2), ("standard", 4)):
        rules, choose = VARIANTS[variant], random.Random(1)
        table = Game(num_players, rules, seed=2)
        shuffle = Shuffler(int(seed_words(2, 0)[0]))
        deal = shuffle(rest_of_deck(rules=rules))
        reference = Reference.deal(deal, num_players, rules.to_dict(), shuffle)
        for _ in range(120):
            assert table.to_dict() == reference.position()
            assert set(table.legal_names()) == reference.legal()
            digest.update(json.dumps(table.to_dict()).encode())
            if table.is_over:
                break
            for seat in range(num_players):
                digest.update(table.observation(seat).tobytes())
            re_deal = table.determinize(choose.randrange(num_players), choose.randrange(99))
            digest.update(json.dumps(re_deal.to_dict()).encode())
            action = choose.choice(table.legal_names())
            table.apply(action)
            reference.apply(action)
    return digest.hexdigest()


def batches_of_games() -> str:
    """Play learners' games against the built-in policies; return a digest of what was seen."""
    digest = hashlib.sha256()
    games = LearnerGames(4, 3, VARIANTS["all"], dict.fromkeys(POLICIES, 1), seed=3)
    for _ in range(12):
        masks = np.array([[int(word) >> bit & 1 for bit in range(64)] for word in games.legal])
        games.step(masks.argmax(axis=1))
        digest.update(games.observations().tobytes() + games.rewards.tobytes())
    batch = Batch(3, [2, 3, 4], seed=4)
    samples = batch.view(np.arange(3)).sample_states(2, np.random.default_rng(0))
    digest.update(samples["draw_pile"].tobytes() + batch.action_masks().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("trace", [random_games, batches_of_games])
def test_without_the_compiler_all_is_the_same(trace: object) -> None:
    """Positions, legal sets, observations, re-deals, policies; and no sum overflows."""
    name = trace.__name__  # type: ignore[attr-defined]
    code = f"import numba; from tests.base.test_jit import {name}\n"
    code += f"assert numba.config.DISABLE_JIT\nprint({name}())"
    done = python(code, NUMBA_DISABLE_JIT="1")
    assert done.stdout.strip() == trace()  # type: ignore[operator]


# Never stale --------------------------------------------------------------------------------------

CALLER = '''
"""A compiled function outside the package."""

from taki_env.base.jit import entry
from taki_env.core.engine import apply_action


@entry
def act(states, action):
    """Carry out an action in the first game."""
    apply_action(states[0], action)
'''
SCRIPT = """
import json, taki_env, caller
from taki_env import ACTIONS, Game
position = json.loads({position!r})
inside = Game.from_dict(position)
inside.apply("pass")
outside = Game.from_dict(position)
caller.act(outside._states, ACTIONS.index("pass"))
print(taki_env.__file__, *(len(game.to_dict()["hands"][0]) for game in (inside, outside)))
"""


def silence() -> str:
    """Return a script that stays silent on the last card and prints the hand sizes."""
    from tests.helpers import position

    at = position([["blue 1"], ["green 4"]], phase="last_card")
    return SCRIPT.format(position=json.dumps(at))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, without compiled code, and a compiled caller."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "taki_env", ignore=ignored)
    (tmp_path / "caller.py").write_text(CALLER)
    return tmp_path


def compiled_files(folder: Path) -> dict[str, int]:
    """Return the files of compiled code below a folder and when they were written."""
    files = (path for path in folder.rglob("*.nb?") if path.is_file())
    return {str(path): path.stat().st_mtime_ns for path in files}


def sizes_after_silence(folder: Path, **variables: str) -> list[int]:
    """Return the hand sizes that the script prints in a folder: inside, outside the package."""
    file, *sizes = python(silence(), folder, **variables).stdout.split()
    assert file.startswith(str(folder))
    return [int(size) for size in sizes]


def test_compiled_code_is_never_stale_and_is_used_again(copied: Path) -> None:
    """A changed rule acts at once in callers whose own files did not change.

    Silence costs four cards: the hand grows from one card to five, and with a penalty of six to
    seven. An unchanged run then compiles nothing.
    """
    assert sizes_after_silence(copied) == [5, 5]
    engine = copied / "taki_env" / "core" / "engine.py"
    text = engine.read_text()
    assert text.count("SILENCE_PENALTY = 4\n") == 1
    engine.write_text(text.replace("SILENCE_PENALTY = 4\n", "SILENCE_PENALTY = 6\n"))
    assert sizes_after_silence(copied) == [7, 7]
    before = compiled_files(copied)
    assert sizes_after_silence(copied) == [7, 7]
    assert before and compiled_files(copied) == before


def stamp(folder: Path) -> str:
    """Return the stamp of compiled code that uses every compiled module of a copied package."""
    script = "from taki_env.base import jit; from taki_env.envs import seated; "
    script += "print(jit.source_stamp(seated.advance_many))"
    return python(script, folder).stdout


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("base/jit.py", "", "\n"),
        ("envs/seated.py", "", "\n"),
        ("core/policies/__init__.py", "", "\n"),
        ("core/policies/expert.py", "", "\n"),
        ("core/engine.py", "", "\n"),
        ("core/cards.py", "MAX_PLAYERS = 2, 10", "MAX_PLAYERS = 2, 9"),
    ],
)
def test_a_change_in_what_is_compiled_changes_the_stamp(
    name: str, old: str, new: str, copied: Path
) -> None:
    """The text of compiled modules counts, and the values of the constants that they import."""
    before = stamp(copied)
    file = copied / "taki_env" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new) if old else text + new)
    assert stamp(copied) != before


ADDING = """
from taki_env.base.jit import entry
from {module} import {name}

@entry
def plus(number):
    return number + {value}
"""
CONSTANT = "STEP = {step}\n"
FUNCTION = """
from taki_env.base.jit import inner

@inner
def step():
    return {step}
"""


@pytest.mark.parametrize(
    ("module", "name", "value", "text"),
    [
        ("caller.numbers", "STEP", "STEP", CONSTANT),
        ("caller.parts", "step", "step()", FUNCTION),
        ("parts.numbers", "STEP", "STEP", CONSTANT),
        ("parts.functions", "step", "step()", FUNCTION),
    ],
    ids=["constant", "function", "constant elsewhere", "function elsewhere"],
)
def test_code_compiled_outside_the_package_is_never_stale(
    module: str, name: str, value: str, text: str, tmp_path: Path
) -> None:
    """A constant or a function changes, in the caller's own folder or another: it acts at once."""
    for folder in ("caller", "parts"):
        (tmp_path / folder).mkdir()
    main = ADDING.format(module=module, name=name, value=value)
    (tmp_path / "caller" / "main.py").write_text(main)
    source, cache = tmp_path / f"{module.replace('.', '/')}.py", str(tmp_path / "cache")
    sums = []
    for step in (1, 5):
        source.write_text(text.format(step=step))
        code = "from caller.main import plus; print(plus(1))"
        sums.append(python(code, tmp_path, NUMBA_CACHE_DIR=cache).stdout.strip())
    assert sums == ["2", "6"]


# Where compiled code is kept ----------------------------------------------------------------------


def test_code_is_kept_in_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default; the name of the folder has the hash of the compiled sources."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert PACKAGE == _jit.PACKAGE
    stamp = _jit.source_stamp(advance_many)
    assert _jit.cache_folder.__wrapped__(stamp) == PACKAGE / "__pycache__" / f"compiled-{stamp}"  # type: ignore[attr-defined]


def test_code_is_kept_where_numba_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`NUMBA_CACHE_DIR` comes first."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    folder = _jit.cache_folder.__wrapped__("stamp")  # type: ignore[attr-defined]
    assert folder is not None and folder.parent == tmp_path / "cache"


def test_code_is_kept_at_home_if_the_package_cannot_be_written(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package whose cache folder is a file is as good as one that is read-only."""
    (copied / "taki_env" / "__pycache__").write_text("a file")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(copied))
    monkeypatch.setattr(_jit, "PACKAGE", copied / "taki_env")
    folder = _jit.cache_folder.__wrapped__("stamp")  # type: ignore[attr-defined]
    assert folder is not None and folder.parent == copied / ".cache" / "taki_env"


def test_without_any_place_to_keep_code_the_game_is_the_same(copied: Path) -> None:
    """The package's cache folder, the home folder and Numba's are files or lie beneath one."""
    (copied / "taki_env" / "__pycache__").write_text("a file")
    nowhere = {
        "HOME": str(copied / "caller.py"),
        "NUMBA_CACHE_DIR": str(copied / "caller.py" / "x"),
    }
    assert sizes_after_silence(copied, **nowhere) == [5, 5]
    assert compiled_files(copied) == {}


# Imports ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module",
    ["torch", "stable_baselines3", "sb3_contrib", "matplotlib", "pygame", "agents", "training"],
)
def test_the_package_does_not_import(module: str) -> None:
    """A wheel alone plays, and the import is quick."""
    code = f"import sys, taki_env; print({module!r} in sys.modules)"
    assert python(code).stdout.strip() == "False"


def test_importing_the_package_compiles_nothing(copied: Path) -> None:
    """Code is compiled by the first call."""
    python("import taki_env", copied)
    assert compiled_files(copied) == {}


def test_rules_and_engine_need_no_environment_library() -> None:
    """Below the adapters no module names Gymnasium or PettingZoo."""
    rooms = ("base", "core", "records", "game", "render")
    files = [file for room in rooms for file in (PACKAGE / room).rglob("*.py")]
    texts = {file.stem: file.read_text() for file in files}
    users = [name for name, text in texts.items() if "import gym" in text or "pettingzoo" in text]
    assert users == []
