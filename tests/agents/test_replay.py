"""Recorded games on files, from the commands that play, in words, and as a page in a browser."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tyro
from playwright.sync_api import expect

import agents
from agents.files import partial_path
from agents.table import replay
from agents.table.page import page as page_of
from agents.table.page import show
from agents.table.record_files import (
    RecordedGame,
    append_record,
    read_record,
    read_records,
    recording,
)
from agents.table.replay_text import text
from taki_env import Game, RecordError, Rules
from taki_env.core.cards import CARDS
from taki_env.game import game as games
from taki_env.records.read import positions_of
from tests.helpers import game
from tools.browser import find_chromium, open_browser
from training.arena import command as arena
from training.arena import evaluate, ratings
from training.arena.tournament import Tournament

A = ["blue 1", "blue 3"]
Record = dict[str, Any]


def played(num_players: int, rules: Rules | None = None, seed: int = 0, most: int = 40) -> Game:
    """Return a game after some random actions."""
    table, choose = Game(num_players, rules, seed), random.Random(seed)
    while not table.is_over and table.decisions < most:
        table.apply(choose.choice(table.legal_actions()))
    return table


def run(*words: object) -> None:
    """Run the command in this process."""
    replay.prepare(tyro.cli(replay.ReplayArgs, args=[*map(str, words)]))()


# Files --------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write three games, a line each, the second as seat 1 saw it."""
    path = tmp_path / "games.jsonl"
    with recording(path) as add:
        for number, seat in enumerate((None, 1, None)):
            add(played(3, seed=number).record(seat=seat))
    return path


def test_a_file_gives_its_games_back_line_by_line(file: Path) -> None:
    """In order, the second a seat's."""
    records = list(read_records(file))
    assert [record["seat"] for record in records] == [None, 1, None]
    assert [read_record(file, line) for line in (1, 2, 3)] == records
    assert records[2] == json.loads(json.dumps(played(3, seed=2).record()))


def test_what_ends_the_work_leaves_the_games_before_it(tmp_path: Path) -> None:
    """Each is on the disk, whole, before the next is played; an old file stays until the end."""
    path = tmp_path / "games.jsonl"
    path.write_text("old")
    record = played(2).record()
    with pytest.raises(KeyboardInterrupt), recording(path) as add:
        for count in (1, 2):
            add(record)
            assert len(list(read_records(partial_path(path)))) == count
        assert path.read_text() == "old"
        raise KeyboardInterrupt
    assert len(list(read_records(path))) == 2


def test_a_game_is_added_on_a_line_of_its_own(tmp_path: Path) -> None:
    """After games, and after half a line that an editor or a full disk left."""
    path, record = tmp_path / "games.jsonl", played(2).record()
    append_record(path, record)
    append_record(path, record)
    path.write_text(path.read_text() + '{"format": 1')
    append_record(path, record)
    assert [read_record(path, line) for line in (1, 2, 4)] == [record] * 3


def edit(file: Path, line: int, change: Any) -> None:
    """Change a record in a file."""
    lines = file.read_text().splitlines()
    record = json.loads(lines[line - 1])
    change(record)
    lines[line - 1] = json.dumps(record)
    file.write_text("\n".join(lines) + "\n")


def test_a_changed_action_is_refused_with_its_line(file: Path) -> None:
    """The games before it are read, and the error names line, step and what is legal."""
    edit(file, 3, lambda record: record["steps"][6].update(action="say last card"))
    assert read_record(file, 1)
    words = r"games.jsonl, line 3: step 7: 'say last card' \(63\) is not legal for seat \d"
    with pytest.raises(RecordError, match=words):
        list(read_records(file))


