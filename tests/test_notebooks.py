"""The notebooks run from top to bottom."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is missing")
nbformat = pytest.importorskip("nbformat", reason="nbformat is missing")
pytest.importorskip("ipykernel", reason="ipykernel is missing")
pytest.importorskip("pyspiel", reason="OpenSpiel is missing: pip install open_spiel")

ROOT = Path(__file__).parent.parent
SMALL = {
    "iterations = 100": "iterations = 5",
    "steps = 60_000": "steps = 1024",
    "seeds = (0, 1)": "seeds = (0,)",
}


def test_the_notebook_of_game_theory_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a smaller size, in a kernel of its own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(ROOT / "notebooks" / "game_theory.ipynb", as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    for words, smaller in SMALL.items():
        assert words in first.source
        first.source = first.source.replace(words, smaller)
    resources = {"metadata": {"path": str(ROOT / "notebooks")}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert sum("image/png" in out.get("data", {}) for out in shown) == 4
