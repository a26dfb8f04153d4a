"""The options of the game (RULES.md section 9)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from taki_env.base.checks import check_integer, check_one_of, is_integer
from taki_env.base.errors import UnknownOptionError, did_you_mean
from taki_env.core.cards import (
    CARDS,
    CHANGE_COLOR,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_CARDS,
    NUM_COLORED,
    STANDARD_DECK,
)
from taki_env.core.decks import DECKS

_WORDS = {"true": True, "false": False}
_NOT_GIVEN: Any = None


@dataclass(frozen=True)
class Rules:
    """Options of a game; frozen and hashable.

    A new option is a field here, with its doc, and its meaning in `taki_env.core.engine`. A switch
    (a `bool`) then has a field in the game record, a feature in the observation, an OpenSpiel
    parameter and a row in the docs; `SWITCHES` provides its name.

    Raises:
        UnknownOptionError: an option does not exist; the message suggests the nearest one.
        TypeError: an option has the wrong type.
        ValueError: no game can be played with the value of an option.
    """

    tournament: bool = False
    """Play stages from `hand_size` down to 1 instead of a single game."""
    voluntary_draw: bool = False
    """Allow `draw` in phase `play` even if a card can be played."""
    full_runs: bool = False
    """Forbid `close taki` and `pass` while a card of the run's color is in hand."""
    auto_last_card: bool = False
    """Make the last-card call automatically; phase `last_card` never occurs."""
    hand_size: int = _NOT_GIVEN
    """Cards dealt to each player, and first stage of a tournament; by default the hand size of a
    named deck, otherwise 8."""
    deck: tuple[int, ...] = STANDARD_DECK
    """Copies of each of the 57 card types, by card index; or the name of a deck of
    `taki_env.core.decks`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            tournament: bool = False,
            voluntary_draw: bool = False,
            full_runs: bool = False,
            auto_last_card: bool = False,
            hand_size: int | None = None,
            deck: Sequence[int] | str = STANDARD_DECK,
        ) -> None: ...

    def __new__(cls, *args: Any, **options: Any) -> Rules:
        """Reject unknown options with a suggestion, before the dataclass does without one."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                hint = did_you_mean(name, names)
                known = ", ".join(names)
                raise UnknownOptionError(f"unknown rule option {name!r}{hint} (options: {known})")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check all options, and replace a deck's name and a missing hand size by values."""
        for switch in SWITCHES:
            if not isinstance(getattr(self, switch), bool):
                raise TypeError(f"{switch} must be True or False, got {getattr(self, switch)!r}")
        hand_size, deck = self.hand_size, self.deck
        default = DECKS["standard"].hand_size
        if isinstance(deck, str):
            check_one_of("deck", deck, DECKS)
            deck, default, _ = DECKS[deck]
        hand_size = default if hand_size is _NOT_GIVEN else hand_size
        if not is_integer(hand_size):
            raise TypeError(f"hand_size must be an integer, got {hand_size!r}")
        deck = _checked_deck(deck)
        check_integer("hand_size", hand_size, 1, sum(deck))
        object.__setattr__(self, "hand_size", int(hand_size))
        object.__setattr__(self, "deck", deck)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Rules:
        """Return the rules with the options of a mapping, by name.

        Raises:
            UnknownOptionError, ValueError, TypeError: as for `Rules`; TypeError also if `options`
                is not a mapping.
        """
        if not isinstance(options, Mapping):
            raise TypeError(f"rules must be a mapping of options, got {options!r}")
        return cls(**options)

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Rules:
        """Return the rules of a command line, such as ``tournament hand_size=5``.

        Raises:
            UnknownOptionError, ValueError, TypeError: as for `Rules`; ValueError also if an option
                is given twice.
        """
        options: dict[str, Any] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if name in options:
                raise ValueError(f"rule option {name} is given twice")
            options[name] = _WORDS.get(value, value) if equals else True
            if value.isdecimal():
                options[name] = int(value)
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """Return all options by name; `deck` only if it is not the standard one."""
        options = asdict(self)
        if self.deck == STANDARD_DECK:
            del options["deck"]
        else:
            options["deck"] = list(self.deck)
        return options

    def check_players(self, num_players: int) -> None:
        """Raise ValueError unless a game of `num_players` can be dealt with these rules."""
        check_num_players(num_players)
        colorless = sum(self.deck[NUM_COLORED:])
        needed = num_players * self.hand_size + colorless + 1
        if sum(self.deck) < needed:
            raise ValueError(
                f"a deck of {sum(self.deck)} cards cannot be dealt: {num_players} players x "
                f"{self.hand_size} cards + {colorless} colorless + 1 to lead = {needed}"
            )


SWITCHES = tuple(field.name for field in fields(Rules) if field.type == "bool")
"""Names of the options that are on or off."""


def option_docs() -> dict[str, str]:
    """Return the doc of each option: the string below its field in the source of `Rules`."""
    (rules,) = ast.parse(inspect.getsource(Rules)).body
    assert isinstance(rules, ast.ClassDef)
    return {
        field.target.id: " ".join(doc.value.value.split())
        for field, doc in pairwise(rules.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant)
        if isinstance(doc.value.value, str)
    }


def check_num_players(num_players: int) -> None:
    """Raise ValueError unless `num_players` is an integer from 2 to 10."""
    check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)


def _checked_deck(deck: Any) -> tuple[int, ...]:
    try:
        counts = tuple(int(copies) for copies in deck)
        whole = all(copies == given for copies, given in zip(counts, deck, strict=True))
    except (TypeError, ValueError, OverflowError):
        whole, counts = False, ()
    if not whole or len(counts) != NUM_CARDS:
        raise ValueError(f"deck must be {NUM_CARDS} integers, the copies of each card type")
    for card, copies in enumerate(counts):
        most = STANDARD_DECK[CHANGE_COLOR] if card == CHANGE_COLOR else 2
        if not 0 <= copies <= most:
            raise ValueError(f"copies of {CARDS[card]!r} must be 0 to {most}, got {copies}")
    if not any(counts):
        raise ValueError("deck has no cards")
    return counts


def checked_rules(rules: Rules | None) -> Rules:
    """Return the rules, or the standard ones for None; raise TypeError for any other type."""
    if rules is not None and not isinstance(rules, Rules):
        raise TypeError(f"rules must be a taki_env.Rules, got {rules!r}")
    return rules or Rules()
