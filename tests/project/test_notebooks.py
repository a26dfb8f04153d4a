"""The notebooks: they run from top to bottom, and are committed with their outputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.notebooks import NOTEBOOKS, executed

TINY = {"TAKI_NOTEBOOK_GAMES": "40", "TAKI_NOTEBOOK_STEPS": "1024", "TAKI_NOTEBOOK_ITERATIONS": "5"}
MOST_BYTES = 400_000
OWN_PATH = re.compile(r"(?<![\w.:/])/(home|Users|root|tmp|work|mnt|opt|usr|private|var)/|:\\Users")
"""A path of a single machine."""

every_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)


def code_cells(file: Path) -> list[Any]:
    """Return the code cells of a notebook."""
    cells = nbformat.read(file, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def text_of(file: Path) -> str:
    """Return the sources and outputs of a notebook, without pictures."""
    parts = []
    for cell in nbformat.read(file, as_version=4).cells:
        parts.append(cell.source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            parts += [output.get("text", "")]
            parts += [text for kind, text in data.items() if not kind.startswith("image/")]
    return "\n".join(map(str, parts))


def test_there_are_notebooks() -> None:
    """The other tests would pass if the folder were empty."""
    assert len(NOTEBOOKS) >= 4


@every_notebook
def test_it_runs_from_top_to_bottom(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs at a tiny size in a fresh kernel, without errors or warnings."""
    for name, size in TINY.items():
        monkeypatch.setenv(name, size)
    before = file.read_bytes()
    cells = [c for c in executed(file).cells if c.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    assert not [o for c in cells for o in c.outputs if o.get("name") == "stderr"]
    assert file.read_bytes() == before


@every_notebook
def test_it_is_committed_as_it_ran(file: Path) -> None:
    """Every cell was executed in order, without an error, and there is a picture."""
    cells = code_cells(file)
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@every_notebook
def test_it_names_no_path_of_a_machine(file: Path) -> None:
    """Neither code nor outputs contain one."""
    assert not OWN_PATH.search(text_of(file))


@every_notebook
def test_it_is_small(file: Path) -> None:
    """A notebook stays below the size limit."""
    assert file.stat().st_size < MOST_BYTES


@every_notebook
def test_its_links_have_targets(file: Path) -> None:
    """Every relative link names an existing file."""
    for target in re.findall(r"\]\(([^)#:]+)\)", text_of(file)):
        assert (file.parent / target).exists(), target


def test_a_path_of_a_machine_is_found() -> None:
    """The pattern finds paths of machines, and does not match links."""
    assert OWN_PATH.search('File "/home/ann/taki/x.py"') and OWN_PATH.search(
        "in /tmp/abc/curve.png"
    )
    assert not OWN_PATH.search("https://example.org/home/x") and not OWN_PATH.search(
        "../docs/RULES.md"
    )
