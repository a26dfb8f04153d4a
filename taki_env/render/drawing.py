"""Pictures of the table, and the window that shows them, with pygame (`taki-env[render]`).

Everything is drawn at twice its size and scaled down once, which smooths all edges. Only the window
needs a display. The same position and last actions give the same picture, pixel for pixel.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

from taki_env.core.cards import Position
from taki_env.render.card_art import (
    DARK,
    PAPER,
    SHADES,
    WHITE,
    Color,
    Point,
    blit_centered,
    card_picture,
    pygame,
    text_picture,
)
from taki_env.render.geometry import (
    BAND,
    HEIGHT,
    MARGIN,
    PADDING,
    WIDTH,
    Box,
    Place,
    hand_box,
    hand_places,
    seat_boxes,
)
from taki_env.render.words import card_count, known_actor, state_notes

FINE = 2
"""Scale of the drawing to the picture."""
TITLE = "TAKI"

GROUND: Color = (17, 24, 33)
TABLE: Color = (27, 39, 53)
SEAT: Color = (34, 48, 65)
ACTOR: Color = (255, 205, 82)
ACTOR_SEAT: Color = (56, 60, 62)
WINNER: Color = (92, 214, 136)
PLAIN: Color = (226, 233, 241)
FAINT: Color = (140, 156, 175)
PILL: Color = (50, 68, 91)
INK: Color = (20, 24, 30)
ALARM: Color = (205, 62, 62)
ROYAL: Color = (124, 84, 196)

CENTER: Point = (WIDTH / 2, 324.0)
RING = (268.0, 117.0)
RING_BREADTH = 9.0
RING_ENDS = (0.09, 0.91)
"""Start and end of the arrow on each half of the ring, in half turns."""
ARROW_HEAD = 17.0
DRAW_PILE = Place(CENTER[0] - 140, CENTER[1] - 16, 76, 114)
LEAD = Place(CENTER[0], CENTER[1] - 16, 92, 138)
COLOR_DISC: Point = (CENTER[0] + 140, CENTER[1] - 16)
COLOR_RADIUS = 40.0
PILE_WORDS = CENTER[1] + 72
MOST_BENEATH = 4
"""Maximum number of cards drawn beneath the top of a pile."""

CENTER_WIDTH = 590.0
STATE_TOP, STATE_LINE = 466.0, 32.0
LAST_BOTTOM, LAST_LINE, LAST_LINES = 592.0, 23.0, 3


class Canvas:
    """A surface at the scale `FINE`, with methods that take coordinates of the picture."""

    def __init__(self) -> None:
        self.surface = pygame.Surface((WIDTH * FINE, HEIGHT * FINE), 0, 32)

    def box(self, box: Box, color: Color, radius: float, line: float = 0) -> None:
        """Draw a rectangle with round corners, filled or as an outline of width `line`."""
        area = pygame.Rect(*(round(side * FINE) for side in box))
        pygame.draw.rect(
            self.surface, color, area, round(line * FINE), border_radius=round(radius * FINE)
        )

    def disc(self, middle: Point, radius: float, color: Color) -> None:
        """Draw a disc."""
        pygame.draw.circle(self.surface, color, _fine(middle), radius * FINE)

    def polygon(self, points: Sequence[Point], color: Color) -> None:
        """Draw a polygon."""
        pygame.draw.polygon(self.surface, color, [_fine(point) for point in points])

    def text(self, line: str, size: float, color: Color, at: Point, align: float = 0.5) -> None:
        """Write a line with its left end (0), middle (0.5) or right end (1) at a point."""
        picture = text_picture(line, round(size * FINE), color)
        x, y = _fine(at)
        blit_centered(self.surface, picture, (x + (0.5 - align) * picture.get_width(), y))

    def card(self, card: str | None, place: Place) -> None:
        """Draw a card, or for None the back of one."""
        width, height = round(place.width * FINE), round(place.height * FINE)
        picture = card_picture(card, width, height, round(place.angle * 10))
        blit_centered(self.surface, picture, _fine((place.x, place.y)))

    def finished(self) -> pygame.Surface:
        """Return the picture, WIDTH by HEIGHT."""
        return pygame.transform.smoothscale(self.surface, (WIDTH, HEIGHT))


def _fine(point: Point) -> Point:
    return point[0] * FINE, point[1] * FINE


def _width(line: str, size: float) -> float:
    return text_picture(line, round(size * FINE), WHITE).get_width() / FINE


# The table ----------------------------------------------------------------------------------------


def picture(
    position: Position, seat: int | None = None, last: Sequence[str] = ()
) -> npt.NDArray[np.uint8]:
    """Return the table as a picture, uint8 (HEIGHT, WIDTH, 3).

    Args:
        position: a position (RULES.md section 10).
        seat: viewer, whose hand alone is shown; None shows all hands.
        last: texts of the last actions, the latest at the end.
    """
    surface = table_surface(position, seat, last)
    pixels: npt.NDArray[np.uint8] = pygame.surfarray.array3d(surface)
    return np.ascontiguousarray(pixels.swapaxes(0, 1))


def table_surface(
    position: Position, seat: int | None = None, last: Sequence[str] = ()
) -> pygame.Surface:
    """Return the table as a pygame surface, WIDTH by HEIGHT; for the arguments see `picture`."""
    canvas = Canvas()
    canvas.surface.fill(GROUND)
    edge = MARGIN + BAND / 2
    canvas.box(Box(edge, edge, WIDTH - 2 * edge, HEIGHT - 2 * edge), TABLE, 190)
    _draw_ring(canvas, SHADES[position["color"]], position["direction"])
    _draw_piles(canvas, position)
    _draw_color(canvas, position["color"])
    for player, box in enumerate(seat_boxes(len(position["hands"]))):
        _draw_seat(canvas, position, player, box, seat)
    _draw_state(canvas, position)
    _draw_last(canvas, last)
    return canvas.finished()


def _on_ring(turn: float, offset: float = 0.0) -> Point:
    """Return the point of the ring at an angle in radians, clockwise from its right end."""
    x, y = RING[0] + offset, RING[1] + offset
    return CENTER[0] + x * cos(turn), CENTER[1] + y * sin(turn)


def _draw_ring(canvas: Canvas, color: Color, direction: int) -> None:
    """Draw two arrows around the piles in the direction of play."""
    for start in (0.0, pi):
        first, final = (start + pi * end for end in RING_ENDS[::direction])
        turns = np.linspace(first, final, 60).tolist()
        outer = [_on_ring(turn, RING_BREADTH / 2) for turn in turns]
        inner = [_on_ring(turn, -RING_BREADTH / 2) for turn in turns]
        canvas.polygon([*outer, *reversed(inner)], color)
        canvas.polygon(_arrow_head(final, direction), color)


def _arrow_head(turn: float, direction: int) -> list[Point]:
    point, after = _on_ring(turn), _on_ring(turn + direction * 0.001)
    x, y = after[0] - point[0], after[1] - point[1]
    length = (x * x + y * y) ** 0.5
    x, y = x / length * ARROW_HEAD, y / length * ARROW_HEAD
    return [
        (point[0] + x * 1.2, point[1] + y * 1.2),
        (point[0] - y * 0.8, point[1] + x * 0.8),
        (point[0] + y * 0.8, point[1] - x * 0.8),
    ]


def _draw_piles(canvas: Canvas, position: Position) -> None:
    pile, discard = position["draw_pile"] or [], position["discard_pile"]
    for place in _stack(DRAW_PILE, len(pile)):
        canvas.card(None, place)
    for place in list(_stack(LEAD, len(discard)))[:-1]:
        canvas.card(None, place)
    canvas.card(discard[-1], LEAD)
    for x, name, count in ((DRAW_PILE.x, "draw pile", pile), (LEAD.x, "discard pile", discard)):
        canvas.text(f"{name}  {len(count)}", 20, PLAIN, (x, PILE_WORDS))


def _stack(top: Place, count: int) -> Iterator[Place]:
    """Yield the places of the cards of a pile, the top one last."""
    for under in range(min(count, MOST_BENEATH + 1) - 1, -1, -1):
        yield top._replace(x=top.x - 2.5 * under, y=top.y - 2 * under)


def _draw_color(canvas: Canvas, color: str) -> None:
    canvas.disc(COLOR_DISC, COLOR_RADIUS + 4, PAPER)
    canvas.disc(COLOR_DISC, COLOR_RADIUS, SHADES[color])
    ink = INK if color == "yellow" else WHITE
    canvas.text(color, 23, ink, COLOR_DISC)
    canvas.text("color", 20, PLAIN, (COLOR_DISC[0], PILE_WORDS))


def _draw_state(canvas: Canvas, position: Position) -> None:
    """Write a pill for each fact about the state of play."""
    top = STATE_TOP
    for row in _flowing(state_notes(position), CENTER_WIDTH):
        left = CENTER[0] - sum(_pill_width(note) + 8 for note in row) / 2 + 4
        for note in row:
            back, ink = _pill_colors(note, position)
            _draw_pill(canvas, note, (left, top), back, ink)
            left += _pill_width(note) + 8
        top += STATE_LINE


def _pill_width(note: str) -> float:
    return _width(note, 19) + 24


def _draw_pill(canvas: Canvas, note: str, at: Point, back: Color, ink: Color) -> None:
    width = _pill_width(note)
    canvas.box(Box(at[0], at[1], width, 26), back, 13)
    canvas.text(note, 19, ink, (at[0] + width / 2, at[1] + 13.5))


def _flowing(notes: Sequence[str], room: float) -> list[list[str]]:
    """Return the notes in rows, none wider than `room` pixels."""
    rows: list[list[str]] = [[]]
    for note in notes:
        if sum(_pill_width(other) + 8 for other in [*rows[-1], note]) > room:
            rows.append([])
        rows[-1].append(note)
    return rows


def _pill_colors(note: str, position: Position) -> tuple[Color, Color]:
    if note.startswith("+2 stack"):
        return ALARM, WHITE
    if "+3 awaits" in note:
        return ROYAL, WHITE
    if "TAKI is open" in note:
        return DARK[position["color"]], WHITE
    return (WINNER, INK) if "won" in note else (PILL, PLAIN)


def _draw_last(canvas: Canvas, last: Sequence[str]) -> None:
    """Write the last actions, the latest at the bottom and brightest."""
    shown = list(last[-LAST_LINES:])
    if len(shown) < len(last):
        shown[0] = f"… {shown[0]}"
    for number, line in enumerate(reversed(shown)):
        size = 22.0 if number == 0 else 19.0
        while _width(line, size) > CENTER_WIDTH and size > 10:
            size -= 1
        at = (CENTER[0], LAST_BOTTOM - 14 - number * LAST_LINE)
        canvas.text(line, size, FAINT if number else WHITE, at)


# Seats --------------------------------------------------------------------------------------------


def _draw_seat(
    canvas: Canvas, position: Position, player: int, box: Box, viewer: int | None
) -> None:
    acts, won = player == known_actor(position, viewer), player == position["winner"]
    canvas.box(box, ACTOR_SEAT if acts else SEAT, 14)
    if acts or won:
        canvas.box(box, ACTOR if acts else WINNER, 14, 3)
    _draw_label(canvas, position, player, box)
    _draw_badges(canvas, _badges(position, player, acts), box)
    hand = position["hands"][player]
    shown = hand if viewer in (None, player) else [None] * len(hand)
    for card, place in zip(shown, hand_places(len(hand), hand_box(box)), strict=True):
        canvas.card(card, place)


def _draw_label(canvas: Canvas, position: Position, player: int, box: Box) -> None:
    name, size = f"seat {player}", len(position["hands"][player])
    facts = card_count(size)
    if position["stages"]:
        facts += f"  ·  stage {position['stages'][player]}"
    left, y = box.x + PADDING + 6, box.y + 17
    canvas.text(name, 24, WHITE, (left, y), 0)
    canvas.text(facts, 19, FAINT, (left + _width(name, 24) + 12, y + 1), 0)


def _badges(position: Position, player: int, acts: bool) -> list[tuple[str, Color, Color]]:
    """Return the badges of a seat: text, background color, text color."""
    if position["winner"] is not None:
        return [("has won", WINNER, INK)] if player == position["winner"] else []
    badges = [("to act", ACTOR, INK)] if acts else []
    if player == position["turn"]:
        badges.append(("turn", PILL, PLAIN))
    return badges


def _draw_badges(canvas: Canvas, badges: list[tuple[str, Color, Color]], box: Box) -> None:
    right = box.x + box.width - PADDING
    for badge, back, ink in badges:
        width = _width(badge, 18) + 18
        canvas.box(Box(right - width, box.y + 6, width, 22), back, 11)
        canvas.text(badge, 18, ink, (right - width / 2, box.y + 17.5))
        right -= width + 6


# The window ---------------------------------------------------------------------------------------


class Window:
    """A window that shows tables. When the user closes it, it stays closed; the game continues.

    A copy or an unpickled window is a new one, not yet open.
    """

    def __init__(self) -> None:
        self._clock = pygame.time.Clock()
        self._open = self._dismissed = False

    def __reduce__(self) -> tuple[type[Window], tuple[()]]:
        """Copy and pickle as a new window."""
        return Window, ()

    def show(self, position: Position, seat: int | None, last: Sequence[str], fps: float) -> None:
        """Show a table, at least 1 / fps seconds after the previous one.

        Raises:
            RuntimeError: there is no display.
        """
        self._heed_events()
        if self._dismissed:
            return
        screen = self._screen()
        screen.blit(table_surface(position, seat, last), (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)
        self._heed_events()

    def _screen(self) -> pygame.Surface:
        """Return the surface of the window; open the window if necessary."""
        screen = pygame.display.get_surface() if self._open else None
        if screen is None:
            screen = open_display()
            self._open = True
        return screen

    def _heed_events(self) -> None:
        """Close the window if the user has requested it."""
        if not self._open or not pygame.display.get_init():
            return
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self._dismissed = True

    def close(self) -> None:
        """Close the window."""
        if self._open:
            pygame.display.quit()
        self._open = False


def open_display() -> pygame.Surface:
    """Open pygame's only window and return its surface.

    Raises:
        RuntimeError: there is no display; the message contains SDL's error.
    """
    try:
        pygame.display.init()
        if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
            pygame.display.quit()
            raise pygame.error("SDL has no video device")
        pygame.display.set_caption(TITLE)
        return pygame.display.set_mode((WIDTH, HEIGHT))
    except pygame.error as error:
        raise RuntimeError(
            f"render_mode 'human' needs a display, and there is no display ({error}); "
            "'rgb_array' and 'ansi' need none"
        ) from error
