"""Pictures of the cards, drawn with pygame; no image files. Each card is drawn once, large."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import cos, radians, sin
from typing import TypeAlias

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame as pygame  # for `drawing` too: the line above must run before the first import

from taki_env.core.cards import COLORS

Color: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]
Glyph: TypeAlias = Callable[[pygame.Surface, Point, float, Color, Color], None]
"""Draws a symbol: surface, middle, size, color of the symbol, color of the background."""

MASTER = (240, 360)
EDGE = 9
CORNER = 26
SPINE = (EDGE, EDGE, 62, 342)
BODY = (EDGE, EDGE, 222, 342)
DISC = (151, 180)
DISC_RADIUS = 72
DISC_GLYPH = 104
SPINE_GLYPH = (40, 46)
SPINE_GLYPH_SIZE = 54
NAME = (40, 84)
NAME_LENGTH, NAME_BREADTH = 256, 60
NAME_SIZES = range(46, 11, -1)
STRIPE = (96, 314, 27, 16)
"""The four squares that mark a colorless card: x and y of the first, step, size."""

WHITE: Color = (255, 255, 255)
PAPER: Color = (250, 248, 242)
SHADES: dict[str, Color] = dict(
    zip(COLORS, ((217, 58, 54), (44, 152, 84), (48, 108, 208), (242, 188, 32)), strict=True)
)
DARK: dict[str, Color] = dict(
    zip(COLORS, ((140, 26, 28), (18, 88, 46), (20, 56, 130), (146, 98, 0)), strict=True)
)
COLORLESS: Color = (74, 66, 92)
COLORLESS_DARK: Color = (38, 32, 52)
GOLD: Color = (206, 150, 28)
BACK: Color = (44, 62, 100)
BACK_LIGHT: Color = (78, 102, 152)


# Text ---------------------------------------------------------------------------------------------


def font(size: int) -> pygame.font.Font:
    """Return pygame's default font in pixels; not cached, as `pygame.quit` invalidates fonts."""
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, size)


@lru_cache(maxsize=4096)
def text_picture(text: str, size: int, color: Color) -> pygame.Surface:
    """Return the picture of a line of text."""
    return font(size).render(text, True, color)


def blit_centered(surface: pygame.Surface, picture: pygame.Surface, middle: Point) -> None:
    """Draw a picture with its middle at a point."""
    width, height = picture.get_size()
    surface.blit(picture, (round(middle[0] - width / 2), round(middle[1] - height / 2)))


def _largest(lines: Sequence[str]) -> int:
    """Return the largest font size in which the lines fit next to each other on a spine."""
    for size in NAME_SIZES:
        shape = font(size)
        length = max(shape.size(line)[0] for line in lines)
        if length <= NAME_LENGTH and len(lines) * shape.get_height() <= NAME_BREADTH:
            return size
    return NAME_SIZES[-1]


# Symbols ------------------------------------------------------------------------------------------


def _letters(text: str, share: float) -> Glyph:
    def draw(surface: pygame.Surface, middle: Point, size: float, color: Color, _: Color) -> None:
        blit_centered(surface, text_picture(text, round(size * share), color), middle)

    return draw


def _scaled(points: Sequence[Point], middle: Point, size: float) -> list[Point]:
    """Return points around `middle` from points around (0, 0), in units of size / 2."""
    return [(middle[0] + x * size / 2, middle[1] + y * size / 2) for x, y in points]


def _polygon(
    surface: pygame.Surface, points: Sequence[Point], middle: Point, size: float, color: Color
) -> None:
    pygame.draw.polygon(surface, color, _scaled(points, middle, size))


def _bar(surface: pygame.Surface, start: Point, end: Point, width: float, color: Color) -> None:
    """Draw a line with round ends."""
    pygame.draw.circle(surface, color, start, width / 2)
    pygame.draw.circle(surface, color, end, width / 2)
    x, y = end[0] - start[0], end[1] - start[1]
    length = max((x * x + y * y) ** 0.5, 1e-9)
    across = (-y / length * width / 2, x / length * width / 2)
    corners = [
        (start[0] + across[0], start[1] + across[1]),
        (end[0] + across[0], end[1] + across[1]),
        (end[0] - across[0], end[1] - across[1]),
        (start[0] - across[0], start[1] - across[1]),
    ]
    pygame.draw.polygon(surface, color, corners)


