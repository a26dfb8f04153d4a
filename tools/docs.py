"""Write the tables of the docs from the constants that the engine uses and from results.

    python tools/docs.py

A table stands between a line `<!-- table: NAME -->` and a line `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from rich.console import Console

import agents
from agents.search.agent import SearchAgent
from agents.table.analyze import analysis, read_game, show
from agents.table.screen import COMMANDS
from taki_env import ACTIONS, LAYOUT, OBSERVATION_SIZE, Rules
from taki_env.core.cards import CARDS, CHANGE_COLOR, DRAW, NUM_COLORED, STANDARD_DECK
from taki_env.core.decks import DECKS
from taki_env.core.observation import OFFSETS
from taki_env.core.rules import option_docs
from taki_env.core.state import GAME_DTYPE
from taki_env.records.write import COMMON_KEYS, FULL_KEYS, PLAY_KEYS, STEP_KEYS

DOCS = Path(__file__).parents[1] / "docs"
ROOT = DOCS.parent
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
SEARCH_REPORTS = ("search_2p.json", "search_20k.json", "search_4p.json")
SMALL = [name for name in DECKS if name != "standard"]
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def span(first: int, size: int) -> str:
    """Return a range of indices in words."""
    return str(first) if size == 1 else f"{first} to {first + size - 1}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


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


def results(name: str) -> dict[str, Any]:
    """Return a file of results."""
    found: dict[str, Any] = json.loads((DOCS / "results" / name).read_text())
    return found


def percent(result: dict[str, Any]) -> str:
    """Return a win rate with its interval."""
    low, high = result["interval"]
    return f"{result['win_rate']:.1%} [{low:.1%}, {high:.1%}]"


def training() -> str:
    """Return the default run's win rates, a row a seed, and of several their mean and spread."""
    files = sorted((DOCS / "results").glob("train_2p_seed*.json"))
    runs = [results(file.name) for file in files]
    rows = [
        (run["configuration"]["seed"], *map(percent, run["evaluation"]), run["training_seconds"])
        for run in runs
    ]
    against = [f"against {result['opponent']}" for result in runs[0]["evaluation"]]
    head = ("seed", *against, "seconds of training")
    if len(runs) == 1:
        return table(head, rows)
    rates = [[r["win_rate"] for r in run["evaluation"]] for run in runs]
    spread = [f"{mean(values):.1%} ± {stdev(values):.1%}" for values in zip(*rates, strict=True)]
    rows.append(("mean ± standard deviation", *spread, ""))
    return table(head, rows)


def baselines() -> str:
    """Return how the baselines fare."""
    result = results("greedy_random.json")
    words = f"{percent(result)} of {result['games']:,} games"
    return table(("agent", "against", "win rate"), [(result["agent"], result["opponent"], words)])


def pretrained_recipe() -> str:
    """Return the commands that trained the pretrained agent, from the Makefile."""
    lines = (ROOT / "Makefile").read_text().partition("\npretrained:")[2].partition("\n\n")[0]
    commands = re.findall(r"(python -m .*)", lines)
    return "```bash\n" + "".join(f"{command}\n" for command in commands) + "```\n"


def pretrained() -> str:
    """Return how the pretrained agent fares at each table."""
    run = json.loads((ROOT / "agents" / "network" / "pretrained" / "results.json").read_text())
    rows = [
        (row["num_players"], f"1/{row['num_players']}", row["opponent"], percent(row))
        for row in run["evaluation"]
    ]
    return table(("players", "parity", "against", "win rate"), rows) + (
        f"\n{run['evaluation'][0]['games']:,} games in each line, every deal from every seat, "
        f"with 95 % intervals over deals. {run['steps']:,} decisions in "
        f"{run['training_seconds'] / 60:.0f} minutes on {run['hardware']['cores']} cores; "
        "evaluations come on top.\n"
    )


def pretrained_search() -> str:
    """Return how the pretrained agent fares against search."""
    (lineup,) = results("pretrained_search_2p.json")["lineups"]
    words = percent(lineup["rates"]["pretrained"])
    rows = [(*lineup["agents"], words, f"{lineup['games']:,}")]
    return table(("agent", "against", "win rate", "games"), rows)


def spread(row: dict[str, Any]) -> str:
    """Return a mean and its spread over seeds."""
    return f"{row['mean']:.1%} ± {row['sd']:.1%}"


