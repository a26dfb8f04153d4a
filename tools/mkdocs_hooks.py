"""MkDocs hooks: add the README and the changelog as pages, and unlink files outside docs/."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
INTO_DOCS = re.compile(r"(\]\(|src=\")docs/")
OUT_OF_DOCS = re.compile(r"\]\((?!docs/|https?:|#)")
LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages whose sources are outside docs/."""
    for page, source in PAGES.items():
        text = OUT_OF_DOCS.sub("](../", (ROOT / source).read_text())
        text = INTO_DOCS.sub(r"\1", text)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replace links to files outside docs/, which the site lacks, by their text."""

    def unlinked(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(page.file.src_uri, "..", link[2]))
        return f"`{link[1]}`" if target.startswith("../") else link[0]

    return LINK.sub(unlinked, markdown)
