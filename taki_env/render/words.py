"""Actions and tables as text."""

from __future__ import annotations

from collections.abc import Sequence

from taki_env.core.cards import ACTIONS, CLOSE_TAKI, COLORS, DRAW, PASS, Position
from taki_env.core.seen import cards_drawn, lets_stand, visible_actor

RESET = "\x1b[0m"

BOLD = "\x1b[1m"

TINTS = dict(zip(COLORS, ("\x1b[91m", "\x1b[92m", "\x1b[94m", "\x1b[93m"), strict=True))

COLORLESS_TINT = "\x1b[95m"


class LastActions:
    """What happened in a game since `clear`, as text; `lines` has an entry for each event.

    Args:
        public: Leave out what only the actor knows: that a seat was asked to answer a +3 and let
            it stand.
    """

    def __init__(self, public: bool = False) -> None:
        self.public = public
        self.lines: list[str] = []

    def clear(self) -> None:
        """Forget what happened."""
        self.lines = []

    def note(
        self, before: Position, action: int | str, after: Position, only: bool = False
    ) -> bool:
        """Add an action; return whether it added any line.

        Args:
            before: Position in which the action was taken.
            action: Action id or name.
            after: Position that followed.
            only: Forget what happened before, unless this action is hidden.
        """
        name = _name(action)
        hidden = self.public and lets_stand(before, name)
        if only and not hidden:
            self.clear()
        added = [] if hidden else [_own_text(before, name, after)]
        added += _effects_text(before, name, after)
        self.lines += added
        return bool(added)


def action_text(before: Position, action: int | str, after: Position) -> str:
    """Return what an action was and what followed from it, as in "seat 2 drew 4 cards".

    Args:
        before: Position in which the action was taken.
        action: An id or a name of `taki_env.ACTIONS`.
        after: Position that followed.
    """
    name = _name(action)
    return "; ".join([_own_text(before, name, after), *_effects_text(before, name, after)])


def _name(action: int | str) -> str:
    return action if isinstance(action, str) else ACTIONS[int(action)]


def _own_text(before: Position, name: str, after: Position) -> str:
    """Return what the actor did, and what happened to its own hand."""
    actor, text = before["actor"], action_phrase(before, name)
    drawn = 0 if lets_stand(before, name) else len(cards_drawn(before, name, after, actor))
    if name == ACTIONS[DRAW]:
        return f"seat {actor} drew {_cards(drawn)}" if drawn else f"seat {actor} found no card left"
    if after["stages"] and 0 < after["stages"][actor] != before["stages"][actor]:
        text += f", reached stage {after['stages'][actor]}"
    if drawn:
        text += f" and drew {_cards(drawn)}"
    return f"seat {actor} {text}"


def action_phrase(before: Position, name: str) -> str:
    """Return the text of an action other than `draw`, as in "played red 5"."""
    phase = before["phase"]
    if name == ACTIONS[CLOSE_TAKI]:
        return "closed the TAKI"
    if name == ACTIONS[PASS]:
        return {
            "run": "left the TAKI open",
            "king": "declined the extra card",
            "respond": "let the +3 stand",
            "last_card": "did not call the last card",
        }[phase]
    if phase == "last_card":
        return "called the last card"
    return f"answered with {name}" if phase == "respond" else f"played {name}"


def _effects_text(before: Position, name: str, after: Position) -> list[str]:
    """Return what the others drew, a line for each number of cards."""
    seats_at_table = range(len(before["hands"]))
    drawn = [len(cards_drawn(before, name, after, seat)) for seat in seats_at_table]
    if not lets_stand(before, name):  # otherwise the actor draws as one of the others
        drawn[before["actor"]] = 0
    lines = []
    for count in sorted(set(drawn) - {0}, reverse=True):
        seats = [seat for seat, number in enumerate(drawn) if number == count]
        each = " each" if len(seats) > 1 else ""
        lines.append(f"{_seats(seats, len(drawn))} drew {_cards(count)}{each}")
    return lines


