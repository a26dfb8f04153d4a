"""Execute notebooks in place, from top to bottom: ``python -m tools.notebooks [NOTEBOOK ...]``.

Without arguments, all of `notebooks/`. `TAKI_NOTEBOOK_GAMES` and `TAKI_NOTEBOOK_STEPS` set the
sizes; the committed notebooks ran with the defaults.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def executed(file: Path) -> NotebookNode:
    """Return a notebook with the outputs of a fresh kernel that runs in the notebook's folder.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook: NotebookNode = nbformat.read(file, as_version=4)
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


def main() -> None:
    """Execute notebooks one after another; each file is written when it has run to its end."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS)
    for file in parser.parse_args().notebooks:
        print(file.name, flush=True)
        nbformat.write(executed(file), file)


if __name__ == "__main__":
    main()
