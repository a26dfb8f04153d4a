"""A game between a person at a terminal and agents."""

from __future__ import annotations

import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

import agents
from agents import Agent
from agents.cli import check_folder
from agents.files import replacing
from agents.table.analyze import analysis
from agents.table.record_files import Record, line_of
from agents.table.screen import (
    COMMANDS,
    EntryError,
    as_you,
    help_lines,
    hint_lines,
    match_entry,
    print_plain,
    show_decision,
)
from agents.validation import AgentError, CheckedAgent
from taki_env import ACTIONS, Game
from taki_env.base.checks import checked_seed
from taki_env.core.bits import seed_words
from taki_env.core.seen import cards_drawn
from taki_env.render.words import LastActions

PERSON = "person"
STREAM = 3
"""Stream of random words that agents draw from."""


@dataclass(frozen=True)
class SeatedGame:
    """A game, its seed, and the player at each seat."""

    game: Game
    seed: int
    names: list[str]
    """Name per seat: `PERSON`, or the specification of an agent."""
    agents: Mapping[int, Agent]
    """Agent by seat."""

    @classmethod
    def of(cls, game: Game, seed: int, names: list[str]) -> SeatedGame:
        """Return a game with its agents loaded; raises as `agents.load` does."""
        others = {seat: name for seat, name in enumerate(names) if name != PERSON}
        loaded = {seat: CheckedAgent(agents.load(name, seed)) for seat, name in others.items()}
        return cls(game, seed, names, loaded)

    @property
    def seat(self) -> int:
        """Seat of the person."""
        return self.names.index(PERSON)

    def next_game(self, seed: int | None) -> SeatedGame:
        """Return a new game of the same players; a `seed` of None draws one from the system."""
        seed = checked_seed(seed)
        return SeatedGame.of(Game(self.game.num_players, self.game.rules, seed), seed, self.names)


