"""Pages in Chromium without a window, for pictures of the docs and for tests.

Needs the package playwright and a Chromium of the system, such as Debian's `chromium`.
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
"""It runs as root in containers, and asks nothing of the network."""


def find_chromium() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Give a browser; FileNotFoundError if there is none."""
    path = find_chromium()
    if path is None:
        raise FileNotFoundError(f"no Chromium: install {NAMES[0]}, on Debian by apt-get")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()