def _cards(count: int) -> str:
    return "a card" if count == 1 else card_count(count)


def _seats(seats: Sequence[int], num_players: int) -> str:
    others = [seat for seat in range(num_players) if seat not in seats]
    if len(seats) == 1:
        return f"seat {seats[0]}"
    if len(others) == 1:
        return f"all but seat {others[0]}"
    return f"seats {', '.join(map(str, seats[:-1]))} and {seats[-1]}"


def table_text(
    position: Position, seat: int | None = None, last: Sequence[str] = (), colors: bool = False
) -> str:
    """Return the table as lines of text: the piles, the seats, the state, the last actions.

    Args:
        position: A position (RULES.md section 10).
        seat: The seat that looks, which sees only its own hand; None shows all hands.
        last: The last actions as text.
        colors: Color the cards with terminal codes.
    """
    state = ", ".join(state_notes(position))
    lines = [table_line(position, colors), *_seat_lines(position, seat, colors), state]
    if last:
        lines.append(f"last: {'; '.join(last)}")
    return "\n".join(lines) + "\n"


def known_actor(position: Position, seat: int | None) -> int | None:
    """Return the seat that decides now, or None if the game is over or `seat` cannot know it."""
    if position["winner"] is not None:
        return None
    actor: int = position["actor"]
    return actor if seat is None else visible_actor(position, seat)


def state_notes(position: Position) -> list[str]:
    """Return the state of play, a phrase for each fact."""
    if position["winner"] is not None:
        return [f"seat {position['winner']} has won"]
    notes = [f"seat {position['turn']}'s turn", f"phase {position['phase']}"]
    if position["pending_draw"]:
        notes.append(f"+2 stack: {position['pending_draw']} to draw")
    if position["open_taki"]:
        closing = ", can be closed" if position["can_close"] else ""
        notes.append(f"a {position['color']} TAKI is open{closing}")
    if position["plus_three_by"] is not None:
        notes.append(f"seat {position['plus_three_by']}'s +3 awaits answers")
    if position["skip_next"]:
        notes.append("the next seat is skipped")
    return notes


def table_line(position: Position, colors: bool) -> str:
    """Return the piles, color and direction in a line; arguments as in `table_text`."""
    pile, discard = position["draw_pile"] or [], position["discard_pile"]
    arrow = "->" if position["direction"] == 1 else "<-"
    return (
        f"lead [{painted(discard[-1], colors)}]  color {painted(position['color'], colors)}  "
        f"direction {arrow}  draw pile {len(pile)}  discard pile {len(discard)}"
    )


def _seat_lines(position: Position, seat: int | None, colors: bool) -> list[str]:
    lines = []
    for player, hand in enumerate(position["hands"]):
        seen = seat in (None, player)
        cards = "  ".join(painted(card, colors) for card in hand) if seen else "hidden"
        lines.append(f"{seat_label(position, player, seat, colors)}: {cards}")
    return lines


def seat_label(position: Position, player: int, seat: int | None, colors: bool) -> str:
    """Return a player's seat, cards and stage; other arguments as in `table_text`."""
    stage = f", stage {position['stages'][player]}" if position["stages"] else ""
    acts = player == known_actor(position, seat)
    name = f"{'>' if acts else ' '} seat {player}"
    name = f"{BOLD}{name}{RESET}" if acts and colors else name
    return f"{name} ({card_count(len(position['hands'][player]))}{stage})"


def card_count(count: int) -> str:
    """Return a number of cards, as in "1 card"."""
    return "1 card" if count == 1 else f"{count} cards"


def painted(card: str, colors: bool) -> str:
    """Return a card's name, or a color's, in its color."""
    tint = TINTS.get(card.partition(" ")[0], COLORLESS_TINT)
    return f"{tint}{card}{RESET}" if colors else card
