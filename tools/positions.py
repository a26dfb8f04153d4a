"""Random valid positions in which a given consequence is likely to occur."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from tools.consequences import (
    AGAIN,
    ASKED_LATER,
    ASKED_NEXT,
    ASKS,
    CALL,
    CALLING,
    CALLING_ANSWER,
    CLOSABLE,
    CLOSES,
    ENDS,
    EXTRA_CARD,
    GROWS,
    IN_RUN,
    KINDS,
    LEFT,
    NEXT,
    OPEN,
    OWING,
    OWING_NONE,
    PLAYING,
    REFILL,
    REVERSES,
    RUN,
    SECOND,
    SHORT,
    SKIPS,
    STACKED,
    STAGE,
    THREE,
    WINS,
    Triple,
)  # fmt: skip
from tools.reference import (
    CARDS,
    COLORLESS,
    COLORS,
    STANDARD_DECK,
    Position,
    color_of,
    in_order,
    symbol_of,
)  # fmt: skip

Fits = Callable[[str], bool]
TABLES = (2, 2, 3, 3, 4, 5, 7, 10)
FULL_DECK = [card for card, copies in STANDARD_DECK.items() for _ in range(copies)]
RUNNING = (IN_RUN, CLOSABLE)
CLOSED = {SKIPS: "stop", AGAIN: "stop", GROWS: "+2", REVERSES: "change direction", SECOND: "plus"}
PHASES = {
    PLAYING: "play", STACKED: "play", OPEN: "play", IN_RUN: "run", CLOSABLE: "run",
    OWING: "plus", OWING_NONE: "plus", EXTRA_CARD: "king", ASKED_NEXT: "respond",
    ASKED_LATER: "respond", CALLING: "last_card", CALLING_ANSWER: "last_card",
}  # fmt: skip


def any_card(card: str) -> bool:
    """Return True for every card."""
    return True


def is_colored(card: str) -> bool:
    """Return whether a card has a color."""
    return card not in COLORLESS


def cannot_answer(card: str) -> bool:
    """Return whether a card cannot answer a +3."""
    return card not in ("+3 breaker", "king")


def kind_of(card: str) -> str:
    """Return the kind of a card."""
    return KINDS.get(card, card)


class Dealer:
    """Builds one position in which `goal` is likely to occur."""

    def __init__(self, choose: random.Random, goal: Triple) -> None:
        self.choose = choose
        self.situation, self.kind, self.event = goal
        self.cards = FULL_DECK.copy()
        choose.shuffle(self.cards)
        self.fields: Position = {
            "symbol": None, "pending_draw": 0, "open_taki": False, "can_close": False,
            "skip_next": False, "plus_three_by": None, "stages": None, "winner": None,
        }  # fmt: skip

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.choose.random() < probability

    def take(self, fits: Fits = any_card) -> str:
        """Take the next card that fits; LookupError if no card does."""
        for place in range(len(self.cards) - 1, -1, -1):
            if fits(self.cards[place]):
                return self.cards.pop(place)
        raise LookupError("no card fits")

    def position(self) -> Position:
        """Return the position; LookupError if the deck has no fitting cards left."""
        self.target = self._target()
        self.lead = self.take(self._lead())
        self.color = self._color()
        self._table()
        hands = self._hands()
        beneath, pile = self._piles()
        placed = [self.lead, *beneath, *pile, *(card for hand in hands for card in hand)]
        counts = Counter(placed)
        rules = self._rules(len(placed))
        rules["deck"] = [counts[card] for card in CARDS]
        return {
            **self.fields,
            "rules": rules,
            "hands": [in_order(hand) for hand in hands],
            "draw_pile": pile,
            "discard_pile": [*in_order(beneath), self.lead],
            "color": self.color,
            "symbol": symbol_of(self.lead),
            "direction": self.direction,
            "turn": self.turn,
            "actor": self.actor,
            "phase": PHASES[self.situation],
        }

    # The goal -------------------------------------------------------------------------------------

    def _target(self) -> str | None:
        """Take the card to be played, None if the action plays no card."""
        if self.situation in (ASKED_NEXT, ASKED_LATER) and self.kind == "pass":
            both = self.situation == ASKED_NEXT and self.chance(0.5)
            return self.take(lambda card: card == ("king" if both else "+3 breaker"))
        kinds = {kind_of(card) for card in self.cards}
        return self.take(lambda card: kind_of(card) == self.kind) if self.kind in kinds else None

    @property
    def empties(self) -> bool:
        """Whether the goal needs the target to be the actor's only card."""
        if self.target is None or (self.kind == "+3 breaker" and "respond" not in self.situation):
            return False
        if self.situation in RUNNING and self.event != RUN:
            return True
        alone = self.kind in ("taki", "super taki", "king") and self.event in (NEXT, LEFT)
        return alone or self.event in (WINS, STAGE, CLOSES, REFILL, SHORT)

    # The table ------------------------------------------------------------------------------------

    def _lead(self) -> Fits:
        """Return a condition for the leading card."""
        leads: dict[str, Callable[[], Fits]] = {
            PLAYING: self._any_lead,
            STACKED: lambda: lambda card: symbol_of(card) == "+2",
            OPEN: self._open_lead,
            IN_RUN: lambda: self._run_lead(lambda card: symbol_of(card) == "taki"),
            CLOSABLE: lambda: self._run_lead(self._closable()),
            OWING: self._plus_lead,
            OWING_NONE: self._plus_lead,
            EXTRA_CARD: lambda: lambda card: card == "king",
            CALLING: self._called_lead,
        }
        if self.situation not in leads:
            return lambda card: card == "+3"
        return leads[self.situation]()

    def _any_lead(self) -> Fits:
        target = self.target
        if self.chance(0.2) and self.kind != "draw":
            return lambda card: card in COLORLESS and card != "+3 breaker"
        if target is None or not is_colored(target):
            return is_colored
        return lambda card: is_colored(card) and self._match(card, target)

    @staticmethod
    def _match(card: str, other: str) -> bool:
        return color_of(card) == color_of(other) or symbol_of(card) == symbol_of(other)

    def _open_lead(self) -> Fits:
        """The target has the run's color, or ends the run by its symbol."""
        target = self.target
        if target is None or not is_colored(target):
            return lambda card: is_colored(card) or card == "super taki"
        off = self.event in (ENDS, CALL, LEFT) or (
            self.event not in (RUN, CLOSES) and self.chance(0.5)
        )
        if off:
            return lambda card: (
                symbol_of(card) == symbol_of(target) and color_of(card) != color_of(target)
            )
        return lambda card: color_of(card) == color_of(target)

    def _run_lead(self, fits: Fits) -> Fits:
        target = self.target
        if target is None or not is_colored(target):
            return fits
        return lambda card: fits(card) and color_of(card) in (None, color_of(target))

    def _closable(self) -> Fits:
        if self.kind == "close taki" and self.event in CLOSED:
            return lambda card: is_colored(card) and symbol_of(card) == CLOSED[self.event]
        return lambda card: is_colored(card) or card == "super taki"

    def _plus_lead(self) -> Fits:
        target = self.target
        if target is None or not is_colored(target):
            return lambda card: symbol_of(card) == "plus"
        return lambda card: symbol_of(card) == "plus" and self._match(card, target)

    def _called_lead(self) -> Fits:
        """The previous card has taken effect, or was played on a TAKI that is left open."""
        if self.event in (ASKS, THREE):
            return lambda card: card == "+3"
        if self.event in (SKIPS, AGAIN):
            return lambda card: symbol_of(card) == "stop"
        if self.event == LEFT:
            return lambda card: is_colored(card) or card == "super taki"
        return lambda card: card != "+3 breaker"

    def _color(self) -> str:
        """Return the active color: that of the leading card, or of the target."""
        off_color = self.situation == OPEN and self.event in (ENDS, CALL, LEFT)
        wanted = color_of(self.target or "king")
        if wanted and off_color:
            wanted = self.choose.choice([color for color in COLORS if color != wanted])
        return color_of(self.lead) or wanted or self.choose.choice(COLORS)

    def _table(self) -> None:
        """Choose the players, whose turn it is, and pending effects."""
        self.players = self._num_players()
        self.direction = self.choose.choice((1, -1))
        self.turn = self.actor = self.choose.randrange(self.players)
        steps = 0
        if self.situation == ASKED_NEXT:
            steps = 1
        elif self.situation == ASKED_LATER:
            steps = 2 if self.event == ASKS else self.choose.randrange(2, self.players)
        elif self.situation == CALLING_ANSWER:
            steps = self.choose.randrange(1, self.players)
        self.actor = (self.turn + steps * self.direction) % self.players
        self._pending()

    def _num_players(self) -> int:
        least = {
            ASKED_LATER: 4 if self.event == ASKS else 3,
            ASKED_NEXT: 3 if self.event == ASKS else 2,
        }
        if self.event == AGAIN:
            return 2
        least_here = max(least.get(self.situation, 2), 3 if self.event == SKIPS else 2)
        return self.choose.choice([size for size in TABLES if size >= least_here])

    def _pending(self) -> None:
        fields, symbol = self.fields, symbol_of(self.lead)
        fields["open_taki"] = self.situation in (OPEN, *RUNNING)
        fields["can_close"] = self.situation == CLOSABLE
        if self.situation == STACKED:
            fields["pending_draw"] = 2 * self.choose.randint(1, 6)
        if "respond" in self.situation:
            fields["plus_three_by"] = self.turn
        if self.situation == CALLING:
            unclosed = symbol is not None and self.event not in (SKIPS, AGAIN)
            must = self.event == LEFT or symbol == "plus"
            fields["open_taki"] = unclosed and (must or self.chance(0.2))
            acted = not fields["open_taki"]
            fields["skip_next"] = acted and symbol == "stop"
            fields["pending_draw"] = 2 * self.choose.randint(1, 6) * (acted and symbol == "+2")
            fields["plus_three_by"] = self.turn if self.lead == "+3" else None

    # Cards ----------------------------------------------------------------------------------------

    def _hands(self) -> list[list[str]]:
        """Return the hands: the actor's with the target, another with an answer to a +3."""
        others = cannot_answer if self.event == THREE else any_card
        own = self._own_hand()
        hands = [
            own
            if seat == self.actor
            else [self.take(others) for _ in range(self.choose.randint(1, 4))]
            for seat in range(self.players)
        ]
        if self.event == ASKS:
            at = self.actor if "respond" in self.situation else self.turn
            hands[(at + self.direction) % self.players][0] = self.take(
                lambda card: card == "+3 breaker"
            )
        return hands

    def _own_hand(self) -> list[str]:
        kept = [] if self.target is None else [self.target]
        if self.situation == OWING_NONE or self.empties:
            return kept
        extras = self.choose.choice((1, 2, 2, 3, 5))
        if "last card" in self.situation or self.event == CALL:
            extras = 1
        self.voluntary = self.kind == "draw" and self.chance(0.3)
        stuck = self.kind == "draw" and not self.voluntary
        return kept + [self.take(self._idle if stuck else any_card) for _ in range(extras)]

    def _idle(self, card: str) -> bool:
        """Return whether a card cannot be played, or is a Breaker, which may be kept."""
        if card == "+3 breaker":
            return self.situation != OPEN or self.chance(0.5)
        matches_nothing = color_of(card) != self.color and symbol_of(card) != symbol_of(self.lead)
        return is_colored(card) and matches_nothing

    def _piles(self) -> tuple[list[str], list[str]]:
        """Return the cards beneath the leading one and the draw pile."""
        beneath, pile = self.choose.randint(0, 6), self.choose.randint(0, 12)
        if self.event == SHORT:
            beneath, pile = self.choose.choice(((0, 0), (0, 0), (0, 1), (1, 0)))
        elif self.event == REFILL:
            beneath, pile = self.choose.randint(1, 5), 0
        elif self.chance(0.1):
            beneath, pile = self.choose.randint(0, 1), self.choose.randint(0, 1)
        beneath, pile = min(beneath, len(self.cards)), min(pile, max(0, len(self.cards) - beneath))
        return [self.take() for _ in range(beneath)], [self.take() for _ in range(pile)]

    def _rules(self, num_cards: int) -> dict[str, Any]:
        """Choose the rule options, and the stages of a tournament."""
        size = min(8, num_cards)
        must = self.empties and self.event not in (WINS, CLOSES, SECOND)
        tournament = must or self.chance(0.3)
        if tournament:
            lowest = 1 if not self.empties else size - size // 3 if self.event == SHORT else 2
            stages = [self.choose.randint(1, size) for _ in range(self.players)]
            own = self.choose.randint(min(lowest, size), size)
            stages[self.actor] = 1 if self.event == WINS else own
            self.fields["stages"] = stages
        silent = self.event == CALL or "last card" in self.situation
        ends_run = self.kind in ("pass", "close taki")
        return {
            "tournament": tournament,
            "voluntary_draw": getattr(self, "voluntary", False) or self.chance(0.2),
            "full_runs": not ends_run and self.chance(0.2),
            "auto_last_card": not silent and self.chance(0.2),
            "hand_size": size,
        }


def position_for(choose: random.Random, goal: Triple) -> Position:
    """Return a random position in which a consequence is likely to occur next.

    Args:
        choose: Random generator.
        goal: Situation, kind of action, and the event to follow.
    """
    while True:
        try:
            return Dealer(choose, goal).position()
        except LookupError:  # with ten players, no fitting card may be left
            continue
