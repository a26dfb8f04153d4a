"""What a person at a terminal sees of a game: the table, the hand, the actions, help and hints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from agents.table.analyze import expected
from taki_env.base.errors import did_you_mean
from taki_env.core.cards import COLORS, SYMBOLS
from taki_env.core.engine import SILENCE_PENALTY
from taki_env.render.words import Position, painted, seat_label, state_notes, table_line

CARD_HELP = {
    "number": "nothing more happens",
    "stop": "the next player is skipped; with two players, you move again",
    "+2": "the next player adds a +2, cancels it with a king, or draws the sum and loses the turn",
    "change direction": "reverses the direction of play; with two players, nothing more",
    "plus": "you must play a second card; draw one if none can be played",
    "taki": "opens a run: lay as many cards of its color as you like. Close it, and its final card "
    "acts; pass, and it stays open for the next player",
    "super taki": "a TAKI of the active color; not on a +2 stack or a +3 that awaits answers",
    "change color": "names the color that goes on; not on a +2 stack or a +3 that awaits answers",
    "king": "on any card; cancels a +2 stack or a +3. Then play any one card, or pass",
    "+3": "every other player draws three, unless it is answered; not on a +2 stack",
    "+3 breaker": "cancels a +3, whose player draws three; on your own turn, you draw three",
}
"""What each kind of card does, after docs/RULES.md, section 5."""

COMMANDS = {
    "?": "what the cards on the table and in your hand do, and these commands",
    "hint": "what an agent would play, and why",
    "undo": "take back your last decision, if no card was drawn and nobody else acted since",
    "save": "save the game, in a file that you may name: `save FILE`",
    "quit": "save the game and leave, as Ctrl-C and the end of input do",
}
"""What can be entered besides an action."""


class EntryError(ValueError):
    """An entry that says nothing that can be done."""


def say(console: Console, text: str | Text = "", end: str = "\n", soft_wrap: bool = False) -> None:
    """Print text as it is; with `soft_wrap` it is the terminal that breaks a line, to be copied."""
    console.print(text, end=end, highlight=False, soft_wrap=soft_wrap)


# Entries ------------------------------------------------------------------------------------------


def resolve(entry: str, legal: Sequence[str]) -> str:
    """Return the action or the command that an entry means.

    Args:
        entry: the number of an action, from 1; or a name of `legal` or `COMMANDS`, or its
            beginning, if no other name begins so.
        legal: names of the actions.

    Raises:
        EntryError: it means none of them, or several.
    """
    word = " ".join(entry.lower().split())
    names = [*legal, *COMMANDS]
    if word.isdecimal() and 1 <= int(word) <= len(legal):
        return legal[int(word) - 1]
    if word in names:
        return word
    meant = [name for name in names if name.startswith(word)] if word else []
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise EntryError(f"{entry!r} is not clear: {', '.join(meant)}?")
    numbers = f"1 to {len(legal)}" if len(legal) > 1 else "1"
    raise EntryError(
        f"{entry!r} cannot be done now{did_you_mean(word, names)} "
        f"(enter {numbers}, the beginning of a name, or ? for help)"
    )


# The table and the actions ------------------------------------------------------------------------


def show_decision(
    console: Console, position: Position, legal: Sequence[str], seat: int, names: Sequence[str]
) -> None:
    """Print the table, the hand, what is to be done, and the legal actions by number.

    Args:
        console: to print to.
        position: the actor is `seat`.
        legal: names of the legal actions.
        seat: the person's.
        names: of the players, one a seat.
    """
    lines = ["", *table_lines(position, seat, names), "", *hand_lines(position["hands"][seat]), ""]
    say(console, Text.from_ansi("\n".join(lines)))
    say(console, step_text(position, legal))
    actions = (f"{number} {action_label(name)}" for number, name in enumerate(legal, 1))
    console.print(Columns(map(Text.from_ansi, actions), padding=(0, 3)))


def table_lines(position: Position, seat: int, names: Sequence[str]) -> list[str]:
    """Return what lies on the table, the players and the state, with codes for colors."""
    labels = [seat_label(position, player, seat, True) for player in range(len(names))]
    players = [
        f"{label}: {'you' if player == seat else name}"
        for player, (label, name) in enumerate(zip(labels, names, strict=True))
    ]
    return [table_line(position, True), *players, ", ".join(state_notes(position))]


def hand_groups(hand: Iterable[str]) -> dict[str, list[str]]:
    """Return the cards of a hand by color, in the order of `COLORS`, the colorless ones last."""
    groups: dict[str, list[str]] = {color: [] for color in (*COLORS, "colorless")}
    for card in hand:
        color = card.partition(" ")[0]
        groups[color if color in COLORS else "colorless"].append(card)
    return {color: cards for color, cards in groups.items() if cards}


def hand_lines(hand: Sequence[str]) -> list[str]:
    """Return a hand, a line for each color, with codes for colors."""
    groups = hand_groups(hand).values()
    cards = ["  ".join(painted(card, True) for card in group) for group in groups]
    return [f"  {line}" for line in (cards or ["no cards"])]


def action_label(name: str) -> str:
    """Return an action's name, that of a card in its color, with codes for colors."""
    start, to, color = name.partition(" to ")
    if to:
        return f"{start}{to}{painted(color, True)}"
    return painted(name, True) if name in _CARD_NAMES else name


