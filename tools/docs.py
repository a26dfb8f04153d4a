"""Generate the tables of the docs from the code and from results: ``python -m tools.docs``.

A table is between the lines `<!-- table: NAME -->` and `<!-- end -->` of a page.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from tools import code_tables as code
from tools import result_tables as results

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
TABLES: dict[str, Callable[[], str]] = {
    "actions": code.actions,
    "analysis": code.analyzed,
    "decks": code.decks,
    "observation": code.observation,
    "options": code.options,
    "play_commands": code.play_commands,
    "pretrained_recipe": code.pretrained_recipe,
    "record": code.record,
    "record_keys": code.record_keys,
    "render_modes": code.render_modes,
    "search_options": code.search_options,
    "specs": code.specs,
    "step_keys": code.step_keys,
    "sweep": code.sweep,
    "view": code.view,
    "approach": results.approach,
    "baselines": results.baselines,
    "benchmark": results.benchmark,
    "consequences": results.consequences,
    "determinism": results.determinism,
    "exploit": results.exploit,
    "fuzz": results.fuzz,
    "leaderboard": results.leaderboard,
    "pretrained": results.pretrained,
    "pretrained_search": results.pretrained_search,
    "recipe": results.recipe,
    "replay": results.replay,
    "search_speed": results.search_speed,
    "search_strength": results.search_strength,
    "small_agents": results.small_agents,
    "small_decks": results.small_decks,
    "soak": results.soak,
    "symmetry": results.symmetry,
    "training": results.training,
}


def filled(page: str) -> str:
    """Return the text of a page with every table generated again."""
    return MARKED.sub(lambda m: m[1] + TABLES[m[2]]() + m[3], page)


def main() -> None:
    """Generate the tables of README.md and docs/*.md again."""
    argparse.ArgumentParser(description=main.__doc__).parse_args()
    for page in PAGES:
        page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    main()
