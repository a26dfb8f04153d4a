"""The analysis of a position: what is printed and written, and what is wrong with a file."""

from __future__ import annotations

import io
import json
import re
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents.cli import run
from agents.network.network import TakiNetwork
from agents.network.policy import PolicyAgent
from agents.statistics import wilson_interval
from agents.table import analyze
from agents.table.analyze import Analyst, AnalyzeArgs, Predictor
from agents.validation import AgentError, CheckedAgent
from taki_env import ACTIONS, Game, View
from tests.helpers import game, position
from training.arena import evaluate

TWO_STOPS = position([["red 5", "red stop"], ["king"]])
AGENT = "search:simulations=500"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with a position."""
    path = tmp_path / "position.json"
    path.write_text(json.dumps(TWO_STOPS))
    return path


def printed(capsys: pytest.CaptureFixture[str], file: Path | str, **options: Any) -> str:
    """Return what the command prints."""
    analyze.prepare(AnalyzeArgs(str(file), **{"agent": AGENT, **options}))()
    return capsys.readouterr().out


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table's rows."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_search_shows_every_action(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Its visits, wins, interval, and who does what afterwards."""
    stop, five = rows(printed(capsys, file))
    assert (stop[0], stop[2], stop[4]) == ("red stop", "100.0%", "seat 0: red 5")
    assert five[0] == "red 5" and five[4].startswith("seat 1: draw; seat 0: red stop")
    assert int(stop[1]) + int(five[1]) == 500
    low, high = wilson_interval(int(stop[1]), int(stop[1]))
    assert stop[3] == f"{low:.1%} to {high:.1%}"


