"""The options of the game (RULES.md section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class Rules:
    """Options of a game; frozen and hashable.

    Raises:
        UnknownOptionError: there is no such option; the nearest one is suggested.
        TypeError: an option has the wrong type.
        ValueError: an option has a value that no game can be played with.
    """

    tournament: bool = False
    """Play stages from `hand_size` down to 1 instead of a single game."""
    voluntary_draw: bool = False
    """Allow `draw` in phase `play` although a card can be played."""
    full_runs: bool = False
    """Forbid `close taki` and `pass` while a card of the run's color is in hand."""
    auto_last_card: bool = False
    """Make the last-card call automatically; phase `last_card` never occurs."""
    hand_size: int = 8
    """Cards dealt to each player, and the first stage of a tournament."""
    deck: tuple[int, ...] = STANDARD_DECK
    """Copies of each of the 57 card types, by card index; or the name of a deck of
    `taki_env.core.decks`, which brings its own hand size unless another one is given."""

    if TYPE_CHECKING:

        def __init__(
            self,
            tournament: bool = False,
            voluntary_draw: bool = False,
            full_runs: bool = False,
            auto_last_card: bool = False,
            hand_size: int = 8,
            deck: Sequence[int] | str = STANDARD_DECK,
        ) -> None: ...

    def __new__(cls, *args: Any, **options: Any) -> Rules:
        """Refuse unknown options in words before the dataclass does."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                hint = did_you_mean(name, names)
                known = ", ".join(names)
                raise UnknownOptionError(f"unknown rule option {name!r}{hint} (options: {known})")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check every option and turn `deck` into a tuple of plain ints."""
        for field in fields(self):
            if field.type == "bool" and not isinstance(getattr(self, field.name), bool):
                raise TypeError(f"{field.name} must be True or False")
        if not _is_whole(self.hand_size):
            raise TypeError(f"hand_size must be a whole number, not {self.hand_size!r}")
        hand_size, deck = int(self.hand_size), self.deck
        if isinstance(deck, str):
            hand_size, deck = _named_deck(deck, hand_size)
        object.__setattr__(self, "hand_size", hand_size)
        object.__setattr__(self, "deck", _checked_deck(deck))
        if not 1 <= self.hand_size <= sum(self.deck):
            raise ValueError(f"hand_size must be 1 to {sum(self.deck)}, not {self.hand_size}")

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Rules:
        """Return the rules that a mapping of option names to values describes.

        Raises:
            UnknownOptionError: an option is unknown; the nearest known one is suggested.
            ValueError, TypeError: an option has a value that is not allowed.
        """
        if not isinstance(options, Mapping):
            raise TypeError(f"rules must be a mapping of options, not {options!r}")
        return cls(**options)

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Rules:
        """Return the rules of a command line, such as ``tournament`` and ``hand_size=5``.

        Raises:
            UnknownOptionError, ValueError, TypeError: as `from_dict`; or an option is given twice.
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
        """Return every option by name; `deck` only if it is not the standard one."""
        options = asdict(self)
        if self.deck == STANDARD_DECK:
            del options["deck"]
        else:
            options["deck"] = list(self.deck)
        return options

    def check_players(self, num_players: int) -> None:
        """Raise ValueError unless `num_players` can be dealt a game with these rules."""
        check_num_players(num_players)
        colorless = sum(self.deck[NUM_COLORED:])
        needed = num_players * self.hand_size + colorless + 1
        if sum(self.deck) < needed:
            raise ValueError(
                f"a deck of {sum(self.deck)} cards cannot be dealt: {num_players} players x "
                f"{self.hand_size} cards + {colorless} colorless + 1 to lead = {needed}"
            )


def check_num_players(num_players: int) -> None:
    """Raise ValueError unless `num_players` is a whole number from 2 to 10."""
    if not _is_whole(num_players) or not MIN_PLAYERS <= num_players <= MAX_PLAYERS:
        raise ValueError(f"num_players must be {MIN_PLAYERS} to {MAX_PLAYERS}, not {num_players!r}")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _named_deck(name: str, hand_size: int) -> tuple[int, tuple[int, ...]]:
    """Return hand size and counts of a named deck; hands of the default size are not meant."""
    if name not in DECKS:
        hint = did_you_mean(name, DECKS)
        raise ValueError(f"unknown deck {name!r}{hint} (decks: {', '.join(DECKS)})")
    deck = DECKS[name]
    return (deck.hand_size if hand_size == Rules.hand_size else hand_size), deck.counts


def _checked_deck(deck: Any) -> tuple[int, ...]:
    try:
        counts = tuple(int(copies) for copies in deck)
        whole = all(copies == given for copies, given in zip(counts, deck, strict=True))
    except (TypeError, ValueError, OverflowError):
        whole, counts = False, ()
    if not whole or len(counts) != NUM_CARDS:
        raise ValueError(f"deck must be {NUM_CARDS} whole numbers, the copies of each card type")
    for card, copies in enumerate(counts):
        most = STANDARD_DECK[CHANGE_COLOR] if card == CHANGE_COLOR else 2
        if not 0 <= copies <= most:
            raise ValueError(f"deck has {copies} {CARDS[card]!r}; 0 to {most} are allowed")
    if not any(counts):
        raise ValueError("deck has no cards")
    return counts


def checked_rules(rules: Rules | None) -> Rules:
    """Return the rules, the standard ones for None; TypeError for anything else."""
    if rules is not None and not isinstance(rules, Rules):
        raise TypeError(f"rules must be a taki_env.Rules, not {rules!r}")
    return rules or Rules()
