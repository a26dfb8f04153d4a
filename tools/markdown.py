"""Markdown for the generated parts of the docs: tables and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def code_block(text: str, language: str) -> str:
    """Return a fenced block of code; `text` ends with a line break."""
    return f"```{language}\n{text}```\n"


def span(first: int, size: int) -> str:
    """Return a range of indices as text."""
    return str(first) if size == 1 else f"{first} to {first + size - 1}"


def percent(result: Mapping[str, Any]) -> str:
    """Return a win rate with its interval."""
    low, high = result["interval"]
    return f"{result['win_rate']:.1%} [{low:.1%}, {high:.1%}]"


def rounded(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{round(value, 2 - len(str(int(value))) + 1):,.0f}"
