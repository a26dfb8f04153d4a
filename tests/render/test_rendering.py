"""What is shown of a game: actions in words, the table as text, as a picture, in a window."""

from __future__ import annotations

import copy
import io
import pickle
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from itertools import combinations, islice, pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from PIL import Image

import taki_env
from taki_env import ACTIONS, CARDS, Game
from taki_env.envs.gymnasium_env import TakiEnv
from taki_env.envs.vector import TakiVectorEnv
from taki_env.render.card_art import back, face, pygame
from taki_env.render.drawing import Window, picture
from taki_env.render.geometry import HEIGHT, PICTURE, WIDTH, hand_box, hand_places, seat_boxes
from taki_env.render.words import LastActions, action_text, table_text
from tests.game.test_hidden import PLAYABLE, permuted, states_of
from tests.helpers import game, position, rest_of_deck

A = ["blue 1", "blue 3"]
B = ["green 4", "green 5"]
C = ["yellow 6", "yellow 8"]
IMAGES = Path(__file__).parents[2] / "docs" / "images"
TOURNAMENT = {"rules": {"tournament": True}, "stages": [5, 8]}


def told(table: Game, *actions: str) -> str:
    """Return the last of some actions in words."""
    text = ""
    for action in actions:
        before = table.to_dict()
        table.apply(action)
        text = action_text(before, ACTIONS.index(action), table.to_dict())
    return text


# Actions in words ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hands", "changes", "actions", "words"),
    [
        ([["red 5", *A], B], {}, ["red 5"], "seat 0 played red 5"),
        ([["red 5", *A], B], {"turn": 1, "actor": 1}, ["draw"], "seat 1 drew a card"),
        (
            [A, B],
            {"lead": "red +2", "pending_draw": 4},
            ["draw"],
            "seat 0 drew 4 cards",
        ),
        (
            [["change color", *A], B],
            {},
            ["change color to blue"],
            "seat 0 played change color to blue",
        ),
        ([["red taki", *A], B], {}, ["red taki", "pass"], "seat 0 left the TAKI open"),
        (
            [["red taki", "red 1", *A], B],
            {},
            ["red taki", "red 1", "close taki"],
            "seat 0 closed the TAKI",
        ),
        ([["king", *A], B], {}, ["king", "pass"], "seat 0 declined the extra card"),
        (
            [["red 5", "blue 1"], B],
            {},
            ["red 5", "say last card"],
            "seat 0 called the last card",
        ),
        (
            [["red 5", "blue 1"], B],
            {},
            ["red 5", "pass"],
            "seat 0 did not call the last card and drew 4 cards",
        ),
        (
            [["+3 breaker", *A], B],
            {},
            ["+3 breaker"],
            "seat 0 played +3 breaker and drew 3 cards",
        ),
        ([["+3", *A], B], {}, ["+3"], "seat 0 played +3; seat 1 drew 3 cards"),
        (
            [["+3", *A], B, C],
            {},
            ["+3"],
            "seat 0 played +3; all but seat 0 drew 3 cards each",
        ),
        (
            [["+3", *A], B, ["+3 breaker", *C]],
            {},
            ["+3", "+3 breaker"],
            "seat 2 answered with +3 breaker; seat 0 drew 3 cards",
        ),
        (
            [["+3", *A], B, ["+3 breaker", *C]],
            {},
            ["+3", "pass"],
            "seat 2 let the +3 stand; all but seat 0 drew 3 cards each",
        ),
        (
            [["red 5"], B],
            TOURNAMENT,
            ["red 5"],
            "seat 0 played red 5, reached stage 4 and drew 4 cards",
        ),
        ([["red 5"], B], {}, ["red 5"], "seat 0 played red 5"),
    ],
)
def test_an_action_in_words(
    hands: list[list[str]], changes: dict[str, Any], actions: list[str], words: str
) -> None:
    """Who did what, and what everyone drew."""
    assert told(game(hands, **changes), *actions) == words


def test_a_draw_from_nothing_in_words() -> None:
    """All cards but the leading one are in hands."""
    table = game([A, rest_of_deck(A, ["red 7"])])
    assert told(table, "draw") == "seat 0 found no card left"


