"""Hooks of MkDocs: the README and the changelog are pages, and sources are named, not linked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
INTO_DOCS = re.compile(r"(\]\(|src=\")docs/")
ELSEWHERE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand outside of docs/."""
    for page, source in PAGES.items():
        text = INTO_DOCS.sub(r"\1", (ROOT / source).read_text())
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Turn links to files outside of docs/ into their text: the site does not hold them."""
    return ELSEWHERE.sub(r"`\1`", markdown)
