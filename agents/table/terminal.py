"""A game between a person at a terminal and agents."""

from __future__ import annotations

import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable
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
    new_cards,
    resolve,
    say,
    show_decision,
)
from agents.validation import AgentError, CheckedAgent
from taki_env import ACTIONS, Game
from taki_env.base.checks import checked_seed
from taki_env.core.bits import seed_words
from taki_env.render.words import LastActions

PERSON = "person"
STREAM = 3
"""Of the words that agents draw from."""


@dataclass(frozen=True)
class SeatedGame:
    """A game, and who sits where."""

    game: Game
    seed: int
    names: list[str]
    """The spelling of an agent for each seat, and `PERSON`."""
    agents: dict[int, Agent]
    """By seat."""

    @classmethod
    def of(cls, game: Game, seed: int, names: list[str]) -> SeatedGame:
        """Return a table with its agents; raises as `agents.load` does."""
        others = {seat: name for seat, name in enumerate(names) if name != PERSON}
        loaded = {seat: CheckedAgent(agents.load(name, seed)) for seat, name in others.items()}
        return cls(game, seed, names, loaded)

    @property
    def seat(self) -> int:
        """The person's."""
        return self.names.index(PERSON)

    def dealt_anew(self, seed: int | None) -> SeatedGame:
        """Return another game of the same players; of a seed of the system's for None."""
        seed = checked_seed(seed)
        return SeatedGame.of(Game(self.game.num_players, self.game.rules, seed), seed, self.names)


class Play:
    """A game between a person and agents.

    Args:
        table: the game and who sits where.
        hinter: the agent that gives hints.
        console: to print to; entries come from standard input.
        path: the file to save to.
        delay: seconds to wait after each action of the others.
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
        """Sit down at a table."""
        self.table, self.game, self.seat = table, table.game, table.seat
        steps = self.game.record()["steps"]
        self._taken = Counter(step["actor"] for step in steps)
        self._earlier: list[Game] = []

    def play(self) -> None:
        """Play the game to its end; save it if it is left before.

        Raises:
            EOFError: the person leaves, or the input has come to its end.
            KeyboardInterrupt: Ctrl-C.
            AgentError: an agent failed.
        """
        self._say("Enter a number, a name or its beginning; ? explains cards and commands.")
        try:
            while not self.game.is_over:
                if self.game.actor == self.seat:
                    self._decide()
                else:
                    self._let_act()
        finally:
            try:
                self._leave()
            except KeyboardInterrupt:  # the end of the terminal, after that of the input
                self._leave()
                raise
        self._say()
        self._say(f"{self._player(self.game.winner)} won")

    def record(self) -> Record:
        """Return the record of the game so far."""
        return self.game.record(names=self.table.names)

    def save(self) -> None:
        """Save the game, all of it or nothing."""
        self._write()
        self._say_saved()

    def discard(self) -> None:
        """Delete the file of a game that is over, if there is one."""
        if self.path.exists():
            self.path.unlink()
            self._say(f"deleted {self.path}: the game is over")

    def ask(self, prompt: str) -> str:
        """Return an entry; it is shown as well if it was not typed at a terminal."""
        say(self.console, prompt, end="")
        if sys.stdin is None:
            raise EOFError
        try:
            entry = sys.stdin.readline()  # input() forgets a Ctrl-C that comes as it begins
        except OSError as error:  # the terminal is gone
            raise EOFError from error
        if not entry:
            raise EOFError
        if not sys.stdin.isatty():
            self._say(entry)
        return entry.strip()

    def _say(self, text: str = "") -> None:
        say(self.console, text)

    def _player(self, seat: int | None) -> str:
        return "you" if seat == self.seat else f"seat {seat}, {self.table.names[seat or 0]},"

    def _write(self) -> None:
        with replacing(self.path) as beside:
            beside.write_text(line_of(self.record()))

    def _say_saved(self) -> None:
        say(self.console, f"saved to {self.path}", soft_wrap=True)

    def _leave(self) -> None:
        """Save a game that is not over, before all else: there may be no terminal to print to."""
        if self.game.is_over:
            return
        self._write()
        self._say()
        self._say_saved()
        command = f"python -m agents.play --resume {shlex.quote(str(self.path))}"
        say(self.console, f"go on with: {command}", soft_wrap=True)

    def _let_act(self) -> None:
        """Let an agent act; what it draws from depends on the seed and on its own turns alone."""
        seat = self.game.actor
        words = seed_words(self.table.seed, seat, self._taken[seat], STREAM)
        action = self.table.agents[seat].act(self.game.view(words, remember=True))[0]
        if self._apply(ACTIONS[action]):
            time.sleep(self.delay)

    def _apply(self, action: str) -> bool:
        """Carry out an action, and return whether there was something of it to tell."""
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
            self._say(as_you(line, self.seat))
        if cards := new_cards(before, action, after, self.seat):
            self._say(f"you drew: {', '.join(cards)}")
        return bool(last.lines)

    def _decide(self) -> None:
        """Ask the person until the game goes on, or back."""
        game, legal = self.game, self.game.legal_names()
        show_decision(self.console, game.to_dict(), legal, self.seat, self.table.names)
        decided = False
        while not decided and self.game is game:
            try:
                decided = self._obey(self.ask("your move> "), legal)
            except EntryError as error:
                self._say(str(error))

    def _obey(self, entry: str, legal: list[str]) -> bool:
        """Do what an entry says, and return whether it was an action."""
        first, _, rest = entry.partition(" ")
        if first.lower() == "save" and rest:
            self._save_as(rest.strip())
            return False
        word = resolve(entry, legal)
        if word in COMMANDS:
            self._commands[word]()
            return False
        self._apply(word)
        return True

    # Commands

    def _help(self) -> None:
        for line in help_lines(self.game.to_dict(), self.seat):
            self._say(line)

    def _hint(self) -> None:
        try:
            found = analysis(self.game, self.hinter)
        except AgentError as error:
            raise EntryError(f"no hint: {error}") from error
        for line in hint_lines(found):
            self._say(f"  {as_you(line, self.seat)}")

    def _undo(self) -> None:
        """Take back the person's last decision; nobody has seen anything new since."""
        if not self._earlier:
            raise EntryError(
                "there is nothing to take back: only your own decisions are, as long as no card "
                "was drawn and nobody else acted since"
            )
        self.game = self._earlier.pop()
        self._taken[self.seat] -= 1
        self._say("taken back")

    def _save_as(self, name: str) -> None:
        """Save the game to a file, from now on; no other file is overwritten."""
        before = self.path
        try:
            path = Path(name).expanduser()
            check_folder("save", path)
            if path.exists() and path.resolve() != before.resolve():
                raise ValueError(f"save: there is a {path}; name another file")
            self.path = path
            self.save()
        except (ValueError, OSError, RuntimeError) as error:
            self.path = before
            raise EntryError(str(error)) from error

    def _quit(self) -> None:
        raise EOFError
