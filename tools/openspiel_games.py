"""The same games in `Game` and in OpenSpiel: ``python -m tools.openspiel_games --games 10000``.

`Game` plays from its random word; the cards that this word draws, by the documented shuffle, are
given to OpenSpiel's chance nodes, which refuse any that cannot be drawn. All options, decks and
table sizes take turns.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator

from taki_env import CARDS, Game, Rules
from taki_env.core.bits import seed_words
from taki_env.core.cards import MAX_PLAYERS
from taki_env.core.decks import DECKS
from taki_env.openspiel import TreeState, load
from tests.helpers import VARIANTS, Shuffler, rest_of_deck

SMALL = {
    f"{name} {'calls' if calls else 'automatic calls'}": Rules(deck=name, auto_last_card=not calls)
    for name in DECKS
    for calls in (False, True)
    if name != "standard"
}
TOURNAMENT = Rules(True, True, False, False, 3, (1,) * 12 + (0,) * 40 + (2, 2, 2, 2, 4))
"""Hands, pile and discard pile are next to nothing: stages, +3 and refills meet."""
SETTINGS = [
    (players, rules)
    for rules in (*VARIANTS.values(), *SMALL.values(), TOURNAMENT)
    for players in (2, 3, 4, 7, MAX_PLAYERS)
    if sum(rules.deck) > players * rules.hand_size + sum(rules.deck[52:])
]
MAX_DECISIONS = 200


def dealt(table: TreeState, shuffle: Shuffler) -> TreeState:
    """Return the table after the deal of the shuffled deck."""
    cards = iter(shuffle(rest_of_deck(rules=table.setup.rules)))
    while table.action is not None:
        table = table.choose(CARDS.index(next(cards)))
    return table


def draws(game: Game, recycled: tuple[int, ...]) -> Iterator[int]:
    """Yield what the game draws next: its pile, then its shuffle of the recycled cards."""
    s = game.state[0]
    yield from s["draw_pile"][: s["draw_size"]].tolist()[::-1]
    shuffle = Shuffler(int(s["rng"]))
    yield from map(CARDS.index, shuffle([CARDS[card] for card in recycled]))


def check_same(table: TreeState, game: Game) -> None:
    """All bytes are equal, but for the random word and the order of the draw pile."""
    records = table.record.copy(), game.state
    for record in records:
        pile, size = record["draw_pile"][0], int(record["draw_size"][0])
        pile[:size].sort()
        pile[size:] = 0
        record["rng"] = 0
    assert records[0].tobytes() == records[1].tobytes()
    assert table.legal == sum(1 << action for action in game.legal_actions())


def play_both(num_players: int, rules: Rules, seed: int) -> bool:
    """Play a game with random actions in both; returns whether a draw pile was made anew."""
    game, choose = Game(num_players, rules, seed), random.Random(seed)
    table = load(num_players, rules, MAX_DECISIONS).start
    table, refilled = dealt(table, Shuffler(int(seed_words(seed, 0)[0]))), False
    check_same(table, game)
    while not table.is_over:
        action = choose.choice(game.legal_actions())
        table = table.decide(action)
        refilled |= bool(table.recycled)
        cards = draws(game, table.recycled)
        while table.action is not None:
            table = table.choose(next(cards))
        game.apply(action)
        check_same(table, game)
    assert game.is_over or game.decisions == MAX_DECISIONS
    return refilled


def main() -> None:
    """Play as many games as asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--games", type=int, default=10_000)
    games = parser.parse_args().games
    refilled = 0
    for seed, setting in zip(range(games), itertools.cycle(SETTINGS), strict=False):
        refilled += play_both(*setting, seed)
    print(f"{games:,} games of {len(SETTINGS)} settings agree; {refilled:,} with a new draw pile")


if __name__ == "__main__":
    main()
