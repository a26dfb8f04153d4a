"""Make pictures of the docs, by name.

python docs/screenshots.py table    writes docs/images/table_2p.png, table_4p.png, table_10p.png
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import tyro
from PIL import Image

from taki_env import Game, Rules
from taki_env.drawing import picture
from taki_env.rendering import LastActions

IMAGES = Path(__file__).parent / "images"
COLORS = 128
"""A picture with so few is small."""


@dataclass(frozen=True)
class Args:
    """Make pictures of the docs."""

    name: Annotated[Literal["table"], tyro.conf.Positional]
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


PICTURES = {"table": table}

if __name__ == "__main__":
    PICTURES[tyro.cli(Args).name]()
