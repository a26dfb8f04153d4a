"""The packaging: the wheel, release numbers, and commands."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

import taki_env

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(
    path
    for floor in ("agents", "training")
    for path in (ROOT / floor).glob("*.py")
    if "__main__" in path.read_text()
)
PLAY = """
import sys

sys.modules.update(agents=None, training=None, tools=None)  # a wheel does not contain them
import gymnasium, numpy
import taki_env

env = gymnasium.make("Taki-v0", opponents="greedy")
_, info = env.reset(seed=0)
over = False
while not over:
    action = env.action_space.sample(info["action_mask"])
    _, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
print(taki_env.__file__, reward)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an unpacked wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_contains_taki_env_alone(wheel: Path) -> None:
    """Agents and training come with a checkout; the wheel is marked as typed."""
    folders = {path.name for path in wheel.iterdir() if path.suffix != ".dist-info"}
    assert folders == {"taki_env"}
    assert (wheel / "taki_env" / "py.typed").is_file()


def test_the_wheel_plays_alone(wheel: Path) -> None:
    """A game of Gymnasium's environment against a built-in opponent needs nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", PLAY], cwd=wheel, env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    file, reward = done.stdout.split()
    assert Path(file).is_relative_to(wheel)
    assert float(reward) in (-1, 0, 1)


def test_the_citation_has_the_release_number() -> None:
    """CITATION.cff names the release of the package."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == taki_env.__version__


@pytest.mark.parametrize("file", COMMANDS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_command_only_imports_its_module(file: Path) -> None:
    """The file of a command imports from its own package and defines nothing."""
    doc, *imports, start = ast.parse(file.read_text()).body
    assert isinstance(doc, ast.Expr) and isinstance(start, ast.If)
    modules = [node.module or "" for node in imports if isinstance(node, ast.ImportFrom)]
    assert modules and all(module.startswith(f"{file.parent.name}.") for module in modules)
    assert all(isinstance(node, ast.ImportFrom | ast.Assign) for node in imports)
