"""States of the game between nodes of chance and of decision, without OpenSpiel."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from taki_env.base.errors import IllegalActionError
from taki_env.core.arrays import illegal_action_message
from taki_env.core.bits import ZERO
from taki_env.core.cards import ACTIONS, CARDS, DRAW, NUM_CARDS, NUM_COLORED, OVER, PASS, RESPOND
from taki_env.core.loops import apply_many, deal_ready, determinize_many
from taki_env.core.rules import Rules
from taki_env.core.state import States
from taki_env.records.position import discard_cards, hand_cards, write_position

_FIRST = np.zeros(1, np.int64)

Cards = tuple[int, ...]
"""Card types."""


class Setup(NamedTuple):
    """What stays the same in a game."""

    rules: Rules
    max_decisions: int


class Event(NamedTuple):
    """A decision as a seat notes it, with those after it that the seat cannot know of."""

    seat: int
    action: int
    drawn: Cards
    """Cards that each seat drew."""
    own: Cards
    """Those that the noting seat drew, sorted."""

    def __str__(self) -> str:
        """Return the event in words."""
        drawn = f" draws {'/'.join(map(str, self.drawn))}" if any(self.drawn) else ""
        return f"; {self.seat} {ACTIONS[self.action]}{drawn}{_words(self.own)}"

    def then(self, drawn: Cards, own: Cards) -> Event:
        """Return the event with more cards drawn after it."""
        both = tuple(a + b for a, b in zip(self.drawn, drawn, strict=True))
        return self._replace(drawn=both, own=tuple(sorted(self.own + own)))


DEAL = -1
"""In place of an action: the cards are yet to be dealt."""


class TreeState(NamedTuple):
    """A state of the game; nothing of it is ever changed, so copies share it."""

    setup: Setup
    record: States
    """As the engine has it, (1,), with 0 for a random word, before `action`."""
    legal: int
    """Legal actions of the actor, as a word."""
    settled: int
    """Cards at the bottom of the draw pile whose order is known: put there at the setup."""
    lead: int
    """The card that led first."""
    hands: tuple[Cards, ...]
    """What was dealt to each seat."""
    notes: tuple[tuple[Event, ...], ...]
    """What each seat has noted since."""
    action: int | None
    """What draws the cards that chance chooses next; None at a decision."""
    needed: int
    """Cards that it draws."""
    recycled: Cards
    """Cards that it makes a new draw pile of."""
    chosen: Cards
    """Cards that chance has chosen for it, in order."""

    def __deepcopy__(self, memo: object) -> TreeState:
        """Return the table itself: OpenSpiel copies whatever a state holds."""
        return self

    @property
    def is_dealt(self) -> bool:
        """Whether the cards are dealt."""
        return self.action != DEAL

    @property
    def is_over(self) -> bool:
        """Whether a seat has won, or the game was cut off."""
        s = self.record[0]
        ended = s["phase"] == OVER or s["decisions"] >= self.setup.max_decisions
        return bool(ended) and self.action is None

    def next_cards(self) -> list[int]:
        """Return the cards of which each is as likely as any other to be drawn next."""
        if not self.is_dealt:
            return _less(_all_cards(self.setup.rules), self.chosen)
        s, count = self.record[0], len(self.chosen)
        pile = s["draw_pile"][: s["draw_size"]].tolist()
        loose = pile[self.settled :]
        if count < len(loose):
            return _less(loose, self.chosen)
        if count < len(pile):
            return [pile[-1 - count]]
        return _less(self.recycled, self.chosen[len(pile) :])

    def decide(self, action: int) -> TreeState:
        """Return the table after an action, or before the first card drawn because of it.

        Raises:
            IllegalActionError: the action is not legal now.
        """
        if not self.legal >> action & 1:
            raise IllegalActionError(illegal_action_message(action, self.legal))
        after, legal = self._applied(self.record, action)
        s, played = self.record[0], [min(action, NUM_CARDS - 1)] if action < DRAW else []
        needed = _held(after[0]) - _held(s) + len(played)
        if not needed:
            return self._next(after, legal, self.settled, notes=self._noted(action, after))
        table = self._replace(action=action, needed=needed)  # which cards `after` drew is chance
        if needed <= s["draw_size"]:
            return table
        recycled = _less(sorted(discard_cards(s) + played), discard_cards(after[0]))
        return table._replace(recycled=tuple(recycled))

    def choose(self, card: int) -> TreeState:
        """Return the table after chance has chosen the next card.

        Raises:
            IllegalActionError: that card cannot be next.
        """
        if card not in (cards := self.next_cards()):
            raise IllegalActionError(f"card {card} cannot be drawn; those left:{_words(cards)}")
        table = self._replace(chosen=(*self.chosen, card))
        if len(table.chosen) < self.needed:
            return table
        if self.is_dealt:
            return table._carried_out()
        if card >= NUM_COLORED:  # it does not lead: another one is turned over
            return table._replace(needed=self.needed + 1)
        return table._dealt()

    def _dealt(self) -> TreeState:
        rules, record, legal = self.setup.rules, _copy(self.record), np.zeros(1, np.uint64)
        rest = _less(_all_cards(rules), self.chosen)
        _lay_ready(record[0], [*rest, *self.chosen[::-1]])
        deal_ready(record, legal)
        seats = range(int(record["num_players"][0]))
        return self._next(
            record,
            int(legal[0]),
            settled=len(self.chosen) - len(seats) * rules.hand_size - 1,
            lead=self.chosen[-1],
            hands=tuple(tuple(hand_cards(record[0], seat)) for seat in seats),
            notes=((),) * len(seats),
        )

    def _carried_out(self) -> TreeState:
        """Return the table after the action, all of whose cards are chosen."""
        record, action = _copy(self.record), int(self.action or 0)
        s = record[0]
        size = int(s["draw_size"])
        pile = s["draw_pile"][:size].tolist()
        loose, later = pile[self.settled :], self.chosen[size:]
        first = self.chosen[: len(loose)]
        s["draw_pile"][self.settled : size] = [*_less(loose, first), *first[::-1]]
        _lay_ready(s, [*_less(self.recycled, later), *later[::-1]] if self.needed > size else [])
        after, legal = self._applied(record, action)
        settled = max(0, min(self.settled, size - self.needed))
        return self._next(after, legal, settled, notes=self._noted(action, after))

    def _applied(self, record: States, action: int) -> tuple[States, int]:
        """Return the record after an action, and the set of actions that are legal then."""
        after, legal = _copy(record), np.array([self.legal], np.uint64)
        apply_many(after, _FIRST, np.array([action]), legal)
        return after, int(legal[0])

    def _next(self, record: States, legal: int, settled: int, **changes: Any) -> TreeState:
        """Return the table at a decision, with the draw pile's unknown cards in their order."""
        s = record[0]
        s["draw_pile"][settled : s["draw_size"]].sort()
        s["draw_pile"][s["draw_size"] :] = 0
        return self._replace(
            record=record, legal=legal, settled=settled, action=None, needed=0, recycled=(),
            chosen=(), **changes,
        )  # fmt: skip

    def _noted(self, action: int, after: States) -> tuple[tuple[Event, ...], ...]:
        """Return what the seats have noted after an action."""
        s, seats = self.record[0], range(len(self.notes))
        actor = int(s["actor"])
        own: list[Cards] = [()] * len(seats)
        if self.needed:
            for seat in seats:
                held = hand_cards(s, seat)
                if seat == actor and action < DRAW:
                    held.remove(min(action, NUM_CARDS - 1))
                own[seat] = tuple(_less(hand_cards(after[0], seat), held))
        drawn = tuple(map(len, own))
        is_secret = s["phase"] == RESPOND and action == PASS
        return tuple(
            (*notes[:-1], notes[-1].then(drawn, own[seat]))
            if is_secret and seat != actor
            else (*notes, Event(actor, action, drawn, own[seat]))
            for seat, notes in enumerate(self.notes)
        )

    def determinized(self, seat: int, word: int) -> TreeState:
        """Return the table with all that `seat` cannot see dealt anew; see `Game.determinize`.

        The other seats hold their new cards as if these had been dealt to them.

        Raises:
            ValueError: chance is to choose a card.
        """
        if self.action is not None:
            raise ValueError("cards are dealt anew only where a seat decides")
        record, s = _copy(self.record), self.record[0]
        determinize_many(record, np.array([seat]), np.array([word], np.uint64))
        record["rng"], record["decisions"] = ZERO, s["decisions"]
        hands = [tuple(hand_cards(record[0], other)) for other in range(len(self.hands))]
        hands[seat] = self.hands[seat]
        notes = tuple(
            noted if other == seat else tuple(event._replace(own=()) for event in noted)
            for other, noted in enumerate(self.notes)
        )
        return self._next(record, self.legal, 0, hands=tuple(hands), notes=notes)

    def information(self, seat: int) -> str:
        """Return all that a seat has seen and done, in words."""
        if not self.is_dealt:
            return f"seat {seat}"
        events = "".join(map(str, self.notes[seat]))
        return f"seat {seat}{_words(self.hands[seat])} lead {CARDS[self.lead]}{events}"

    def observation(self, seat: int) -> str:
        """Return what a seat sees now, in words."""
        if not self.is_dealt:
            return f"seat {seat}"
        position = write_position(self.record[0], self.setup.rules)
        sizes = [len(hand) for hand in position["hands"]]
        seen = {"hand": position["hands"][seat], "hand_sizes": sizes}
        hidden = ("rules", "hands", "draw_pile", "actor", "winner")
        seen |= {key: value for key, value in position.items() if key not in hidden}
        return f"seat {seat} " + json.dumps(seen | {"draw_pile": len(position["draw_pile"])})

    def __str__(self) -> str:
        """Return the state in words: two that differ in what may follow have different ones."""
        chosen = f"chosen{_words(self.chosen)}"
        if not self.is_dealt:
            return f"deal: {chosen}"
        s = self.record[0]
        position = json.dumps(write_position(s, self.setup.rules))
        words = f"{position}\ndecisions {s['decisions']}, settled {self.settled}"
        return words if self.action is None else f"{words}, {ACTIONS[self.action]}: {chosen}"


def _words(cards: Iterable[int]) -> str:
    names = ", ".join(CARDS[card] for card in cards)
    return f" [{names}]" if names else ""


def _less(cards: Iterable[int], taken: Iterable[int]) -> list[int]:
    """Return some cards without others that are among them; the order stays."""
    left = list(cards)
    for card in taken:
        left.remove(card)
    return left


def _copy(record: States) -> States:
    """Return a copy of a record, (1,); NumPy's own copies field by field, which takes long."""
    return np.frombuffer(bytearray(record), record.dtype)


def _held(s: Any) -> int:
    """Return how many cards are in hands."""
    return sum(s["hand_sizes"].tolist())


def _all_cards(rules: Rules) -> list[int]:
    return [card for card, copies in enumerate(rules.deck) for _ in range(copies)]


def _lay_ready(s: Any, cards: list[int]) -> None:
    """Lay cards ready for the engine to make a draw pile of; the last is drawn first."""
    if cards:
        s["draw_pile"][-len(cards) :] = cards
