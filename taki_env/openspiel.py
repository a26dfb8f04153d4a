"""TAKI as a game of OpenSpiel: ``pyspiel.load_game("python_taki", {"deck": "mini-1"})``.

Importing this module registers the game. Its parameters:

    players          2 to 10
    deck             a deck of `taki_env.decks`, or "x" and the 57 copies of the card types
    hand_size        cards dealt to each player; 0: as many as go with the deck
    max_decisions    a game ends undecided, with returns of 0, after so many; 0: as the deck says
    tournament, voluntary_draw, full_runs, auto_last_card    options of `taki_env.Rules`

The rules are those of the engine. What the engine takes from its random word, chance nodes decide
here, a card at a time: the deal and the card to lead, and after a decision the cards that are
drawn because of it, from a new draw pile where the old one runs out. A decision is carried out
when all its cards are known, by the engine, which finds the piles in that order. So a draw pile
has no order before chance decides; of its unknown cards each is as likely to be next.

A seat's information state is all that it has seen and done: the hand dealt to it, the card that
led, and for each decision who took which action, how many cards each seat drew because of it, and
which ones it drew itself. A pass on a +3 is known to the seat alone that passes (RULES.md section
7). Observations are those of the other environments. Neither shows colorless cards that were
turned over at the setup.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from taki_env.batch import refusal, rewards_of
from taki_env.cards import (
    ACTIONS,
    CARDS,
    DRAW,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_COLORED,
    OVER,
    PASS,
    RESPOND,
)
from taki_env.decks import DECKS
from taki_env.engine import ZERO, Records
from taki_env.errors import IllegalActionError
from taki_env.loops import apply_many, deal_ready, determinize_many, observe_many
from taki_env.observation import OBSERVATION_SIZE
from taki_env.position import discard_cards, hand_cards, new_states, write_position
from taki_env.rules import Rules

try:
    import pyspiel
except ImportError as error:
    raise ImportError("OpenSpiel is not installed: pip install 'taki-env[openspiel]'") from error

NAME = "python_taki"
PARAMETERS = {
    "players": 2,
    "deck": "standard",
    "hand_size": 0,
    "max_decisions": 0,
    "tournament": False,
    "voluntary_draw": False,
    "full_runs": False,
    "auto_last_card": False,
}
OPTIONS = ("tournament", "voluntary_draw", "full_runs", "auto_last_card")
COUNTED = "x"
"""Begins the parameter `deck` that gives copies in place of a name."""

_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="TAKI",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=PARAMETERS,
)
_FIRST = np.zeros(1, np.int64)
Cards = tuple[int, ...]
"""Card types."""


# The table between two nodes ----------------------------------------------------------------------


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


class Table(NamedTuple):
    """A state of the game; nothing of it is ever changed, so copies share it."""

    setup: Setup
    record: Records
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

    def __deepcopy__(self, memo: object) -> Table:
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

    def decide(self, action: int) -> Table:
        """Return the table after an action, or before the first card drawn because of it.

        Raises:
            IllegalActionError: the action is not legal now.
        """
        if not self.legal >> action & 1:
            raise IllegalActionError(refusal(action, self.legal))
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

    def choose(self, card: int) -> Table:
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

    def _dealt(self) -> Table:
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

    def _carried_out(self) -> Table:
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

    def _applied(self, record: Records, action: int) -> tuple[Records, int]:
        """Return the record after an action, and the set of actions that are legal then."""
        after, legal = _copy(record), np.array([self.legal], np.uint64)
        apply_many(after, _FIRST, np.array([action]), legal)
        return after, int(legal[0])

    def _next(self, record: Records, legal: int, settled: int, **changes: Any) -> Table:
        """Return the table at a decision, with the draw pile's unknown cards in their order."""
        s = record[0]
        s["draw_pile"][settled : s["draw_size"]].sort()
        s["draw_pile"][s["draw_size"] :] = 0
        return self._replace(
            record=record, legal=legal, settled=settled, action=None, needed=0, recycled=(),
            chosen=(), **changes,
        )  # fmt: skip

    def _noted(self, action: int, after: Records) -> tuple[tuple[Event, ...], ...]:
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

    def determinized(self, seat: int, word: int) -> Table:
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


def _copy(record: Records) -> Records:
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


# OpenSpiel's interface ----------------------------------------------------------------------------


