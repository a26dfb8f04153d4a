"""Tables of the docs that are made from constants, signatures and docstrings of the code."""

from __future__ import annotations

import inspect
import io
import re
from pathlib import Path

import griffe
from gymnasium.spaces import Box
from rich.console import Console

import agents
from agents.search.agent import SearchAgent
from agents.table.analyze import analysis, read_game, show
from agents.table.screen import COMMANDS
from taki_env import ACTIONS, ENV_ID, LAYOUT, OBSERVATION_SIZE, Rules, raw_env
from taki_env.core.cards import (
    CARDS,
    CHANGE_COLOR,
    DRAW,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_COLORED,
    STANDARD_DECK,
)
from taki_env.core.decks import DECKS
from taki_env.core.observation import OFFSETS
from taki_env.core.rules import option_docs
from taki_env.core.state import GAME_DTYPE
from taki_env.envs.spaces import ActionSpace, observation_box
from taki_env.records.write import COMMON_KEYS, FULL_KEYS, PLAY_KEYS, STEP_KEYS
from taki_env.render.geometry import HEIGHT, WIDTH
from taki_env.render.renderer import RENDER_MODES
from tools.markdown import code_block, span, table

ROOT = Path(__file__).parents[1]


def summaries(path: str) -> dict[str, tuple[str, list[str]]]:
    """Return summary and parameters of each public member of a class, such as `package.module.A`.

    A summary is the first paragraph of the docstring, as a phrase without the final period.
    """
    cls = griffe.load(path, search_paths=[ROOT])
    found = {}
    for name, member in cls.members.items():
        if member.docstring and (not name.startswith("_") or name == "__len__"):
            summary = " ".join(member.docstring.value.split("\n\n")[0].split())
            summary = summary.removeprefix("Return ").removesuffix(".")
            if summary[1].islower():  # not "B, the number" or "TAKI"
                summary = summary[0].lower() + summary[1:]
            parameters = member.parameters if isinstance(member, griffe.Function) else ()
            found[name] = summary, [p.name for p in parameters if p.name != "self"]
    return found


def observation() -> str:
    """Return the ranges of the observation vector."""
    rows = [(span(OFFSETS[f.name], f.size), f"`{f.name}`", f.meaning) for f in LAYOUT]
    return table(("index", "feature", "meaning"), rows) + f"\n{OBSERVATION_SIZE} values in all.\n"


def actions() -> str:
    """Return the actions."""
    rows = [
        (span(0, NUM_COLORED), f"play `{ACTIONS[0]}` … `{ACTIONS[NUM_COLORED - 1]}`"),
        *((action, f"play `{ACTIONS[action]}`") for action in range(NUM_COLORED, CHANGE_COLOR)),
        *((action, f"play `{ACTIONS[action]}`") for action in range(CHANGE_COLOR, DRAW)),
        *((action, f"`{ACTIONS[action]}`") for action in range(DRAW, len(ACTIONS))),
    ]
    return table(("action", "meaning"), rows)


def options() -> str:
    """Return the rule options."""
    defaults = {**vars(Rules()), "deck": f"the {sum(STANDARD_DECK)}-card deck"}
    rows = [(f"`{name}`", defaults[name], doc) for name, doc in option_docs().items()]
    return table(("option", "default", "meaning"), rows)


def specs() -> str:
    """Return ids, spaces, rewards and limits of the environments."""
    size, limit = OBSERVATION_SIZE, inspect.signature(raw_env).parameters["max_decisions"].default
    box, count = observation_box(), ActionSpace().n
    assert isinstance(box, Box)
    space = f"Box({box.low.min():g}, {box.high.max():g}, ({size},), {box.dtype})"
    modes = ", ".join(f'`"{mode}"`' for mode in RENDER_MODES)
    players = f"{MIN_PLAYERS} to {MAX_PLAYERS}"
    rows = [
        ("ids", f"`{ENV_ID}` (Gymnasium), `taki/taki-v0` (PettingZoo, AEC and parallel)"),
        ("players", f"{players}, with the same observation and action space for every number"),
        ("observation", f"`{space}`; in PettingZoo a dict with `observation` and `action_mask`"),
        ("action", f"`Discrete({count})`, with an int8 mask ({count},)"),
        ("rewards", "at the end of a game only, from -1 to 1"),
        (
            "PettingZoo agents",
            f"`player_0` to `player_{MAX_PLAYERS - 1}`, one for each player; "
            "agent `player_k` has seat k",
        ),
        (
            "Gymnasium `info`",
            "`action_mask`, `learner_seat`; also `illegal_action` after an illegal action",
        ),
        ("truncation", f"after `max_decisions` decisions of all seats, {limit} by default"),
        ("render modes", f"{modes}: see [Rendering](#rendering)"),
    ]
    return table(("", ""), rows)