class Play:
    """A game between a person and agents.

    Args:
        table: the game and its players.
        hinter: agent that gives hints.
        console: console for output; entries come from standard input.
        path: file to save to.
        delay: seconds to wait after each action of another seat.
    """

    def __init__(
        self, table: SeatedGame, hinter: Agent, console: Console, path: Path, delay: float = 0.0
    ) -> None:
        self.hinter, self.console, self.path, self.delay = hinter, console, path, delay
        self._commands: dict[str, Callable[[], None]] = {
            "?": self._help, "hint": self._hint, "undo": self._undo, "quit": self._quit,
            "save": lambda: self._save_as(str(self.path)),
        }  # fmt: skip
        self.begin(table)

    def begin(self, table: SeatedGame) -> None:
        """Start or resume a game."""
        self.table, self.game, self.seat = table, table.game, table.seat
        steps = self.game.record()["steps"]
        self._taken = Counter(step["actor"] for step in steps)
        self._earlier: list[Game] = []

    def play(self) -> None:
        """Play the game to its end; save it if it is interrupted.

        Raises:
            EOFError: the person quit, or the input ended.
            KeyboardInterrupt: Ctrl-C.
            AgentError: an agent failed.
        """
        self._print("Enter a number or the first letters of a name; ? explains cards and commands.")
        try:
            while not self.game.is_over:
                if self.game.actor == self.seat:
                    self._decide()
                else:
                    self._let_act()
        finally:
            try:
                self._leave()
            except KeyboardInterrupt:  # SIGHUP after the end of input: the terminal was closed
                self._leave()
                raise
        self._print()
        self._print(f"{self._player(self.game.winner)} won")

    def record(self) -> Record:
        """Return the record of the game so far."""
        return self.game.record(names=self.table.names)

    def save(self) -> None:
        """Save the game atomically."""
        self._write()
        self._print_saved()

    def discard(self) -> None:
        """Delete the file of a finished game, if it exists."""
        if self.path.exists():
            self.path.unlink()
            self._print(f"deleted {self.path}: the game is over")

    def ask(self, prompt: str) -> str:
        """Return an entry; echo it if it was not typed at a terminal."""
        print_plain(self.console, prompt, end="")
        if sys.stdin is None:
            raise EOFError
        try:
            entry = sys.stdin.readline()  # input() loses a Ctrl-C that arrives as it starts
        except OSError as error:  # the terminal was closed
            raise EOFError from error
        if not entry:
            raise EOFError
        if not sys.stdin.isatty():
            self._print(entry)
        return entry.strip()

    def _print(self, text: str = "") -> None:
        print_plain(self.console, text)

    def _player(self, seat: int | None) -> str:
        return "you" if seat == self.seat else f"seat {seat}, {self.table.names[seat or 0]},"

    def _write(self) -> None:
        with replacing(self.path) as temporary:
            temporary.write_text(line_of(self.record()))

    def _print_saved(self) -> None:
        print_plain(self.console, f"saved to {self.path}", soft_wrap=True)

    def _leave(self) -> None:
        """Save an unfinished game, before printing: the terminal may be closed."""
        if self.game.is_over:
            return
        self._write()
        self._print()
        self._print_saved()
        command = f"python -m agents.play --resume {shlex.quote(str(self.path))}"
        print_plain(self.console, f"resume with: {command}", soft_wrap=True)

    def _let_act(self) -> None:
        """Let an agent act; its random words depend only on the seed and its number of turns."""
        seat = self.game.actor
        words = seed_words(self.table.seed, seat, self._taken[seat], STREAM)
        action = self.table.agents[seat].act(self.game.view(words, remember=True))[0]
        if self._apply(ACTIONS[action]):
            time.sleep(self.delay)

    def _apply(self, action: str) -> bool:
        """Apply an action and print what the person sees of it; return whether that is anything."""
        game, before = self.game.clone(), self.game.to_dict()
        self.game.apply(action)
        after = self.game.to_dict()
        self._taken[before["actor"]] += 1
        if before["actor"] != self.seat or before["draw_pile"] != after["draw_pile"]:
            self._earlier.clear()
        else:
            self._earlier.append(game)
        last = LastActions(public=True)
        last.note(before, action, after)
        for line in last.lines:
            self._print(as_you(line, self.seat))
        if cards := cards_drawn(before, action, after, self.seat):
            self._print(f"you drew: {', '.join(cards)}")
        return bool(last.lines)

    def _decide(self) -> None:
        """Prompt the person until an action is applied or taken back."""
        game, legal = self.game, self.game.legal_names()
        show_decision(self.console, game.to_dict(), legal, self.seat, self.table.names)
        decided = False
        while not decided and self.game is game:
            try:
                decided = self._carry_out(self.ask("your move> "), legal)
            except EntryError as error:
                self._print(str(error))

    def _carry_out(self, entry: str, legal: list[str]) -> bool:
        """Carry out an entry; return whether it was an action."""
        first, _, rest = entry.partition(" ")
        if first.lower() == "save" and rest:
            self._save_as(rest.strip())
            return False
        word = match_entry(entry, legal)
        if word in COMMANDS:
            self._commands[word]()
            return False
        self._apply(word)
        return True

    # Commands

    def _help(self) -> None:
        for line in help_lines(self.game.to_dict(), self.seat):
            self._print(line)

    def _hint(self) -> None:
        try:
            found = analysis(self.game, self.hinter)
        except AgentError as error:
            raise EntryError(f"no hint: {error}") from error
        for line in hint_lines(found):
            self._print(f"  {as_you(line, self.seat)}")

    def _undo(self) -> None:
        """Take back the person's last decision, if nothing new has been revealed since."""
        if not self._earlier:
            raise EntryError(
                "nothing to undo: only your own decisions can be undone, until a card is drawn "
                "or another seat acts"
            )
        self.game = self._earlier.pop()
        self._taken[self.seat] -= 1
        self._print("taken back")

    def _save_as(self, name: str) -> None:
        """Save the game to a file from now on; an existing file is never overwritten."""
        before = self.path
        try:
            path = Path(name).expanduser()
            check_folder("save", path)
            if path.exists() and path.resolve() != before.resolve():
                raise ValueError(f"save: {path} exists; name another file")
            self.path = path
            self.save()
        except (ValueError, OSError, RuntimeError) as error:
            self.path = before
            raise EntryError(str(error)) from error

    def _quit(self) -> None:
        raise EOFError
