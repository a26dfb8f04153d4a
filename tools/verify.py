"""Compare the engine with the plain-Python reference: ``python -m tools.verify``.

Plays millions of random decisions with all numbers of players and rule options, most of them from
positions constructed so that rare events happen. After each decision, legal actions and complete
states must agree. The consequences are counted against `tools.consequences.EXPECTED`: each must
occur, and no other. Figures depend on the seed and the number of decisions, not on the number of
processes.

    python -m tools.verify                                        5,000,000 decisions
    python -m tools.verify --decisions 50000 --json verify.json
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from agents.cli import check_folder, make_console, run
from agents.files import provenance, write_json
from taki_env import Game, Rules
from taki_env.core.bits import seed_words
from taki_env.core.cards import NUM_COLORED, STANDARD_DECK
from tools.consequences import EXPECTED, KINDS, TRIPLES, TrackedReference, Triple
from tools.positions import position_for
from tools.reference import ACTIONS, CARDS, DEFAULT_RULES, Reference, Shuffler
from tools.settings import SMALL_DECK, rest_of_deck

CHUNK = 25_000
"""Decisions played with one random generator."""
LEAST_PER_DECISION = 1000 / 5_000_000
"""Required frequency of each consequence."""
FOLLOWING = 8
"""Decisions played from a constructed position."""
LONGEST = 400
"""Decisions played at most from a deal."""
CANDIDATES = 12
"""Random consequences from which the rarest so far becomes the goal."""
FULL_CHECKS = 50
"""Decisions between comparisons of `to_dict()`; states are compared after each."""

ACTION_BITS = {action: 1 << index for index, action in enumerate(ACTIONS)}
CARD_INDEX = {card: index for index, card in enumerate(CARDS)}
CHANGE = CARD_INDEX["change color"]
PHASES = ("play", "run", "plus", "king", "respond", "last_card", "over")
COLORS = ("red", "green", "blue", "yellow")
SYMBOLS = (*"1 3 4 5 6 7 8 9 stop +2".split(), "change direction", "plus", "taki", None)
ACTION_DECK = tuple(
    copies if card >= NUM_COLORED or card % 13 >= 8 or card % 13 < 2 else 0
    for card, copies in enumerate(STANDARD_DECK)
)
"""All action cards and few numbers: 68 cards."""


# Comparison -------------------------------------------------------------------------------


def planes(cards: list[str]) -> tuple[int, int, int]:
    """Return cards as the engine stores them: held once, held twice, Change Colors."""
    once = twice = changes = 0
    for card in cards:
        if card == "change color":
            changes += 1
        else:
            bit = 1 << CARD_INDEX[card]
            twice |= once & bit
            once |= bit
    return once, twice, changes


def reference_state(reference: Reference) -> tuple[Any, ...]:
    """Return the reference's state in the form of `engine_state`."""
    return (
        [planes(hand) for hand in reference.hands],
        [len(hand) for hand in reference.hands],
        planes([*reference.beneath, reference.lead]),
        CARD_INDEX[reference.lead],
        [CARD_INDEX[card] for card in reversed(reference.draw_pile)],
        COLORS.index(reference.color),
        SYMBOLS.index(reference.symbol),
        reference.direction,
        reference.turn,
        reference.actor,
        PHASES.index(reference.phase),
        reference.pending_draw,
        reference.open_taki,
        reference.can_close,
        reference.skip_next,
        reference.plus_three_by if reference.plus_three_by is not None else -1,
        reference.winner if reference.winner is not None else -1,
        reference.stages or [0] * len(reference.hands),
    )


def engine_state(game: Game) -> tuple[Any, ...]:
    """Return the fields of the engine's record that the rules define."""
    s, players = game.state[0], game.num_players
    changes = s["change_colors"][:players].tolist()
    named = sum(ACTION_BITS[action] for action in ACTIONS[CHANGE : CHANGE + 4])
    hands = []
    for (once, twice), count in zip(s["holds"][:players].tolist(), changes, strict=True):
        shown = once & named
        assert shown == (named if count else 0), (
            "the actions of Change Color disagree with the number held"
        )
        hands.append((once - shown, twice, count))
    fields = ("direction", "turn", "actor", "phase", "pending_draw")
    flags = ("open_taki", "can_close", "skip_next", "plus_three_by", "winner")
    return (
        hands,
        s["hand_sizes"][:players].tolist(),
        (int(s["discard_one"]), int(s["discard_two"]), int(s["discard_change_colors"])),
        int(s["lead"]),
        s["draw_pile"][: s["draw_size"]].tolist(),
        int(s["color"]),
        int(s["symbol"]),
        *(int(s[name]) for name in (*fields, *flags)),
        s["stages"][:players].tolist(),
    )


