"""Execute notebooks in place, from top to bottom: ``python tools/notebooks.py [NOTEBOOK ...]``.

All of `notebooks/` if none are named. Their sizes come from `TAKI_NOTEBOOK_GAMES` and
`TAKI_NOTEBOOK_STEPS`; what is committed is of the default ones.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def executed(file: Path) -> NotebookNode:
    """Return a notebook with the outputs of a fresh kernel, which runs in the notebook's folder.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook = nbformat.read(file, as_version=4)
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    client = NotebookClient(
        notebook,
        timeout=None,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(file.parent)}},
    )
    client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    return notebook


def main(files: list[Path]) -> None:
    """Execute notebooks one after another; each file is written once it has run to its end."""
    for file in files:
        print(file.name, flush=True)
        nbformat.write(executed(file), file)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or NOTEBOOKS)
