"""A headless Chromium, for pictures of the docs and for tests of pages.

Needs the package playwright and an installed Chromium, such as Debian's `chromium`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""Options that let Chromium run as root in containers, without network access."""


def find_chromium() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Yield a browser; FileNotFoundError if Chromium is not installed."""
    path = find_chromium()
    if path is None:
        raise FileNotFoundError(f"Chromium is not installed; on Debian: apt-get install {NAMES[0]}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()