FINGERS = ((-0.45, -0.45), (-0.17, -0.75), (0.12, -0.72), (0.4, -0.45))
PALM = ((-0.56, 0.1), (0.51, 0.1), (0.46, 0.62), (0.24, 0.9), (-0.24, 0.9), (-0.48, 0.55))


def _stop(surface: pygame.Surface, middle: Point, size: float, color: Color, _: Color) -> None:
    """Draw a raised hand."""
    for x, y in FINGERS:
        tip, root = _scaled([(x, y), (x, 0.3)], middle, size)
        _bar(surface, tip, root, size * 0.115, color)
    tip, root = _scaled([(0.86, -0.02), (0.4, 0.55)], middle, size)
    _bar(surface, tip, root, size * 0.13, color)
    _polygon(surface, PALM, middle, size, color)


ARROW = (
    *((-0.95, -0.6), (0.25, -0.6), (0.25, -0.95), (0.95, -0.42)),
    *((0.25, 0.1), (0.25, -0.24), (-0.95, -0.24)),
)


def _change_direction(
    surface: pygame.Surface, middle: Point, size: float, color: Color, _: Color
) -> None:
    """Draw an arrow to the right above one to the left."""
    _polygon(surface, ARROW, middle, size, color)
    _polygon(surface, [(-x, -y) for x, y in ARROW], middle, size, color)


def _plus(surface: pygame.Surface, middle: Point, size: float, color: Color, _: Color) -> None:
    left, right, top, bottom = _scaled([(-0.7, 0), (0.7, 0), (0, -0.7), (0, 0.7)], middle, size)
    _bar(surface, left, right, size * 0.24, color)
    _bar(surface, top, bottom, size * 0.24, color)


CROWN = (
    *((-0.7, 0.45), (-0.9, -0.4), (-0.42, 0.02), (0, -0.68), (0.42, 0.02), (0.9, -0.4)),
    (0.7, 0.45),
)
JEWELS = ((-0.9, -0.45), (0, -0.72), (0.9, -0.45))


def _king(surface: pygame.Surface, middle: Point, size: float, color: Color, _: Color) -> None:
    """Draw a crown."""
    _polygon(surface, CROWN, middle, size, color)
    _polygon(surface, ((-0.7, 0.57), (0.7, 0.57), (0.7, 0.78), (-0.7, 0.78)), middle, size, color)
    for jewel in _scaled(JEWELS, middle, size):
        pygame.draw.circle(surface, color, jewel, size * 0.075)


FAN_TURN = 82


def _fan(colors: Sequence[Color | None]) -> Glyph:
    """Return a symbol of a fan of cards, each in a color or, for None, in the symbol's."""

    def draw(
        surface: pygame.Surface, middle: Point, size: float, color: Color, ground: Color
    ) -> None:
        turns = [
            (card - (len(colors) - 1) / 2) * FAN_TURN / len(colors) for card in range(len(colors))
        ]
        for turn, own in zip(turns, colors, strict=True):
            for grow, shade in ((0.1, ground), (0, own or color)):
                _polygon(surface, _leaf(turn, grow), middle, size, shade)

    return draw


def _leaf(turn: float, grow: float) -> list[Point]:
    """Return the corners of a card of a fan, turned around its lower end."""
    across, along = cos(radians(turn)), sin(radians(turn))
    corners = ((-0.28, -0.3), (0.28, -0.3), (0.28, -1.5), (-0.28, -1.5))
    wider = [(x + (grow if x > 0 else -grow), y + (grow if y > 0 else -grow)) for x, y in corners]
    return [(x * across - y * along, 0.86 + x * along + y * across) for x, y in wider]


def _breaker(
    surface: pygame.Surface, middle: Point, size: float, color: Color, ground: Color
) -> None:
    """Draw a +3 that is struck out."""
    _letters("+3", 1.0)(surface, middle, size, color, ground)
    start, end = _scaled([(-0.85, 0.75), (0.85, -0.75)], middle, size)
    _bar(surface, start, end, size * 0.17, ground)
    _bar(surface, start, end, size * 0.09, SHADES["red"])


