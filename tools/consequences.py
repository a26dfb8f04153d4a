"""What RULES.md says can follow from an action, and what did follow.

A consequence is a triple: the situation before, the kind of action, and one thing that followed.
`EXPECTED` lists all that can occur, by reasoning on RULES.md; `Watched` tells what did occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tools.reference import ACTIONS, COLORS, NAMINGS, NUMBERS, Position, Reference, Shuffle

Triple: TypeAlias = tuple[str, str, str]
"""Situation, kind of action, and what followed."""

# What can follow
NEXT = "next seat plays"
SKIPS = "a seat is skipped"
AGAIN = "same seat plays again"
CALL = "last card to be called"
WINS = "wins"
STAGE = "next stage"
REFILL = "played cards are shuffled"
SHORT = "too few cards to draw"
REVERSES = "direction turns"
GROWS = "stack grows"
CANCELS = "stack is cancelled"
RUN = "in a run"
CLOSES = "empty hand closes the run"
ENDS = "ends the run of another"
LEFT = "TAKI is left open"
SECOND = "second card owed"
EXTRA = "extra card"
ASKS = "a seat is asked to answer"
THREE = "others draw three"
BROKEN = "+3 is broken"
SPARED = "+3 is cancelled"
PAYS = "its player draws three"
PENALTY = "draws three"
FOUR = "draws four"
ONE = "draws one"
STACK = "draws the stack"

EMPTIED = {WINS, STAGE, REFILL, SHORT}
"""What an empty hand leads to: a stage's cards may need a shuffle, or be too few (section 8)."""
SETTLED = EMPTIED | {CALL}
"""What the end of a turn by playing leads to."""
OPENS = EMPTIED | {RUN, LEFT, NEXT}
"""A TAKI: as an only card it stays open, and the turn is over."""
OFF_RUN: dict[str, set[str]] = {
    "number": SETTLED | {NEXT},
    "stop": SETTLED | {SKIPS, AGAIN},
    "+2": SETTLED | {NEXT, GROWS},
    "change direction": SETTLED | {NEXT, REVERSES},
    "plus": {SECOND},
    "taki": OPENS,
    "super taki": OPENS,
    "king": EMPTIED | {EXTRA, NEXT},
    "+3": SETTLED | {ASKS, THREE, NEXT},
    "+3 breaker": {PENALTY, NEXT, REFILL, SHORT},
    "change color": SETTLED | {NEXT},
}
"""Cards that are not laid on a run (section 5)."""
ON_RUN: dict[str, set[str]] = {
    "number": EMPTIED | {RUN, CLOSES, NEXT},
    "stop": EMPTIED | {RUN, CLOSES, SKIPS, AGAIN},
    "+2": EMPTIED | {RUN, CLOSES, NEXT, GROWS},
    "change direction": EMPTIED | {RUN, CLOSES, NEXT, REVERSES},
    "plus": {RUN, CLOSES, SECOND},
    "taki": EMPTIED | {RUN, CLOSES, NEXT},
    "super taki": EMPTIED | {RUN, CLOSES, NEXT},
}
"""Cards that are (section 6): only an empty hand ends the turn."""
DRAWS = {ONE, NEXT, REFILL, SHORT}
BREAKS = SETTLED | {BROKEN, PAYS, NEXT}
LETS_STAND = {ASKS, THREE, NEXT, REFILL, SHORT}
CALLED = {NEXT, SKIPS, AGAIN, ASKS, THREE, LEFT, REFILL, SHORT}
"""What a turn does to the others after the call (section 8)."""
STANDS = {LEFT, NEXT, CALL}

PLAYING = "play"
STACKED = "play, +2 stack"
OPEN = "play, open TAKI"
IN_RUN = "run"
CLOSABLE = "run, closable"
OWING = "plus"
OWING_NONE = "plus, no card"
EXTRA_CARD = "king"
ASKED_NEXT = "respond, next seat"
ASKED_LATER = "respond, later seat"
CALLING = "last card"
CALLING_ANSWER = "last card, after a Breaker"

EXPECTED: dict[str, dict[str, set[str]]] = {
    PLAYING: {**OFF_RUN, "draw": DRAWS},
    STACKED: {
        "+2": OFF_RUN["+2"],
        "king": OFF_RUN["king"] | {CANCELS},
        "draw": {STACK, NEXT, REFILL, SHORT},
    },
    OPEN: {
        **{kind: ON_RUN.get(kind, set()) | found | {ENDS} for kind, found in OFF_RUN.items()},
        "super taki": ON_RUN["super taki"],
        "draw": DRAWS | {LEFT},
    },
    IN_RUN: {**ON_RUN, "pass": STANDS},
    CLOSABLE: {
        **ON_RUN,
        "pass": STANDS,
        "close taki": {NEXT, CALL, SKIPS, AGAIN, GROWS, REVERSES, SECOND},
    },
    OWING: {**OFF_RUN, "draw": DRAWS},
    OWING_NONE: {"draw": DRAWS},
    EXTRA_CARD: {**OFF_RUN, "pass": {NEXT, CALL}},
    ASKED_NEXT: {
        "+3 breaker": BREAKS,
        "king": EMPTIED | {SPARED, EXTRA, NEXT},
        "pass": LETS_STAND,
    },
    ASKED_LATER: {"+3 breaker": BREAKS, "pass": LETS_STAND},
    CALLING: {"say last card": CALLED, "pass": CALLED | {FOUR}},
    CALLING_ANSWER: {
        "say last card": {PAYS, NEXT, REFILL, SHORT},
        "pass": {FOUR, PAYS, NEXT, REFILL, SHORT},
    },
}
TRIPLES: list[Triple] = [
    (situation, kind, event)
    for situation, kinds in EXPECTED.items()
    for kind, events in kinds.items()
    for event in sorted(events)
]


