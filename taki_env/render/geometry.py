"""Table layout in pixels; geometry only."""

from __future__ import annotations

from math import ceil, cos, radians, sin
from typing import NamedTuple

WIDTH, HEIGHT = 1280, 800
MARGIN = 10
GAP = 12
BAND = 186
"""Height of a seat."""
SIDE = 312
"""Width of a seat at the left or the right."""
WIDEST = 760
"""Maximum width of a seat at the top or the bottom."""

SEATS_AT = {
    2: (1, 0, 1, 0),
    3: (1, 0, 2, 0),
    4: (1, 1, 1, 1),
    5: (1, 1, 2, 1),
    6: (2, 1, 2, 1),
    7: (3, 1, 2, 1),
    8: (3, 1, 3, 1),
    9: (3, 2, 2, 2),
    10: (3, 2, 3, 2),
}
"""Seats at the bottom, left, top and right, by number of players."""

LABEL = 30
PADDING = 8
ASPECT = 2 / 3
"""Width of a card over its height."""
SPINE = 0.28
"""Width of the left part of a card, which names it and stays uncovered, over the card's width."""
FAN_ANGLE = 7.0
FAN_DROP = 0.08
FAN_SIZES = (1.0, 0.9, 0.8, 0.7)
WIDEST_STEP = 0.8
ROW_STEP = 0.42
MOST_ROWS = 6
FULL_FAN = 8
"""Number of cards from which a fan is fully spread."""


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def inside(self, other: Box) -> bool:
        """Return whether the rectangle is inside another one."""
        return (
            other.x <= self.x
            and other.y <= self.y
            and self.x + self.width <= other.x + other.width
            and self.y + self.height <= other.y + other.height
        )


class Place(NamedTuple):
    """Place of a card: its middle, its size, and its rotation to the left in degrees."""

    x: float
    y: float
    width: float
    height: float
    angle: float = 0.0

    @property
    def box(self) -> Box:
        """The upright rectangle around the turned card."""
        width, height = turned_size(self.width, self.height, self.angle)
        return Box(self.x - width / 2, self.y - height / 2, width, height)


PICTURE = Box(0, 0, WIDTH, HEIGHT)


def turned_size(width: float, height: float, angle: float) -> tuple[float, float]:
    """Return width and height of the upright rectangle around a turned one."""
    across, along = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return width * across + height * along, width * along + height * across


def seat_boxes(num_players: int) -> list[Box]:
    """Return the box of each seat: seat 0 at the bottom, the others clockwise from it."""
    bottom, left, top, right = SEATS_AT[num_players]
    clockwise = [
        *reversed(_row(bottom, HEIGHT - MARGIN - BAND)),
        *reversed(_column(left, MARGIN)),
        *_row(top, MARGIN),
        *_column(right, WIDTH - MARGIN - SIDE),
    ]
    first = (bottom - 1) // 2
    return clockwise[first:] + clockwise[:first]


def _row(count: int, y: float) -> list[Box]:
    room = (WIDTH - 2 * MARGIN - GAP * (count - 1)) / max(count, 1)
    width = min(WIDEST, room)
    left = (WIDTH - count * width - GAP * (count - 1)) / 2
    return [Box(left + place * (width + GAP), y, width, BAND) for place in range(count)]


def _column(count: int, x: float) -> list[Box]:
    top = (HEIGHT - count * BAND - GAP * (count - 1)) / 2
    return [Box(x, top + place * (BAND + GAP), SIDE, BAND) for place in range(count)]


def hand_box(seat: Box) -> Box:
    """Return the part of a seat's box for its cards, below the label."""
    return Box(
        seat.x + PADDING,
        seat.y + LABEL,
        seat.width - 2 * PADDING,
        seat.height - LABEL - PADDING,
    )


def hand_places(count: int, box: Box) -> list[Place]:
    """Return the places of the cards of a hand, all inside the box.

    A hand is one fan, with smaller cards if necessary, or several straight rows, so that every
    spine is visible.
    """
    for size in FAN_SIZES:
        width, outer, _ = _fan_size(size, box)
        if _step(count, width, outer, box) >= SPINE * width:
            return _fan(count, size, box)
    for rows in range(2, MOST_ROWS):
        width, _ = _row_size(rows, box)
        if _step(ceil(count / rows), width, width, box) >= SPINE * width:
            return _rows(count, rows, box)
    return _rows(count, MOST_ROWS, box)


def _fan_size(size: float, box: Box) -> tuple[float, float, float]:
    """Return a card's width, the width of the outermost card when turned, and the height."""
    across, along = turned_size(ASPECT, 1, FAN_ANGLE)
    height = size * box.height / (along + FAN_DROP)
    return ASPECT * height, across * height, height


def _row_size(rows: int, box: Box) -> tuple[float, float]:
    height = box.height / (1 + ROW_STEP * (rows - 1))
    return ASPECT * height, height


def _step(count: int, width: float, outer: float, box: Box) -> float:
    """Return the distance between adjacent cards of a row."""
    return min(WIDEST_STEP * width, (box.width - outer) / max(count - 1, 1))


def _fan(count: int, size: float, box: Box) -> list[Place]:
    width, outer, height = _fan_size(size, box)
    step = _step(count, width, outer, box)
    spread = min(1.0, (count - 1) / (FULL_FAN - 1))
    x, y = box.center
    places = []
    for card in range(count):
        along = (card - (count - 1) / 2) / max((count - 1) / 2, 1) * spread
        drop = FAN_DROP * height * (along**2 - 0.5)
        offset = (card - (count - 1) / 2) * step
        places.append(Place(x + offset, y + drop, width, height, -FAN_ANGLE * along))
    return places


def _rows(count: int, rows: int, box: Box) -> list[Place]:
    width, height = _row_size(rows, box)
    each = ceil(count / rows)
    step = _step(each, width, width, box)
    left = box.center[0] - step * (each - 1) / 2
    top = box.y + height / 2
    return [
        Place(left + step * (card % each), top + ROW_STEP * height * (card // each), width, height)
        for card in range(count)
    ]
