"""Render modes of the environments: the table as text, as a picture, or in a window.

Pictures need pygame, which is optional: `taki_env.render.drawing` is imported only for modes that
draw. It does not import this module.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.checks import check_one_of
from taki_env.core.cards import Position
from taki_env.render.words import LastActions, table_text

if TYPE_CHECKING:
    from taki_env.render.drawing import Window

Frame: TypeAlias = str | npt.NDArray[np.uint8] | None

RENDER_MODES = ["human", "ansi", "rgb_array"]
REVEAL = ("all", "actor")
RENDER_FPS = 2


class Renderer:
    """Renders the games of an environment.

    Args:
        mode: None, "ansi" (a string), "rgb_array" (a picture) or "human" (a window).
        reveal: "all" shows every hand; "actor" shows only what one seat can see.
        modes: render modes that the environment supports.
        num_games: number of games of the environment.

    Raises:
        ValueError: `mode` or `reveal` is not one of the allowed values.
        ModuleNotFoundError: the mode needs pygame, which is not installed.
    """

    def __init__(
        self,
        mode: str | None,
        reveal: str = "all",
        modes: Sequence[str] = RENDER_MODES,
        num_games: int = 1,
    ) -> None:
        check_one_of("render_mode", mode, (None, *modes))
        check_one_of("reveal", reveal, REVEAL)
        self.mode, self.reveal = mode, reveal
        self.last = [LastActions(reveal == "actor") for _ in range(num_games)]
        self._window: Window | None = None
        if mode in ("human", "rgb_array"):
            _drawing()

    def render(self, position: Position, seat: int, fps: int = RENDER_FPS, game: int = 0) -> Frame:
        """Return the table ("ansi", "rgb_array"), show it in the window, or warn without a mode.

        Args:
            position: position of the game.
            seat: viewer, if not all hands are revealed.
            fps: maximum number of tables per second in the window.
            game: index of the game in the environment.
        """
        last = self.last[game].lines
        viewer = None if self.reveal == "all" else seat
        if self.mode is None:
            warnings.warn("render() was called without a render_mode", stacklevel=3)
            return None
        if self.mode == "ansi":
            return table_text(position, viewer, last, wants_colors())
        if self.mode == "rgb_array":
            picture: npt.NDArray[np.uint8] = _drawing().picture(position, viewer, last)
            return picture
        if self._window is None:
            self._window = _drawing().Window()
        self._window.show(position, viewer, last, fps)
        return None

    def close(self) -> None:
        """Close the window if it is open; the next `render` opens it again."""
        if self._window is not None:
            self._window.close()
        self._window = None


def _drawing() -> ModuleType:
    """Import `drawing`; without pygame, the ModuleNotFoundError names the extra to install."""
    try:
        from taki_env.render import drawing
    except ModuleNotFoundError as error:
        if error.name != "pygame":
            raise
        raise ModuleNotFoundError(
            "render_mode 'rgb_array' and 'human' need pygame: pip install taki-env[render]",
            name="pygame",
        ) from error
    return drawing


def wants_colors() -> bool:
    """Return whether standard output is a terminal with colors (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
