"""The documentation: its code runs, its tables are true, its commands and links exist."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import markdown
import pytest
import yaml

import agents
import taki_env

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
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
    """`python tools/docs.py` would change nothing."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools" / "docs.py")
    assert spec and spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    pages = {file: file.read_text() for file in generate.PAGES}
    tables = [match[2] for page in pages.values() for match in generate.MARKED.finditer(page)]
    assert sorted(tables) == sorted(generate.TABLES)
    for file, page in pages.items():
        assert generate.filled(page) == page, file


def rendered(page: Path) -> str:
    """Return a page as HTML, with the ids that its headings have on the site."""
    return markdown.markdown(page.read_text(), extensions=["toc", "tables", "fenced_code"])


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link and picture within the project names a file, and an anchor a heading of it."""
    for link in re.findall(r'(?:href|src)="([^"]+)"', rendered(page)):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = page.parent / target if target else page
        assert file.is_file(), link
        assert not anchor or f'id="{anchor}"' in rendered(file), link


def entries(nav: object) -> Iterator[str]:
    """Return the pages that a navigation names, at any depth."""
    if isinstance(nav, str):
        yield nav
    else:
        assert isinstance(nav, list | dict)
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from entries(entry)


def test_the_site_has_every_page() -> None:
    """The navigation names each page of docs/ once, and README and changelog."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(entries(site["nav"])) == sorted([*pages, "index.md", "changelog.md"])


def test_the_reference_has_every_public_name() -> None:
    """Each class and function that `taki_env` exports."""
    page = (DOCS / "api" / "taki_env.md").read_text()
    names = {name for name in taki_env.__all__ if callable(getattr(taki_env, name))}
    assert names <= set(re.findall(r"^::: taki_env\.(\w+)$", page, re.MULTILINE))


def test_every_agent_has_a_section() -> None:
    """By its spelling."""
    headings = re.findall("^## (.*)$", (DOCS / "agents.md").read_text(), re.MULTILINE)
    assert set(agents.list()) <= set(headings)


def test_the_environment_has_the_usual_sections() -> None:
    """Those of Gymnasium's and pgx's pages, in their order."""
    headings = re.findall("^## (.*)$", (DOCS / "environment.md").read_text(), re.MULTILINE)
    usual = ("Usage", "Specs", "Observation", "Action", "Rewards", "Termination")
    assert [heading for heading in headings if heading in usual] == list(usual)
    assert headings[-1] == "Version History"


def test_the_wheel_holds_taki_env_alone(tmp_path: Path) -> None:
    """Agents and training come with a clone."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"taki_env"}
