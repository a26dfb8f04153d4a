"""TAKI in plain Python: a second, slow implementation of RULES.md to check the engine against.

Cards and actions are named ("red 5", "change color to red"), hands and piles are lists, and every
function names the section of RULES.md that it implements. Positions are assumed to be valid: the
checks of section 10 are not repeated here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self

Position = dict[str, Any]
Rules = dict[str, Any]
Shuffle = Callable[[list[str]], list[str]]
WORD_MASK = 2**64 - 1

COLORS = ["red", "green", "blue", "yellow"]
NUMBERS = ["1", "3", "4", "5", "6", "7", "8", "9"]
SYMBOLS = [*NUMBERS, "stop", "+2", "change direction", "plus", "taki"]
COLORLESS = ["super taki", "king", "+3", "+3 breaker", "change color"]
CARDS = [f"{color} {symbol}" for color in COLORS for symbol in SYMBOLS] + COLORLESS
NAMINGS = [f"change color to {color}" for color in COLORS]
ACTIONS = [*CARDS[:-1], *NAMINGS, "draw", "close taki", "pass", "say last card"]
STANDARD_DECK = {card: 4 if card == "change color" else 2 for card in CARDS}
DEFAULT_RULES: Rules = {
    "tournament": False,
    "voluntary_draw": False,
    "full_runs": False,
    "auto_last_card": False,
    "hand_size": 8,
}
FIRST_TURN: Position = {
    "direction": 1,
    "turn": 0,
    "actor": 0,
    "phase": "play",
    "pending_draw": 0,
    "open_taki": False,
    "can_close": False,
    "skip_next": False,
    "plus_three_by": None,
    "stages": None,
    "winner": None,
}


def in_order(cards: Iterable[str]) -> list[str]:
    """Return cards sorted by card index (section 1)."""
    return sorted(cards, key=CARDS.index)


def color_of(card: str) -> str | None:
    """Return the color of a card, None if it is colorless (section 1)."""
    return None if card in COLORLESS else card.split(" ", 1)[0]


def symbol_of(card: str) -> str | None:
    """Return the symbol that a card shows when it leads (sections 1, 3 and 5)."""
    if card == "super taki":
        return "taki"
    return None if card in COLORLESS else card.split(" ", 1)[1]


def play_actions(cards: Iterable[str]) -> set[str]:
    """Return the actions that play these cards: four for a change color (section 2)."""
    names = set(cards)
    return names - {"change color"} | set(NAMINGS) if "change color" in names else names


def full_rules(rules: Rules) -> Rules:
    """Return all options with their defaults; the deck only if not standard (section 10)."""
    full = {option: rules.get(option, default) for option, default in DEFAULT_RULES.items()}
    standard = list(STANDARD_DECK.values())
    deck = list(rules.get("deck", standard))
    return full if deck == standard else {**full, "deck": deck}


def turn_lead(pile: list[str]) -> tuple[str, list[str]]:
    """Return the leading card and the pile; colorless cards go to the bottom (section 3)."""
    rest = list(pile)
    while rest[0] in COLORLESS:
        rest.append(rest.pop(0))
    return rest[0], rest[1:]


class Shuffler:
    """The engine's shuffle in plain Python: xorshift64 and an inside-out Fisher-Yates."""

    def __init__(self, word: int) -> None:
        """Start from a game's random word."""
        self.word = word

    def _below(self, bound: int) -> int:
        self.word ^= self.word << 13 & WORD_MASK
        self.word ^= self.word >> 7
        self.word ^= self.word << 17 & WORD_MASK
        return (self.word >> 32) * bound >> 32

    def __call__(self, cards: list[str]) -> list[str]:
        """Return the draw pile made of sorted cards, the card drawn next first."""
        pile: list[str] = []
        for card in cards:
            place = self._below(len(pile) + 1)
            pile.append(card)
            pile[place], pile[-1] = card, pile[place]
        return pile[::-1]