def step_text(position: Position, legal: Sequence[str]) -> str:
    """Return what the actor is to do, in a line."""
    cards = [name for name in legal if name in _CARD_NAMES or name.startswith("change color")]
    phase, color = position["phase"], position["color"]
    if phase == "run":
        return _run_text(color, legal)
    if phase == "plus":
        owed = "a Plus asks for one more card"
        return owed if cards else f"{owed}; none of yours can be played, so draw"
    if phase == "king":
        return "your King lets you play any one card; or pass"
    if phase == "respond":
        return _answer_text(position, legal)
    if phase == "last_card":
        return f"one card left: say so, or silence costs you {SILENCE_PENALTY} cards"
    return _turn_text(position, cards)


def _run_text(color: str, legal: Sequence[str]) -> str:
    ways = [f"lay more {color} cards"] if any(name in _CARD_NAMES for name in legal) else []
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
    told = [words for name, words in ways.items() if name in legal]
    return f"{player}'s +3 awaits your answer: {'; '.join(told)}"


def _turn_text(position: Position, cards: Sequence[str]) -> str:
    color, symbol = position["color"], position["symbol"]
    if position["pending_draw"]:
        return f"a +2 stack: add a +2, cancel it with a king, or draw {position['pending_draw']}"
    if not cards:
        return "none of your cards can be played: draw one"
    match = f"{color} or {symbol}" if symbol else color
    if position["open_taki"]:
        return f"a {color} TAKI was left open: lay {color} on it and go on, or end it otherwise"
    return f"your turn: match {match}, or play a colorless card"


_CARD_NAMES = frozenset(
    (*(f"{color} {symbol}" for color in COLORS for symbol in SYMBOLS), *CARD_HELP)
)


# What happened ------------------------------------------------------------------------------------


def as_you(text: str, seat: int) -> str:
    """Return words in which the person's seat is "you"."""
    return re.sub(rf"\bseat {seat}\b", "you", text)


def new_cards(before: Position, action: str, after: Position, seat: int) -> list[str]:
    """Return the cards that came into a hand with an action."""
    old = Counter(before["hands"][seat])
    if before["actor"] == seat and (card := action.partition(" to ")[0]) in old:
        old[card] -= 1
    return list((Counter(after["hands"][seat]) - old).elements())


# Help and hints -----------------------------------------------------------------------------------


def card_kind(card: str) -> str:
    """Return the kind of a card: a key of `CARD_HELP`."""
    color, _, symbol = card.partition(" ")
    if color not in COLORS:
        return card
    return symbol if symbol in CARD_HELP else "number"


def help_lines(position: Position, seat: int) -> list[str]:
    """Return what the cards on the table and in a hand do, and the commands."""
    on_table = [position["discard_pile"][-1], *(["taki"] if position["open_taki"] else [])]
    kinds = {card_kind(card) for card in (*position["hands"][seat], *on_table)}
    cards = [f"{kind}: {CARD_HELP[kind]}" for kind in CARD_HELP if kind in kinds]
    return [*cards, "", *(f"{name}: {words}" for name, words in COMMANDS.items())]


def hint_lines(found: Mapping[str, Any]) -> list[str]:
    """Return what `agents.table.analyze.analysis` found: the best action and why."""
    if "candidates" in found:
        return _searched_lines(found["candidates"])
    if "probabilities" in found:
        action, share = next(iter(found["probabilities"].items()))
        why = f"{share:.0%} likely, and expects {found['value']:+.2f}, where a win is +1"
        return [f"{action}: {why}"]
    return [found["action"]]


def _searched_lines(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    best, visits = candidates[0], sum(one["visits"] for one in candidates)
    if len(candidates) == 1:
        return [f"{best['action']}: there is nothing else to do"]
    share = f"{best['visits'] / visits:.0%} of {visits:,} simulations"
    line = expected(best)
    return [
        f"{best['action']}: {share}, of which it wins {best['value']:.0%}",
        *([f"expected: {line}"] if line else []),
    ]
