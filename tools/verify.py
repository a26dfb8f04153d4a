"""The engine beside the plain-Python reference: ``python -m tools.verify``.

Millions of random decisions over all numbers of players and options, half of them in positions
made so that what is rare happens: after every one, legal sets and whole states agree. What
followed from each is counted against `tools.consequences.EXPECTED`: all that can follow has to be
met, and nothing else. The same seed and number of decisions give the same figures, whatever the
number of processes.

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
from tests.helpers import SMALL_DECK, Shuffler, rest_of_deck
from tools.consequences import EXPECTED, KINDS, TRIPLES, Triple, Watched
from tools.positions import wished
from tools.reference import ACTIONS, CARDS, Reference

SHARE = 25_000
"""Decisions that are chosen with one generator."""
LEAST_PER_DECISION = 1000 / 5_000_000
"""How often each consequence has to be met."""
FOLLOWING = 8
"""Decisions played from a position that was made."""
LONGEST = 400
"""Decisions played of a game that was dealt."""
CANDIDATES = 12
"""Consequences of which the least met is wished for."""
FULL_CHECKS = 50
"""Decisions between two comparisons of positions in words; states are compared after each."""

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
"""All that acts, and few numbers: 68 cards."""


# Are they the same? -------------------------------------------------------------------------------


def planes(cards: list[str]) -> tuple[int, int, int]:
    """Return cards as the engine keeps them: held once, held twice, Change Colors."""
    once = twice = changes = 0
    for card in cards:
        if card == "change color":
            changes += 1
        else:
            bit = 1 << CARD_INDEX[card]
            twice |= once & bit
            once |= bit
    return once, twice, changes


def reference_state(at: Reference) -> tuple[Any, ...]:
    """Return all that the engine's record has to say."""
    return (
        [planes(hand) for hand in at.hands],
        [len(hand) for hand in at.hands],
        planes([*at.beneath, at.lead]),
        CARD_INDEX[at.lead],
        [CARD_INDEX[card] for card in reversed(at.draw_pile)],
        COLORS.index(at.color),
        SYMBOLS.index(at.symbol),
        at.direction,
        at.turn,
        at.actor,
        PHASES.index(at.phase),
        at.pending_draw,
        at.open_taki,
        at.can_close,
        at.skip_next,
        at.plus_three_by if at.plus_three_by is not None else -1,
        at.winner if at.winner is not None else -1,
        at.stages or [0] * len(at.hands),
    )


def engine_state(game: Game) -> tuple[Any, ...]:
    """Return what the engine's record says, in the words of `reference_state`."""
    s, players = game.state[0], game.num_players
    changes = s["change_colors"][:players].tolist()
    named = sum(ACTION_BITS[action] for action in ACTIONS[CHANGE : CHANGE + 4])
    hands = []
    for (once, twice), count in zip(s["holds"][:players].tolist(), changes, strict=True):
        shown = once & named
        assert shown == (named if count else 0), "a hand shows Change Colors that it does not hold"
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


def difference(game: Game, at: Reference, in_words: bool) -> str | None:
    """Return in which way the engine's game is not the reference's, or None."""
    legal = sum(ACTION_BITS[action] for action in at.legal())
    if sum(1 << action for action in game.legal_actions()) != legal:
        return f"legal actions: {game.legal_names()} and {sorted(at.legal())}"
    if engine_state(game) != reference_state(at) or (in_words and game.to_dict() != at.position()):
        one, other = game.to_dict(), at.position()
        keys = [key for key in one if one[key] != other[key]] or ["the record behind the position"]
        return "; ".join(f"{key}: {one.get(key)} and {other.get(key)}" for key in keys)
    return None


# Random play --------------------------------------------------------------------------------------