def difference(game: Game, reference: Reference, as_position: bool) -> str | None:
    """Return how the engine's game differs from the reference's, or None.

    Args:
        game: Game of the engine.
        reference: Game of the reference.
        as_position: Also compare `to_dict()`, which is slower.
    """
    legal = sum(ACTION_BITS[action] for action in reference.legal())
    if sum(1 << action for action in game.legal_actions()) != legal:
        return f"legal actions: {game.legal_names()} and {sorted(reference.legal())}"
    if engine_state(game) != reference_state(reference) or (
        as_position and game.to_dict() != reference.position()
    ):
        one, other = game.to_dict(), reference.position()
        keys = [key for key in one if one[key] != other[key]] or ["the record behind the position"]
        return "; ".join(f"{key}: {one.get(key)} and {other.get(key)}" for key in keys)
    return None


# Random play --------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts of what was checked, and the differences found."""

    decisions: int = 0
    games: int = 0
    positions: int = 0
    counts: Counter[Triple] = field(default_factory=Counter)
    seats: Counter[int] = field(default_factory=Counter)
    """Decisions by number of players."""
    options: Counter[str] = field(default_factory=Counter)
    """Decisions by rule option."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    """Start, actions and description of each difference between engine and reference."""

    def add(self, other: Tally) -> None:
        """Add the counts of another chunk."""
        for name in ("decisions", "games", "positions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("counts", "seats", "options"):
            getattr(self, name).update(getattr(other, name))
        self.differences += other.differences

    def unexpected(self) -> list[Triple]:
        """Return the consequences that occurred although the rules exclude them."""
        return sorted(set(self.counts) - set(TRIPLES))

    def rare(self, least: int = 1) -> list[Triple]:
        """Return the expected consequences that occurred less than `least` times."""
        return [triple for triple in TRIPLES if self.counts[triple] < least]


class RandomPlay:
    """Random play of one chunk of decisions, which steers to the rarest consequences."""

    def __init__(self, choose: random.Random, decisions: int) -> None:
        self.choose, self.left, self.tally = choose, decisions, Tally()
        self.kinds: Counter[tuple[str, str]] = Counter()

    def run(self) -> Tally:
        """Play until the decisions are used up or a difference is found."""
        while self.left > 0 and not self.tally.differences:
            if self.choose.random() < 0.02:
                self.play_deal()
            else:
                self.play_position()
        return self.tally

    def play_position(self) -> None:
        """Play from a position in which one of the rarest consequences is likely."""
        candidates = self.choose.sample(TRIPLES, CANDIDATES)
        goal = min(candidates, key=self.tally.counts.__getitem__)
        position, seed = position_for(self.choose, goal), self.choose.randrange(500)
        game = Game.from_dict(position, seed)
        reference = TrackedReference(position, Shuffler(int(seed_words(seed, 0)[0])))
        self.tally.positions += 1
        self.compare(game, reference, {"position": position, "seed": seed}, FOLLOWING, goal)

    def play_deal(self) -> None:
        """Play a game from its deal."""
        deck = self.choose.choice((STANDARD_DECK, SMALL_DECK, ACTION_DECK))
        most = (sum(deck) - sum(deck[NUM_COLORED:]) - 1) // 2
        switches = (name for name in DEFAULT_RULES if name != "hand_size")
        options = {name: self.choose.random() < 0.4 for name in switches}
        size = min(most, self.choose.choice((1, 2, 3, 5, 8, 8)))
        rules = Rules.from_dict({**options, "hand_size": size, "deck": deck})
        room = (sum(deck) - sum(deck[NUM_COLORED:]) - 1) // size
        players, seed = self.choose.randint(2, min(10, room)), self.choose.randrange(500)
        shuffle = Shuffler(int(seed_words(seed, 0)[0]))
        pile = shuffle(rest_of_deck(rules=rules))
        reference = TrackedReference.deal(pile, players, rules.to_dict(), shuffle)
        self.tally.games += 1
        start = {"rules": rules.to_dict(), "players": players, "seed": seed}
        self.compare(Game(players, rules, seed), reference, start, LONGEST)

    def compare(
        self,
        game: Game,
        reference: TrackedReference,
        start: dict[str, Any],
        most: int,
        goal: Triple | None = None,
    ) -> None:
        """Play up to `most` decisions in both, and compare them after each."""
        actions: list[str] = []
        differs = difference(game, reference, as_position=True)
        while not differs and reference.phase != "over" and len(actions) < most:
            kind = goal[1] if goal and not actions else None
            actions.append(self.choose_action(reference, kind))
            game.apply(actions[-1])
            self.count(*reference.follow(actions[-1]))
            differs = difference(game, reference, self.tally.decisions % FULL_CHECKS == 0)
        self.left -= len(actions)
        self.tally.seats[len(reference.hands)] += len(actions)
        on = [name for name, value in reference.rules.items() if value is True]
        self.tally.options.update(dict.fromkeys(on or ["none"], len(actions)))
        if differs:
            self.tally.differences.append({"from": start, "actions": actions, "differ": differs})

    def count(self, situation: str, kind: str, events: set[str]) -> None:
        """Count the consequences of one decision."""
        self.tally.counts.update((situation, kind, event) for event in events)
        self.kinds[situation, kind] += 1
        self.tally.decisions += 1

    def choose_action(self, reference: TrackedReference, kind: str | None) -> str:
        """Return an action of the given kind if one is legal, else a random or a rare one."""
        legal = sorted(reference.legal())
        fitting = [action for action in legal if KINDS[action] == kind]
        if fitting:
            return self.choose.choice(fitting)
        if self.choose.random() < 0.5:
            return self.choose.choice(legal)
        situation = reference.situation()
        return min(legal, key=lambda action: self.kinds[situation, KINDS[action]])


def play_chunk(chunk: tuple[int, int, int]) -> Tally:
    """Play one chunk, given as seed, index and number of decisions."""
    seed, index, decisions = chunk
    return RandomPlay(random.Random(f"{seed}/{index}"), decisions).run()


def chunks(seed: int, decisions: int) -> list[tuple[int, int, int]]:
    """Return the chunks that make up a number of decisions."""
    starts = range(0, decisions, CHUNK)
    return [(seed, start // CHUNK, min(CHUNK, decisions - start)) for start in starts]


# Small trees --------------------------------------------------------------------------------------


def sequences(game: Game, depth: int) -> int:
    """Return the number of sequences of decisions in the engine; a game that ends counts once."""
    if depth == 0 or game.is_over:
        return 1
    total = 0
    for action in game.legal_actions():
        after = game.clone()
        after.apply(action)
        total += sequences(after, depth - 1)
    return total


def reference_sequences(position: dict[str, Any], word: int, depth: int) -> int:
    """Return the same number for the reference, given the random word of its shuffles."""
    reference = Reference(position, Shuffler(word))
    if depth == 0 or reference.phase == "over":
        return 1
    total = 0
    for action in reference.legal():
        shuffle = Shuffler(word)
        after = Reference(position, shuffle)
        after.apply(action)
        total += reference_sequences(after.position(), shuffle.word, depth - 1)
    return total


FEW_CARDS = (*tuple(1 if card % 13 in (0, 8, 9, 12) else 0 for card in range(52)), 1, 1, 1, 1, 2)
"""1, stop, +2 and taki of each color, and the colorless cards: 22 cards."""
TREES = {
    "2 players, standard deck": (Rules(), 2, 0, 6),
    "2 players, 22 cards": (Rules(hand_size=3, deck=FEW_CARDS), 2, 0, 10),
    "2 players, 22 cards, tournament": (Rules(True, hand_size=2, deck=FEW_CARDS), 2, 4, 9),
    "3 players, 22 cards": (Rules(hand_size=3, deck=FEW_CARDS), 3, 4, 9),
    "4 players, full runs": (Rules(full_runs=True, hand_size=4), 4, 0, 9),
}
"""Rules, number of players, seed of the deal, and depth."""


def trees() -> Iterator[dict[str, Any]]:
    """Yield the number of sequences from each deal of `TREES`, in both."""
    for name, (rules, players, seed, depth) in TREES.items():
        game = Game(players, rules, seed)
        word = int(game.state["rng"][0])
        other = reference_sequences(game.to_dict(), word, depth)
        yield {"deal": name, "depth": depth, "engine": sequences(game, depth), "reference": other}


# The command --------------------------------------------------------------------------------------


PROBLEMS = ("differences", "unexpected", "below_least")


@dataclass(frozen=True)
class VerifyArgs:
    """Compare the engine with the plain-Python reference and count every consequence."""

    decisions: int = 5_000_000
    """Number of random decisions to compare."""
    seed: int = 0
    """Random seed of play."""
    processes: int = 2
    """Number of worker processes."""
    json: Path | None = None
    """Output file for the JSON report."""


def report(args: VerifyArgs, tally: Tally, counted: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the report, ready for JSON."""
    least = max(1, int(tally.decisions * LEAST_PER_DECISION))
    pairs = {
        situation: {
            kind: {event: tally.counts[situation, kind, event] for event in sorted(events)}
            for kind, events in kinds.items()
        }
        for situation, kinds in EXPECTED.items()
    }
    return {
        **provenance(),
        "seed": args.seed,
        "asked": args.decisions,
        "decisions": tally.decisions,
        "games": tally.games,
        "positions": tally.positions,
        "players": {str(size): tally.seats[size] for size in sorted(tally.seats)},
        "options": dict(sorted(tally.options.items())),
        "differences": tally.differences,
        "consequences": pairs,
        "expected": len(TRIPLES),
        "least": least,
        "rarest": min(tally.counts[triple] for triple in TRIPLES),
        "below_least": tally.rare(least),
        "unexpected": tally.unexpected(),
        "sequences": counted,
    }