def _kind(action: str) -> str:
    if action in NAMINGS:
        return "change color"
    color, _, symbol = action.partition(" ")
    if color not in COLORS:
        return action
    return "number" if symbol in NUMBERS else symbol


KINDS: Mapping[str, str] = {action: _kind(action) for action in ACTIONS}
"""The kind of each action: the symbol of a card, or the action's own name."""

PHASE_EVENTS = {
    "run": RUN, "plus": SECOND, "king": EXTRA, "last_card": CALL, "respond": ASKS, "over": WINS,
}  # fmt: skip


@dataclass(frozen=True)
class Before:
    """What has to be known of a state to tell what followed."""

    situation: str
    kind: str
    action: str
    phase: str
    actor: int
    turn: int
    direction: int
    pending_draw: int
    open_taki: bool
    color: str
    stages: tuple[int, ...]


class Watched(Reference):
    """The reference, telling what follows from each action."""

    def __init__(self, position: Position, shuffle: Shuffle) -> None:
        """Read a position, as the reference does."""
        super().__init__(position, shuffle)
        self.draws: list[tuple[int, int, int]] = []
        self.refilled = False

    def _take(self, seat: int, count: int) -> None:
        before = len(self.hands[seat])
        super()._take(seat, count)
        self.draws.append((seat, count, len(self.hands[seat]) - before))

    def _refill(self) -> None:
        self.refilled |= bool(self.beneath)
        super()._refill()

    def situation(self) -> str:
        """Return the situation of the actor, a key of `EXPECTED`."""
        if self.phase == "play":
            return STACKED if self.pending_draw else OPEN if self.open_taki else PLAYING
        if self.phase == "run":
            return CLOSABLE if self.can_close else IN_RUN
        if self.phase == "plus":
            return OWING if self.hands[self.actor] else OWING_NONE
        if self.phase == "respond":
            return ASKED_NEXT if self.actor == self._seat_after(1) else ASKED_LATER
        if self.phase == "last_card":
            return CALLING if self.actor == self.turn else CALLING_ANSWER
        return self.phase

    def follow(self, action: str) -> tuple[str, str, set[str]]:
        """Carry out an action; return situation, kind, and all that followed."""
        before = Before(
            self.situation(), KINDS[action], action, self.phase, self.actor, self.turn,
            self.direction, self.pending_draw, self.open_taki, self.color, tuple(self.stages or ()),
        )  # fmt: skip
        self.draws, self.refilled = [], False
        self.apply(action)
        events = self._moves(before) | self._draw_events(before) | self._table_events(before)
        return before.situation, before.kind, events

    def _moves(self, before: Before) -> set[str]:
        """Tell the phase that follows, or whose turn it is."""
        if self.phase in PHASE_EVENTS:
            return {PHASE_EVENTS[self.phase]}
        base = before.actor if before.kind == "king" else before.turn  # a King takes the turn
        steps = (self.turn - base) * self.direction % len(self.hands)
        known = {0: AGAIN, 1: NEXT, 2: SKIPS}
        return {known.get(steps, f"the turn moves by {steps}")}

    def _draw_events(self, before: Before) -> set[str]:
        """Tell who drew, and whether there were cards."""
        events = {self._draw_event(before, seat, due) for seat, due, _ in self.draws}
        if any(got < due for _, due, got in self.draws):
            events.add(SHORT)
        return events | {REFILL} if self.refilled else events

    @staticmethod
    def _draw_event(before: Before, seat: int, due: int) -> str:
        if before.kind == "draw":
            return STACK if before.pending_draw else ONE
        if before.phase == "respond" and before.kind == "pass":
            return THREE
        if seat == before.actor:
            if before.phase == "last_card":
                return FOUR
            own_breaker = before.kind == "+3 breaker" and before.phase != "respond"
            return PENALTY if own_breaker else STAGE
        return PAYS if seat == before.turn else THREE

    def _table_events(self, before: Before) -> set[str]:
        """Tell what else changed on the table."""
        answered = before.phase == "respond" and self.plus_three_by is None
        card = before.kind not in ("draw", "pass", "close taki", "say last card")
        of_run = before.action == "super taki" or before.action.startswith(f"{before.color} ")
        on_open = before.open_taki and card
        happened = {
            STAGE: tuple(self.stages or ()) != before.stages and self.phase != "over",
            REVERSES: self.direction != before.direction,
            GROWS: self.pending_draw > before.pending_draw,
            CANCELS: before.kind == "king" and before.pending_draw > self.pending_draw,
            BROKEN: answered and before.kind == "+3 breaker",
            SPARED: answered and before.kind == "king",
            LEFT: self.open_taki and self.phase in ("play", "last_card"),
            CLOSES: on_open and of_run and not self.open_taki,
            ENDS: on_open and not of_run and before.phase == "play",
        }
        return {event for event, did in happened.items() if did}