class Reference:
    """One game as plain lists.

    Args:
        position: Position to start from; it is not changed.
        shuffle: Takes the played cards sorted by card index and returns the new draw pile, the card
            drawn next first.
    """

    def __init__(self, position: Position, shuffle: Shuffle) -> None:
        """Read a position (section 10)."""
        self.shuffle = shuffle
        self.rules = full_rules(position["rules"])
        self.hands: list[list[str]] = [list(hand) for hand in position["hands"]]
        self.beneath: list[str] = list(position["discard_pile"][:-1])
        self.lead: str = position["discard_pile"][-1]
        pile = position["draw_pile"]
        self.draw_pile: list[str] = self._rest_of_deck() if pile is None else list(pile)
        self.color: str = position["color"]
        self.symbol: str | None = position["symbol"]
        self._read_turn(position)

    def _read_turn(self, position: Position) -> None:
        """Read everything in a position except cards, color and symbol (section 10)."""
        self.direction: int = position["direction"]
        self.turn: int = position["turn"]
        self.actor: int = position["actor"]
        self.phase: str = position["phase"]
        self.pending_draw: int = position["pending_draw"]
        self.open_taki: bool = position["open_taki"]
        self.can_close: bool = position["can_close"]
        self.skip_next: bool = position["skip_next"]
        self.plus_three_by: int | None = position["plus_three_by"]
        stages = position["stages"]
        self.stages: list[int] | None = None if stages is None else list(stages)
        self.winner: int | None = position["winner"]

    @classmethod
    def deal(cls, pile: list[str], num_players: int, rules: Rules, shuffle: Shuffle) -> Self:
        """Deal the shuffled deck, pile[0] first, seat by seat, and turn the lead (section 3)."""
        full = full_rules(rules)
        size = full["hand_size"]
        hands = [pile[seat * size : (seat + 1) * size] for seat in range(num_players)]
        if len(pile) < num_players * size + sum(card in COLORLESS for card in pile) + 1:
            raise ValueError("the deck is too small for these hands and a colored card to lead")
        lead, rest = turn_lead(pile[num_players * size :])
        position = {**FIRST_TURN, "rules": full, "hands": hands, "draw_pile": rest}
        position |= {"discard_pile": [lead], "color": color_of(lead), "symbol": symbol_of(lead)}
        position["stages"] = [size] * num_players if full["tournament"] else None
        return cls(position, shuffle)

    def position(self) -> Position:
        """Return the position (section 10), with hands and the cards beneath the lead sorted."""
        cards = {
            "hands": [in_order(hand) for hand in self.hands],
            "draw_pile": list(self.draw_pile),
            "discard_pile": [*in_order(self.beneath), self.lead],
            "color": self.color,
            "symbol": self.symbol,
        }
        return {"rules": full_rules(self.rules), **cards, **self._turn_fields()}

    def _turn_fields(self) -> Position:
        """Return everything in a position except rules, cards, color and symbol (section 10)."""
        return {
            "direction": self.direction,
            "turn": self.turn,
            "actor": self.actor,
            "phase": self.phase,
            "pending_draw": self.pending_draw,
            "open_taki": self.open_taki,
            "can_close": self.can_close,
            "skip_next": self.skip_next,
            "plus_three_by": self.plus_three_by,
            "stages": None if self.stages is None else list(self.stages),
            "winner": self.winner,
        }

    # Legal actions

    def legal(self) -> set[str]:
        """Return the names of the legal actions (section 2), empty when the game is over."""
        by_phase: dict[str, Callable[[], set[str]]] = {
            "play": self._legal_play,
            "run": self._legal_run,
            "plus": self._legal_plus,
            "king": lambda: play_actions(self.hands[self.actor]) | {"pass"},
            "respond": lambda: self._answers(self.actor) | {"pass"},
            "last_card": lambda: {"say last card", "pass"},
            "over": set,
        }
        return by_phase[self.phase]()

    def _matches(self, card: str) -> bool:
        """Return whether a card may be played on the leading card (section 4)."""
        if card in COLORLESS:
            return True
        return color_of(card) == self.color or symbol_of(card) == self.symbol

    def _runs(self, card: str) -> bool:
        """Return whether a card may be played in a run of the active color (section 6)."""
        return color_of(card) == self.color or card == "super taki"

    def _legal_play(self) -> set[str]:
        """Return the legal actions at the start of a turn (section 4)."""
        if self.pending_draw > 0:
            hand = self.hands[self.actor]
            return {card for card in hand if symbol_of(card) == "+2" or card == "king"} | {"draw"}
        return self._legal_plus() | ({"draw"} if self.rules["voluntary_draw"] else set())

    def _legal_plus(self) -> set[str]:
        """Return matching cards; draw only if no card but a Breaker matches (sections 4 and 5)."""
        cards = play_actions(filter(self._matches, self.hands[self.actor]))
        return cards if cards - {"+3 breaker"} else cards | {"draw"}

    def _legal_run(self) -> set[str]:
        """Return the legal actions in a run (section 6; option full_runs, section 9)."""
        cards = set(filter(self._runs, self.hands[self.actor]))
        if self.rules["full_runs"] and cards - {"super taki"}:
            return cards
        return cards | {"pass"} | ({"close taki"} if self.can_close else set())

    def _answers(self, seat: int) -> set[str]:
        """Return the cards with which a seat can answer a +3 (section 7)."""
        useful = {"+3 breaker", "king"} if seat == self._seat_after(1) else {"+3 breaker"}
        return useful & set(self.hands[seat])

    # Actions

    def apply(self, action: str) -> None:
        """Apply one legal action (section 2).

        Raises:
            ValueError: The action is not legal.
        """
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal in phase {self.phase!r}")
        others = {"draw": self._draw, "close taki": self._close_taki, "pass": self._pass}
        others["say last card"] = self._after_call
        others.get(action, lambda: self._play(action))()

    def _draw(self) -> None:
        """Draw one card or the whole +2 stack, and end the turn (section 4)."""
        self._take(self.actor, self.pending_draw or 1)
        self.pending_draw = 0
        self._next_turn()

    def _pass(self) -> None:
        """Leave the TAKI open, decline a card, let the +3 stand, or stay silent (section 2)."""
        if self.phase == "respond":
            self._ask(self._distance(self.actor) + 1)
        elif self.phase == "last_card":
            self._take(self.actor, 4)
            self._after_call()
        else:
            self._end_by_playing()

    def _play(self, action: str) -> None:
        """Play a card from the actor's hand (sections 4 to 7)."""
        card = "change color" if action in NAMINGS else action
        self.hands[self.actor].remove(card)
        if card == "+3 breaker":
            self._play_breaker()
        elif self.open_taki and self._runs(card):
            self._lead_with(card)
            self._extend_run()
        else:
            self._lead_with(card)
            self.color = action.rsplit(" ", 1)[1] if action in NAMINGS else self.color
            self._act_off_run(card)

    def _lead_with(self, card: str) -> None:
        """Make a card the leading card; a colorless card keeps the color (section 5)."""
        self.beneath.append(self.lead)
        self.lead = card
        self.color = color_of(card) or self.color
        self.symbol = symbol_of(card)

    def _act_off_run(self, card: str) -> None:
        """End any run left open and apply the card's effect (sections 5 and 6)."""
        self.open_taki = False
        if self.symbol == "taki":
            self._open_run()
        elif card == "king":
            self._king()
        elif card == "+3":
            self.plus_three_by = self.actor
            self._end_by_playing()
        else:
            self._act()

    def _act(self) -> None:
        """Apply the effect of the leading symbol, except taki (section 5)."""
        if self.symbol == "plus":
            self.phase = "plus"
            return
        if self.symbol == "stop":
            self.skip_next = True
        elif self.symbol == "+2":
            self.pending_draw += 2
        elif self.symbol == "change direction":
            self.direction = -self.direction
        self._end_by_playing()

    def _king(self) -> None:
        """Cancel a +2 stack or a +3; an extra card may follow (sections 5 and 7)."""
        self.turn = self.actor  # whoever answered a +3 is now on turn
        self.plus_three_by = None
        self.pending_draw = 0
        self.phase = "king"
        if not self.hands[self.actor]:
            self._end_by_playing()

    # Runs

    def _open_run(self) -> None:
        """Open a run; a TAKI played as the only card stays open (section 6)."""
        self.open_taki = True
        self.phase = "run"
        if not self.hands[self.actor]:
            self._end_by_playing()

    def _extend_run(self) -> None:
        """Continue a run after a card was added; an empty hand closes it (section 6)."""
        self.phase = "run"
        self.can_close = True
        if not self.hands[self.actor]:
            self._close_taki()

    def _close_taki(self) -> None:
        """Close the run and apply the effect of its final card (section 6)."""
        self.open_taki = False
        self.can_close = False
        self._act()

    # The +3 and its answers

    def _play_breaker(self) -> None:
        """Put the Breaker beneath the leading card; as an answer or not (sections 5 and 7)."""
        self.beneath.append("+3 breaker")
        if self.phase == "respond":
            self.plus_three_by = None
            if self._settle_hand():
                self._draw_three()
        else:
            self.open_taki = False
            self._draw_three()

    def _draw_three(self) -> None:
        """Make the player on turn draw three for a Breaker; end the turn (sections 5 and 7)."""
        self._take(self.turn, 3)
        self._next_turn()

    def _ask(self, distance: int) -> None:
        """Ask the next seat, from this distance on, that can answer the +3 (section 7)."""
        for steps in range(distance, len(self.hands)):
            if self._answers(self._seat_after(steps)):
                self.actor = self._seat_after(steps)
                self.phase = "respond"
                return
        for steps in range(1, len(self.hands)):
            self._take(self._seat_after(steps), 3)
        self.plus_three_by = None
        self._next_turn()

    # The end of a turn

    def _end_by_playing(self) -> None:
        """Settle the actor's hand, then apply the turn's effects to the others (section 8)."""
        self.can_close = False
        if self._settle_hand():
            self._affect_others()

    def _settle_hand(self) -> bool:
        """Check for a win, a stage or a call; return whether play continues (sections 7 and 8)."""
        cards = len(self.hands[self.actor])
        if cards == 0:
            return self._enter_next_stage()
        if cards == 1 and not self.rules["auto_last_card"]:
            self.phase = "last_card"
            return False
        return True

    def _enter_next_stage(self) -> bool:
        """Go to the next stage, or win; return whether play continues (section 8)."""
        if self.stages is not None:
            self.stages[self.actor] -= 1
            if self.stages[self.actor] > 0:
                self._take(self.actor, self.stages[self.actor])
                return True
        self._win()
        return False

    def _win(self) -> None:
        """End the game and clear all pending effects (section 8)."""
        self.winner = self.turn = self.actor
        self.phase = "over"
        self.pending_draw = 0
        self.open_taki = self.can_close = self.skip_next = False
        self.plus_three_by = None

    def _after_call(self) -> None:
        """Continue after the last-card call (sections 7 and 8)."""
        if self.actor == self.turn:
            self._affect_others()
        else:  # an answering Breaker left one card
            self._draw_three()

    def _affect_others(self) -> None:
        """Apply a +3 to the others, or pass the turn (sections 5 and 7)."""
        if self.plus_three_by is None:
            self._next_turn()
        else:
            self._ask(1)

    def _next_turn(self) -> None:
        """Pass the turn to the next seat, or past it after a stop (sections 4 and 5)."""
        self.turn = self.actor = self._seat_after(2 if self.skip_next else 1)
        self.skip_next = False
        self.phase = "play"

    # Seats and piles

    def _seat_after(self, steps: int) -> int:
        """Return the seat `steps` after the one on turn, in the direction of play (section 3)."""
        return (self.turn + steps * self.direction) % len(self.hands)

    def _distance(self, seat: int) -> int:
        """Return the steps in the direction of play from the seat on turn (section 3)."""
        return (seat - self.turn) * self.direction % len(self.hands)

    def _take(self, seat: int, count: int) -> None:
        """Draw up to `count` cards one by one, while there are any (section 8, Draw pile)."""
        for _ in range(count):
            if not self.draw_pile:
                self._refill()
            if self.draw_pile:
                self.hands[seat].append(self.draw_pile.pop(0))

    def _refill(self) -> None:
        """Shuffle all played cards except the leading one into a new pile (section 8)."""
        if self.beneath:
            self.draw_pile = list(self.shuffle(in_order(self.beneath)))
            self.beneath = []

    def _rest_of_deck(self) -> list[str]:
        """Return the rest of the deck, without hands and discard pile, shuffled (section 10)."""
        counts = self.rules.get("deck", STANDARD_DECK.values())
        rest = Counter(dict(zip(CARDS, counts, strict=True)))
        rest.subtract([self.lead, *self.beneath])
        for hand in self.hands:
            rest.subtract(hand)
        return list(self.shuffle(in_order(rest.elements())))
