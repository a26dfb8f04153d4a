"""Compilation with Numba, and a cache of compiled code that cannot go stale.

Numba's cache notices a change in the file of the cached function, but not in the functions and
constants that it uses from other files. The name of each cache folder therefore contains a hash
of everything that the compiled code depends on: the source files of all compiled functions that
the module can reach, and the values of the constants that Numba freezes into them.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numba.core.config
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, register_jitable

from taki_env.base.compile_cache import CheckedCache, warn

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.core.config
PACKAGE = Path(__file__).parents[1]
CONSTANTS = (int, float, complex, str, bytes, tuple, np.generic)
"""Types of module constants that Numba freezes into compiled code, next to arrays."""
MARK = "_is_compiled"
"""Attribute of the Python functions that `inner` and `inlined` have decorated."""
STANDARD_LIBRARY, INSTALLED = Path(os.__file__).parent, Path(np.__file__).parent.parent


def inner(function: Function) -> Function:
    """Make `function` callable from compiled code; called from Python, it runs uncompiled."""
    return _part(function, forceinline=False)


def inlined(function: Function) -> Function:
    """Do the same as `inner`, and inline the function: for small ones in innermost loops."""
    return _part(function, forceinline=True)


def _part(function: Function, forceinline: bool) -> Function:
    mark = register_jitable(
        nogil=True, error_model="numpy", forceinline=forceinline,
        no_cpython_wrapper=True, no_cfunc_wrapper=True,
    )  # fmt: skip
    setattr(function, MARK, True)
    return mark(function)


def entry(function: Function) -> Function:
    """Compile `function` for calls from Python; cache the result on disk if possible."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    folder = cache_folder(source_stamp(function))
    if folder is not None and not config.DISABLE_JIT:
        saved = config.CACHE_DIR
        config.CACHE_DIR = str(folder)  # read when a cache is made
        try:
            compiled._cache = CheckedCache(function)
        except RuntimeError as error:  # Numba found the folder not to be writable any more
            warn(folder, str(error))
        finally:
            config.CACHE_DIR = saved
    return cast(Function, compiled)


def _prefetch_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit LLVM code that prefetches byte `arguments[2]` of record `arguments[1]`."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, arguments[0])
    byte = ir.IntType(8).as_pointer()
    size = ir.Constant(arguments[1].type, array_type.dtype.size)
    place = builder.add(builder.mul(arguments[1], size), arguments[2])
    address = builder.gep(builder.bitcast(array.data, byte), [place])
    kind = ir.FunctionType(ir.VoidType(), [byte, *[ir.IntType(32)] * 3])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    read, near, data = (ir.Constant(ir.IntType(32), value) for value in (0, 3, 1))
    builder.call(function, [address, read, near, data])
    return context.get_dummy_value()


if config.DISABLE_JIT:
    # `bits.count_bits` and `bits.seed_word` wrap around on purpose
    wraps = "overflow encountered in scalar (add|multiply)"
    warnings.filterwarnings("ignore", wraps, RuntimeWarning)

    def prefetch(states: Any, index: Any, offset: Any) -> None:
        """Do nothing: prefetching does not help interpreted code."""

else:

    @intrinsic
    def prefetch(typing_context: Any, states: Any, index: Any, offset: Any) -> Any:
        """Prefetch the cache line that contains byte `offset` of `states[index]`."""
        return types.none(states, types.int64, types.int64), _prefetch_code


def source_stamp(function: Callable[..., Any]) -> str:
    """Return a hash of everything that the compiled code of a function's module depends on."""
    parts = {__name__: Path(__file__).read_bytes()}
    python_function: Any = getattr(function, "py_func", function)
    _visit(python_function, parts)
    digest = sha256()
    for name in sorted(parts):
        digest.update(name.encode() + b"\0" + parts[name] + b"\0")
    return digest.hexdigest()[:16]


def _python_function(value: Any) -> FunctionType | None:
    """Return the Python function behind a compiled one, or None for any other object."""
    function = getattr(value, "py_func", value)
    compiled = function is not value or getattr(value, MARK, False)
    return function if isinstance(function, FunctionType) and compiled else None


def _visit(function: FunctionType | None, parts: dict[str, bytes]) -> None:
    """Add a compiled function's source file, its module's constants, and what they refer to."""
    if function is None or function.__module__ in parts:
        return
    parts[function.__module__] = Path(function.__code__.co_filename).read_bytes()
    _visit_names(function.__module__, function.__globals__, parts)


def _visit_names(module: str, names: Mapping[str, Any], parts: dict[str, bytes]) -> None:
    for name, value in names.items():
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray):
            parts[f"{module}.{name}"] = repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, CONSTANTS):
            parts[f"{module}.{name}"] = repr(value).encode()
        elif isinstance(value, ModuleType):
            _visit_module(value, parts)
        else:
            _visit(_python_function(value), parts)


def _visit_module(module: ModuleType, parts: dict[str, bytes]) -> None:
    """Add a module that is used as `module.name`, unless it belongs to a library."""
    file = Path(getattr(module, "__file__", None) or os.__file__)
    library = file.is_relative_to(STANDARD_LIBRARY) or file.is_relative_to(INSTALLED)
    if module.__name__ not in parts and (not library or file.is_relative_to(PACKAGE)):
        parts[module.__name__] = file.read_bytes()
        _visit_names(module.__name__, vars(module), parts)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder(stamp: str) -> Path | None:
    """Return the cache folder for a stamp, or None if no folder is writable."""
    home = Path(os.path.expanduser("~/.cache/taki_env"))  # "~" remains if there is no home
    roots = [PACKAGE / "__pycache__", *([home] if home.is_absolute() else [])]
    if "NUMBA_CACHE_DIR" in os.environ:
        roots.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    stamped = (root / f"compiled-{stamp}" for root in roots)
    return next((path for path in stamped if _writable(path)), None)