def render_modes() -> str:
    """Return what `render()` does in each mode."""
    meanings = {
        "human": f"shows every decision in a window, including the opponents' in `{ENV_ID}`; "
        "returns None",
        "ansi": "returns the same facts as lines of text",
        "rgb_array": f"returns a picture, uint8 ({HEIGHT}, {WIDTH}, 3); needs no display",
    }
    rows = [(f'`"{mode}"`', meanings[mode]) for mode in RENDER_MODES]
    return table(("`render_mode`", "`render()`"), rows)


def view() -> str:
    """Return the members of a view."""
    rows = []
    for name, (summary, parameters) in summaries("taki_env.game.view.View").items():
        call = f"({', '.join(parameters)})" if parameters else ""
        rows.append(("`len(view)`" if name == "__len__" else f"`view.{name}{call}`", summary))
    return table(("member of a view", "meaning"), rows)


def record() -> str:
    """Return the size of a game."""
    return (
        f"A game is one record of {GAME_DTYPE.itemsize} bytes, at any number of players. "
        "Nothing is allocated in play.\n"
    )


def record_keys() -> str:
    """Return the keys of a record."""
    both = {**COMMON_KEYS, **PLAY_KEYS}
    rows = [
        (f"`{key}`", meaning, "both" if key in both else "full record")
        for key, meaning in {**COMMON_KEYS, **FULL_KEYS, **PLAY_KEYS}.items()
    ]
    return table(("key", "meaning", "in"), rows)


def step_keys() -> str:
    """Return the keys of a step of a record."""
    return table(("key", "meaning"), [(f"`{key}`", text) for key, text in STEP_KEYS.items()])


def decks() -> str:
    """Return the small decks."""
    rows = []
    for name, deck in DECKS.items():
        if name == "standard":
            continue
        cards = [
            CARDS[card] + (f" x{copies}" if copies > 1 else "")
            for card, copies in enumerate(deck.counts) if copies
        ]  # fmt: skip
        rows.append((f"`{name}`", ", ".join(cards), deck.hand_size, deck.max_decisions))
    return table(("deck", "cards", "hand size", "decisions"), rows)


def search_options() -> str:
    """Return the options of search."""
    text = inspect.getdoc(SearchAgent) or ""
    entries = re.findall(r"^    (\w+): (.*(?:\n        .*)*)$", text, re.MULTILINE)
    meanings = {key: " ".join(meaning.split()) for key, meaning in entries}
    defaults = {key: p.default for key, p in inspect.signature(SearchAgent).parameters.items()}
    rows = [(f"`{key}`", defaults[key], meanings[key]) for key in defaults if key != "seed"]
    return table(("option", "default", "meaning"), rows)


def play_commands() -> str:
    """Return what a person at a terminal can enter besides an action."""
    rows = [(f"`{name}`", meaning) for name, meaning in COMMANDS.items()]
    return table(("entry", "what it does"), rows)


def analyzed() -> str:
    """Return the analysis of the example's position by search."""
    game, spec = read_game(str(ROOT / "docs" / "position.json")), "search:simulations=5000"
    text = io.StringIO()
    console = Console(file=text, width=100)
    show(game, {"agent": spec, **analysis(game, agents.load(spec))}, console)
    return code_block(
        "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines()), "text"
    )


def sweep() -> str:
    """Return the example of a sweep."""
    return code_block((ROOT / "training" / "sweeps" / "symmetry.toml").read_text(), "toml")


def pretrained_recipe() -> str:
    """Return the commands that trained the pretrained agent, from the Makefile."""
    lines = (ROOT / "Makefile").read_text().partition("\npretrained:")[2].partition("\n\n")[0]
    commands = re.findall(r"(python -m .*)", lines)
    return code_block("".join(f"{command}\n" for command in commands), "bash")
