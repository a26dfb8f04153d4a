"""Loops over games split among threads; compiled loops run without Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the pool of a process: a forked one must not use its parent's."""
    return ThreadPoolExecutor(threads, f"taki_env-{process}")


def each_chunk(threads: int, size: int, work: Callable[[slice], Any]) -> None:
    """Call `work` for slices that together are all of `size`, each in a thread of its own."""
    if threads == 1 or size < threads:
        work(slice(0, size))
        return
    bounds = [size * part // threads for part in range(threads + 1)]
    chunks = [slice(first, last) for first, last in pairwise(bounds)]
    for _ in _pool(threads, os.getpid()).map(work, chunks):
        pass
