"""A cache of compiled code that no damaged file and no full disk can make unusable.

Numba trusts the files of its cache: an empty one raises `EOFError` in every later process, and a
full disk raises `OSError` in the middle of a call. Here every file starts with a checksum. A file
that cannot be read or does not match its checksum counts as missing, and the function is compiled
again. If a file cannot be written, the process continues without caching that function. The first
problem in a process issues one warning that names the folder.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

DIGEST_SIZE = sha256().digest_size
_warned: set[Path] = set()


class CompileCacheWarning(RuntimeWarning):
    """A file of the compile cache is damaged, or the cache cannot be written."""


class CheckedFiles(IndexDataCacheFile):
    """The index and data files of one function, each with its checksum in front."""

    def _load_index(self) -> dict[Any, str]:
        found = self._read(Path(self._index_path))
        if found is None or found[:2] != (self._version, self._source_stamp):
            return {}
        overloads: dict[Any, str] = found[2]
        return overloads

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(Path(self._data_path(name)))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        data = dumps(content)
        with self._open_for_write(path) as file:
            file.write(sha256(data).digest() + data)

    def _read(self, path: Path) -> Any:
        """Return the content of a file, or None if it is missing or damaged."""
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            warn(path.parent, f"{path.name} cannot be read: {error.strerror}")
            return None
        digest, data = found[:DIGEST_SIZE], found[DIGEST_SIZE:]
        if sha256(data).digest() != digest:
            warn(path.parent, f"{path.name} is damaged")
            return None
        return pickle.loads(data)


class CheckedCache(FunctionCache):
    """The cache of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = CheckedFiles(
            locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp()
        )

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write compiled code; if that fails, stop caching this function."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            self.disable()
            warn(Path(self.cache_path), f"cannot be written: {error.strerror}")


def warn(folder: Path, problem: str) -> None:
    """Warn about the cache folder of a file, once per process."""
    root = folder.parent
    if root not in _warned:
        _warned.add(root)
        warnings.warn(
            f"the compile cache {root} has a problem ({problem}); affected functions are compiled "
            "again. Delete the folder to clear the cache",
            CompileCacheWarning,
            stacklevel=2,
        )
