"""A person at a terminal: what is shown, what can be entered, what is saved."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import agents
from agents.cli import run
from agents.table import play
from agents.table.play import PlayArgs
from agents.table.record_files import line_of, read_record, read_records
from agents.table.screen import (
    CARD_HELP,
    COMMANDS,
    EntryError,
    as_you,
    card_kind,
    hand_groups,
    help_lines,
    hint_lines,
    match_entry,
    show_decision,
    step_text,
)
from agents.table.terminal import PERSON, Play, SeatedGame
from agents.validation import AgentError, CheckedAgent
from taki_env import ACTIONS, CARDS, Game, Rules
from taki_env.core.seen import cards_drawn
from tests.helpers import game, position

ROOT = Path(__file__).parents[2]
SILENCE = 300
"""Seconds after which a command that prints nothing hangs."""
FAST = PlayArgs(opponents=("greedy",), hint="search:simulations=50", seed=1)


class Chosen:
    """An agent that plays given actions."""

    name = "chosen"

    def __init__(self, *actions: str) -> None:
        self.actions = list(actions)

    def act(self, view: Any) -> np.ndarray:
        """Return the next one."""
        return np.array([ACTIONS.index(self.actions.pop(0))])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command with entries, and returns what it printed."""

    def run(entries: list[str], args: PlayArgs = FAST) -> str:
        work = play.prepare(args)
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in entries)))
        work()
        return capsys.readouterr().out

    return run