def with_and_without_symmetry(file: str) -> str:
    """Return what networks with and without the symmetry reach, in a sweep's file."""
    rows = [
        (row["setting"], row["num_players"], row["opponent"], spread(row), len(row["win_rates"]))
        for row in results(file)["results"]
    ]
    head = ("network", "players", "against", "win rate ± sd over seeds", "seeds")
    return table(head, rows)


def sweep() -> str:
    """Return the sweep that the project comes with."""
    return f"```toml\n{(ROOT / 'training' / 'sweeps' / 'symmetry.toml').read_text()}```\n"


def leaderboard() -> str:
    """Return the ratings and win rates at each number of players, once they have been played."""
    if not (DOCS / "results" / "leaderboard.json").exists():
        return "Not played yet.\n"
    found = results("leaderboard.json")
    return "".join(map(table_size, found["tables"])) + (
        "\nThe file of the results names commit, versions and hardware: "
        "[results/leaderboard.json](results/leaderboard.json).\n"
    )


def search_strength() -> str:
    """Return how search fares with larger budgets than the leaderboard's."""
    rows = [
        (
            report["num_players"], agent, opponent, percent(lineup["rates"][agent]),
            f"{lineup['games']:,}",
        )
        for report in map(results, SEARCH_REPORTS)
        for lineup in report["lineups"]
        for agent, opponent in [lineup["agents"][:2]]
    ]  # fmt: skip
    return table(("players", "agent", "against", "win rate", "games"), rows)


def table_size(report: dict[str, Any]) -> str:
    """Return what the leaderboard says of a number of players."""
    players, matrix = report["num_players"], report["matrix"]
    ratings = [
        (row["agent"], f"{row['elo']:+.0f}", "{:+.0f} to {:+.0f}".format(*row["interval"]))
        for row in report["ratings"]
    ]
    names = [agent for agent, *_ in ratings]
    rates = [
        (one, *(percent(matrix[one][other]) if one != other else "" for other in names))
        for one in names
    ]
    head = ("agent", f"Elo points, {report['zero']} at 0", "95 % interval")
    return (
        f"\n## {players} players\n\n{report['games']:,} games; parity is {1 / players:.1%}.\n\n"
        f"{table(head, ratings)}\n{table(('', *names), rates)}"
        f"\n![Win rates at {players} players](images/leaderboard_{players}p.png)\n"
    )


def benchmark() -> str:
    """Return the figures of the benchmark."""
    rows = [
        (row["name"], figure(row["median"]), f"{figure(row['lowest'])} to {figure(row['highest'])}",
         row["unit"], f"{row['ratio']:.3g} of {row['yardstick']}" if "ratio" in row else "")
        for row in results("benchmark.json")["rows"]
    ]  # fmt: skip
    return table(("row", "median", "range", "unit", "ratio"), rows)


def search_options() -> str:
    """Return the options of search."""
    text = inspect.getdoc(SearchAgent) or ""
    entries = re.findall(r"^    (\w+): (.*(?:\n        .*)*)$", text, re.MULTILINE)
    words = {key: " ".join(meaning.split()) for key, meaning in entries}
    defaults = {key: p.default for key, p in inspect.signature(SearchAgent).parameters.items()}
    rows = [(f"`{key}`", defaults[key], words[key]) for key in defaults if key != "seed"]
    return table(("option", "default", "meaning"), rows)


def search_speed() -> str:
    """Return how many simulations search makes in a second, a row a table size."""
    if not (DOCS / "results" / "search_speed.json").exists():
        return "Not measured yet.\n"
    rates: dict[int, dict[str, str]] = {}
    for row in results("search_speed.json")["rows"]:
        rates.setdefault(row["players"], {})[row["rollout"]] = figure(row["median"])
    policies = list(next(iter(rates.values())))
    rows = [(players, *found.values()) for players, found in rates.items()]
    return table(("players", *(f"rollout {policy}" for policy in policies)), rows)