def test_a_changed_record_of_a_seat_is_refused_with_its_line(file: Path) -> None:
    """As far as its cards show: seat 1 plays what it does not hold."""
    assert "super taki" not in read_record(file, 2)["first"]["hands"][1]
    edit(file, 2, lambda r: r["steps"].insert(0, {**r["steps"][0], "actor": 1, "action": "+3"}))
    with pytest.raises(RecordError, match="line 2: step 1: seat 1 does not hold"):
        read_record(file, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *(("{", "line 1: invalid JSON"), ("[" * 100_000, "line 1: invalid JSON")),
        *(
            ("[]", "line 1: the record"),
            ("\xff", "line 1: invalid JSON"),
            ("", "line 1 does not exist"),
        ),
    ],
)
def test_a_line_that_is_no_record_is_refused(tmp_path: Path, words: str, said: str) -> None:
    """With its number."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(words.encode("latin-1"))
    with pytest.raises(RecordError, match=said):
        read_record(path)


# Commands that play -------------------------------------------------------------------------------


def test_the_arena_records_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones, in order, with the agents at their seats; the outcome is the same."""
    monkeypatch.setattr(ratings, "RESAMPLES", 20)
    file = tmp_path / "games.jsonl"
    args = arena.ArenaArgs(("random", "greedy", "expert"), players=3, games=6, seed=3, batch=10)
    args = replace(args, record=file, recorded=25)
    report = arena.prepare(args)()
    records = list(read_records(file))
    plain = Tournament(args.agents, 3, 6, 3)
    plain.play_batch()
    assert report.seats == plain.report().seats
    assert len(records) == 25
    deals, lineups, rotations = np.unravel_index(np.arange(25), plain.outcomes.winners.shape)
    assert [record["deal"] for record in records] == deals.tolist()
    for record, winner, seated in zip(
        records, plain.outcomes.winners.flat, plain.seating[lineups, rotations], strict=False
    ):
        assert record["result"]["winner"] == winner
        assert record["names"] == [plain.names[index] for index in seated]


def test_a_forfeited_game_says_why_it_ends(tmp_path: Path) -> None:
    """Its record ends before the action that was none."""

    class Broken:
        name = "broken"

        def act(self, view: Any) -> Any:
            raise OSError("no idea")

    found: list[Record] = []
    tournament = Tournament([Broken(), "greedy"], games=1, recorded=2, record=found.append)
    while tournament.play_batch():
        pass
    assert found[0]["steps"] == []
    assert found[0]["result"]["truncated"]
    assert found[0]["note"] == "seat 0, broken, forfeits: exception: OSError: no idea"


def test_an_evaluation_records_its_games(tmp_path: Path) -> None:
    """The agent takes each seat in turn."""
    file = tmp_path / "games.jsonl"
    args = evaluate.EvaluateArgs("expert", "greedy", players=3, games=6, record=file, recorded=4)
    result = evaluate.prepare(args)()
    assert result == evaluate.prepare(replace(args, record=None))()
    records = list(read_records(file))
    assert [record["names"].index("expert") for record in records] == [0, 1, 2, 0]
    assert [record["deal"] for record in records] == [0, 0, 0, 1]
    evaluate.prepare(replace(args, recorded=100))()
    wins = [r["names"][r["result"]["winner"]] == "expert" for r in read_records(file)]
    assert (len(wins), sum(wins)) == (6, result.wins)


@pytest.mark.parametrize("number", [0, -1])
def test_a_number_of_games_to_record_is_one_or_more(tmp_path: Path, number: int) -> None:
    """Else there would be no need of the file."""
    for args in (
        arena.ArenaArgs(("random", "greedy"), record=tmp_path / "a", recorded=number),
        evaluate.EvaluateArgs("random", "greedy", record=tmp_path / "a", recorded=number),
    ):
        with pytest.raises(ValueError, match="--recorded must be an integer of at least 1"):
            {arena.ArenaArgs: arena, evaluate.EvaluateArgs: evaluate}[type(args)].prepare(args)


# In words -----------------------------------------------------------------------------------------