def _change_color(
    surface: pygame.Surface, middle: Point, size: float, color: Color, ground: Color
) -> None:
    """Draw a disc of the four colors."""
    radius = size * 0.47
    pygame.draw.circle(surface, ground, middle, radius * 1.12)
    quarters = {"draw_top_right": "red", "draw_bottom_right": "green"}
    quarters |= {"draw_bottom_left": "blue", "draw_top_left": "yellow"}
    for quarter, name in quarters.items():
        pygame.draw.circle(surface, SHADES[name], middle, radius, **{quarter: True})


GLYPHS: dict[str, Glyph] = {
    "+2": _letters("+2", 1.0),
    "stop": _stop,
    "change direction": _change_direction,
    "plus": _plus,
    "taki": _fan((None, None, None)),
    "super taki": _fan([SHADES[color] for color in COLORS]),
    "king": _king,
    "+3": _letters("+3", 1.0),
    "+3 breaker": _breaker,
    "change color": _change_color,
}
"""Drawings of the symbols that are not numbers."""


# Cards --------------------------------------------------------------------------------------------


def parts(card: str) -> tuple[str | None, str]:
    """Return the color of a card, or None, and its symbol."""
    color, _, symbol = card.partition(" ")
    return (color, symbol) if color in COLORS else (None, card)


@lru_cache(maxsize=64)
def face(card: str) -> pygame.Surface:
    """Return the large picture of a card by name."""
    color, symbol = parts(card)
    shade = SHADES[color] if color else COLORLESS
    dark = DARK[color] if color else COLORLESS_DARK
    surface = _paper()
    pygame.draw.rect(surface, shade, BODY, border_radius=CORNER - EDGE)
    pygame.draw.rect(
        surface, dark, SPINE,
        border_top_left_radius=CORNER - EDGE, border_bottom_left_radius=CORNER - EDGE,
    )  # fmt: skip
    glyph = GLYPHS.get(symbol) or _letters(symbol, 1.3)
    pygame.draw.circle(surface, PAPER, DISC, DISC_RADIUS)
    glyph(surface, DISC, DISC_GLYPH, GOLD if symbol == "king" else dark, PAPER)
    glyph(surface, SPINE_GLYPH, SPINE_GLYPH_SIZE, WHITE, dark)
    if not color:
        _stripe(surface)
    _name_spine(surface, card)
    return surface


@lru_cache(maxsize=1)
def back() -> pygame.Surface:
    """Return the large picture of a card's back."""
    surface = _paper()
    pygame.draw.rect(surface, BACK, BODY, border_radius=CORNER - EDGE)
    pygame.draw.rect(surface, BACK_LIGHT, (24, 24, 192, 312), 5, border_radius=10)
    blit_centered(
        surface, pygame.transform.rotate(text_picture("TAKI", 110, BACK_LIGHT), 60), (120, 180)
    )
    return surface


def _paper() -> pygame.Surface:
    surface = pygame.Surface(MASTER, pygame.SRCALPHA, 32)
    pygame.draw.rect(surface, (*PAPER, 255), ((0, 0), MASTER), border_radius=CORNER)
    pygame.draw.rect(surface, (120, 116, 108), ((0, 0), MASTER), 2, border_radius=CORNER)
    return surface


def _stripe(surface: pygame.Surface) -> None:
    x, y, step, size = STRIPE
    for place, color in enumerate(COLORS):
        square = (x + place * step, y, size, size)
        pygame.draw.rect(surface, SHADES[color], square, border_radius=4)


def _name_spine(surface: pygame.Surface, card: str) -> None:
    """Write the name down the spine, on two lines if it has three words."""
    head, _, tail = card.rpartition(" ")
    lines = [head, tail] if card.count(" ") == 2 else [card]
    size = _largest(lines)
    height = font(size).get_height()
    for number, line in enumerate(lines):
        x = NAME[0] - (number - (len(lines) - 1) / 2) * height
        written = pygame.transform.rotate(text_picture(line, size, WHITE), -90)
        blit_centered(surface, written, (x, NAME[1] + written.get_height() / 2))


@lru_cache(maxsize=4096)
def card_picture(card: str | None, width: int, height: int, angle: int = 0) -> pygame.Surface:
    """Return a card in a size, turned left by `angle` tenths of a degree; a back for None."""
    master = face(card) if card else back()
    small = pygame.transform.smoothscale(master, (width, height))
    return pygame.transform.rotozoom(small, angle / 10, 1) if angle else small