def analyzed() -> str:
    """Return what search says of the example's position."""
    game, spec = read_game(str(DOCS / "position.json")), "search:simulations=5000"
    console = Console(file=io.StringIO(), width=100)
    show(game, {"agent": spec, **analysis(game, agents.load(spec))}, console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "```text\n" + "".join(f"{line.rstrip()}\n" for line in lines) + "```\n"


def play_commands() -> str:
    """Return what a person at a terminal can enter besides an action."""
    return table(("entry", "what it does"), [(f"`{name}`", COMMANDS[name]) for name in COMMANDS])


def decks() -> str:
    """Return the small decks."""
    rows = []
    for name in SMALL:
        deck = DECKS[name]
        cards = [
            CARDS[card] + (f" x{copies}" if copies > 1 else "")
            for card, copies in enumerate(deck.counts) if copies
        ]  # fmt: skip
        rows.append((f"`{name}`", ", ".join(cards), deck.hand_size, deck.max_decisions))
    return table(("deck", "cards", "hand size", "decisions"), rows)


def small_decks() -> str:
    """Return the sizes and values of the small decks' games."""
    rows = [
        (f"`{row['deck']}`", f"{row['histories']:,}", f"{row['information_states']:,}",
         f"{row['choices']:,}", f"{row['cut'] / row['ends']:.0%}",
         "{:+.4f} to {:+.4f}".format(*row["value"]), f"{row['exploitability']:.1e}")
        for row in results("small_decks.json")["decks"]
    ]  # fmt: skip
    head = ("deck", "histories", "information states", "with a choice", "ends that are cuts")
    return table((*head, "value for seat 0", "exploitability"), rows)


def small_agents() -> str:
    """Return what can be gained against agents in the small decks' games."""
    rows = [
        (f"`{row['deck']}`", found["agent"],
         *(f"{max(found[key], 0.0):.4f}" for key in ("exploitability", "as_seat_0", "as_seat_1")))
        for row in results("small_decks.json")["decks"] for found in row["agents"]
    ]  # fmt: skip
    return table(("deck", "agent", "exploitability", "in seat 0", "in seat 1"), rows)


def approach() -> str:
    """Return how exploitable self-play is at each budget, over the seeds."""
    rows = []
    for name in SMALL:
        if not (DOCS / "results" / f"approach_{name}.json").exists():
            continue
        found = results(f"approach_{name}.json")["rows"]
        for steps in sorted({row["steps"] for row in found}):
            at = [row for row in found if row["steps"] == steps]
            spreads = (
                mean_and_range([row[key] for row in at]) for key in ("drawing", "most_likely")
            )
            seconds = mean(row["seconds"] for row in at)
            rows.append((f"`{name}`", f"{steps:,}", f"{seconds:.0f}", *spreads))
    return table(("deck", "decisions", "seconds", "drawing", "most likely actions"), rows)


def exploit() -> str:
    """Return what best responders win against agents in the full game."""
    if not is_measured("exploit.json"):
        return "Not measured yet.\n"
    found = results("exploit.json")
    rows = [
        (row["agent"], f"{row['steps']:,}", f"{row['training_seconds'] / 60:.1f}", percent(row),
         f"{row['games']:,}", "{:+.3f} [{:+.3f}, {:+.3f}]".format(
             row["return"], *row["return_interval"]))
        for row in found["rows"]
    ]  # fmt: skip
    head = ("agent", "decisions", "minutes", "best responder's win rate", "games", "return")
    given = {
        "steps": [row["target"]["steps"] for row in found["rows"]],
        "games": [row["target"]["games"] for row in found["rows"]],
        **found["arguments"],
    }
    words = ["python -m training.exploit", *(row["agent"] for row in found["rows"])]
    for key, value in given.items():
        if value not in ("", []):
            words += [f"--{key}", *map(str, value if isinstance(value, list) else [value])]
    return table(head, rows) + f"\nMade by `{' '.join(words)}`.\n"


def mean_and_range(values: Sequence[float]) -> str:
    """Return a mean and the range."""
    values = [max(value, 0.0) for value in values]
    return f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


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
    return table(("key", "meaning"), [(f"`{key}`", words) for key, words in STEP_KEYS.items()])


def replay() -> str:
    """Return how long a page takes to load."""
    found = results("replay.json")
    times = sorted(found["seconds"])
    row = (
        f"{found['steps']:,}", f"{found['bytes'] / 1000:,.0f}", f"{median(times):.2f}",
        f"{times[0]:.2f} to {times[-1]:.2f}", found["chromium"],
    )  # fmt: skip
    return table(("steps", "kilobytes", "seconds, median", "range", "Chromium"), [row])


def is_measured(name: str) -> bool:
    """Return whether there is a file of results."""
    return (DOCS / "results" / name).exists()


def consequences() -> str:
    """Return how often all that can follow was met beside the reference."""
    if not is_measured("verify.json"):
        return "Not measured yet.\n"
    found = results("verify.json")
    rows = [
        (situation, f"`{kind}`" if kind != "number" else kind,
         ", ".join(f"{event} {count:,}" for event, count in events.items()))
        for situation, kinds in found["consequences"].items()
        for kind, events in kinds.items()
    ]  # fmt: skip
    trees = [
        (tree["deal"], tree["depth"], f"{tree['engine']:,}", f"{tree['reference']:,}")
        for tree in found["sequences"]
    ]
    return (
        f"{found['decisions']:,} decisions in {found['positions']:,} positions and "
        f"{found['games']:,} games from the deal: {len(found['differences'])} differences. "
        f"{found['expected']} consequences can occur; the rarest was met {found['rarest']:,} "
        f"times; {len(found['unexpected'])} others were.\n\n"
        + table(("situation", "action", "what followed, and how often"), rows)
        + "\nSequences of decisions from some deals, all of them:\n\n"
        + table(("deal", "decisions", "engine", "reference"), trees)
    )


def fuzz() -> str:
    """Return what came of random input at each door."""
    if not is_measured("fuzz.json"):
        return "Not measured yet.\n"
    rows = [
        (name, f"{door['inputs']:,}", f"{door['taken']:,}",
         ", ".join(f"`{kind}` {count:,}" for kind, count in door["refused"].items()),
         len(door["wrong"]))
        for name, door in results("fuzz.json")["doors"].items()
    ]  # fmt: skip
    return table(("door", "inputs", "taken", "refused", "wrong"), rows)


def determinism() -> str:
    """Return where one seed gives the same games."""
    if not is_measured("determinism.json"):
        return "Not measured yet.\n"
    found = results("determinism.json")
    rows = [
        (place, *(result.get("cells", {}).get(name, "not tried") for name in found["hashes"]))
        for place, result in found["places"].items()
    ]
    skipped = [
        f"{place}: {result.get('skipped') or result['failed']}."
        for place, result in found["places"].items()
        if "cells" not in result
    ]
    return table(("", *found["hashes"]), rows) + "".join(f"\n{line}\n" for line in skipped)


def soak() -> str:
    """Return what was played in a row, and how much memory grew."""
    if not is_measured("soak.json"):
        return "Not measured yet.\n"
    rows = [
        (name, f"{one['decisions']:,}", f"{one['won']:,}", f"{one['cut']:,}",
         f"{one['memory'][-1][1]:.0f} MiB", f"{one['growth_mib']:+.2f} MiB")
        for name, one in results("soak.json")["played"].items()
    ]  # fmt: skip
    return table(("", "decisions", "won", "cut off", "memory", "growth"), rows)


def figure(value: float) -> str:
    """Return a figure with three digits that count."""
    return f"{value:.3g}" if value < 1000 else f"{round(value, 2 - len(str(int(value))) + 1):,.0f}"


TABLES = {
    "observation": observation,
    "actions": actions,
    "options": options,
    "training": training,
    "baselines": baselines,
    "pretrained": pretrained,
    "pretrained_recipe": pretrained_recipe,
    "pretrained_search": pretrained_search,
    "symmetry": partial(with_and_without_symmetry, "symmetry.json"),
    "recipe": partial(with_and_without_symmetry, "recipe.json"),
    "sweep": sweep,
    "leaderboard": leaderboard,
    "benchmark": benchmark,
    "record": record,
    "decks": decks,
    "small_decks": small_decks,
    "small_agents": small_agents,
    "approach": approach,
    "exploit": exploit,
    "record_keys": record_keys,
    "step_keys": step_keys,
    "replay": replay,
    "search_options": search_options,
    "search_speed": search_speed,
    "search_strength": search_strength,
    "analysis": analyzed,
    "play_commands": play_commands,
    "consequences": consequences,
    "fuzz": fuzz,
    "determinism": determinism,
    "soak": soak,
}


def filled(text: str) -> str:
    """Return the page with every table made anew."""
    return MARKED.sub(lambda m: m[1] + TABLES[m[2]]() + m[3], text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text()))