@dataclass
class Found:
    """What was checked."""

    decisions: int = 0
    games: int = 0
    positions: int = 0
    counts: Counter[Triple] = field(default_factory=Counter)
    seats: Counter[int] = field(default_factory=Counter)
    """Decisions at tables of each size."""
    options: Counter[str] = field(default_factory=Counter)
    """Decisions under each option of the rules."""
    wrong: list[dict[str, Any]] = field(default_factory=list)
    """Where engine and reference differ: where it began, the actions, and how."""

    def add(self, other: Found) -> None:
        """Add what another share found."""
        for name in ("decisions", "games", "positions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("counts", "seats", "options"):
            getattr(self, name).update(getattr(other, name))
        self.wrong += other.wrong

    def unexpected(self) -> list[Triple]:
        """Return what followed although it cannot."""
        return sorted(set(self.counts) - set(TRIPLES))

    def unmet(self, least: int = 1) -> list[Triple]:
        """Return what was met less often than `least` times."""
        return [triple for triple in TRIPLES if self.counts[triple] < least]


class Play:
    """Random play of one share, which seeks what it has met least."""

    def __init__(self, choose: random.Random, decisions: int) -> None:
        self.choose, self.left, self.found = choose, decisions, Found()
        self.kinds: Counter[tuple[str, str]] = Counter()

    def all(self) -> Found:
        """Play until the decisions are used up, or something differs."""
        while self.left > 0 and not self.found.wrong:
            if self.choose.random() < 0.02:
                self.dealt()
            else:
                self.made()
        return self.found

    def made(self) -> None:
        """Play on from a position in which the least met of some consequences is near."""
        candidates = self.choose.sample(TRIPLES, CANDIDATES)
        wish = min(candidates, key=self.found.counts.__getitem__)
        position, seed = wished(self.choose, wish), self.choose.randrange(500)
        game = Game.from_dict(position, seed)
        at = Watched(position, Shuffler(int(seed_words(seed, 0)[0])))
        self.found.positions += 1
        self.go(game, at, {"position": position, "seed": seed}, FOLLOWING, wish)

    def dealt(self) -> None:
        """Play a game from its deal."""
        deck = self.choose.choice((STANDARD_DECK, SMALL_DECK, ACTION_DECK))
        most = (sum(deck) - sum(deck[NUM_COLORED:]) - 1) // 2
        options = [self.choose.random() < 0.4 for _ in range(4)]
        size = min(most, self.choose.choice((1, 2, 3, 5, 8, 8)))
        rules = Rules(*options, size, deck)
        room = (sum(deck) - sum(deck[NUM_COLORED:]) - 1) // size
        players, seed = self.choose.randint(2, min(10, room)), self.choose.randrange(500)
        shuffle = Shuffler(int(seed_words(seed, 0)[0]))
        pile = shuffle(rest_of_deck(rules=rules))
        at = Watched.deal(pile, players, rules.to_dict(), shuffle)
        self.found.games += 1
        start = {"rules": rules.to_dict(), "players": players, "seed": seed}
        self.go(Game(players, rules, seed), at, start, LONGEST)

    def go(
        self,
        game: Game,
        at: Reference,
        start: dict[str, Any],
        most: int,
        wish: Triple | None = None,
    ) -> None:
        """Play up to `most` decisions in both, and compare after each."""
        assert isinstance(at, Watched)
        actions: list[str] = []
        differs = difference(game, at, in_words=True)
        while not differs and at.phase != "over" and len(actions) < most:
            wanted = wish[1] if wish and not actions else None
            actions.append(self.action(at, wanted))
            game.apply(actions[-1])
            situation, kind, events = at.follow(actions[-1])
            for event in events:
                self.found.counts[situation, kind, event] += 1
            self.kinds[situation, kind] += 1
            self.found.decisions += 1
            differs = difference(game, at, self.found.decisions % FULL_CHECKS == 0)
        self.left -= len(actions)
        self.found.seats[len(at.hands)] += len(actions)
        on = [name for name, value in at.rules.items() if value is True]
        self.found.options.update(dict.fromkeys(on or ["none"], len(actions)))
        if differs:
            self.found.wrong.append({"from": start, "actions": actions, "differ": differs})

    def action(self, at: Watched, wanted: str | None) -> str:
        """Choose what is wished for, anything, or what was least done here."""
        legal = sorted(at.legal())
        fitting = [action for action in legal if KINDS[action] == wanted]
        if fitting:
            return self.choose.choice(fitting)
        if self.choose.random() < 0.5:
            return self.choose.choice(legal)
        situation = at.situation()
        return min(legal, key=lambda action: self.kinds[situation, KINDS[action]])


def play_share(share: tuple[int, int, int]) -> Found:
    """Return what a share finds: seed, index, and number of decisions."""
    seed, index, decisions = share
    return Play(random.Random(f"{seed}/{index}"), decisions).all()


def shares(seed: int, decisions: int) -> list[tuple[int, int, int]]:
    """Return the shares of a number of decisions."""
    starts = range(0, decisions, SHARE)
    return [(seed, start // SHARE, min(SHARE, decisions - start)) for start in starts]


# Small trees --------------------------------------------------------------------------------------


def sequences(game: Game, depth: int) -> int:
    """Return how many sequences of decisions there are, ended games counted once (engine)."""
    if depth == 0 or game.is_over:
        return 1
    total = 0
    for action in game.legal_actions():
        after = game.clone()
        after.apply(action)
        total += sequences(after, depth - 1)
    return total


def reference_sequences(position: dict[str, Any], word: int, depth: int) -> int:
    """Return the same of the reference, from a position and the word that shuffles refills."""
    at = Reference(position, Shuffler(word))
    if depth == 0 or at.phase == "over":
        return 1
    total = 0
    for action in at.legal():
        shuffle = Shuffler(word)
        after = Reference(position, shuffle)
        after.apply(action)
        total += reference_sequences(after.position(), shuffle.word, depth - 1)
    return total


FEW_CARDS = (*tuple(1 if card % 13 in (0, 8, 9, 12) else 0 for card in range(52)), 1, 1, 1, 1, 2)
"""1, stop, +2 and taki of each color, and the colorless: 22 cards."""
TREES = {
    "2 players, standard deck": (Rules(), 2, 0, 6),
    "2 players, 22 cards": (Rules(hand_size=3, deck=FEW_CARDS), 2, 0, 10),
    "2 players, 22 cards, tournament": (Rules(True, hand_size=2, deck=FEW_CARDS), 2, 4, 9),
    "3 players, 22 cards": (Rules(hand_size=3, deck=FEW_CARDS), 3, 4, 9),
    "4 players, full runs": (Rules(full_runs=True, hand_size=4), 4, 0, 9),
}
"""Rules, players, seed of the deal, and depth."""


def trees() -> Iterator[dict[str, Any]]:
    """Count the sequences of decisions from some deals, in both."""
    for name, (rules, players, seed, depth) in TREES.items():
        game = Game(players, rules, seed)
        word = int(game.state["rng"][0])
        other = reference_sequences(game.to_dict(), word, depth)
        yield {"deal": name, "depth": depth, "engine": sequences(game, depth), "reference": other}


# The command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VerifyArgs:
    """Play the engine beside the plain-Python reference and count all that can follow."""

    decisions: int = 5_000_000
    """Random decisions to compare."""
    seed: int = 0
    """Of the random play."""
    processes: int = 2
    """Processes to share the work."""
    json: Path | None = None
    """File to write the figures to."""


def report(args: VerifyArgs, found: Found, counted: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures, ready for JSON."""
    least = max(1, int(found.decisions * LEAST_PER_DECISION))
    pairs = {
        situation: {
            kind: {event: found.counts[situation, kind, event] for event in sorted(events)}
            for kind, events in kinds.items()
        }
        for situation, kinds in EXPECTED.items()
    }
    return {
        **provenance(),
        "seed": args.seed,
        "asked": args.decisions,
        "decisions": found.decisions,
        "games": found.games,
        "positions": found.positions,
        "players": {str(size): found.seats[size] for size in sorted(found.seats)},
        "options": dict(sorted(found.options.items())),
        "differences": found.wrong,
        "consequences": pairs,
        "expected": len(TRIPLES),
        "least": least,
        "rarest": min(found.counts[triple] for triple in TRIPLES),
        "below_least": found.unmet(least),
        "unexpected": found.unexpected(),
        "sequences": counted,
    }


def show(figures: dict[str, Any], console: Console) -> None:
    """Print what was met, and what was not as it should be."""
    table = Table("situation", "action", "what followed, and how often")
    for situation, kinds in figures["consequences"].items():
        for kind, events in kinds.items():
            words = ", ".join(f"{event} {count:,}" for event, count in events.items())
            table.add_row(situation, kind, words)
    console.print(table)
    for tree in figures["sequences"]:
        console.print("{deal}, {depth} decisions: {engine:,} and {reference:,}".format(**tree))
    console.print(
        f"{figures['decisions']:,} decisions in {figures['positions']:,} positions and "
        f"{figures['games']:,} games; {figures['expected']} consequences, the rarest met "
        f"{figures['rarest']:,} times"
    )
    for words in ("differences", "unexpected", "below_least"):
        for found in figures[words]:
            console.print(f"{words.replace('_', ' ')}: {found}")


def is_sound(figures: dict[str, Any]) -> bool:
    """Tell whether engine and rules agree in all."""
    counted = all(tree["engine"] == tree["reference"] for tree in figures["sequences"])
    return counted and not any(
        figures[words] for words in ("differences", "unexpected", "below_least")
    )


def each_share(args: VerifyArgs, console: Console, found: Found) -> None:
    """Play the shares, adding to what was found."""
    columns = (
        TextColumn("{task.completed:,}/{task.total:,} decisions"), BarColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    work = shares(args.seed, args.decisions)
    ignore = (signal.SIGINT, signal.SIG_IGN)
    context = multiprocessing.get_context("spawn")
    with (
        context.Pool(args.processes, signal.signal, ignore) as pool,
        Progress(*columns, console=console) as bar,
    ):
        task = bar.add_task("", total=args.decisions)
        for share in pool.imap_unordered(play_share, work):
            found.add(share)
            bar.update(task, completed=found.decisions)


def prepare(args: VerifyArgs) -> Callable[[], bool]:
    """Check the arguments and return the work; it returns whether all agree.

    Ctrl-C ends the work after a report of what was checked.
    """
    if args.decisions < 1 or args.processes < 1 or args.seed < 0:
        raise ValueError("--decisions and --processes must be 1 or more, --seed 0 or more")
    check_folder("--json", args.json, ".json")

    def work() -> bool:
        console, found, counted, stopped = make_console(), Found(), [], False
        try:
            counted = list(trees())
            each_share(args, console, found)
        except KeyboardInterrupt:
            console.print("stopped; this was checked:")
            stopped = True
        figures = report(args, found, counted)
        show(figures, console)
        if args.json:
            write_json(args.json, figures)
        if stopped:
            raise KeyboardInterrupt
        return is_sound(figures)

    return work


if __name__ == "__main__":
    sys.exit(
        not run(lambda: prepare(tyro.cli(VerifyArgs)))
    )  # 1 if anything is not as the rules say
