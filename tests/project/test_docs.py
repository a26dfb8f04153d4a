"""The documentation: its code runs, its tables are current, its commands and links exist."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import markdown
import pytest
import yaml

import agents
import taki_env
from agents.network.policy import PolicyAgent
from tools import docs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[pytest.param]:
    """Return the code blocks of all pages in one language."""
    return [
        pytest.param(match[2], id=f"{page.name}-{number}")
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text()))
        if match[1] == language
    ]


@pytest.mark.parametrize("code", blocks("python"))
@pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")
def test_python_block_runs(code: str) -> None:
    """A reader can copy and run the block."""
    exec(compile(code, "block", "exec"), {})


def commands() -> list[str]:
    """Return all command lines of all pages, without comments."""
    lines = [line for block in blocks("bash") for line in block.values[0].splitlines()]
    return sorted({line.split("#")[0].strip() for line in lines} - {""})


@pytest.mark.parametrize("command", commands())
def test_command_exists(command: str) -> None:
    """A command is a make target, an extra, a module with these options, or a program."""
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
    else:
        assert importlib.util.find_spec(words[0].replace("-", "_"))


def test_tables_are_current() -> None:
    """`python -m tools.docs` would change nothing, and every table is on one page."""
    pages = {file: file.read_text() for file in docs.PAGES}
    tables = [match[2] for page in pages.values() for match in docs.MARKED.finditer(page)]
    assert sorted(tables) == sorted(docs.TABLES)
    for file, page in pages.items():
        assert docs.filled(page) == page, file


def test_the_options_of_policy_are_those_of_the_code() -> None:
    """The hand-written table has the options of `policy:PATH`, with their defaults."""
    page = (DOCS / "agents.md").read_text().partition("## policy:PATH")[2].partition("\n## ")[0]
    parameters = inspect.signature(PolicyAgent.load).parameters.values()
    options = {p.name: str(p.default).lower() for p in parameters if p.name not in ("path", "seed")}
    assert dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE)) == options


def rendered(page: Path) -> str:
    """Return a page as HTML, with the heading ids that the site uses."""
    return markdown.markdown(page.read_text(), extensions=["toc", "tables", "fenced_code"])


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_have_targets(page: Path) -> None:
    """Every link and picture within the project names an existing file and heading."""
    for link in re.findall(r'(?:href|src)="([^"]+)"', rendered(page)):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = page.parent / target if target else page
        assert file.is_file(), link
        assert not anchor or f'id="{anchor}"' in rendered(file), link


def entries(nav: object) -> Iterator[str]:
    """Yield the pages of a navigation, at any depth."""
    if isinstance(nav, str):
        yield nav
    else:
        assert isinstance(nav, list | dict)
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from entries(entry)


def test_the_site_has_every_page() -> None:
    """The navigation has each page of docs/ once, the README and the changelog."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(entries(site["nav"])) == sorted([*pages, "index.md", "changelog.md"])


def test_the_reference_has_every_public_name() -> None:
    """The page has each class and function that `taki_env` exports."""
    page = (DOCS / "api" / "taki_env.md").read_text()
    names = {name for name in taki_env.__all__ if callable(getattr(taki_env, name))}
    assert names <= set(re.findall(r"^::: taki_env\.(\w+)$", page, re.MULTILINE))


def test_every_agent_has_a_section() -> None:
    """The page of the agents has a heading for each spelling."""
    headings = re.findall("^## (.*)$", (DOCS / "agents.md").read_text(), re.MULTILINE)
    assert set(agents.list()) <= set(headings)


def test_the_environment_has_the_usual_sections() -> None:
    """The page has the sections of Gymnasium's and pgx's pages, in the same order."""
    headings = re.findall("^## (.*)$", (DOCS / "environment.md").read_text(), re.MULTILINE)
    usual = ("Usage", "Specs", "Observation", "Action", "Rewards", "Termination")
    assert [heading for heading in headings if heading in usual] == list(usual)
    assert headings[-1] == "Version History"
