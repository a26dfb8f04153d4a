"""What an environment shows of its games (`render_mode`), and the table and the actions in words.

Pictures and the window are drawn by `taki_env.render.drawing`, which alone needs pygame.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.errors import did_you_mean
from taki_env.render.words import LastActions, Position, table_text

if TYPE_CHECKING:
    from taki_env.render.drawing import Window

Frame: TypeAlias = str | npt.NDArray[np.uint8] | None

RENDER_MODES = ["human", "ansi", "rgb_array"]
REVEAL = ("all", "actor")
RENDER_FPS = 2


def checked_render_mode(mode: str | None, modes: Sequence[Any]) -> str | None:
    """Return the render mode; ValueError names the allowed ones."""
    if mode is not None and mode not in modes:
        hint = did_you_mean(mode, modes)
        raise ValueError(
            f"render_mode must be None or one of {', '.join(modes)}, not {mode!r}{hint}"
        )
    return mode


def checked_reveal(reveal: str) -> str:
    """Return whose hands are shown; ValueError names the allowed choices."""
    if reveal not in REVEAL:
        hint = did_you_mean(reveal, REVEAL)
        raise ValueError(f"reveal must be one of {', '.join(REVEAL)}, not {reveal!r}{hint}")
    return reveal


class Renderer:
    """How an environment shows its games.

    Args:
        mode: None, "ansi" (a string), "rgb_array" (a picture) or "human" (a window).
        reveal: "all" shows every hand; "actor" shows what one seat may see.
        modes: the modes that the environment has.
        num_games: how many games it has.

    Raises:
        ValueError: a mode or a choice that does not exist.
        ModuleNotFoundError: the mode draws, and pygame is not installed.
    """

    def __init__(
        self,
        mode: str | None,
        reveal: str = "all",
        modes: Sequence[str] = RENDER_MODES,
        num_games: int = 1,
    ) -> None:
        self.mode = checked_render_mode(mode, modes)
        self.reveal = checked_reveal(reveal)
        self.last = [LastActions(reveal == "actor") for _ in range(num_games)]
        self._window: Window | None = None
        if mode in ("human", "rgb_array"):
            _drawing()

    def render(self, position: Position, seat: int, fps: int = RENDER_FPS, game: int = 0) -> Frame:
        """Return the table ("ansi", "rgb_array"), put it into the window, or warn without a mode.

        Args:
            position: the game's.
            seat: who looks, if not all hands are revealed.
            fps: the window shows so many tables a second.
            game: which of the environment's games it is.
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
        """Close the window, if there is one; the next table opens it again."""
        if self._window is not None:
            self._window.close()
        self._window = None


def _drawing() -> ModuleType:
    """Return the module that draws; ModuleNotFoundError names the extra to install."""
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
    """Return whether text is for a terminal with colors (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


# Actions in words ---------------------------------------------------------------------------------


# The table in words -------------------------------------------------------------------------------