def test_a_plus_three_that_finds_too_few_cards_in_words() -> None:
    """Three cards in the pile and the one beneath the +3: three for the next seat, then one."""
    top = ["red 1", "red 3", "red 4"]
    rest = rest_of_deck(["+3", *A], B, ["red 7"], top)
    table = game([["+3", *A, *rest], B, []], top=top)
    assert told(table, "+3") == "seat 0 played +3; seat 1 drew 3 cards; seat 2 drew a card"


def test_every_action_has_words() -> None:
    """Over random games in all phases, with the hands that it leaves."""
    for phase in PLAYABLE:
        for table in states_of(phase, wanted=2):
            for action in table.legal_actions():
                after = table.clone()
                after.apply(action)
                words = action_text(table.to_dict(), action, after.to_dict())
                assert words.startswith(f"seat {table.actor} ")


def lines_of(hands: list[list[str]], public: bool, *actions: str) -> list[str]:
    """Return what a watcher is told after actions, each told alone."""
    table, last = game(hands), LastActions(public)
    for action in actions:
        before = table.to_dict()
        table.apply(action)
        last.note(before, action, table.to_dict(), only=True)
    return last.lines


ASKED = [["+3", *A], ["+3 breaker", *B], C]
NOT_ASKED = [["+3", *A], ["blue 8", *B], C]


def test_the_public_is_not_told_who_let_a_plus_three_stand() -> None:
    """What it is told is the same whether seat 1 passed or had no answer."""
    told_of_pass = lines_of(ASKED, True, "+3", "pass")
    assert told_of_pass == lines_of(NOT_ASKED, True, "+3")
    assert told_of_pass == ["seat 0 played +3", "all but seat 0 drew 3 cards each"]


def test_of_a_secret_pass_there_is_nothing_to_tell() -> None:
    """Seat 1 passes while seat 2 can still answer; who sees all hands is told."""
    table = game([["+3", *A], ["+3 breaker", *B], ["+3 breaker", *C]])
    table.apply("+3")
    before = table.to_dict()
    table.apply("pass")
    for public in (True, False):
        assert LastActions(public).note(before, "pass", table.to_dict()) is not public


def test_who_sees_all_hands_is_told_who_let_a_plus_three_stand() -> None:
    """In words."""
    assert lines_of(ASKED, False, "+3", "pass")[0] == "seat 1 let the +3 stand"


# The table as text --------------------------------------------------------------------------------


def test_the_table_as_text() -> None:
    """What lies on the table, the seats, the state, the last action: a line each, in this order."""
    at = position([["red 5", *A], B], "red +2", pending_draw=2, direction=-1, turn=1, actor=1)
    assert table_text(at, last=["seat 0 played red +2"]) == (
        "lead [red +2]  color red  direction <-  draw pile 110  discard pile 1\n"
        "  seat 0 (3 cards): red 5  blue 1  blue 3\n"
        "> seat 1 (2 cards): green 4  green 5\n"
        "seat 1's turn, phase play, +2 stack: 2 to draw\n"
        "last: seat 0 played red +2\n"
    )


def test_text_hides_other_hands() -> None:
    """One seat's view."""
    text = table_text(position([A, B]), seat=1)
    assert "seat 0 (2 cards): hidden" in text and "green 4  green 5" in text


def test_text_does_not_show_who_is_asked() -> None:
    """Only the asked seat itself is shown that it is to act."""
    table = game(ASKED)
    table.apply("+3")
    at = table.to_dict()
    assert [line[0] for line in table_text(at, 1).splitlines()[1:4]] == [" ", ">", " "]
    assert [line[0] for line in table_text(at, 2).splitlines()[1:4]] == [" ", " ", " "]


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


