"""Play at a terminal against agents: ``python -m agents.play --opponents expert``.

    python -m agents.play --players 4 --opponents expert search:milliseconds=200 pretrained
    python -m agents.play --resume FILE

An unfinished game is saved as its record (docs/records.md). The person's seat is named "person",
and every other seat has the specification of its agent.
"""

from __future__ import annotations

import io
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import tyro

import agents
from agents.cli import check_different, check_folder, make_console, run
from agents.table.record_files import append_record, read_game
from agents.table.screen import print_plain
from agents.table.terminal import PERSON, Play, SeatedGame
from taki_env import Game, Rules
from taki_env.base.checks import checked_seed
from taki_env.core.rules import check_num_players

DEALT = ("players", "opponents", "seat", "seed", "rules")
"""Options that a saved game determines."""


@dataclass(frozen=True)
class PlayArgs:
    """Play at a terminal against agents."""

    players: int = 2
    """Number of players, 2 to 10, including you."""
    opponents: tuple[str, ...] = ("expert",)
    """Agents such as greedy, expert, search:milliseconds=200, pretrained: one for all other seats,
    or one per seat in seat order."""
    seat: int = 0
    """Your seat; seat 0 begins."""
    seed: int | None = None
    """Random seed for deals and agents, incremented each game; random and hidden by default."""
    hint: str = "search:milliseconds=500"
    """Agent that gives hints."""
    delay: float = 0.0
    """Seconds to wait after each action of another seat."""
    save: Path | None = None
    """Output file for an unfinished game; by default taki-DATE-TIME.json."""
    resume: Path | None = None
    """File of an unfinished game to resume."""
    record: Path | None = None
    """File that finished games are appended to, one per line; agents.replay shows them."""
    rules: tyro.conf.OmitArgPrefixes[Rules] = field(default_factory=Rules)
    """Rule options of the game."""


def prepare(args: PlayArgs) -> Callable[[], None]:
    """Check the arguments, set up the game, and return the function to execute."""
    if not 0 <= args.delay < math.inf:
        raise ValueError(f"--delay must be a finite number of at least 0 seconds, got {args.delay}")
    files = {"--save": args.save, "--resume": args.resume, "--record": args.record}
    check_different(files)
    path = save_path(args)
    for option, file in {**files, "--save": path}.items():
        check_folder(option, file)
    table = resumed(args, args.resume) if args.resume else seated(args)
    hinter, console = agents.load(args.hint), make_console()
    return lambda: execute(args, Play(table, hinter, console, path, args.delay))


def save_path(args: PlayArgs) -> Path:
    """Return the file for an unfinished game; raises ValueError if it would overwrite another."""
    if args.save and args.save.exists():
        raise ValueError(f"--save: {args.save} exists; name another file, or --resume it")
    return args.save or args.resume or Path(time.strftime("taki-%Y%m%d-%H%M%S.json"))


def seated(args: PlayArgs) -> SeatedGame:
    """Return a new game; raises ValueError if options contradict each other."""
    check_num_players(args.players)
    if not 0 <= args.seat < args.players:
        raise ValueError(f"--seat must be 0 to {args.players - 1}, got {args.seat}")
    others = list(args.opponents)
    if len(others) == 1:
        others *= args.players - 1
    if len(others) != args.players - 1:
        raise ValueError(
            f"--opponents must be one agent, or {args.players - 1} for {args.players} players, "
            f"got {len(others)}"
        )
    if PERSON in others:
        raise ValueError(f"--opponents: {PERSON!r} is not an agent; that name is reserved for you")
    seed = checked_seed(args.seed)
    names = [*others[: args.seat], PERSON, *others[args.seat :]]
    return SeatedGame.of(Game(args.players, args.rules, seed), seed, names)


def resumed(args: PlayArgs, file: Path) -> SeatedGame:
    """Return the unfinished game of a file.

    Raises:
        ValueError: the file is not a record of an unfinished game with a person, or another option
            repeats what the file determines.
        OSError: the file cannot be read.
    """
    for option in DEALT:
        if getattr(args, option) != getattr(PlayArgs(), option):
            raise ValueError(f"--resume: the file determines the {option}; leave out that option")
    saved = read_game(file)
    names = saved.record["names"] or []
    if saved.record["seat"] is not None or names.count(PERSON) != 1:
        raise ValueError(f"{file} is a record, but not of a game saved by this command")
    game = saved.games[-1]
    if game.is_over:
        raise ValueError(f"{file}: the game is over, seat {game.winner} has won")
    try:
        return SeatedGame.of(game, saved.record["seed"] or 0, names)
    except (ValueError, OSError) as error:
        raise ValueError(f"{file}: {error}") from error


# The games ----------------------------------------------------------------------------------------


def execute(args: PlayArgs, play: Play) -> None:
    """Play games until the person stops."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    number, again = 0, True
    with hangup_as_interrupt():
        try:
            while again:
                play.play()
                if args.record:
                    append_record(args.record, play.record())
                    print_plain(play.console, f"appended the record to {args.record}")
                play.discard()
                number += 1
                again = play.ask("another game? (y/n) ").lower() in ("y", "yes")
                if again:
                    seed = None if args.seed is None else args.seed + number
                    play.begin(play.table.next_game(seed))
        except EOFError:
            return


@contextmanager
def hangup_as_interrupt() -> Iterator[None]:
    """Treat SIGHUP (a closed terminal) and SIGTERM as Ctrl-C."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    old = {name: signal.signal(getattr(signal, name), interrupt_once) for name in names}
    try:
        yield
    finally:
        for name, handler in old.items():
            signal.signal(getattr(signal, name), handler)


def interrupt_once(number: int, frame: object) -> None:
    """Interrupt the game once: a closing terminal may signal again while the game is saved."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(PlayArgs)))
