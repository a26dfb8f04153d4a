"""Consequences of actions: those that RULES.md allows, and those that occur in play.

A consequence is a triple: the situation before the action, the kind of action, and one event that
follows. `EXPECTED` lists every possible consequence, derived from RULES.md by hand;
`TrackedReference` reports those that occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tools.reference import ACTIONS, COLORS, NAMINGS, NUMBERS, Position, Reference, Shuffle

Triple: TypeAlias = tuple[str, str, str]
"""Situation, kind of action, and event."""

# Events
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
"""Events of an empty hand: the cards of a new stage may need a shuffle (section 8)."""
SETTLED = EMPTIED | {CALL}
"""Events at the end of a turn that played a card."""
OPENS = EMPTIED | {RUN, LEFT, NEXT}
"""Events of a TAKI; as an only card it stays open and ends the turn."""
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
"""Events of a card played outside a run (section 5)."""
ON_RUN: dict[str, set[str]] = {
    "number": EMPTIED | {RUN, CLOSES, NEXT},
    "stop": EMPTIED | {RUN, CLOSES, SKIPS, AGAIN},
    "+2": EMPTIED | {RUN, CLOSES, NEXT, GROWS},
    "change direction": EMPTIED | {RUN, CLOSES, NEXT, REVERSES},
    "plus": {RUN, CLOSES, SECOND},
    "taki": EMPTIED | {RUN, CLOSES, NEXT},
    "super taki": EMPTIED | {RUN, CLOSES, NEXT},
}
"""Events of a card played in a run (section 6); only an empty hand ends the turn."""
DRAWS = {ONE, NEXT, REFILL, SHORT}
BREAKS = SETTLED | {BROKEN, PAYS, NEXT}
ACCEPTS = {ASKS, THREE, NEXT, REFILL, SHORT}
AFTER_CALL = {NEXT, SKIPS, AGAIN, ASKS, THREE, LEFT, REFILL, SHORT}
"""Events after the last-card call (section 8)."""
LEAVES_OPEN = {LEFT, NEXT, CALL}

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
    IN_RUN: {**ON_RUN, "pass": LEAVES_OPEN},
    CLOSABLE: {
        **ON_RUN,
        "pass": LEAVES_OPEN,
        "close taki": {NEXT, CALL, SKIPS, AGAIN, GROWS, REVERSES, SECOND},
    },
    OWING: {**OFF_RUN, "draw": DRAWS},
    OWING_NONE: {"draw": DRAWS},
    EXTRA_CARD: {**OFF_RUN, "pass": {NEXT, CALL}},
    ASKED_NEXT: {
        "+3 breaker": BREAKS,
        "king": EMPTIED | {SPARED, EXTRA, NEXT},
        "pass": ACCEPTS,
    },
    ASKED_LATER: {"+3 breaker": BREAKS, "pass": ACCEPTS},
    CALLING: {"say last card": AFTER_CALL, "pass": AFTER_CALL | {FOUR}},
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
    """The part of a state that is needed to name what follows from an action."""

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


class TrackedReference(Reference):
    """The reference implementation, reporting the consequences of each action."""

    def __init__(self, position: Position, shuffle: Shuffle) -> None:
        """Read a position."""
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
        """Apply an action; return its situation, kind and events."""
        before = Before(
            self.situation(), KINDS[action], action, self.phase, self.actor, self.turn,
            self.direction, self.pending_draw, self.open_taki, self.color, tuple(self.stages or ()),
        )  # fmt: skip
        self.draws, self.refilled = [], False
        self.apply(action)
        events = self._turn_event(before) | self._draw_events(before) | self._table_events(before)
        return before.situation, before.kind, events

    def _turn_event(self, before: Before) -> set[str]:
        """Return the new phase, or how the turn moved."""
        if self.phase in PHASE_EVENTS:
            return {PHASE_EVENTS[self.phase]}
        base = before.actor if before.kind == "king" else before.turn  # a King takes the turn
        steps = (self.turn - base) * self.direction % len(self.hands)
        known = {0: AGAIN, 1: NEXT, 2: SKIPS}
        return {known.get(steps, f"the turn moves by {steps}")}

    def _draw_events(self, before: Before) -> set[str]:
        """Return who drew for what reason, and whether there were cards."""
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
        """Return the other changes on the table."""
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