def test_a_game_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The table, then every step with what was drawn and expected, then the result."""
    top = ["green 9", "green 8", "green 7", "green 6", "blue 9"]
    table = game([["red 4", "green 5"], A, ["yellow 1"]], top=top)
    for action in ("red 4", "pass", "draw"):
        table.apply(action)
    file = tmp_path / "games.jsonl"
    with recording(file) as add:
        add(table.record(names=["ann", "bob", "eve"], values=[0.5, None, -0.25], note="a puzzle"))
    run(file)
    text = capsys.readouterr().out
    assert "step 1 of 3: seat 0, ann played red 4; expected +0.50\n" in text
    drew = f"seat 0 drew {', '.join(top[:4])}"
    assert f"step 2 of 3: seat 0, ann did not call the last card; {drew}\n" in text
    assert "step 3 of 3: seat 1 drew blue 9; expected -0.25\n" in text
    assert text.endswith("The game is not over.\na puzzle\n")


def test_a_game_in_words_as_a_seat_saw_it(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Of the others' cards there is only how many; a full game can be shown so as well."""
    for words in (("--line", 2), ("--line", 1, "--seat", 1)):
        run(file, *words)
        text = capsys.readouterr().out
        assert "seat 0 (8 cards): hidden" in text
        assert re.search(r"seat [02] drew \d card", text)
        assert set(re.findall(r"seat [02] drew (\D)", text)) == set()


def test_a_file_is_checked(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """All of its games."""
    run(file, "--check")
    assert "games.jsonl: all 3 games are valid" in capsys.readouterr().out
    one = file.with_name("one.jsonl")
    one.write_text(file.read_text().splitlines()[0])
    run(one, "--check")
    assert "one.jsonl: 1 game is valid" in capsys.readouterr().out
    edit(file, 3, lambda record: record["result"].update(winner=1))
    with pytest.raises(RecordError, match="line 3: result: winner is None, not 1"):
        run(file, "--check")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--line", 4), "line 4 does not exist, the file has 3"),
        (("--line", 0), "line 0 does not exist"),
        (("--seat", 3), "--seat must be 0 to 2, got 3"),
        (("--line", 2, "--seat", 0), "holds only what seat 1 saw"),
        (("--line", 2, "--values", "search"), "holds only what seat 1 saw"),
        (("--values", "greedy"), "'?greedy'? only chooses actions"),
        (("--html", "game.txt"), "must end in .html"),
    ],
)
def test_arguments_that_cannot_be_met_are_refused(file: Path, words: Any, said: str) -> None:
    """Before any work."""
    with pytest.raises(ValueError, match=said):
        run(file, *words)


def test_a_shown_game_is_replayed_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When its record is read: the page, a seat's view and values need no second replay."""
    replays, replayed = [], games.read_full

    def counted(record: Any) -> Any:
        replays.append(record)
        return replayed(record)

    monkeypatch.setattr(games, "read_full", counted)
    values = ("--values", "search:simulations=2")
    for words in ((), ("--html", file.with_name("game.html")), ("--seat", 0), values):
        replays.clear()
        run(file, *words)
        assert len(replays) == 1


def test_an_agent_says_what_it_expects() -> None:
    """Seat 0 can win at once, in two steps."""
    table = game([["red 1", "super taki"], A])
    for action in ("super taki", "red 1"):
        table.apply(action)
    search = agents.load("search:simulations=64,rollout=random")
    record = replay.with_values(RecordedGame.of(table.record()), search).record
    assert [step["value"] > 0.8 for step in record["steps"]] == [True, True]
    assert len(positions_of(record)) == 3


# The page -----------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else(file: Path) -> None:
    """No address in it, and its own policy forbids any connection."""
    run(file, "--html", page_file := file.with_name("game.html"))
    text = page_file.read_text()
    assert not re.search(r"(src|href|url|import)\s*[=(]|https?:|@import", text)
    assert "default-src 'none'" in text


def test_names_cannot_break_out_of_the_page() -> None:
    """Whoever names an agent writes no code."""
    name = "</script><script>alert(1)</script>"
    shown = page_of(RecordedGame.of(played(2).record(names=[name, "b"], note=name)))
    assert "<script>alert" not in shown
    assert shown.count("</script>") == 2


def test_names_that_are_no_text_are_shown(tmp_path: Path) -> None:
    """JSON has halves of characters, UTF-8 has none."""
    file, page_file = tmp_path / "games.jsonl", tmp_path / "game.html"
    with recording(file) as add:
        add(played(2).record(names=["\ud800", "b"]))
    run(file, "--html", page_file)
    assert "<title>TAKI: &#55296;, b</title>" in page_file.read_text(encoding="utf-8")