@pytest.mark.parametrize(
    ("out", "variables", "colored"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_text_is_colored_on_terminals_alone(
    out: io.StringIO, variables: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not where it is declined; without its codes it is the same text."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", out)
    env = taki_env.env(render_mode="ansi")
    env.reset(seed=1)
    assert ("\x1b[" in env.render()) is colored


# The picture --------------------------------------------------------------------------------------


BASE = position([["red 5", *A], B, C], under=["red 1"])
CHANGES: dict[str, Any] = {
    "nothing": {},
    "a hand": {"hands": [["red 5", "blue 1", "blue 4"], B, C]},
    "another hand": {"hands": [["red 5", *A], ["green 4", "green 6"], C]},
    "the leading card": {"discard_pile": ["red 1", "red 8"]},
    "the size of the discard pile": {"discard_pile": ["red 1", "red 3", "red 7"]},
    "the size of the draw pile": {"draw_pile": BASE["draw_pile"][1:]},
    "the color": {"color": "blue"},
    "the direction": {"direction": -1},
    "the turn": {"turn": 1},
    "the actor": {"actor": 1},
    "both": {"turn": 1, "actor": 1},
    "the phase": {"phase": "plus"},
    "a +2 stack": {"pending_draw": 2},
    "a higher stack": {"pending_draw": 4},
    "an open TAKI": {"open_taki": True},
    "one that can be closed": {"open_taki": True, "can_close": True},
    "a +3": {"plus_three_by": 0},
    "another's +3": {"plus_three_by": 1},
    "a skipped seat": {"skip_next": True},
    "stages": {"stages": [8, 8, 8]},
    "other stages": {"stages": [8, 7, 8]},
    "an end": {"phase": "over", "winner": 0},
    "another end": {"phase": "over", "winner": 1},
}


def test_a_picture_is_an_array_of_colors() -> None:
    """uint8, height by width by three."""
    pixels = picture(BASE)
    assert (pixels.shape, pixels.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)


def test_every_visible_change_changes_the_picture() -> None:
    """All pairs of them differ; the last action shows as well."""
    shown = {name: picture({**BASE, **change}).tobytes() for name, change in CHANGES.items()}
    shown["an action"] = picture(BASE, last=["seat 2 drew a card"]).tobytes()
    for one, other in combinations(shown, 2):
        assert shown[one] != shown[other], (one, other)


def test_the_same_position_is_the_same_picture_in_another_process() -> None:
    """Pixel for pixel."""
    code = (
        "import zlib; from taki_env import Game; from taki_env.render.drawing import picture; "
        "print(zlib.crc32(picture(Game(4, seed=3).to_dict()).tobytes()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"{zlib.crc32(picture(Game(4, seed=3).to_dict()).tobytes())}\n"
    assert not done.stderr


def test_all_cards_look_different() -> None:
    """The 57 faces and the back, each pair in many pixels."""
    faces = [*map(face, CARDS), back()]
    pixels = [pygame.surfarray.array3d(surface)[::3, ::3].astype(np.int16) for surface in faces]
    assert len(pixels) == 58
    for one, other in combinations(pixels, 2):
        assert (np.abs(one - other).max(axis=2) > 60).sum() > 15


@pytest.mark.parametrize("phase", PLAYABLE)
def test_hidden_cards_change_no_pixel(phase: str) -> None:
    """Of the picture of one seat; nor a letter of the text of any."""
    choose = random.Random(1)
    for table in states_of(phase, wanted=1):
        at = table.to_dict()
        for seat in range(table.num_players):
            assert table_text(permuted(at, seat, choose), seat) == table_text(at, seat)
    for table in islice(states_of(phase), 3):
        at, seat = table.to_dict(), choose.randrange(table.num_players)
        assert np.array_equal(picture(permuted(at, seat, choose), seat), picture(at, seat))


def test_a_picture_does_not_show_who_is_asked() -> None:
    """Seat 1 or seat 2 holds the Breaker: seat 3 sees the same table."""
    first = game([["+3", *A], ["+3 breaker", *B], ["blue 8", *C], ["red 1"]])
    second = game([["+3", *A], ["blue 8", *B], ["+3 breaker", *C], ["red 1"]])
    for table in (first, second):
        table.apply("+3")
    assert (first.actor, second.actor) == (1, 2)
    assert np.array_equal(picture(first.to_dict(), 3), picture(second.to_dict(), 3))


@pytest.mark.parametrize("num_players", range(2, 11))
def test_seats_and_hands_stay_where_they_belong(num_players: int) -> None:
    """Seats in the picture and apart, cards within their seat, up to the whole deck."""
    seats = seat_boxes(num_players)
    assert len(seats) == num_players and all(seat.inside(PICTURE) for seat in seats)
    for one, other in combinations(seats, 2):
        apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
        apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert apart_x or apart_y
    for seat in seats:
        for count in range(117):
            places = hand_places(count, hand_box(seat))
            assert len(places) == count
            assert all(place.box.inside(seat) for place in places)


@pytest.mark.parametrize("num_players", [2, 4, 10])
def test_cards_of_a_hand_do_not_hide_each_other(num_players: int) -> None:
    """Of up to 35 cards, the strip that names each is free of the next one."""
    for seat in seat_boxes(num_players):
        for count in range(2, 36):
            places = hand_places(count, hand_box(seat))
            for one, other in pairwise(places):
                same_row = abs(one.y - other.y) < one.height / 4
                assert not same_row or other.x - one.x >= 0.27 * one.width


def test_seats_sit_clockwise() -> None:
    """Seat 0 in front, the next one to its left: so the direction's arrow tells who is next."""
    middle = np.array(PICTURE.center)
    for num_players in range(2, 11):
        x, y = np.array([box.center for box in seat_boxes(num_players)]).T - middle[:, np.newaxis]
        turns = np.arctan2(y, x)  # grows clockwise, as y points down
        steps = np.diff([*turns, turns[0]]) % (2 * np.pi)
        assert steps.sum() == pytest.approx(2 * np.pi)
        assert y[0] > 0 and abs(x[0]) <= WIDTH / 4


def test_a_crowded_table_leaves_its_edge_free() -> None:
    """Ten players, one with 35 cards: nothing is drawn on the outermost pixels."""
    cards = rest_of_deck(["red 7"])
    random.Random(0).shuffle(cards)
    hands = [cards[:35], *(cards[35 + 8 * seat : 43 + 8 * seat] for seat in range(9))]
    pixels = picture(position(hands))
    edge = np.concatenate([pixels[:8].reshape(-1, 3), pixels[-8:].reshape(-1, 3)])
    sides = np.concatenate([pixels[:, :8].reshape(-1, 3), pixels[:, -8:].reshape(-1, 3)])
    assert len(np.unique(np.concatenate([edge, sides]), axis=0)) == 1


@pytest.mark.parametrize("num_players", [2, 4, 10])
def test_pictures_of_the_docs_are_small(num_players: int) -> None:
    """A page loads quickly; `python tools/screenshots.py table` makes them."""
    file = IMAGES / f"table_{num_players}p.png"
    assert file.stat().st_size < 150_000
    with Image.open(file) as image:
        assert image.size == (WIDTH, HEIGHT)


# What environments show ---------------------------------------------------------------------------


MAKERS: dict[str, Callable[..., Any]] = {
    "env": taki_env.env,
    "raw_env": taki_env.raw_env,
    "parallel_env": taki_env.parallel_env,
    "Taki-v0": lambda **options: gymnasium.make("Taki-v0", **options),
}
EACH = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@EACH
def test_environments_have_the_same_modes(make: Callable[..., Any]) -> None:
    """And the same pace."""
    assert make().metadata["render_modes"] == ["human", "ansi", "rgb_array"]


@EACH
def test_environments_return_pictures_without_a_display(
    make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No video device is opened, whatever SDL would find."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    env = make(render_mode="rgb_array")
    env.reset(seed=1)
    pixels = env.render()
    assert (pixels.shape, pixels.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
    assert not pygame.display.get_init()


@EACH
def test_environments_refuse_an_unknown_reveal(make: Callable[..., Any]) -> None:
    """And suggest the nearest."""
    with pytest.raises(ValueError, match="did you mean 'actor'"):
        make(reveal="actr")


def test_a_seat_acts_upon_its_own_picture() -> None:
    """With `reveal="actor"` the actor's hand is shown, and no other."""
    env = taki_env.raw_env(render_mode="rgb_array", reveal="actor")
    env.reset(seed=1)
    assert np.array_equal(env.render(), picture(env.game.to_dict(), env.game.actor))


def test_the_last_action_is_shown_and_forgotten() -> None:
    """By the AEC environment: after a step its words, after a reset none."""
    env = taki_env.raw_env(render_mode="ansi")
    env.reset(seed=1)
    action, actor = env.game.legal_actions()[0], env.game.actor
    env.step(action)
    assert f"last: seat {actor} played {ACTIONS[action]}" in env.render()
    env.reset()
    assert "last:" not in env.render()


@pytest.mark.filterwarnings("ignore:.*Illegal move")
def test_an_illegal_action_is_shown() -> None:
    """It ends the game, so it is the last that is done."""
    env = taki_env.env(render_mode="ansi")
    env.reset(seed=1)
    env.step(ACTIONS.index("close taki"))
    assert "last: seat 0 took an illegal action" in env.render()
    env = TakiEnv(render_mode="ansi", learner_seat=0)
    env.reset(seed=1)
    env.step(ACTIONS.index("close taki"))
    assert "last: seat 0 took an illegal action" in env.render()


def test_the_learner_is_shown_what_was_done_since_its_last_decision() -> None:
    """Its own action and those of all others, in order."""
    env = TakiEnv(num_players=4, learner_seat=0, render_mode="ansi")
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=3)
    decisions = env.game.decisions
    for _ in range(30):
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        done = env.game.decisions - decisions
        decisions += done
        lines = env._renderer.last[0].lines
        actions = [line for line in lines if not line.endswith(" each") and " drew 3" not in line]
        assert lines[0].startswith("seat 0 ") and len(actions) <= done <= len(lines)
        assert env.render().endswith(f"last: {'; '.join(lines)}\n")
        if terminated or truncated:
            _, info = env.reset(seed=int(rng.integers(100)))
            decisions = env.game.decisions


def test_the_learner_sees_its_own_hand_alone() -> None:
    """With `reveal="actor"`, also when the game is over."""
    env = TakiEnv(learner_seat=1, render_mode="ansi", reveal="actor")
    _, info = env.reset(seed=3)
    ended = False
    while not ended:
        assert "seat 0" in env.render() and env.render().count("hidden") == 1
        _, _, ended, _, info = env.step(int(info["action_mask"].argmax()))
    assert env.render().count("hidden") == 1


class Last:
    """An agent of one's own: the last legal action."""

    name = "last"

    def act(self, view: Any) -> Any:
        """Return it for each game."""
        return 63 - view.action_masks[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize(
    ("opponents", "autoreset_mode"),
    [
        ("random", "NextStep"),
        ("greedy", "SameStep"),
        ({"random": 1, "greedy": 1, Last(): 1}, "SameStep"),
    ],
    ids=["random", "greedy", "several"],
)
def test_to_be_looked_at_changes_no_game(opponents: Any, autoreset_mode: str) -> None:
    """The same observations, rewards and ends, whatever the opponents."""
    options = {"num_players": [2, 3, 10], "opponents": opponents, "autoreset_mode": autoreset_mode}
    plain = TakiVectorEnv(3, max_decisions=60, **options)
    watched = TakiVectorEnv(3, max_decisions=60, render_mode="ansi", **options)
    assert np.array_equal(plain.reset(seed=5)[0], watched.reset(seed=5)[0])
    sample, ends = taki_env.UniformSampler(3, seed=1), 0
    for _ in range(40):
        actions = sample(plain.games.legal)
        steps = plain.step(actions), watched.step(actions)
        for one, other in zip(steps[0][:4], steps[1][:4], strict=True):
            assert np.array_equal(one, other)
        ends += int((steps[0][2] | steps[0][3]).sum())
    assert ends > 2


def test_a_vector_environment_shows_each_of_its_games() -> None:
    """As it shows one of them alone."""
    env = TakiVectorEnv(2, num_players=[2, 5], render_mode="rgb_array", reveal="actor")
    env.reset(seed=1)
    shown = env.render()
    assert shown is not None and len(shown) == 2
    position, seat = env.games.game(1).to_dict(), int(env.games.seats[1])
    expected = picture(position, seat, env._renderer.last[1].lines)
    assert np.array_equal(shown[1], expected)


def test_a_vector_environment_has_no_window() -> None:
    """It says what it has."""
    with pytest.raises(ValueError, match="one of None, ansi, rgb_array, got 'human'"):
        gymnasium.make_vec("Taki-v0", num_envs=2, render_mode="human")


# The window ---------------------------------------------------------------------------------------


def shown_in_window() -> Any:
    """Return the pixels of the open window."""
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


@EACH
def test_the_window_shows_the_table(make: Callable[..., Any]) -> None:
    """From the reset on, until the environment is closed."""
    env = make(num_players=3, render_mode="human")
    env.reset(seed=1)
    table = env.unwrapped.game if hasattr(env.unwrapped, "game") else env.aec_env.unwrapped.game
    blank = picture(table.to_dict())
    assert np.abs(shown_in_window().astype(int) - blank).mean() < 5
    env.close()
    assert not pygame.display.get_init()


def play_on(env: Any, steps: int) -> None:
    """Take the lowest legal action so many times."""
    for _ in range(steps):
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))


def test_the_window_shows_every_decision() -> None:
    """After each step the table that it led to."""
    env = taki_env.raw_env(render_mode="human")
    env.reset(seed=1)
    for _ in range(4):
        play_on(env, 1)
        last = env._renderer.last[0].lines
        assert np.array_equal(shown_in_window(), picture(env.game.to_dict(), last=last))
    env.close()


def test_the_window_shows_the_opponents_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """One table a decision, of whichever seat."""
    tables: list[int] = []
    monkeypatch.setattr(Window, "show", lambda *_: tables.append(env.game.decisions))
    env = TakiEnv(num_players=4, learner_seat=2, render_mode="human")
    _, info = env.reset(seed=1)
    first = env.game.decisions
    for _ in range(5):
        info = env.step(int(info["action_mask"].argmax()))[4]
    assert tables == list(range(first, env.game.decisions + 1))


def test_closing_the_window_lets_the_game_go_on() -> None:
    """Nothing is shown any more, and no error is raised; the games end as they would."""
    env, unseen = taki_env.raw_env(render_mode="human"), taki_env.raw_env()
    for one in (env, unseen):
        one.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for one in (env, unseen):
        play_on(one, 20)
    assert not pygame.display.get_init()
    assert env.game.to_dict() == unseen.game.to_dict()
    env.reset()
    env.render()
    assert not pygame.display.get_init()
    env.close()


def test_a_closed_environment_can_open_its_window_again() -> None:
    """By the next table, as one that was never closed."""
    env = taki_env.raw_env(render_mode="human")
    for _ in range(2):
        env.reset(seed=1)
        assert pygame.display.get_init()
        env.close()
        env.close()


def test_two_environments_share_the_window() -> None:
    """It shows whichever plays; one that is closed takes no window from the other."""
    first, second = taki_env.raw_env(render_mode="human"), taki_env.raw_env(render_mode="human")
    first.reset(seed=1)
    second.reset(seed=2)
    first.close()
    play_on(second, 2)
    last = second._renderer.last[0].lines
    assert np.array_equal(shown_in_window(), picture(second.game.to_dict(), last=last))
    second.close()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)
def test_a_copy_has_a_window_of_its_own(copied: Callable[[Any], Any]) -> None:
    """And goes on where the original stands."""
    for env in (taki_env.env(render_mode="human"), TakiEnv(render_mode="human")):
        env.reset(seed=1)
        twin = copied(env)
        assert twin.unwrapped.game.to_dict() == env.unwrapped.game.to_dict()
        twin.render()
        assert pygame.display.get_init()
        twin.close()
        env.close()


@pytest.mark.parametrize("driver", ["nonsense", None], ids=["refused", "in memory"])
def test_no_display_is_an_error_in_words(
    driver: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SDL has none, or one that nobody sees and nobody asked for."""
    if driver:
        monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    else:
        monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
        monkeypatch.delenv("SDL_VIDEODRIVER")
        monkeypatch.setattr(pygame.display, "init", lambda: None)
    env = taki_env.env(render_mode="human")
    with pytest.raises(
        RuntimeError, match=r"there is no display .*'rgb_array' and 'ansi' need none"
    ):
        env.reset(seed=1)


# Without pygame -----------------------------------------------------------------------------------

WITHOUT_PYGAME = """
import sys
sys.modules["pygame"] = None
import gymnasium, taki_env
for mode in ("rgb_array", "human"):
    for make in (taki_env.env, lambda **options: gymnasium.make("Taki-v0", **options)):
        try:
            make(render_mode=mode)
        except ModuleNotFoundError as error:
            print(error)
env = taki_env.env(render_mode="ansi")
env.reset(seed=1)
print(env.render())
"""


def test_without_pygame_the_error_names_the_extra() -> None:
    """When an environment is made that would draw; the table as text is there."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYGAME], capture_output=True, text=True, check=True
    )
    *errors, first = done.stdout.splitlines()[:5]
    words = "render_mode 'rgb_array' and 'human' need pygame: pip install taki-env[render]"
    assert errors == [words] * 4 and first.startswith("lead [")
