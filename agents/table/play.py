"""Play at a terminal against agents: ``python -m agents.play --opponents expert``.

    python -m agents.play --players 4 --opponents expert search:milliseconds=200 pretrained
    python -m agents.play --resume FILE

An unfinished game is saved as its record (docs/records.md), in which the person's seat has the
name "person" and the others the spelling of their agents.
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
from agents.table.record_files import append_record, read_record
from agents.table.screen import say
from agents.table.terminal import PERSON, Play, SeatedGame
from taki_env import Game, Rules
from taki_env.base.checks import checked_seed
from taki_env.core.rules import check_num_players

DEALT = ("players", "opponents", "seat", "seed", "rules")
"""Options that a saved game brings along."""


@dataclass(frozen=True)
class PlayArgs:
    """Play at a terminal against agents."""

    players: int = 2
    """2 to 10, you among them."""
    opponents: tuple[str, ...] = ("expert",)
    """Agents, such as greedy, expert, search:milliseconds=200, pretrained: one for all other
    seats, or one for each, in the order of the seats."""
    seat: int = 0
    """Yours; seat 0 begins."""
    seed: int | None = None
    """Of the deal and the agents; the next game's is one more. Drawn, and not shown, if left out.
    """
    hint: str = "search:milliseconds=500"
    """The agent that gives hints."""
    delay: float = 0.0
    """Seconds to wait after each action of the others."""
    save: Path | None = None
    """File for an unfinished game; by default taki-DATE-TIME.json."""
    resume: Path | None = None
    """Go on with the game of this file."""
    record: Path | None = None
    """File to which finished games are added, one a line; see `agents.table.replay`."""
    rules: tyro.conf.OmitArgPrefixes[Rules] = field(default_factory=Rules)
    """Options of the game."""


def prepare(args: PlayArgs) -> Callable[[], None]:
    """Check the arguments, deal or read the game, load the agents, and return the game to play."""
    if not 0 <= args.delay < math.inf:
        raise ValueError(f"--delay must be 0 or more seconds, not {args.delay}")
    files = {"--save": args.save, "--resume": args.resume, "--record": args.record}
    check_different(files)
    path = save_path(args)
    for option, file in {**files, "--save": path}.items():
        check_folder(option, file)
    table = resumed(args) if args.resume else seated(args)
    hinter, console = agents.load(args.hint), make_console()
    return lambda: work(args, Play(table, hinter, console, path, args.delay))


def save_path(args: PlayArgs) -> Path:
    """Return the file for an unfinished game; ValueError if another file would be lost."""
    if args.save and args.save.exists():
        raise ValueError(f"--save: there is a {args.save}; name another file, or --resume it")
    return args.save or args.resume or Path(time.strftime("taki-%Y%m%d-%H%M%S.json"))


def seated(args: PlayArgs) -> SeatedGame:
    """Return a new game; ValueError if the options do not go together."""
    check_num_players(args.players)
    if not 0 <= args.seat < args.players:
        raise ValueError(f"--seat must be 0 to {args.players - 1}, not {args.seat}")
    others = list(args.opponents)
    if len(others) == 1:
        others *= args.players - 1
    if len(others) != args.players - 1:
        raise ValueError(
            f"--opponents must be one, or {args.players - 1} for {args.players} players, "
            f"not {len(others)}"
        )
    if PERSON in others:
        raise ValueError(f"--opponents: {PERSON!r} is no agent but yourself")
    seed = checked_seed(args.seed)
    names = [*others[: args.seat], PERSON, *others[args.seat :]]
    return SeatedGame.of(Game(args.players, args.rules, seed), seed, names)


def resumed(args: PlayArgs) -> SeatedGame:
    """Return the game of a file.

    Raises:
        ValueError: it is no record, of no unfinished game with a person, or another option says
            what the file says already.
        OSError: it cannot be read.
    """
    for option in DEALT:
        if getattr(args, option) != getattr(PlayArgs(), option):
            raise ValueError(f"--resume: the file has the {option} already; leave out yours")
    record = read_record(args.resume)
    names = record["names"] or []
    if record["seat"] is not None or names.count(PERSON) != 1:
        raise ValueError(f"{args.resume} is a record, but not of a game that was saved here")
    game = Game.replay(record)[-1]
    if game.is_over:
        raise ValueError(f"{args.resume}: the game is over, seat {game.winner} has won")
    try:
        return SeatedGame.of(game, record["seed"] or 0, names)
    except (ValueError, OSError) as error:
        raise ValueError(f"{args.resume}: {error}") from error


# The games ----------------------------------------------------------------------------------------


def work(args: PlayArgs, play: Play) -> None:
    """Play one game after another, as long as the person likes."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    number, again = 0, True
    with hangup_as_interrupt():
        try:
            while again:
                play.play()
                if args.record:
                    append_record(args.record, play.record())
                    say(play.console, f"the record was added to {args.record}")
                play.discard()
                number += 1
                again = play.ask("another game? (y/n) ").lower() in ("y", "yes")
                if again:
                    seed = None if args.seed is None else args.seed + number
                    play.begin(play.table.dealt_anew(seed))
        except EOFError:
            return


@contextmanager
def hangup_as_interrupt() -> Iterator[None]:
    """Treat the end of the terminal, and being asked to end, as Ctrl-C."""
    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    old = {name: signal.signal(getattr(signal, name), interrupt_once) for name in names}
    try:
        yield
    finally:
        for name, handler in old.items():
            signal.signal(getattr(signal, name), handler)


def interrupt_once(number: int, frame: object) -> None:
    """Interrupt the game, but not its saving: a terminal that ends may say so twice."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> None:
    """Run the command."""
    run(lambda: prepare(tyro.cli(PlayArgs)))
