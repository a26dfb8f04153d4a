"""Write the tables of `docs/environment.md` from the constants that the engine uses.

    python docs/generate.py

A table stands between a line `<!-- table: NAME -->` and a line `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from taki_env import ACTIONS, LAYOUT, OBSERVATION_SIZE, Rules
from taki_env.cards import CARDS, CHANGE_COLOR, DRAW, NUM_COLORED, STANDARD_DECK
from taki_env.observation import OFFSETS

PAGE = Path(__file__).parent / "environment.md"
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def span(first: int, size: int) -> str:
    """Return a range of indices in words."""
    return str(first) if size == 1 else f"{first} to {first + size - 1}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def observation() -> str:
    """Return the ranges of the observation vector."""
    rows = [(span(OFFSETS[f.name], f.size), f"`{f.name}`", f.meaning) for f in LAYOUT]
    return table(("index", "feature", "meaning"), rows) + f"\n{OBSERVATION_SIZE} values in all.\n"


def actions() -> str:
    """Return the actions."""
    rows = [
        (span(0, NUM_COLORED), f"play `{ACTIONS[0]}` … `{ACTIONS[NUM_COLORED - 1]}`"),
        *((action, f"play `{ACTIONS[action]}`") for action in range(NUM_COLORED, CHANGE_COLOR)),
        *((action, f"play `{ACTIONS[action]}`") for action in range(CHANGE_COLOR, DRAW)),
        *((action, f"`{ACTIONS[action]}`") for action in range(DRAW, len(ACTIONS))),
    ]
    return table(("action", "meaning"), rows)


def options() -> str:
    """Return the rule options."""
    words = {
        "tournament": "stages from `hand_size` down to 1 instead of a single game",
        "voluntary_draw": "`draw` is legal in phase `play` although a card can be played",
        "full_runs": "no `close taki`, no `pass` while a card of the run's color is in hand",
        "auto_last_card": "the last-card call is made automatically",
        "hand_size": "cards dealt to each player; the first stage of a tournament",
        "deck": f"copies of each of the {len(CARDS)} card types, by card index",
    }
    defaults = {f.name: f.default for f in fields(Rules)}
    defaults["deck"] = f"the {sum(STANDARD_DECK)}-card deck"
    return table(
        ("option", "default", "meaning"),
        [(f"`{f.name}`", defaults[f.name], words[f.name]) for f in fields(Rules)],
    )


TABLES = {"observation": observation, "actions": actions, "options": options}


def filled(text: str) -> str:
    """Return the page with every table made anew."""
    return MARKED.sub(lambda m: m[1] + TABLES[m[2]]() + m[3], text)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
