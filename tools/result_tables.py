"""Tables of the docs that are made from the results in docs/results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from tools.markdown import percent, rounded, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
SEARCH_REPORTS = ("search_2p.json", "search_20k.json", "search_4p.json")


def results(name: str) -> dict[str, Any]:
    """Return the contents of a file of results."""
    found: dict[str, Any] = json.loads((RESULTS / name).read_text())
    return found


def training() -> str:
    """Return the win rates of the default training run for each seed, with mean and spread."""
    files = sorted(RESULTS.glob("train_2p_seed*.json"))
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
    """Return the win rate of greedy against random."""
    result = results("greedy_random.json")
    rate = f"{percent(result)} of {result['games']:,} games"
    return table(("agent", "against", "win rate"), [(result["agent"], result["opponent"], rate)])


def pretrained() -> str:
    """Return the win rates of the pretrained agent by number of players."""
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
    """Return the win rate of the pretrained agent against search."""
    (lineup,) = results("pretrained_search_2p.json")["lineups"]
    rate = percent(lineup["rates"]["pretrained"])
    rows = [(*lineup["agents"], rate, f"{lineup['games']:,}")]
    return table(("agent", "against", "win rate", "games"), rows)


def spread(row: dict[str, Any]) -> str:
    """Return mean and standard deviation over seeds."""
    return f"{row['mean']:.1%} ± {row['sd']:.1%}"


def symmetry() -> str:
    """Return the win rates of PPO with and without the symmetric network."""
    return compared_networks("symmetry.json")


def recipe() -> str:
    """Return the win rates of rollouts with and without the symmetric network."""
    return compared_networks("recipe.json")


def compared_networks(file: str) -> str:
    """Return the win rates of a sweep's settings."""
    rows = [
        (row["setting"], row["num_players"], row["opponent"], spread(row), len(row["win_rates"]))
        for row in results(file)["results"]
    ]
    head = ("network", "players", "against", "win rate ± sd over seeds", "seeds")
    return table(head, rows)


def leaderboard() -> str:
    """Return the ratings and win rates at each number of players."""
    found = results("leaderboard.json")
    return "".join(map(table_size, found["tables"])) + (
        "\nThe file of the results names commit, versions and hardware: "
        "[results/leaderboard.json](results/leaderboard.json).\n"
    )


def table_size(report: dict[str, Any]) -> str:
    """Return ratings and win rates at one number of players."""
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


def search_strength() -> str:
    """Return the win rates of search with larger budgets than in the leaderboard."""
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


def search_speed() -> str:
    """Return the simulations a second of search, by number of players and rollout policy."""
    rates: dict[int, dict[str, str]] = {}
    for row in results("search_speed.json")["rows"]:
        rates.setdefault(row["players"], {})[row["rollout"]] = rounded(row["median"])
    policies = list(next(iter(rates.values())))
    rows = [(players, *found.values()) for players, found in rates.items()]
    return table(("players", *(f"rollout {policy}" for policy in policies)), rows)


def benchmark() -> str:
    """Return the rows of the benchmark."""
    rows = []
    for row in results("benchmark.json")["rows"]:
        lowest, middle, highest = (rounded(row[key]) for key in ("lowest", "median", "highest"))
        ratio = f"{row['ratio']:.3g} of {row['yardstick']}" if "ratio" in row else ""
        rows.append((row["name"], middle, f"{lowest} to {highest}", row["unit"], ratio))
    return table(("row", "median", "range", "unit", "ratio"), rows)


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
    """Return the exploitability of agents in the small decks' games."""
    rows = [
        (f"`{row['deck']}`", found["agent"],
         *(f"{max(found[key], 0.0):.4f}" for key in ("exploitability", "as_seat_0", "as_seat_1")))
        for row in results("small_decks.json")["decks"] for found in row["agents"]
    ]  # fmt: skip
    return table(("deck", "agent", "exploitability", "in seat 0", "in seat 1"), rows)


def approach() -> str:
    """Return the exploitability of self-play at each budget, over the seeds."""
    rows = []
    for file in sorted(RESULTS.glob("approach_*.json")):
        name, found = file.stem.removeprefix("approach_"), results(file.name)["rows"]
        for steps in sorted({row["steps"] for row in found}):
            at = [row for row in found if row["steps"] == steps]
            spreads = (
                mean_and_range([row[key] for row in at]) for key in ("drawing", "most_likely")
            )
            seconds = mean(row["seconds"] for row in at)
            rows.append((f"`{name}`", f"{steps:,}", f"{seconds:.0f}", *spreads))
    return table(("deck", "decisions", "seconds", "drawing", "most likely actions"), rows)


def mean_and_range(values: Sequence[float]) -> str:
    """Return a mean and the range."""
    values = [max(value, 0.0) for value in values]
    return f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def exploit() -> str:
    """Return the win rates of best responders to agents in the full game."""
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
    command = ["python -m training.exploit", *(row["agent"] for row in found["rows"])]
    for key, value in given.items():
        if value not in ("", []):
            command += [f"--{key}", *map(str, value if isinstance(value, list) else [value])]
    return table(head, rows) + f"\nMade by `{' '.join(command)}`.\n"


def replay() -> str:
    """Return the loading time of a long game's page."""
    found = results("replay.json")
    times = sorted(found["seconds"])
    row = (
        f"{found['steps']:,}", f"{found['bytes'] / 1000:,.0f}", f"{median(times):.2f}",
        f"{times[0]:.2f} to {times[-1]:.2f}", found["chromium"],
    )  # fmt: skip
    return table(("steps", "kilobytes", "seconds, median", "range", "Chromium"), [row])


def consequences() -> str:
    """Return the consequences counted by `tools.verify`, and its sequences of decisions."""
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
        f"{found['expected']} consequences are possible; the rarest occurred {found['rarest']:,} "
        f"times, and {len(found['unexpected'])} others did.\n\n"
        + table(("situation", "action", "events and their number"), rows)
        + "\nNumber of sequences of decisions from some deals:\n\n"
        + table(("deal", "decisions", "engine", "reference"), trees)
    )


def fuzz() -> str:
    """Return the outcomes of fuzzing each target."""
    rows = [
        (name, f"{target['inputs']:,}", f"{target['accepted']:,}",
         ", ".join(f"`{kind}` {count:,}" for kind, count in target["rejected"].items()),
         len(target["failures"]))
        for name, target in results("fuzz.json")["targets"].items()
    ]  # fmt: skip
    return table(("target", "inputs", "accepted", "rejected", "failures"), rows)


def determinism() -> str:
    """Return in which places one seed gives the same games."""
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
    """Return the games of each interface in the soak test, and the growth of memory."""
    rows = [
        (name, f"{one['decisions']:,}", f"{one['won']:,}", f"{one['cut']:,}",
         f"{one['memory'][-1][1]:.0f} MiB", f"{one['growth_mib']:+.2f} MiB")
        for name, one in results("soak.json")["played"].items()
    ]  # fmt: skip
    return table(("", "decisions", "won", "truncated", "memory", "growth"), rows)
