"""States of the game between decisions and chance nodes, without OpenSpiel."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from taki_env.base.errors import IllegalActionError
from taki_env.core.arrays import illegal_action_message
from taki_env.core.bits import ZERO
from taki_env.core.cards import ACTIONS, CARDS, NUM_COLORED, OVER
from taki_env.core.history import copy_states
from taki_env.core.loops import apply_many, deal_ready, determinize_many
from taki_env.core.outcome import draws_of, is_hidden_pass, played_card
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
    """Decision cap; a capped game is a draw."""


class Event(NamedTuple):
    """A decision as a seat sees it, together with hidden passes that follow it."""

    seat: int
    action: int
    drawn: Cards
    """Number of cards that each seat drew."""
    own: Cards
    """Cards that the observing seat drew, sorted."""

    def __str__(self) -> str:
        """Return the event as text."""
        drawn = f" draws {'/'.join(map(str, self.drawn))}" if any(self.drawn) else ""
        return f"; {self.seat} {ACTIONS[self.action]}{drawn}{_listed(self.own)}"

    def with_draws(self, drawn: Cards, own: Cards) -> Event:
        """Return the event with more cards drawn."""
        both = tuple(a + b for a, b in zip(self.drawn, drawn, strict=True))
        return self._replace(drawn=both, own=tuple(sorted(self.own + own)))


DEAL = -1
"""Stands in for an action before the deal."""


class TreeState(NamedTuple):
    """A state of the game. It is immutable, so copies share it."""

    setup: Setup
    record: States
    """State of the engine before `action`, (1,), with 0 for its random word."""
    legal: int
    """Set of the actor's legal actions, as a word."""
    settled: int
    """Number of cards at the bottom of the draw pile in a known order, put there at the setup."""
    lead: int
    """The first leading card."""
    hands: tuple[Cards, ...]
    """Cards dealt to each seat."""
    notes: tuple[tuple[Event, ...], ...]
    """Events that each seat has seen since the deal."""
    action: int | None
    """Action whose draws chance chooses next; None at a decision."""
    needed: int
    """Number of cards that it draws."""
    recycled: Cards
    """Cards that its refill makes the new draw pile of."""
    chosen: Cards
    """Cards that chance has chosen for it so far, in order."""

    def __deepcopy__(self, memo: object) -> TreeState:
        """Return the state itself: OpenSpiel deep-copies whatever its own states hold."""
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
        """Return the cards that can be drawn next, each equally likely."""
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
        """Return the state after an action, or before the first card drawn because of it.

        Raises:
            IllegalActionError: The action is not legal now.
        """
        if not self.legal >> action & 1:
            raise IllegalActionError(illegal_action_message(action, self.legal))
        after, legal = self._applied(self.record, action)
        needed = len(draws_of(self.record, action, after))
        if not needed:
            notes = self._notes_after(self.record, action, after)
            return self._next(after, legal, self.settled, notes=notes)
        table = self._replace(action=action, needed=needed)  # chance decides which cards they are
        s = self.record[0]
        if needed <= s["draw_size"]:
            return table
        card = played_card(action)
        played = discard_cards(s) + ([] if card is None else [card])
        recycled = _less(sorted(played), discard_cards(after[0]))
        return table._replace(recycled=tuple(recycled))

    def choose(self, card: int) -> TreeState:
        """Return the state after chance has chosen the next card.

        Raises:
            IllegalActionError: That card cannot be drawn next.
        """
        if card not in (cards := self.next_cards()):
            raise IllegalActionError(f"card {card} cannot be drawn; cards left:{_listed(cards)}")
        table = self._replace(chosen=(*self.chosen, card))
        if len(table.chosen) < self.needed:
            return table
        if self.is_dealt:
            return table._carried_out()
        if card >= NUM_COLORED:  # colorless: it does not lead, and another card is turned over
            return table._replace(needed=self.needed + 1)
        return table._dealt()

    def _dealt(self) -> TreeState:
        """Return the state at the first decision; all cards of the deal are chosen."""
        record, legal = copy_states(self.record), np.zeros(1, np.uint64)
        rules = self.setup.rules
        rest = _less(_all_cards(rules), self.chosen)
        _preset(record[0], [*rest, *self.chosen[::-1]])
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
        """Return the state after the action; all cards that it draws are chosen."""
        record, action = copy_states(self.record), int(self.action or 0)
        s = record[0]
        size = int(s["draw_size"])
        pile = s["draw_pile"][:size].tolist()
        loose, later = pile[self.settled :], self.chosen[size:]
        first = self.chosen[: len(loose)]
        s["draw_pile"][self.settled : size] = [*_less(loose, first), *first[::-1]]
        _preset(s, [*_less(self.recycled, later), *later[::-1]] if self.needed > size else [])
        after, legal = self._applied(record, action)
        settled = max(0, min(self.settled, size - self.needed))
        return self._next(after, legal, settled, notes=self._notes_after(record, action, after))

    def _applied(self, record: States, action: int) -> tuple[States, int]:
        """Return the engine's state after an action, and its set of legal actions."""
        after, legal = copy_states(record), np.array([self.legal], np.uint64)
        apply_many(after, _FIRST, np.array([action]), legal)
        return after, int(legal[0])

    def _next(self, record: States, legal: int, settled: int, **changes: Any) -> TreeState:
        """Return the state at a decision, with the draw pile's unknown cards sorted."""
        s = record[0]
        s["draw_pile"][settled : s["draw_size"]].sort()
        s["draw_pile"][s["draw_size"] :] = 0
        return self._replace(
            record=record, legal=legal, settled=settled, action=None, needed=0, recycled=(),
            chosen=(), **changes,
        )  # fmt: skip

    def _notes_after(
        self, before: States, action: int, after: States
    ) -> tuple[tuple[Event, ...], ...]:
        """Return the events that each seat has seen after an action."""
        draws, seats = draws_of(before, action, after), range(len(self.notes))
        own = [tuple(sorted(card for drawer, card in draws if drawer == seat)) for seat in seats]
        drawn = tuple(map(len, own))
        phase, actor = int(before["phase"][0]), int(before["actor"][0])
        return tuple(
            (*notes[:-1], notes[-1].with_draws(drawn, own[seat]))
            if is_hidden_pass(phase, action, actor, seat)
            else (*notes, Event(actor, action, drawn, own[seat]))
            for seat, notes in enumerate(self.notes)
        )

    def determinized(self, seat: int, word: int) -> TreeState:
        """Return the state with everything that `seat` cannot see dealt again.

        See `Game.determinize`. The other seats hold their new cards as if these had been dealt to
        them.

        Raises:
            ValueError: Chance has a card to choose.
        """
        if self.action is not None:
            raise ValueError("cards can be dealt again only where a seat decides")
        record, s = copy_states(self.record), self.record[0]
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
        """Return everything that a seat has seen and done, as text."""
        if not self.is_dealt:
            return f"seat {seat}"
        events = "".join(map(str, self.notes[seat]))
        return f"seat {seat}{_listed(self.hands[seat])} lead {CARDS[self.lead]}{events}"

    def observation(self, seat: int) -> str:
        """Return what a seat sees now, as text."""
        if not self.is_dealt:
            return f"seat {seat}"
        position = write_position(self.record[0], self.setup.rules)
        sizes = [len(hand) for hand in position["hands"]]
        seen = {"hand": position["hands"][seat], "hand_sizes": sizes}
        hidden = ("rules", "hands", "draw_pile", "actor", "winner")
        seen |= {key: value for key, value in position.items() if key not in hidden}
        return f"seat {seat} " + json.dumps(seen | {"draw_pile": len(position["draw_pile"])})

    def __str__(self) -> str:
        """Return the state as text, unique among states with different futures."""
        chosen = f"chosen{_listed(self.chosen)}"
        if not self.is_dealt:
            return f"deal: {chosen}"
        s = self.record[0]
        position = json.dumps(write_position(s, self.setup.rules))
        words = f"{position}\ndecisions {s['decisions']}, settled {self.settled}"
        return words if self.action is None else f"{words}, {ACTIONS[self.action]}: {chosen}"


def _listed(cards: Iterable[int]) -> str:
    names = ", ".join(CARDS[card] for card in cards)
    return f" [{names}]" if names else ""


def _less(cards: Iterable[int], taken: Iterable[int]) -> list[int]:
    """Return cards without some that are among them, in the same order."""
    left = list(cards)
    for card in taken:
        left.remove(card)
    return left


def _all_cards(rules: Rules) -> list[int]:
    return [card for card, copies in enumerate(rules.deck) for _ in range(copies)]


def _preset(s: Any, cards: list[int]) -> None:
    """Preset the order of the engine's next draw pile; the last card is drawn first."""
    if cards:
        s["draw_pile"][-len(cards) :] = cards