def test_a_notebook_shows_the_page() -> None:
    """As a frame that holds all of it; a terminal shows the words."""
    record = played(2).record()
    shown, game = show(record), RecordedGame.of(record)
    inner = re.search(r'srcdoc="([^"]*)"', shown._repr_html_())
    assert inner and html.unescape(inner[1]) == page_of(game)
    assert str(shown) == text(game)
    with pytest.raises(RecordError):
        show({})


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Open Chromium."""
    if find_chromium() is None:
        pytest.skip("no Chromium to open the page with: apt-get install chromium")
    with open_browser() as found:
        yield found


class Page:
    """A replay page in the browser."""

    def __init__(self, browser: Any, folder: Path, record: Record, at: str = "") -> None:
        file = folder / "game.html"
        file.write_text(page_of(RecordedGame.of(record)), encoding="utf-8")
        self.errors: list[str] = []
        self.context = browser.new_context(offline=True)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.goto(file.as_uri() + at)

    def step(self) -> int:
        """Return the number of the step that is shown."""
        return int(self.page.input_value("#number"))

    def words(self) -> str:
        """Return the last action in words."""
        return str(self.page.inner_text("#action"))

    def hands(self) -> list[list[str]]:
        """Return the names of the cards that are shown in all hands."""
        found: list[list[str]] = self.page.eval_on_selector_all(
            ".seat",
            "seats => seats.map(seat => [...seat.querySelectorAll('.card')].map(c => c.ariaLabel))",
        )
        return found

    def lead(self) -> str:
        """Return the name of the leading card."""
        found: str = self.page.get_attribute("#piles figure:last-child .card", "aria-label")
        return found


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Give what opens the page of a record; no page may end with an error."""
    pages: list[Page] = []

    def open_page(record: Record, at: str = "") -> Page:
        pages.append(Page(browser, tmp_path, record, at))
        return pages[-1]

    yield open_page
    for page in pages:
        page.context.close()
        assert page.errors == []


@pytest.mark.parametrize("num_players", [2, 10])
def test_the_page_shows_every_position(opened: Any, num_players: int) -> None:
    """Hands and leading card of all positions, at the step that the number says."""
    table = played(num_players, Rules(tournament=num_players > 2), seed=1, most=15)
    page, record = opened(table.record()), table.record()
    for number, at in enumerate(positions_of(record)):
        assert page.step() == number
        assert page.hands() == at["hands"]
        assert page.lead() == at["discard_pile"][-1]
        assert f"draw pile: {len(at['draw_pile'])}" in page.page.inner_text("#piles")
        page.page.keyboard.press("ArrowRight")
    assert page.step() == len(record["steps"])


def test_keys_step_and_jump(opened: Any) -> None:
    """Arrows, Home and End, wherever the focus is but in a field for typing."""
    page = opened(played(3, most=20).record())
    press = page.page.keyboard.press
    for key, step in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 20)):
        press(key)
        assert page.step() == step
    assert page.page.is_disabled("#next") and page.page.is_enabled("#back")
    page.page.focus("#slider")
    press("ArrowLeft")
    assert page.step() == 19
    press("Home")
    assert page.step() == 0
    assert page.words() == "The game begins."


def test_buttons_slider_number_and_address_jump(opened: Any) -> None:
    """Each has a name for those who do not see it, and takes the focus."""
    record = played(3, most=20).record(names=["ann", "bob", "eve"])
    page = opened(record, "#step=7&view=1")
    assert (page.step(), page.page.input_value("#view")) == (7, "1")
    for name, step in (("one step forward", 8), ("to the end", 20), ("one step back", 19)):
        page.page.get_by_role("button", name=name).click()
        assert page.step() == step
    page.page.fill("#slider", "5")
    assert page.step() == 5
    page.page.fill("#number", "999")
    page.page.keyboard.press("Enter")
    assert page.step() == 20
    names = page.page.eval_on_selector_all(
        "button, input, select", "all => all.map(e => e.ariaLabel || e.labels[0]?.innerText || '')"
    )
    assert all(names)
    assert not page.page.locator("[tabindex='-1']").count()


