"""The documentation: its code runs, its tables are those of the constants, its commands exist."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{n}.md"
        for n in (
            *("environment", "performance", "agents", "arena", "leaderboard", "records"),
            "reliability",
        )
    ),
]
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[pytest.param]:
    """Return the code blocks of all pages in a language."""
    return [
        pytest.param(match[2], id=f"{page.name}-{number}")
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text()))
        if match[1] == language
    ]


@pytest.mark.parametrize("code", blocks("python"))
@pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")
def test_python_block_runs(code: str) -> None:
    """A reader can paste it."""
    exec(compile(code, "block", "exec"), {})


def commands() -> list[str]:
    """Return every command line of all pages, without comments."""
    lines = [line for block in blocks("bash") for line in block.values[0].splitlines()]
    return sorted({line.split("#")[0].strip() for line in lines} - {""})


@pytest.mark.parametrize("command", commands())
def test_command_exists(command: str) -> None:
    """Each is a make target, an installable extra, or a module that takes these arguments."""
    words = command.split()
    if words[0] == "make":
        assert f"\n{words[1]}: " in (ROOT / "Makefile").read_text()
    elif words[:2] == ["pip", "install"]:
        extras = re.findall(r"\[(\w+)\]", command)
        assert all(f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text() for extra in extras)
    elif words[:2] == ["python", "-m"]:
        options = [word for word in words[3:] if word.startswith("--")]
        shown = subprocess.run(
            [sys.executable, "-m", words[2], "--help"], capture_output=True, text=True, cwd=ROOT
        )
        assert shown.returncode == 0
        assert all(option in shown.stdout for option in options)
    elif words[0] == "python":
        assert (ROOT / words[1]).exists()
    else:
        assert importlib.util.find_spec(words[0])


def test_tables_are_those_of_the_constants() -> None:
    """`python docs/generate.py` would change nothing."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec and spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for file in generate.PAGES:
        page = file.read_text()
        assert generate.MARKED.search(page), file
        assert generate.filled(page) == page, file


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs" / "RULES.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the project."""
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_wheel_holds_taki_env_alone(tmp_path: Path) -> None:
    """Agents and training come with a clone."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"taki_env"}
