"""Compilation with Numba, and a cache of compiled code that cannot go stale.

Numba checks only the file of the function that it loads from its cache, not the files of the
functions that this one calls. Here the cache folder carries a hash of every compiled source, so a
change in any of them starts an empty cache.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.config
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.core.config
PACKAGE = Path(__file__).parent
CONSTANTS = PACKAGE / "cards.py"


@cache
def source_stamp(folder: Path) -> str:
    """Return a hash of all compiled sources of the package and of `folder`.

    A file counts as compiled when its text names this module; `cards.py` counts because its
    constants are frozen into compiled code.
    """
    files = {*PACKAGE.glob("*.py"), *folder.glob("*.py")}
    digest = sha256()
    for file in sorted(files):
        text = file.read_bytes()
        if b"taki_env._jit" in text or file == CONSTANTS:
            digest.update(file.name.encode() + b"\0" + text)
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder(folder: Path) -> Path | None:
    """Return the folder for code compiled from `folder`, or None if nothing can be written."""
    roots = [PACKAGE / "__pycache__", Path.home() / ".cache" / "taki_env"]
    if "NUMBA_CACHE_DIR" in os.environ:
        roots.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    stamped = (root / f"compiled-{source_stamp(folder)}" for root in roots)
    return next((path for path in stamped if _writable(path)), None)


def inner(function: Function) -> Function:
    """Mark `function` as a part of compiled functions; from Python it runs uncompiled."""
    mark = register_jitable(
        nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )
    return mark(function)


def entry(function: Function) -> Function:
    """Compile `function` for calls from Python; keep the result on disk where that is possible."""
    folder = cache_folder(Path(function.__code__.co_filename).parent)
    saved = config.CACHE_DIR
    config.CACHE_DIR = str(folder or saved)
    try:
        compile_function = numba.njit(cache=folder is not None, nogil=True, error_model="numpy")
        return cast(Function, compile_function(function))
    finally:
        config.CACHE_DIR = saved
