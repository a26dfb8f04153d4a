"""Make the pictures of the docs.

python -m tools.screenshots table     writes docs/images/table_2p.png, table_4p.png, table_10p.png
python -m tools.screenshots replay    writes docs/images/replay.png and docs/results/replay.json
python -m tools.screenshots terminal  writes docs/images/play.svg
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import tyro
from PIL import Image
from rich.console import Console

import agents
from agents.files import provenance, write_json
from agents.table import play
from agents.table.page import page
from agents.table.record_files import RecordedGame
from agents.table.replay import with_values
from agents.table.terminal import Play
from taki_env import Game, Rules
from taki_env.render.drawing import picture
from taki_env.render.words import LastActions
from tools.browser import open_browser

DOCS = Path(__file__).parents[1] / "docs"
IMAGES, RESULTS = DOCS / "images", DOCS / "results"
LOADS = 5
"""Number of times that the page is loaded."""
COLORS = 128
"""Colors of a saved picture, few enough for a small file."""


@dataclass(frozen=True)
class ScreenshotArgs:
    """Make pictures of the docs."""

    name: Annotated[Literal["table", "replay", "terminal"], tyro.conf.Positional]
    """Subject of the pictures."""


def save(pixels: npt.NDArray[np.uint8], name: str) -> None:
    """Save a picture, uint8 (height, width, 3), as a small PNG."""
    image = Image.fromarray(pixels).quantize(COLORS, dither=Image.Dither.NONE)
    image.save(IMAGES / name, optimize=True)


def played_until(game: Game, shown: Callable[[Game], bool], seed: int) -> LastActions:
    """Play random actions until `shown` holds; return a description of the last action."""
    last, rng = LastActions(), np.random.default_rng(seed)
    while not shown(game):
        before, action = game.to_dict(), int(rng.choice(game.legal_actions()))
        game.apply(action)
        last.note(before, action, game.to_dict(), only=True)
    return last


def table() -> None:
    """Save the table of 2 players, of 4, and of 10 in a tournament."""
    scenes: list[tuple[Game, Callable[[Game], bool]]] = [
        (Game(2, seed=4), lambda game: game.to_dict()["can_close"]),
        (Game(4, seed=1), lambda game: game.to_dict()["pending_draw"] >= 4),
        (Game(10, Rules(tournament=True), seed=2), lambda game: game.phase == "respond"),
    ]
    for game, shown in scenes:
        last = played_until(game, shown, seed=0)
        save(picture(game.to_dict(), last=last.lines), f"table_{game.num_players}p.png")


ENTRIES = ("hint", "blue t", "blue 8", "close", "quit")
"""Entries at the beginning of a game at a terminal."""
FONTS = re.compile(r"@font-face {.*?}\s*", re.DOTALL)
"""Fonts that rich's pictures load from the network."""


def terminal() -> None:
    """Save the first turn of a game at a terminal."""
    console = Console(
        record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor", width=92,
        markup=False, emoji=False,
    )  # fmt: skip
    game = play.seated(play.PlayArgs(players=3, seed=195))
    hinter = agents.load("search:simulations=2000")
    sys.stdin = io.StringIO("".join(f"{entry}\n" for entry in ENTRIES))
    with TemporaryDirectory() as folder, chdir(folder), suppress(EOFError):
        Play(game, hinter, console, Path("game.json")).play()
    svg = console.export_svg(title="python -m agents.play --players 3", unique_id="play")
    (IMAGES / "play.svg").write_text(FONTS.sub("", svg))


def recorded(names: list[str], rules: Rules, seed: int) -> dict[str, Any]:
    """Return the record of a complete game between agents."""
    players = [agents.load(name, seed) for name in names]
    game = Game(len(names), rules, seed)
    while not game.is_over:
        game.apply(int(players[game.actor].act(game.view())[0]))
    return game.record(names=names)


def replay() -> None:
    """Save a picture of a recorded game's page, and loading times of a long game's page."""
    names = ["search:simulations=500", "expert", "greedy", "random"]
    search = agents.load("search:simulations=500")
    game = with_values(RecordedGame.of(recorded(names, Rules(), seed=8)), search)
    long = RecordedGame.of(recorded(["greedy"] * 10, Rules(tournament=True), seed=0))
    steps = len(long.record["steps"])
    with TemporaryDirectory() as folder, open_browser() as browser:
        file, long_file = Path(folder, "game.html"), Path(folder, "long.html")
        file.write_text(page(game), encoding="utf-8")
        long_file.write_text(page(long), encoding="utf-8")
        show = browser.new_page(viewport={"width": 1280, "height": 920})
        show.goto(f"{file.as_uri()}#step={len(game.record['steps']) // 4}")
        picture = show.screenshot(path=Path(folder, "replay.png"))
        save(np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")), "replay.png")
        times = [loading_time(show, long_file) for _ in range(LOADS)]
        size, version = long_file.stat().st_size, browser.version
    measured = {"steps": steps, "bytes": size, "seconds": times, "chromium": version}
    write_json(RESULTS / "replay.json", {**provenance(), **measured})
    print(f"{steps} steps, {size:,} bytes, loaded in {median(times):.2f} s")


def loading_time(show: Any, file: Path) -> float:
    """Return the loading time in seconds, by the page's own clock."""
    show.goto("about:blank")
    show.goto(file.as_uri())
    milliseconds: float = show.evaluate(
        "performance.getEntriesByType('navigation')[0].loadEventEnd"
    )
    return milliseconds / 1000


PICTURES = {"table": table, "replay": replay, "terminal": terminal}

if __name__ == "__main__":
    PICTURES[tyro.cli(ScreenshotArgs).name]()
