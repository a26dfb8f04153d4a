"""Make pictures of the docs, by name.

python docs/screenshots.py table     writes docs/images/table_2p.png, table_4p.png, table_10p.png
python docs/screenshots.py terminal  writes docs/images/play.svg
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import tyro
from PIL import Image
from rich.console import Console

import agents
from agents import play
from agents.terminal import Play
from taki_env import Game, Rules
from taki_env.drawing import picture
from taki_env.rendering import LastActions

IMAGES = Path(__file__).parent / "images"
COLORS = 128
"""A picture with so few is small."""


@dataclass(frozen=True)
class Args:
    """Make pictures of the docs."""

    name: Annotated[Literal["table", "terminal"], tyro.conf.Positional]
    """What they show."""


def save(pixels: npt.NDArray[np.uint8], name: str) -> None:
    """Write a picture, uint8 (height, width, 3), as a small PNG."""
    image = Image.fromarray(pixels).quantize(COLORS, dither=Image.Dither.NONE)
    image.save(IMAGES / name, optimize=True)


def played_until(game: Game, shown: Callable[[Game], bool], seed: int) -> LastActions:
    """Play random actions until a game shows something, and return the last one in words."""
    last, rng = LastActions(), np.random.default_rng(seed)
    while not shown(game):
        before, action = game.to_dict(), int(rng.choice(game.legal_actions()))
        game.apply(action)
        last.note(before, action, game.to_dict(), only=True)
    return last


def table() -> None:
    """Write the table of 2 players, of 4, and of 10 in a tournament."""
    scenes: list[tuple[Game, Callable[[Game], bool]]] = [
        (Game(2, seed=4), lambda game: game.to_dict()["can_close"]),
        (Game(4, seed=1), lambda game: game.to_dict()["pending_draw"] >= 4),
        (Game(10, Rules(tournament=True), seed=2), lambda game: game.phase == "respond"),
    ]
    for game, shown in scenes:
        last = played_until(game, shown, seed=0)
        save(picture(game.to_dict(), last=last.lines), f"table_{game.num_players}p.png")


ENTRIES = ("hint", "blue t", "blue 8", "close", "quit")
"""A game at a terminal begins so."""
FONTS = re.compile(r"@font-face {.*?}\s*", re.DOTALL)
"""From elsewhere, in rich's pictures; a viewer's own will do."""


def terminal() -> None:
    """Write the first turn of a game at a terminal."""
    console = Console(
        record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor", width=92,
        markup=False, emoji=False,
    )  # fmt: skip
    game = play.seated(play.Args(players=3, seed=195))
    hinter = agents.load("search:simulations=2000")
    sys.stdin = io.StringIO("".join(f"{entry}\n" for entry in ENTRIES))
    with TemporaryDirectory() as folder, chdir(folder), suppress(EOFError):
        Play(game, hinter, console, Path("game.json")).play()
    svg = console.export_svg(title="python -m agents.play --players 3", unique_id="play")
    (IMAGES / "play.svg").write_text(FONTS.sub("", svg))


PICTURES = {"table": table, "terminal": terminal}

if __name__ == "__main__":
    PICTURES[tyro.cli(Args).name]()
