"""The table in words (`render_mode="ansi"`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from taki_env.errors import did_you_mean

if TYPE_CHECKING:
    from taki_env.game import Game

RENDER_MODES = ["human", "ansi"]


def checked_render_mode(mode: str | None, modes: Sequence[Any]) -> str | None:
    """Return the render mode; ValueError names the allowed ones."""
    if mode is not None and mode not in modes:
        hint = did_you_mean(mode, modes)
        raise ValueError(
            f"render_mode must be None or one of {', '.join(modes)}, not {mode!r}{hint}"
        )
    return mode


def render_text(game: Game, mode: str) -> str | None:
    """Return the table in words for "ansi", print it for "human"."""
    text = table_text(game.to_dict())
    if mode == "ansi":
        return text
    print(text)
    return None


def table_text(position: Mapping[str, Any], seat: int | None = None) -> str:
    """Return the table as lines of text.

    Args:
        position: a position (RULES.md section 10).
        seat: whose hand is shown; all hands for None.
    """
    lines = [_table_line(position), *_seat_lines(position, seat), _state_line(position)]
    return "\n".join(lines) + "\n"


def _table_line(position: Mapping[str, Any]) -> str:
    pile, discard = position["draw_pile"] or [], position["discard_pile"]
    arrow = "->" if position["direction"] == 1 else "<-"
    return (
        f"lead [{discard[-1]}]  color {position['color']}  direction {arrow}  "
        f"draw pile {len(pile)}  discard pile {len(discard)}"
    )


def _seat_lines(position: Mapping[str, Any], seat: int | None) -> list[str]:
    lines = []
    for player, hand in enumerate(position["hands"]):
        cards = "  ".join(hand) if seat in (None, player) else "hidden"
        stage = f", stage {position['stages'][player]}" if position["stages"] else ""
        mark = ">" if player == position["actor"] and position["winner"] is None else " "
        lines.append(f"{mark} seat {player} ({len(hand)} cards{stage}): {cards}")
    return lines


def _state_line(position: Mapping[str, Any]) -> str:
    if position["winner"] is not None:
        return f"seat {position['winner']} has won"
    notes = [f"seat {position['turn']}'s turn", f"phase {position['phase']}"]
    if position["pending_draw"]:
        notes.append(f"+2 stack: {position['pending_draw']} to draw")
    if position["open_taki"]:
        notes.append(f"a {position['color']} TAKI is open")
    if position["plus_three_by"] is not None:
        notes.append(f"seat {position['plus_three_by']}'s +3 awaits answers")
    return ", ".join(notes)