@pytest.fixture
def sit(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that plays a game from a position with entries, and what was printed."""

    def run(table: Game, entries: list[str], others: dict[int, Any] | None = None) -> Any:
        names = [PERSON, *["greedy"] * (table.num_players - 1)]
        loaded = {seat: agents.load("greedy") for seat in range(1, table.num_players)}
        console = Console(file=io.StringIO(), width=100)
        seats = SeatedGame(table, 0, names, {**loaded, **(others or {})})
        person = Play(seats, agents.load("greedy"), console, Path("saved.json"))
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in entries)))
        with pytest.raises(EOFError):
            person.play()
        return person, console.file.getvalue()  # type: ignore[attr-defined]

    return run


# A whole game at a terminal -----------------------------------------------------------------------

TERMINAL = (  # Ctrl-C works, also where the tests run in the background of a shell
    "import fcntl, runpy, signal, sys, termios\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "sys.argv[0] = 'play'\n"
    "runpy.run_module('agents.play', run_name='__main__', alter_sys=True)\n"
)


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, *options: str) -> None:
        self.master, slave = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", TERMINAL, *options], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, env=environment,
        )  # fmt: skip
        os.close(slave)
        self.text = ""

    def until(self, pattern: str) -> str:
        """Return what is printed until it ends with a pattern, or the command has ended."""
        start = len(self.text)
        while not re.search(rf"(?:{pattern})$", self.text[start:]):
            ready, _, _ = select.select([self.master], [], [], SILENCE)
            assert ready, f"waiting for {pattern!r} after {self.text!r}"
            try:
                read = os.read(self.master, 4096)
            except OSError:  # Linux: the other end is closed
                read = b""
            if not read:
                break
            self.text += read.decode().replace("\r\n", "\n")
        return self.text[start:]

    def enter(self, entry: str, pattern: str = "your move> ") -> str:
        """Type an entry, and return what is printed until a pattern."""
        os.write(self.master, f"{entry}\n".encode())
        return self.until(pattern)


@contextmanager
def terminal(*options: str) -> Iterator[Terminal]:
    """Give a terminal with the command, whose process has ended afterwards."""
    shown = Terminal(*options)
    try:
        yield shown
    finally:
        shown.process.kill()
        shown.process.wait()
        os.close(shown.master)


def test_a_game_at_a_terminal(folder: Path) -> None:
    """With a wrong entry, a hint, a save, Ctrl-C, and going on to the end."""
    options = ("--opponents", "greedy", "--hint", "search:simulations=50", "--hand-size", "3")
    with terminal(*options, "--seed", "4") as shown:
        assert "1 " in shown.until("your move> ")
        assert "'purple 5' is not possible now" in shown.enter("purple 5")
        assert "of 50 simulations" in shown.enter("hint")
        assert "saved to my game.json" in shown.enter("save my game.json")
        first = shown.enter("1")
        assert "you " in first
        os.write(shown.master, b"\x03\n")  # input that has begun a moment too late needs an end
        words = shown.until("nothing more")
        assert "resume with: python -m agents.play --resume 'my game.json'" in words
        assert "Traceback" not in words and shown.process.wait() == 130
    saved = read_record(folder / "my game.json")
    assert saved["steps"][0]["actor"] == 0 and saved["result"]["winner"] is None
    with terminal("--resume", "my game.json", "--record", "games.jsonl") as shown:
        words = shown.until("your move> ")
        while words.endswith("your move> "):
            words = shown.enter("1", r"your move> |\(y/n\) ")
        shown.enter("n", "nothing more")
        assert shown.process.wait() == 0
        winner = re.findall(r"(you|seat 1, greedy,) won\n", words)
        assert "appended the record to games.jsonl" in words
    (record,) = read_records(folder / "games.jsonl")
    assert record["steps"][: len(saved["steps"])] == saved["steps"]
    assert record["names"] == [PERSON, "greedy"]
    assert winner == [{0: "you", 1: "seat 1, greedy,"}[record["result"]["winner"]]]


# Games go on as they would have -------------------------------------------------------------------


def test_leaving_changes_nothing(enter: Any) -> None:
    """A game that was left and resumed is the one that was not, whatever the others draw."""
    args = replace(FAST, opponents=("random",), players=4, seat=2)
    enter(["1"] * 5, replace(args, save=Path("whole.json")))
    enter(["1"] * 2 + ["quit"], replace(args, save=Path("half.json")))
    enter(["1"] * 3, PlayArgs(resume=Path("half.json"), hint=FAST.hint))
    assert read_record(Path("half.json")) == read_record(Path("whole.json"))
    mine = [step for step in read_record(Path("whole.json"))["steps"] if step["actor"] == 2]
    assert len(mine) == 5


def test_a_seed_deals_a_game_and_the_next_one(enter: Any) -> None:
    """Another game has the next seed; all are recorded."""
    rules = Rules(hand_size=1, auto_last_card=True)

    def won_at_once(seed: int) -> bool:
        table = Game(2, rules, seed)
        table.apply(table.legal_actions()[0])
        return table.winner == 0

    seed = next(seed for seed in range(1000) if won_at_once(seed) and won_at_once(seed + 1))
    args = replace(FAST, seed=seed, rules=rules, record=Path("games.jsonl"))
    text = enter(["1", "y", "1", "n"], args)
    assert text.count("you won\n") == 2
    assert [record["seed"] for record in read_records(Path("games.jsonl"))] == [seed, seed + 1]
    enter(["1", "n"], args)
    assert sum(1 for _ in read_records(Path("games.jsonl"))) == 3
    assert not list(Path().glob("taki-*.json")), "nothing was left unfinished"


def test_the_end_of_input_saves(enter: Any) -> None:
    """In a file of its own unless another is named."""
    text = enter([])
    (saved,) = Path().glob("taki-*.json")
    assert text.endswith(f"resume with: python -m agents.play --resume {saved}\n")
    assert read_record(saved)["steps"] == []


def test_the_end_of_the_terminal_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C does."""
    work = play.prepare(replace(FAST, save=Path("saved.json")))
    handler = signal.getsignal(signal.SIGHUP)
    read = SimpleNamespace(readline=lambda: os.kill(os.getpid(), signal.SIGHUP))
    monkeypatch.setattr("sys.stdin", read)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert read_record(Path("saved.json"))["seed"] == 1
    assert signal.getsignal(signal.SIGHUP) is handler


def test_a_terminal_that_is_closed_saves(folder: Path) -> None:
    """The command meets the end of input, a signal, and errors of all that it prints."""
    shown = Terminal("--opponents", "greedy", "--hint", "greedy", "--save", "saved.json")
    try:
        shown.until("your move> ")
        os.close(shown.master)
        shown.process.wait(SILENCE)
    finally:
        shown.process.kill()
    assert read_record(folder / "saved.json")["steps"] == []


def test_a_terminal_that_is_gone_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although nothing can be printed any more, and the system says twice that it is gone."""
    work = play.prepare(replace(FAST, save=Path("saved.json")))

    def gone(*words: Any, **options: Any) -> None:
        raise OSError("Input/output error")

    def hang_up() -> None:
        monkeypatch.setattr("agents.table.terminal.print_plain", gone)
        os.kill(os.getpid(), signal.SIGHUP)

    def line_of_twice(record: Any) -> str:
        os.kill(os.getpid(), signal.SIGHUP)
        return line_of(record)

    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=hang_up))
    monkeypatch.setattr("agents.table.terminal.line_of", line_of_twice)
    with pytest.raises(OSError, match="Input/output"):
        work()
    assert read_record(Path("saved.json"))["seed"] == 1


def test_no_input_at_all_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its end does."""
    work = play.prepare(replace(FAST, save=Path("saved.json")))
    monkeypatch.setattr("sys.stdin", None)
    work()
    assert read_record(Path("saved.json"))["steps"] == []


def test_what_the_terminal_has_no_letters_for_is_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The game goes on."""
    work = play.prepare(replace(FAST, save=Path("saved.json")))
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdin", io.StringIO("\u05d0\nsave \u05d0.json\n"))
    monkeypatch.setattr("sys.stdout", stdout)
    run(lambda: work)
    stdout.flush()
    assert b"saved to \\u05d0.json" in stdout.buffer.getvalue()  # type: ignore[attr-defined]
    assert read_record(Path("\u05d0.json"))["steps"] == []


def test_an_agent_that_fails_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and the game saved."""
    table = game([["red 5", "red 6", "blue 3"], ["king"]])
    seats = SeatedGame(table, 0, [PERSON, "chosen"], {1: CheckedAgent(Chosen())})
    console = Console(file=io.StringIO())
    person = Play(seats, agents.load("greedy"), console, Path("saved.json"))
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    with pytest.raises(AgentError, match=r"chosen: IndexError"):
        person.play()
    assert [step["action"] for step in read_record(Path("saved.json"))["steps"]] == ["red 5"]


def test_no_other_file_is_overwritten(enter: Any) -> None:
    """By `save FILE`; the game's own is."""
    Path("mine.txt").write_text("mine")
    text = enter(["save mine.txt", "save no/where.json", "save a.json", "save a.json", "save"])
    assert "mine.txt exists" in text and "folder no does not exist" in text
    assert text.count("saved to a.json") == 4, "three times asked for, and at the end"
    assert Path("mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "said"),
    [("a" * 300, "too long"), ("~nobody-of-that-name/a", "home directory"), ("a\0b", "null")],
)
def test_a_file_that_cannot_be_is_refused(enter: Any, name: str, said: str) -> None:
    """And the game goes on, and is saved where it would have been."""
    text = enter([f"save {name}", "save"], replace(FAST, save=Path("saved.json")))
    assert said in text and text.count("saved to saved.json") == 2
    assert [path.name for path in Path().iterdir()] == ["saved.json"]


def test_a_long_name_is_printed_in_one_line(enter: Any) -> None:
    """To be copied."""
    name = "a" * 240
    assert f"--resume {name}\n" in enter([f"save {name}"])
    assert read_record(Path(name))["steps"] == []


def test_the_file_of_a_game_that_is_over_is_deleted(enter: Any) -> None:
    """Once its record is kept."""
    table = game([["red 5", "red stop"], ["blue 1"]])
    Path("saved.json").write_text(line_of(record_of(table, [PERSON, "greedy"])))
    args = PlayArgs(resume=Path("saved.json"), hint="greedy", record=Path("games.jsonl"))
    text = enter(["red stop", "save", "say", "1", "n"], args)
    assert "you won\n" in text and "deleted saved.json: the game is over" in text
    assert [path.name for path in Path().iterdir()] == ["games.jsonl"]


# Undo ---------------------------------------------------------------------------------------------

REFUSED = "nothing to undo"


def test_undo_takes_back_decisions_one_by_one(sit: Any) -> None:
    """As long as nothing hidden was seen: here a Plus and a TAKI."""
    table = game([["red 5", "red 6", "red plus", "red taki"], ["king", "red 1"]])
    start = table.to_dict()
    person, text = sit(table, ["red plus", "red taki", "red 5", "undo", "undo", "undo", "undo"])
    assert text.count("taken back") == 3 and text.count(REFUSED) == 1
    assert person.game.to_dict() == start
    assert read_record(Path("saved.json"))["steps"] == []


def test_undo_ends_where_another_seat_acted(sit: Any) -> None:
    """Although it drew nothing."""
    table = game([["red 5", "red 6", "red 8"], ["red 1", "red 3", "red 9"]])
    person, text = sit(table, ["red 5", "undo"])
    assert "seat 1 played" in text and "taken back" not in text and REFUSED in text
    assert person.game.to_dict()["hands"][0] == ["red 6", "red 8"]


def test_undo_ends_where_a_card_was_drawn(sit: Any) -> None:
    """Although nobody else acted: a Stop with two players, then silence on the last card."""
    top = ["green 1", "green 3", "green 4", "green 5"]
    table = game([["red 5", "red stop"], ["red 1", "red 3"]], top=top)
    entries = ["red stop", "undo", "red stop", "pass", "undo"]
    person, text = sit(table, entries)
    assert text.count("taken back") == 1 and text.count(REFUSED) == 1
    assert "you drew: green 1, green 3, green 4, green 5" in text
    assert len(person.game.to_dict()["hands"][0]) == 5


# What is shown ------------------------------------------------------------------------------------


def screen(table: Game, **options: Any) -> str:
    """Return what seat 0 is shown."""
    console = Console(file=io.StringIO(), width=100, **options)
    names = [PERSON, *["expert"] * (table.num_players - 1)]
    show_decision(console, table.to_dict(), table.legal_names(), 0, names)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_screen_shows_the_table_the_hand_and_the_actions() -> None:
    """The hand by color, the actions by number."""
    hand = ["red 5", "red 5", "green stop", "blue 7", "king", "change color"]
    lines = [line.rstrip() for line in screen(game([hand, ["+3"], ["red 1"]])).splitlines()]
    assert lines[1].startswith("lead [red 7]  color red  direction ->  draw pile 107")
    assert lines[2:5] == [
        "> seat 0 (6 cards): you",
        "  seat 1 (1 card): expert",
        "  seat 2 (1 card): expert",
    ]
    groups = ["  red 5  red 5", "  green stop", "  blue 7", "  king  change color"]
    assert lines[7:11] == groups
    assert lines[12] == "your turn: match red or 7, or play a colorless card"
    actions = " ".join(lines[13:]).split()
    assert " ".join(actions).startswith("1 red 5 2 blue 7 3 king 4 change color to red 5 change")


def test_hidden_cards_stay_hidden() -> None:
    """The screen and the help are the same whatever the others hold and the draw pile brings."""
    table = Game(4, Rules(tournament=True), seed=3)
    twin = table.determinize(0, seed=1)
    assert twin.to_dict()["hands"] != table.to_dict()["hands"]
    assert screen(twin) == screen(table)
    assert help_lines(twin.to_dict(), 0) == help_lines(table.to_dict(), 0)


def test_a_seed_that_was_not_given_is_not_shown(enter: Any) -> None:
    """It would give the hands away."""
    text = enter(["?", "hint", "1", "undo"], replace(FAST, seed=None))
    (saved,) = Path().glob("taki-*.json")
    assert str(read_record(saved)["seed"]) not in text


def test_silence_on_a_plus_three_is_not_told(sit: Any) -> None:
    """Who was asked and passed is not public (RULES.md section 7)."""
    table = game([["+3", "red 5", "red 6"], ["king", "red 1"], ["red 3", "red 4"]])
    _, text = sit(table, ["+3"], {1: Chosen("pass", "red 1")})
    told = text[text.index("you played +3") :].splitlines()
    assert told[:2] == ["you played +3", "all but you drew 3 cards each"]
    assert told[2] == "seat 1 played red 1"


def test_colors_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """https://no-color.org."""
    table = game([["red 5"], ["king"]])
    options = {"force_terminal": True, "color_system": "standard"}
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[91mred 5" in screen(table, **options)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[9" not in screen(table, **options)


def test_a_hand_is_grouped_by_color() -> None:
    """In the order of the rules, the colorless ones last, and no empty groups."""
    hand = ["yellow 1", "change color", "red +2", "+3", "red 1", "red 1"]
    assert list(hand_groups(hand).items()) == [
        ("red", ["red +2", "red 1", "red 1"]),
        ("yellow", ["yellow 1"]),
        ("colorless", ["change color", "+3"]),
    ]


@pytest.mark.parametrize(
    ("hand", "changes", "words"),
    [
        (["red 5", "red 6"], {}, "your turn: match red or 7, or play a colorless card"),
        (["blue 5"], {}, "none of your cards can be played: draw one"),
        (["red 5"], {"lead": "red +2", "pending_draw": 4}, r"a \+2 stack: add .* or draw 4$"),
        (["red 5"], {"open_taki": True}, "a red TAKI was left open: play red to continue it"),
        (
            ["red 5"],
            {"lead": "red taki", "phase": "run", "open_taki": True},
            "your red TAKI is open: play more red cards, or pass to leave it open$",
        ),
        (
            ["blue 5"],
            {"phase": "run", "open_taki": True, "can_close": True},
            "your red TAKI is open: close it, or pass to leave it open$",
        ),
        (["red 5"], {"lead": "red plus", "phase": "plus"}, "a Plus requires one more card$"),
        (["blue 5"], {"lead": "red plus", "phase": "plus"}, "one more card; none .* so draw$"),
        (
            ["blue 5"],
            {"lead": "king", "phase": "king", "color": "red", "symbol": None},
            "your King lets you play any one card; or pass",
        ),
        (["red 5"], {"phase": "last_card"}, "one card left: call it, or silence costs you 4 cards"),
        (
            ["+3 breaker", "king"],
            {"lead": "+3", "phase": "respond", "color": "red", "symbol": None, "turn": 1,
             "plus_three_by": 1},
            "^seat 1's .* a .3 breaker makes seat 1 draw three; a king cancels .*; pass lets it",
        ),
    ],
)  # fmt: skip
def test_every_step_is_explained(hand: list[str], changes: dict[str, Any], words: str) -> None:
    """In a line."""
    table = game([hand, ["green 1"]], **changes)
    assert re.search(words, step_text(table.to_dict(), table.legal_names()))


def test_what_comes_into_the_hand_is_named() -> None:
    """A card that was played is not held against it."""
    before = position([["red 5", "king"], ["red 1"]])
    after = {**before, "hands": [["red 5", "blue 1", "king"], ["red 1"]]}
    assert cards_drawn(before, "red 5", after, 0) == ["red 5", "blue 1"]
    assert cards_drawn({**before, "actor": 1}, "red 1", after, 0) == ["blue 1"]
    assert cards_drawn(before, "pass", after, 0) == ["blue 1"]
    assert as_you("all but seat 1 drew 3 cards each; seat 10", 1) == (
        "all but you drew 3 cards each; seat 10"
    )


# Help and hints -----------------------------------------------------------------------------------


def test_the_help_covers_every_kind_of_card() -> None:
    """Those of the rules, and no other."""
    assert {card_kind(card) for card in CARDS} == set(CARD_HELP)
    rules = (ROOT / "docs" / "RULES.md").read_text()
    section = rules.partition("## 5. ")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| ([^|-]+) \| (.+) \|$", section, re.MULTILINE))
    assert list(rows) == ["card", *CARD_HELP]
    for kind, text in CARD_HELP.items():
        numbers = re.compile(r"\b(?:one|two|second|three|four)\b|\+\d")
        assert set(numbers.findall(text)) <= set(numbers.findall(rows[kind])), kind


def test_help_is_of_the_cards_at_hand() -> None:
    """And of those on the table, with all commands."""
    table = position([["king"], ["+3"]], lead="red 7", open_taki=True)
    lines = help_lines(table, 0)
    kinds = [line.partition(":")[0] for line in lines if line]
    assert kinds == ["number", "taki", "king", *COMMANDS]


def test_hints_say_what_and_why() -> None:
    """Of an agent that searches, one that predicts, and one that only plays."""
    one = {
        "action": "red 5",
        "visits": 30,
        "value": 0.5,
        "line": ["red 5", "draw"],
        "seats": [0, 1],
    }
    other = {**one, "action": "draw", "visits": 10}
    assert hint_lines({"candidates": [one, other]}) == [
        "red 5: 75% of 40 simulations, 50% of them won",
        "expected: seat 1: draw",
    ]
    assert hint_lines({"candidates": [one]}) == ["red 5: the only legal action"]
    assert hint_lines({"probabilities": {"red 5": 0.7, "draw": 0.3}, "value": 0.25}) == [
        "red 5: probability 70%, expected return +0.25 (a win is +1)"
    ]
    assert hint_lines({"action": "draw"}) == ["draw"]


def test_a_hint_that_fails_is_told(sit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the game goes on."""
    monkeypatch.setattr("agents.builtin.GreedyAgent.act", lambda self, view: 1 / 0)
    _, text = sit(game([["red 5", "red 6"], ["king"]]), ["hint", "?"])
    assert "no hint: greedy: ZeroDivisionError" in text and "quit: " in text


# Entries ------------------------------------------------------------------------------------------

LEGAL = ["red 5", "+3", "+3 breaker", "super taki", "change color to red", "change color to blue"]


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ("1", "red 5"),
        ("6", "change color to blue"),
        ("Red  5", "red 5"),
        ("r", "red 5"),
        ("+3", "+3"),
        ("+3 b", "+3 breaker"),
        ("su", "super taki"),
        ("change color to b", "change color to blue"),
        ("h", "hint"),
        ("?", "?"),
    ],
)
def test_entries(entry: str, meant: str) -> None:
    """Numbers, names, and beginnings that only one name has."""
    assert match_entry(entry, LEGAL) == meant


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("s", "'s' is ambiguous: super taki, save"),
        ("change", "is ambiguous: change color to red, change color to blue"),
        ("0", r"'0' is not possible now \(enter 1 to 6"),
        ("7", "is not possible now"),
        ("-1", "is not possible now"),
        ("", "'' is not possible now"),
        ("rde 5", "did you mean 'red 5'"),
        ("pass", "is not possible now"),
    ],
)
def test_wrong_entries(entry: str, words: str) -> None:
    """Say what could be meant."""
    with pytest.raises(EntryError, match=words):
        match_entry(entry, LEGAL)


def test_every_command_is_done() -> None:
    """Those that the help lists."""
    table = SeatedGame.of(Game(seed=0), 0, [PERSON, "greedy"])
    person = Play(table, agents.load("greedy"), Console(file=io.StringIO()), Path("saved.json"))
    assert person._commands.keys() == COMMANDS.keys()


# Arguments and files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"opponents": ("exprt",)}, "did you mean 'expert'"),
        (
            {"opponents": ("greedy", "expert")},
            "--opponents must be one agent, or 1 for 2 players, got 2",
        ),
        ({"opponents": ()}, "--opponents must be one agent, or 1 for 2 players, got 0"),
        ({"opponents": ("search:simulations=x",)}, "simulations must be int"),
        ({"opponents": (PERSON,)}, "'person' is not an agent"),
        ({"hint": "serch"}, "did you mean 'search'"),
        ({"players": 11}, "num_players must be an integer from 2 to 10"),
        ({"seat": 2}, "--seat must be 0 to 1"),
        ({"seed": -1}, "seed"),
        ({"delay": -1.0}, "--delay must be a finite number of at least 0"),
        ({"save": Path("no/where.json")}, "--save: folder no does not exist"),
        ({"record": Path("no/where.jsonl")}, "--record: folder no does not exist"),
        ({"save": Path("a"), "record": Path("a")}, "--save and --record name the same file"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], words: str) -> None:
    """Are named before the game begins."""
    with pytest.raises(ValueError, match=words):
        play.prepare(replace(FAST, **options))


def test_opponents_sit_in_order_around_the_person() -> None:
    """One for each other seat."""
    table = play.seated(replace(FAST, players=4, seat=1, opponents=("random", "greedy", "expert")))
    assert table.names == ["random", PERSON, "greedy", "expert"] and table.seat == 1
    assert {seat: agent.name for seat, agent in table.agents.items()} == {
        0: "random", 2: "greedy", 3: "expert",
    }  # fmt: skip


def record_of(table: Game, names: list[str]) -> dict[str, Any]:
    """Return a record, which may be changed."""
    return json.loads(line_of(table.record(names=names)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: "{", "line 1: invalid JSON"),
        (lambda record: "", "line 1 does not exist"),
        (lambda record: {}, "lacks the key"),
        (lambda record: {**record, "names": None}, "not of a game saved by this command"),
        (lambda record: {**record, "names": ["greedy"] * 2}, "not of a game saved by this command"),
        (lambda record: {**record, "names": [PERSON] * 2}, "not of a game saved by this command"),
        (lambda record: {**record, "names": [PERSON, "grdy"]}, "did you mean 'greedy'"),
        (lambda record: {**record, "seed": 7}, "first and word differ from what seed 7 deals"),
        (lambda record: Game(seed=1).record(seat=0, names=[PERSON, "greedy"]), "not of a game"),
    ],
)
def test_files_that_cannot_be_resumed(change: Any, words: str) -> None:
    """Say why, and name the file."""
    changed = change(record_of(Game(seed=1), [PERSON, "greedy"]))
    text = changed if isinstance(changed, str) else json.dumps(changed)
    Path("saved.json").write_text(text)
    with pytest.raises(ValueError, match=rf"^saved\.json.*{words}"):
        play.prepare(PlayArgs(resume=Path("saved.json")))


def test_a_finished_game_cannot_be_resumed() -> None:
    """Nor one that is not there, nor one whose options are given again."""
    with pytest.raises(FileNotFoundError, match=r"saved\.json"):
        play.prepare(PlayArgs(resume=Path("saved.json")))
    table = game([["red 5"], ["king"]])
    table.apply("red 5")
    Path("saved.json").write_text(line_of(record_of(table, [PERSON, "greedy"])))
    with pytest.raises(ValueError, match=r"saved\.json: the game is over, seat 0 has won"):
        play.prepare(PlayArgs(resume=Path("saved.json")))
    with pytest.raises(ValueError, match="the file determines the players"):
        play.prepare(PlayArgs(resume=Path("saved.json"), players=3))
    with pytest.raises(ValueError, match=r"--save: saved\.json exists"):
        play.prepare(PlayArgs(save=Path("saved.json")))