def test_play_goes_on_to_the_end_and_stops(opened: Any) -> None:
    """Space and the button play and pause."""
    page = opened(played(2, most=12).record())
    page.page.select_option("#speed", "20")
    page.page.keyboard.press("Escape")
    page.page.focus("#slider")
    page.page.keyboard.press(" ")
    expect(page.page.locator("#number")).to_have_value("12", timeout=60_000)
    button = page.page.locator("#play")
    assert (button.inner_text(), button.get_attribute("aria-pressed")) == ("play", "false")
    page.page.select_option("#speed", "0.5")
    button.click()
    assert (page.step(), button.inner_text()) == (0, "pause")
    page.page.keyboard.press("ArrowRight")
    assert (page.step(), button.inner_text()) == (1, "play")


def test_a_seats_view_hides_the_other_cards(opened: Any) -> None:
    """Hands and draws of the others, at every step; its own stay."""
    table = played(3, seed=4, most=30)
    page, record = opened(table.record()), table.record()
    page.page.select_option("#view", "1")
    for number, at in enumerate(positions_of(record)):
        hidden = [["hidden card"] * len(hand) for hand in at["hands"]]
        assert page.hands() == [hidden[0], at["hands"][1], hidden[2]]
        for seat, cards in record["steps"][number - 1].get("draws", []) if number else []:
            shown = ", ".join(cards) if seat == 1 else f"{len(cards)} card"
            assert f"seat {seat} drew {shown}" in page.words()
        page.page.keyboard.press("ArrowRight")


def test_a_seats_view_is_its_record(opened: Any) -> None:
    """Words and hands step by step, of a +3 that two seats secretly let stand."""
    hands = [["+3", *A], ["+3 breaker", "green 4"], ["+3 breaker", "green 5"], ["red 1", "red 3"]]
    table = game(hands)
    for action in ("+3", "pass", "pass"):
        table.apply(action)
    for seat, steps in ((0, 1), (1, 2)):
        full, own = opened(table.record(), f"#view={seat}"), opened(table.record(seat))
        for page in (full, own):
            assert page.page.get_attribute("#slider", "max") == str(steps)
        for _ in range(steps):
            assert full.words() == own.words()
            assert full.hands() == own.hands()
            for page in (full, own):
                page.page.keyboard.press("ArrowRight")
        assert full.words() == own.words()
        assert "let the +3 stand" in full.words() if seat == 1 else "stand" not in full.words()
    assert opened(table.record()).page.get_attribute("#slider", "max") == "3"


def test_a_seats_page_holds_no_other_cards(opened: Any) -> None:
    """Its own view is the only one, and the file itself has nothing to find."""
    table = played(2, most=6)
    page = opened(table.record(seat=0))
    assert page.page.is_disabled("#view")
    data = json.loads(page.page.text_content("#game"))
    others = [change["hands"].get("1", []) for change in data["changes"]]
    assert {card for hand in others for card in hand} <= {-1}
    assert data["cards"] == list(CARDS)


def test_what_agents_expect_is_shown_to_those_who_may_know(opened: Any) -> None:
    """With its sign, at the seat that acted, from then on."""
    table = game([["red 1", *A], ["red 3", *A], ["green 4"]])
    table.apply("red 1")
    table.apply("red 3")
    page = opened(table.record(values=[0.5, -0.25]))
    seats = [page.page.locator(f"[data-seat='{seat}'] h2") for seat in range(2)]
    page.page.keyboard.press("End")
    assert [re.findall(r"expects (\S+)", seat.inner_text()) for seat in seats] == [
        ["+0.50"],
        ["-0.25"],
    ]
    page.page.select_option("#view", "0")
    assert "expects" not in seats[1].inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_readers_colors(opened: Any, scheme: str) -> None:
    """Text and page differ in brightness, the other way round in the dark."""
    page = opened(played(2, most=3).record())
    page.page.emulate_media(color_scheme=scheme)
    brightness = (
        "name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3)"
        ".reduce((sum, part) => sum + Number(part), 0)"
    )
    ink, paper = (page.page.evaluate(brightness, name) for name in ("color", "backgroundColor"))
    assert (paper > ink) == (scheme == "light")
    assert abs(paper - ink) > 400