def test_hidden_hands_stay_hidden(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """All that is printed is the same with other hidden cards; `--reveal` shows them."""
    text = printed(capsys, file)
    assert "red 5  red stop" in text and "hidden" in text and "king" not in text
    twin = Game.from_dict(TWO_STOPS).determinize(0, seed=1)
    file.write_text(json.dumps(twin.to_dict()))
    assert printed(capsys, file) == text
    file.write_text(json.dumps(TWO_STOPS))
    revealed = printed(capsys, file, reveal=True)
    assert "seat 1 (1 card): king" in revealed and rows(revealed) == rows(text)


def test_the_file_holds_the_analysis(file: Path, tmp_path: Path) -> None:
    """With what made it, no figure that JSON does not know, and the whole position."""
    out = tmp_path / "analysis.json"
    found = analyze.prepare(AnalyzeArgs(str(file), "search:simulations=1", 3, json=out))()
    written = json.loads(out.read_text(), parse_constant=pytest.fail)
    assert {"commit", "versions", "hardware", "env"} <= written.keys()
    assert written["arguments"]["seed"] == 3
    assert written["position"] == Game.from_dict(TWO_STOPS).to_dict()
    assert written["agent"] == "search:simulations=1" and written["actor"] == 0
    untried = written["candidates"][1]
    assert (untried["visits"], untried["value"], untried["interval"]) == (0, None, None)
    assert json.loads(json.dumps(found))["candidates"] == written["candidates"]
    assert {path.name for path in tmp_path.iterdir()} == {"position.json", "analysis.json"}


def test_a_draw_pile_left_open_is_shuffled(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """A position needs no draw pile."""
    file.write_text(json.dumps({**TWO_STOPS, "draw_pile": None}))
    assert rows(printed(capsys, file))[0][0] == "red stop"


@pytest.mark.parametrize("agent", ["random", "greedy", "expert"])
def test_other_agents_show_their_choice(
    capsys: pytest.CaptureFixture[str], file: Path, agent: str
) -> None:
    """The action that they play."""
    choice = ACTIONS[agents.load(agent).act(Game.from_dict(TWO_STOPS).view())[0]]
    assert printed(capsys, file, agent=agent).endswith(f"{agent}, for seat 0: {choice}\n")


def test_a_network_shows_probabilities_and_value() -> None:
    """Of the legal actions, the likeliest first; `act` takes that one."""
    torch.manual_seed(0)
    agent = PolicyAgent(TakiNetwork(8))
    table = game([["red 3", "red 5", "blue 7", "king"], ["green 1"], ["green 1"]])
    found = analyze.analysis(table, agent)
    shares = list(found["probabilities"].values())
    assert set(found["probabilities"]) == set(table.legal_names())
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    assert next(iter(found["probabilities"])) == ACTIONS[agent.act(table.view())[0]]
    console = analyze.Console(file=io.StringIO(), width=100, record=True)
    analyze.show(table, {"agent": "policy", **found}, console)
    words = f"policy, for seat 0: expects {found['value']:+.2f}, where a win is +1 and a loss -0.5"
    assert words in console.export_text()


def test_which_agents_analyze() -> None:
    """What an agent offers is seen by its methods."""
    assert isinstance(agents.load("search"), Analyst)
    assert not isinstance(agents.load("expert"), Analyst | Predictor)


def test_an_illegal_choice_is_refused() -> None:
    """An agent of the user's own may be wrong."""

    class Wrong:
        name = "wrong"

        def act(self, view: object) -> np.ndarray:
            return np.array([63])

    with pytest.raises(ValueError, match=r"wrong: 63 \('say last card'\) is not legal"):
        analyze.analysis(Game.from_dict(TWO_STOPS), Wrong())


FLAWS: list[tuple[str, str]] = [
    ("np.ones(len(view))", "wrong type: ndarray of float64, not integers"),
    ("None", "wrong type: NoneType of object, not integers"),
    ("[[1]]", r"wrong shape: \(1, 1\)"),
    ("{}['key']", "KeyError: 'key'"),
    ("sys.exit(3)", "SystemExit: 3"),
    ("np.full(len(view), 99)", r"99 \(not an action\) is not legal"),
]


@pytest.fixture(params=FLAWS, ids=lambda flaw: flaw[0])
def flawed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return the spelling of an agent that fails, and what is said of it."""
    answer, words = request.param
    code = f"class Agent:\n    name = 'own'\n    def act(self, view):\n        return {answer}\n"
    module = types.ModuleType("flawed_agents")
    exec(f"import sys\nimport numpy as np\n{code}", module.__dict__)
    monkeypatch.setitem(sys.modules, "flawed_agents", module)
    return "import:flawed_agents:Agent", f"error: own: {words}"


def refused(command: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command says that ends with status 1."""
    with pytest.raises(SystemExit) as left:
        run(command)
    assert left.value.code == 1
    return capsys.readouterr().err


def test_an_agent_that_fails_is_named_in_a_line(
    flawed: tuple[str, str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a traceback, also in evaluation, on either side."""
    spec, words = flawed
    sides = [(spec, "random"), ("random", spec)]
    commands = [partial(evaluate.prepare, evaluate.EvaluateArgs(*side, games=4)) for side in sides]
    for command in (partial(analyze.prepare, AnalyzeArgs(str(file), spec)), *commands):
        said = refused(command, capsys)
        assert re.match(words, said.splitlines()[-1]) and "Traceback" not in said


@pytest.mark.parametrize("method", ["analyze", "predict"])
def test_an_analyst_that_fails_is_named(method: str) -> None:
    """Whatever it returns in place of an analysis."""

    class Wrong:
        name = "wrong"

        def act(self, view: object) -> None:
            pass

    setattr(Wrong, method, lambda self, view: [[None]])
    with pytest.raises(AgentError, match=r"^wrong: "):
        analyze.analysis(Game.from_dict(TWO_STOPS), Wrong())


def test_an_agent_that_writes_over_its_view_is_blamed() -> None:
    """What is legal does not change by it."""

    class Cheat:
        name = "cheat"

        def act(self, view: View) -> Any:
            view.legal[:] = 2**64 - 1
            return [63]

    with pytest.raises(AgentError, match=r"^cheat: "):
        CheckedAgent(Cheat()).act(Game.from_dict(TWO_STOPS).view())


OVER = position([[], ["king"]], phase="over", winner=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "position.json: invalid JSON: Expecting property name"),
        ("", "position.json: invalid JSON"),
        ("[" * 100_000 + "]" * 100_000, "position.json: not a position: it is nested too deep"),
        ("[1]", "position.json: a position must be a JSON object, got list"),
        ("{}", "position.json: "),
        (json.dumps({**TWO_STOPS, "phase": "paly"}), "position.json: .*did you mean 'play'"),
        (json.dumps({**TWO_STOPS, "hands": 3}), "position.json: "),
        (json.dumps({**TWO_STOPS, "hands": [["red 5"], ["king"]]}), "position.json: .*red stop"),
        (json.dumps(OVER), "position.json: the game is over, seat 0 has won"),
    ],
)
def test_a_file_that_is_no_position_says_why(file: Path, text: str, words: str) -> None:
    """In a line that names the file."""
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        analyze.prepare(AnalyzeArgs(str(file)))


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    """As no JSON."""
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="invalid JSON"):
        analyze.prepare(AnalyzeArgs(str(file)))


def test_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it holds what is wrong, and when it is right."""
    monkeypatch.setattr("sys.stdin", io.StringIO("{"))
    with pytest.raises(ValueError, match="standard input: invalid JSON"):
        analyze.prepare(AnalyzeArgs("-"))
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(TWO_STOPS)))
    assert analyze.prepare(AnalyzeArgs("-", "expert"))()["action"] in ("red 5", "red stop")


def test_missing_files_folders_and_agents_are_named(file: Path, tmp_path: Path) -> None:
    """Before any work."""
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        analyze.prepare(AnalyzeArgs(str(tmp_path / "nothing.json")))
    with pytest.raises(ValueError, match=r"--json: folder .* does not exist"):
        analyze.prepare(AnalyzeArgs(str(file), json=tmp_path / "no" / "out.json"))
    with pytest.raises(ValueError, match=r"--json: .* is not a file"):
        analyze.prepare(AnalyzeArgs(str(file), json=tmp_path))
    with pytest.raises(ValueError, match="did you mean 'search'"):
        analyze.prepare(AnalyzeArgs(str(file), "serch"))
    with pytest.raises(ValueError, match="seed"):
        analyze.prepare(AnalyzeArgs(str(file), seed=-1))


@pytest.mark.parametrize("phase", ["play", "plus", "last_card", "over"])
def test_a_game_shows_its_view(phase: str) -> None:
    """What its actor sees, of a copy; nobody acts in a game that is over."""
    lead = "red plus" if phase == "plus" else "red 7"
    hand = [] if phase == "over" else ["red 5"]
    table = game([hand, ["king"]], lead, phase=phase, winner=0 if phase == "over" else None)
    if phase == "over":
        with pytest.raises(ValueError, match="the game is over, seat 0 has won"):
            table.view()
        return
    view = table.view()
    np.testing.assert_array_equal(view.observations[0], table.observation())
    np.testing.assert_array_equal(view.action_masks[0], table.action_mask())
    table.apply(table.legal_actions()[0])
    np.testing.assert_array_equal(view.seats, [0])
