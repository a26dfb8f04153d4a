"""What a seat sees of positions (RULES.md section 10), and how actions change what it sees.

Positions are mappings of names to values. A card that the seat does not see is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from taki_env.core.cards import ACTION_INDEX, BREAKER, CARD_INDEX, CARDS, PHASES
from taki_env.core.outcome import (
    is_hidden_actor,
    is_hidden_pass,
    lets_plus_three_stand,
    played_card,
)

Hand: TypeAlias = Sequence[str | None]
Draws: TypeAlias = Iterable[tuple[int, Hand]]
"""Seats with the cards that each drew, in order."""

PASSING_PHASES = ("run", "king", "respond", "last_card")
"""Phases in which `pass` can be legal."""


def lets_stand(position: Mapping[str, Any], action: str) -> bool:
    """Return whether an action in a position is a pass on a +3."""
    return lets_plus_three_stand(PHASES.index(position["phase"]), ACTION_INDEX[action])


def is_hidden_step(step: Mapping[str, Any], phase: str, seat: int) -> bool:
    """Return whether `seat` does not see a step of a record that was taken in a phase."""
    action = ACTION_INDEX[step["action"]]
    return is_hidden_pass(PHASES.index(phase), action, step["actor"], seat)


def visible_actor(position: Mapping[str, Any], seat: int) -> int | None:
    """Return the seat that decides, or None if `seat` does not know it."""
    actor: int = position["actor"]
    return None if is_hidden_actor(PHASES.index(position["phase"]), actor, seat) else actor


def seen_position(position: Mapping[str, Any], seat: int) -> dict[str, Any]:
    """Return a position as a seat sees it, with None for each hidden card and a hidden actor."""
    hands = [
        list(hand) if holder == seat else [None] * len(hand)
        for holder, hand in enumerate(position["hands"])
    ]
    return {
        **position,
        "hands": hands,
        "draw_pile": [None] * len(position["draw_pile"]),
        "actor": visible_actor(position, seat),
    }


def cards_drawn(
    before: Mapping[str, Any], action: str, after: Mapping[str, Any], seat: int
) -> list[str]:
    """Return the cards that a seat drew because of an action, in the order of its hand."""
    old: Counter[Any] = Counter(before["hands"][seat])
    new: Counter[Any] = Counter(after["hands"][seat])
    card = played_card(ACTION_INDEX[action])
    if card is not None and seat == before["actor"]:
        old[_as_held(CARDS[card], old)] -= 1
    new.subtract(old)
    return list(new.elements())


def play_card(position: dict[str, Any], actor: int, action: int) -> None:
    """Move the card that an action plays, if any, from a hand to the discard pile.

    It leads, except for a Breaker, which goes beneath the leading card (section 5).

    Raises:
        ValueError: The hand does not hold the card.
    """
    index = played_card(action)
    if index is None:
        return
    card, hand = CARDS[index], position["hands"][actor]
    held = _as_held(card, hand)
    if held not in hand:
        raise ValueError(f"seat {actor} does not hold {card!r}")
    hand.remove(held)
    *beneath, lead = position["discard_pile"]
    beneath, lead = ([*beneath, card], lead) if index == BREAKER else ([*beneath, lead], card)
    position["discard_pile"] = [*_in_order(beneath), lead]


def take_cards(position: dict[str, Any], draws: Draws, seat: int) -> None:
    """Move drawn cards to the hands; where the draw pile is too small, refill it (section 8).

    Raises:
        ValueError: There are not that many cards.
    """
    left = len(position["draw_pile"])
    for drawer, cards in draws:
        left -= len(cards)
        hand = [*position["hands"][drawer], *cards]
        position["hands"][drawer] = _in_order(hand) if drawer == seat else hand
    if left < 0:
        *beneath, lead = position["discard_pile"]
        left, position["discard_pile"] = left + len(beneath), [lead]
    if left < 0:
        raise ValueError("more cards are drawn than there are")
    position["draw_pile"] = [None] * left


def _as_held(card: str, hand: Container[str | None]) -> str | None:
    """Return a card as a hand shows it: None in a hand that the seat does not see."""
    return None if None in hand else card


def _in_order(cards: list[Any]) -> list[Any]:
    return sorted(cards, key=CARD_INDEX.__getitem__)
