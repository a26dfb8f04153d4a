"""Screen of a person at a terminal: the table, the hand, the actions, help and hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from agents.table.analyze import expected
from taki_env.base.errors import did_you_mean
from taki_env.core.cards import COLORS, SYMBOLS, Position
from taki_env.core.engine import SILENCE_PENALTY
from taki_env.render.words import painted, seat_label, state_notes, table_line

CARD_HELP = {
    "number": "has no effect",
    "stop": "the next player is skipped; with two players, you move again",
    "+2": "the next player adds a +2, cancels it with a king, or draws the sum and loses the turn",
    "change direction": "reverses the direction of play; with two players, nothing else changes",
    "plus": "you must play a second card; draw one if none can be played",
    "taki": "opens a run: play as many cards of its color as you like. Close it, and the effect of "
    "its last card applies; pass, and it stays open for the next player",
    "super taki": "a TAKI of the active color; not on a +2 stack or a +3 that awaits answers",
    "change color": "names the next color; not on a +2 stack or a +3 that awaits answers",
    "king": "on any card; cancels a +2 stack or a +3. Then play any one card, or pass",
    "+3": "every other player draws three, unless it is answered; not on a +2 stack",
    "+3 breaker": "cancels a +3, whose player draws three; on your own turn, you draw three",
}
"""Effect of each kind of card, after docs/RULES.md, section 5."""

COMMANDS = {
    "?": "explain the cards on the table and in your hand, and these commands",
    "hint": "show what an agent would play, and why",
    "undo": "take back your last decision, until a card is drawn or another seat acts",
    "save": "save the game; `save FILE` names the file",
    "quit": "save the game and leave; Ctrl-C and the end of input do the same",
}
"""Commands that can be entered instead of an action."""


class EntryError(ValueError):
    """An unknown, ambiguous or impossible entry."""


def print_plain(
    console: Console, text: str | Text = "", end: str = "\n", soft_wrap: bool = False
) -> None:
    """Print text without highlighting; `soft_wrap` leaves line breaks to the terminal."""
    console.print(text, end=end, highlight=False, soft_wrap=soft_wrap)


# Entries ------------------------------------------------------------------------------------------


def match_entry(entry: str, legal: Sequence[str]) -> str:
    """Return the action or the command that an entry means.

    Args:
        entry: the number of an action, from 1; or a name from `legal` or `COMMANDS`, or an
            unambiguous prefix of one.
        legal: names of the legal actions.

    Raises:
        EntryError: the entry matches no name, or several.
    """
    word = " ".join(entry.lower().split())
    names = [*legal, *COMMANDS]
    if word.isdecimal() and 1 <= int(word) <= len(legal):
        return legal[int(word) - 1]
    if word in names:
        return word
    matches = [name for name in names if name.startswith(word)] if word else []
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise EntryError(f"{entry!r} is ambiguous: {', '.join(matches)}?")
    numbers = f"1 to {len(legal)}" if len(legal) > 1 else "1"
    raise EntryError(
        f"{entry!r} is not possible now{did_you_mean(word, names)} "
        f"(enter {numbers}, the first letters of a name, or ? for help)"
    )


# The table and the actions ------------------------------------------------------------------------


def show_decision(
    console: Console, position: Position, legal: Sequence[str], seat: int, names: Sequence[str]
) -> None:
    """Print the table, the hand, the current step, and the numbered legal actions.

    Args:
        console: console for output.
        position: position in which `seat` is the actor.
        legal: names of the legal actions.
        seat: seat of the person.
        names: names of the players, one per seat.
    """
    lines = ["", *table_lines(position, seat, names), "", *hand_lines(position["hands"][seat]), ""]
    print_plain(console, Text.from_ansi("\n".join(lines)))
    print_plain(console, step_text(position, legal))
    actions = (f"{number} {action_label(name)}" for number, name in enumerate(legal, 1))
    console.print(Columns(map(Text.from_ansi, actions), padding=(0, 3)))


def table_lines(position: Position, seat: int, names: Sequence[str]) -> list[str]:
    """Return the cards on the table, the players and the state, with color codes."""
    labels = [seat_label(position, player, seat, True) for player in range(len(names))]
    players = [
        f"{label}: {'you' if player == seat else name}"
        for player, (label, name) in enumerate(zip(labels, names, strict=True))
    ]
    return [table_line(position, True), *players, ", ".join(state_notes(position))]


def hand_groups(hand: Iterable[str]) -> dict[str, list[str]]:
    """Return the cards of a hand by color, in the order of `COLORS`, colorless ones last."""
    groups: dict[str, list[str]] = {color: [] for color in (*COLORS, "colorless")}
    for card in hand:
        color = card.partition(" ")[0]
        groups[color if color in COLORS else "colorless"].append(card)
    return {color: cards for color, cards in groups.items() if cards}


def hand_lines(hand: Sequence[str]) -> list[str]:
    """Return a hand with color codes, one line per color."""
    groups = hand_groups(hand).values()
    cards = ["  ".join(painted(card, True) for card in group) for group in groups]
    return [f"  {line}" for line in (cards or ["no cards"])]


def action_label(name: str) -> str:
    """Return an action's name with color codes."""
    start, to, color = name.partition(" to ")
    if to:
        return f"{start}{to}{painted(color, True)}"
    return painted(name, True) if name in _CARD_NAMES else name