class TakiGame(pyspiel.Game):  # type: ignore[misc]
    """TAKI with a table size, rules and a cap on decisions.

    Raises:
        ValueError: a parameter out of its range; says what is allowed.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        num_players = given["players"]
        rules = _rules(given)
        rules.check_players(num_players)
        max_decisions = given["max_decisions"] or _default_cap(given["deck"])
        if max_decisions < 1:
            raise ValueError(f"max_decisions must be 1 or more, not {max_decisions}")
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=NUM_CARDS,
            num_players=num_players,
            min_utility=-1 / (num_players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=max_decisions,
        )
        super().__init__(_TYPE, info, dict(params or {}))
        self.rules, self.max_decisions = rules, max_decisions
        self.start = Table(
            Setup(rules, max_decisions), new_states(1, num_players, rules), 0, 0, 0, (), (), DEAL,
            num_players * rules.hand_size + 1, (), (),
        )  # fmt: skip

    def new_initial_state(self) -> TakiState:
        """Return the state before the deal."""
        return TakiState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return a bound: no decision draws more than all cards."""
        return sum(self.rules.deck) * (self.max_decisions + 1)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """Return an observer of information states for perfect recall, else of observations.

        None for one that shows the table alone, or a seat's own cards alone: there is no such one.

        Raises:
            ValueError: `params` are given; observations have none.
        """
        if params:
            raise ValueError(f"observations of TAKI have no parameters, not {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        if kind.perfect_recall:
            return InformationObserver(self.num_players(), self.max_decisions)
        return Observer()


def _rules(given: Mapping[str, Any]) -> Rules:
    """Return the rules that parameters of a game spell."""
    options = {name: given[name] for name in OPTIONS}
    if given["hand_size"]:
        options["hand_size"] = given["hand_size"]
    deck: str = given["deck"]
    if deck.startswith(COUNTED) and deck[len(COUNTED) :].isdecimal():
        return Rules(deck=[int(copies) for copies in deck[len(COUNTED) :]], **options)
    return Rules(deck=deck, **options)


def _default_cap(deck: str) -> int:
    return DECKS[deck if deck in DECKS else "standard"].max_decisions


def load(num_players: int = 2, rules: Rules | None = None, max_decisions: int = 0) -> TakiGame:
    """Return the game of a table size and rules, whatever their deck.

    Raises:
        ValueError: an argument out of its range; says what is allowed.
    """
    rules = rules or Rules()
    names = [name for name, deck in DECKS.items() if deck.counts == rules.deck]
    deck = names[0] if names else COUNTED + "".join(map(str, rules.deck))
    given = {name: getattr(rules, name) for name in (*OPTIONS, "hand_size")}
    given |= {"players": num_players, "deck": deck, "max_decisions": max_decisions}
    game: TakiGame = pyspiel.load_game(NAME, given)
    return game


class TakiState(pyspiel.State):  # type: ignore[misc]
    """A state of the game: a `Table` between nodes of chance and of decision."""

    def __init__(self, game: TakiGame) -> None:
        super().__init__(game)
        self.table = game.start

    def current_player(self) -> int:
        """Return the seat that decides, or OpenSpiel's number for chance or the end."""
        if self.table.action is not None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.table.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.table.record["actor"][0])

    def _legal_actions(self, player: int) -> list[int]:
        legal = self.table.legal
        return [action for action in range(NUM_ACTIONS) if legal >> action & 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the card types that may be drawn next, with their probabilities."""
        cards = self.table.next_cards()
        return [(card, copies / len(cards)) for card, copies in sorted(Counter(cards).items())]

    def _apply_action(self, action: int) -> None:
        table = self.table
        self.table = table.decide(action) if table.action is None else table.choose(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return CARDS[action] if player == pyspiel.PlayerId.CHANCE else ACTIONS[action]

    def is_terminal(self) -> bool:
        """Return whether a seat has won, or the game was cut off."""
        return self.table.is_over

    def returns(self) -> list[float]:
        """Return +1 for the winner and -1/(n-1) for the others; 0 before an end and at a cut."""
        rewards: list[float] = rewards_of(self.table.record)[0].tolist()
        return rewards

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> TakiState:
        """Return a state in which all that a player cannot see now is dealt anew.

        As in `View.sample_states`, what the others' actions tell of their cards is left out.
        """
        state: TakiState = self.clone()
        state.table = self.table.determinized(player, int(sampler() * 2**63) | 1)
        return state

    def __str__(self) -> str:
        """Return the state in words."""
        return str(self.table)


class Observer:
    """What a seat sees now: the observation of the other environments, (OBSERVATION_SIZE,)."""

    def __init__(self) -> None:
        self.tensor = np.zeros(OBSERVATION_SIZE, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: TakiState, player: int) -> None:
        """Write what a seat sees into the tensor; zeros before the deal."""
        if state.table.is_dealt:
            observe_many(state.table.record, np.array([player]), self.tensor[np.newaxis])
        else:
            self.tensor[:] = 0

    def string_from(self, state: TakiState, player: int) -> str:
        """Return what a seat sees, in words."""
        return state.table.observation(player)


class InformationObserver(Observer):
    """All that a seat has seen and done.

    Pieces of the tensor: `seat`, one-hot; `hand`, copies of each card type dealt to it; `lead`, the
    card that led first, one-hot; `notes`, a row a decision: the seat, one-hot, the action, one-hot,
    how many cards each seat drew, and the copies of each card type that the seat itself drew.
    """

    def __init__(self, num_players: int, max_decisions: int) -> None:
        self._players = num_players
        row = 2 * num_players + NUM_ACTIONS + NUM_CARDS
        shapes = {
            "seat": (num_players,), "hand": (NUM_CARDS,), "lead": (NUM_CARDS,),
            "notes": (max_decisions, row),
        }  # fmt: skip
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {
            name: part.reshape(shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }

    def set_from(self, state: TakiState, player: int) -> None:
        """Write what a seat knows into the tensor."""
        table = state.table
        self.tensor[:] = 0
        self.dict["seat"][player] = 1
        if table.is_dealt:
            np.add.at(self.dict["hand"], list(table.hands[player]), 1)
            self.dict["lead"][table.lead] = 1
            for row, event in zip(self.dict["notes"], table.notes[player], strict=False):
                self._write(event, row)

    def _write(self, event: Event, row: Any) -> None:
        actors, actions, drawn, own = np.split(
            row, np.cumsum([self._players, NUM_ACTIONS, self._players])
        )
        actors[event.seat] = actions[event.action] = 1
        drawn[:] = event.drawn
        np.add.at(own, list(event.own), 1)

    def string_from(self, state: TakiState, player: int) -> str:
        """Return what a seat knows, in words."""
        return state.table.information(player)


pyspiel.register_game(_TYPE, TakiGame)
