"""Exceptions of the package, and suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class IllegalActionError(ValueError):
    """An action that is not legal in the current state. The state is unchanged."""


class RecordError(ValueError):
    """An invalid or impossible game record."""


class UnknownOptionError(TypeError, ValueError):
    """An option that does not exist; the message suggests the nearest one."""


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest allowed word, or an empty string."""
    matches = get_close_matches(str(word), list(allowed), n=1)
    return f"; did you mean {matches[0]!r}?" if matches else ""