def step_text(position: Position, legal: Sequence[str]) -> str:
    """Return a line that explains what the actor must decide."""
    cards = [name for name in legal if name in _CARD_NAMES or name.startswith("change color")]
    phase, color = position["phase"], position["color"]
    if phase == "run":
        return _run_text(color, legal)
    if phase == "plus":
        owed = "a Plus requires one more card"
        return owed if cards else f"{owed}; none of yours can be played, so draw"
    if phase == "king":
        return "your King lets you play any one card; or pass"
    if phase == "respond":
        return _answer_text(position, legal)
    if phase == "last_card":
        return f"one card left: call it, or silence costs you {SILENCE_PENALTY} cards"
    return _turn_text(position, cards)


def _run_text(color: str, legal: Sequence[str]) -> str:
    ways = [f"play more {color} cards"] if any(name in _CARD_NAMES for name in legal) else []
    ways += ["close it"] if "close taki" in legal else []
    ways += ["pass to leave it open"] if "pass" in legal else []
    return f"your {color} TAKI is open: {', or '.join(ways)}"


def _answer_text(position: Position, legal: Sequence[str]) -> str:
    player = f"seat {position['plus_three_by']}"
    ways = {
        "+3 breaker": f"a +3 breaker makes {player} draw three",
        "king": "a king cancels it and gives you the turn",
        "pass": "pass lets it stand",
    }
    possible = [text for name, text in ways.items() if name in legal]
    return f"{player}'s +3 awaits your answer: {'; '.join(possible)}"


def _turn_text(position: Position, cards: Sequence[str]) -> str:
    color, symbol = position["color"], position["symbol"]
    if position["pending_draw"]:
        return f"a +2 stack: add a +2, cancel it with a king, or draw {position['pending_draw']}"
    if not cards:
        return "none of your cards can be played: draw one"
    match = f"{color} or {symbol}" if symbol else color
    if position["open_taki"]:
        return (
            f"a {color} TAKI was left open: play {color} to continue it, or another card to end it"
        )
    return f"your turn: match {match}, or play a colorless card"


_CARD_NAMES = frozenset(
    (*(f"{color} {symbol}" for color in COLORS for symbol in SYMBOLS), *CARD_HELP)
)


# What happened ------------------------------------------------------------------------------------


def as_you(text: str, seat: int) -> str:
    """Return text in which the person's seat is called "you"."""
    return re.sub(rf"\bseat {seat}\b", "you", text)


# Help and hints -----------------------------------------------------------------------------------


def card_kind(card: str) -> str:
    """Return the kind of a card, a key of `CARD_HELP`."""
    color, _, symbol = card.partition(" ")
    if color not in COLORS:
        return card
    return symbol if symbol in CARD_HELP else "number"


def help_lines(position: Position, seat: int) -> list[str]:
    """Return the effects of the cards on the table and in a hand, and the commands."""
    on_table = [position["discard_pile"][-1], *(["taki"] if position["open_taki"] else [])]
    kinds = {card_kind(card) for card in (*position["hands"][seat], *on_table)}
    cards = [f"{kind}: {CARD_HELP[kind]}" for kind in CARD_HELP if kind in kinds]
    return [*cards, "", *(f"{name}: {text}" for name, text in COMMANDS.items())]


def hint_lines(found: Mapping[str, Any]) -> list[str]:
    """Return the best action of an `agents.table.analyze.analysis`, and why."""
    if "candidates" in found:
        return _searched_lines(found["candidates"])
    if "probabilities" in found:
        action, share = next(iter(found["probabilities"].items()))
        why = f"probability {share:.0%}, expected return {found['value']:+.2f} (a win is +1)"
        return [f"{action}: {why}"]
    return [found["action"]]


def _searched_lines(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    best, visits = candidates[0], sum(one["visits"] for one in candidates)
    if len(candidates) == 1:
        return [f"{best['action']}: the only legal action"]
    share = f"{best['visits'] / visits:.0%} of {visits:,} simulations"
    line = expected(best)
    return [
        f"{best['action']}: {share}, {best['value']:.0%} of them won",
        *([f"expected: {line}"] if line else []),
    ]
