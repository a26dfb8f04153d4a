"""Types of numbers and arrays that compiled code and its callers share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Word: TypeAlias = Any
"""One `uint64`, a set of actions or a random word; the compiler infers the type."""

Int: TypeAlias = int | np.int64

Words: TypeAlias = npt.NDArray[np.uint64]

Integers: TypeAlias = npt.NDArray[np.int64]
