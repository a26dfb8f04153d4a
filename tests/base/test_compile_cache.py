"""Damaged cache files, a full disk and a removed folder cost only the time to compile."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from taki_env.base import compile_cache
from taki_env.base.compile_cache import CheckedFiles, CompileCacheWarning

ROOT = Path(__file__).parents[2]
KEY, DATA = ("signature", "machine"), {"code": b"\0" * 1000}
DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "random bytes": lambda file: file.write_bytes(bytes(range(256)) * 4),
    "one changed bit": lambda file: file.write_bytes(
        file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1])
    ),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.fixture(autouse=True)
def no_warning_yet() -> Iterator[None]:
    """Warnings of other tests do not count."""
    compile_cache._warned.clear()
    yield
    compile_cache._warned.clear()


def files(folder: Path) -> CheckedFiles:
    """Return the cache files of a function."""
    return CheckedFiles(str(folder), "function", "stamp")


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_counts_as_missing(
    damage: Callable[[Path], object], suffix: str, tmp_path: Path
) -> None:
    """With one warning, which names the folder. A file is written again, a folder is left alone."""
    files(tmp_path).save(KEY, DATA)
    (file,) = tmp_path.glob(f"*.{suffix}")
    damage(file)
    with pytest.warns(CompileCacheWarning, match=str(tmp_path.parent)) as warned:
        assert files(tmp_path).load(KEY) is None
        assert files(tmp_path).load(KEY) is None
    assert len(warned) == 1
    if not file.is_dir():
        files(tmp_path).save(KEY, DATA)
        assert files(tmp_path).load(KEY) == DATA


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_removed_file_is_written_again(suffix: str, tmp_path: Path) -> None:
    """Nothing is wrong with clearing the cache, so there is no warning."""
    files(tmp_path).save(KEY, DATA)
    (file,) = tmp_path.glob(f"*.{suffix}")
    file.unlink()
    assert files(tmp_path).load(KEY) is None
    files(tmp_path).save(KEY, DATA)
    assert files(tmp_path).load(KEY) == DATA


def test_files_of_another_source_are_not_used(tmp_path: Path) -> None:
    """The stamp is that of the function's source file."""
    files(tmp_path).save(KEY, DATA)
    assert CheckedFiles(str(tmp_path), "function", "other").load(KEY) is None


CALLER = """
from taki_env.base.jit import entry

@entry
def plus(number):
    return number + 1
"""
FULL = """
import errno, os
from numba.core.caching import IndexDataCacheFile

def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

IndexDataCacheFile._open_for_write = full
"""
VANISHED = """
import shutil, caller
shutil.rmtree(FOLDER)
open(FOLDER, "w").close()
"""


def answer(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """Call a compiled function in a new process, after some other code."""
    code = f"FOLDER = {str(folder / 'cache')!r}\n{before}\nimport caller\nprint(caller.plus(1))"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True
    )


def test_compiled_code_works_whatever_happens_to_its_cache(tmp_path: Path) -> None:
    """All index files are emptied, the disk is full, the folder turns into a file."""
    (tmp_path / "caller.py").write_text(CALLER)
    assert answer(tmp_path).stdout == "2\n"
    for file in (tmp_path / "cache").rglob("*.nbi"):
        file.write_bytes(b"")
    damaged, again = answer(tmp_path), answer(tmp_path)
    assert damaged.stdout == again.stdout == "2\n"
    assert "is damaged" in damaged.stderr and str(tmp_path / "cache") in damaged.stderr
    assert again.stderr == ""
    for before in (FULL, VANISHED):
        shutil.rmtree(tmp_path / "cache")
        done = answer(tmp_path, before)
        assert done.stdout == "2\n"
        assert done.stderr.count("CompileCacheWarning") == 1


def test_a_full_disk_names_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what is wrong with the folder."""

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.warns(CompileCacheWarning, match="No space left on device"):
        (tmp_path / "x").write_bytes(b"")
        monkeypatch.setattr(Path, "read_bytes", full)
        assert files(tmp_path).load(KEY) is None