def show(figures: dict[str, Any], console: Console) -> None:
    """Print the counts and every problem."""
    table = Table("situation", "action", "events and their number")
    for situation, kinds in figures["consequences"].items():
        for kind, events in kinds.items():
            words = ", ".join(f"{event} {count:,}" for event, count in events.items())
            table.add_row(situation, kind, words)
    console.print(table)
    for tree in figures["sequences"]:
        console.print("{deal}, {depth} decisions: {engine:,} and {reference:,}".format(**tree))
    console.print(
        f"{figures['decisions']:,} decisions in {figures['positions']:,} positions and "
        f"{figures['games']:,} games; {figures['expected']} consequences, the rarest "
        f"occurred {figures['rarest']:,} times"
    )
    for name in PROBLEMS:
        for problem in figures[name]:
            console.print(f"{name.replace('_', ' ')}: {problem}")


def is_sound(figures: dict[str, Any]) -> bool:
    """Return whether engine, reference and expected consequences agree."""
    counted = all(tree["engine"] == tree["reference"] for tree in figures["sequences"])
    return counted and not any(figures[name] for name in PROBLEMS)


def play_chunks(args: VerifyArgs, console: Console, tally: Tally) -> None:
    """Play all chunks in worker processes and add their counts to `tally`."""
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    work = chunks(args.seed, args.decisions)
    ignore = (signal.SIGINT, signal.SIG_IGN)
    context = multiprocessing.get_context("spawn")
    with (
        context.Pool(args.processes, signal.signal, ignore) as pool,
        Progress(*columns, console=console) as bar,
    ):
        task = bar.add_task("", total=args.decisions)
        for chunk in pool.imap_unordered(play_chunk, work):
            tally.add(chunk)
            bar.update(task, completed=tally.decisions)


def prepare(args: VerifyArgs) -> Callable[[], bool]:
    """Check the arguments and return the work; it returns whether everything agrees.

    Ctrl-C ends the work with a report of the results so far.
    """
    if args.decisions < 1 or args.processes < 1 or args.seed < 0:
        raise ValueError("--decisions and --processes must be at least 1, --seed at least 0")
    check_folder("--json", args.json, ".json")
    return lambda: execute(args)


def execute(args: VerifyArgs) -> bool:
    """Compare, print and write the report; return whether everything agrees."""
    console, tally, counted, stopped = make_console(), Tally(), [], False
    try:
        counted = list(trees())
        play_chunks(args, console, tally)
    except KeyboardInterrupt:
        console.print("stopped; results so far:")
        stopped = True
    figures = report(args, tally, counted)
    show(figures, console)
    if args.json:
        write_json(args.json, figures)
    if stopped:
        raise KeyboardInterrupt
    return is_sound(figures)


if __name__ == "__main__":
    sys.exit(not run(lambda: prepare(tyro.cli(VerifyArgs))))  # 1 if anything disagrees
