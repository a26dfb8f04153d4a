"""Deals that agree with what other players did: a Markov chain over hidden cards, compiled.

A deal assigns a card to each place that the observer has not seen: in the other hands when its
memory starts, and in the draw pile. The chain is a Metropolis sampler (Metropolis et al. 1953). A
step swaps two cards, plays the remembered moves again, and keeps or undoes the swap by how likely
the others' moves are in the new deal. A deal in which a move would have been illegal is impossible.

Each other player is equally likely to be one of two kinds: one that chooses as the expert does,
except for a share `SURPRISE` of moves that are uniform over the legal actions; or one whose moves
are all uniform.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import inner
from taki_env.base.types import Int, Words
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, next_random, random_below
from taki_env.core.cards import CHANGE_COLOR, DRAW, MAX_PLAYERS, NUM_CARDS, PASS, RESPOND
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.memory import PILE
from taki_env.core.observation import determinize
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.state import (
    GAME_DTYPE,
    NOBODY,
    ONCE,
    TWICE,
    State,
    States,
    add_card,
    remove_card,
)

BELIEFS = ("uniform", "rules", "expert")
"""Ways to weigh deals: all equally; by what the rules make impossible; and by the others' moves."""
UNIFORM, RULES, EXPERT = range(len(BELIEFS))
SURPRISE = 0.1
"""Share of an expert's moves that are uniform over the legal actions."""
BURN_IN, THIN = 480, 20
"""Steps of the chain before the first deal is drawn, and for each deal."""
PICKS = 60
"""Attempts to pick a place with an unplayed card."""
MOST_PLACES = PILE
PLACE_DTYPE = np.dtype(
    [
        ("lacks", "u8"),  # cards that its seat did not hold while this one was in the hand
        ("card", "i2"),
        ("seat", "i2"),  # that holds or has drawn it, or -1
        ("position", "i2"),  # in the draw pile, or -1 for a hand at the start
        ("drawn_at", "i2"),  # number of the move, or -1 for a hand at the start
        ("played", "i2"),  # 1 if this card has been played since
        ("unused", "i2", 3),
    ]
)
Places: TypeAlias = npt.NDArray[np.void]
Moves: TypeAlias = npt.NDArray[np.void]
SCRATCH, NOW, START = range(3)
"""Games of `Chain.worlds`: for calculation; the current game, and the memory's start, as dealt."""
_UNIT = 2.0**-53
_ELEVEN = np.uint64(11)


class Chain(NamedTuple):
    """A walk over the deals of one game, with its working memory and its current deal."""

    seat: Int
    """The observer."""
    belief: Int
    """Index in `BELIEFS`."""
    moves: Moves
    """Moves that the observer has seen since its memory starts, `MOVE_DTYPE` (moves,)."""
    places: Places
    """Places that the observer has not seen, `PLACE_DTYPE` (places,); seats' places come first."""
    worlds: States
    """Games of the current deal, `GAME_DTYPE` (3,): `SCRATCH`, `NOW`, `START`."""
    fits: npt.NDArray[np.float64]
    """Log-likelihood of each seat's moves for the two kinds of player, (MAX_PLAYERS, 2)."""
    fit: npt.NDArray[np.float64]
    """Log-likelihood of all moves in the current deal, (1,); -inf if no deal was found."""
    word: Words
    """Random word of the next step, (1,)."""


@inner
def _find_places(start: State, seat: Int, drawers: Any, drawn_at: Any, places: Places) -> Int:
    """Write the places that `seat` has not seen, each hand's in the order of its draws.

    Cards are drawn from the end of the pile, so places that belong to a seat come first.
    """
    count = 0
    for other in range(np.int64(start["num_players"])):
        if other != seat:
            for _ in range(np.int64(start["hand_sizes"][other])):
                places[count]["seat"], places[count]["position"] = other, NOBODY
                places[count]["drawn_at"] = NOBODY
                count += 1
    for position in range(np.int64(start["draw_size"]) - 1, -1, -1):
        if drawers[position] != seat:
            places[count]["seat"], places[count]["position"] = drawers[position], position
            places[count]["drawn_at"] = drawn_at[position]
            count += 1
    for k in range(count):
        places[k]["lacks"], places[k]["played"] = ZERO, 0
    return count


@inner
def count_unseen(s: State, seat: Int, copies: npt.NDArray[np.int64]) -> None:
    """Count the cards of each type that `seat` neither holds nor has seen played, (57,)."""
    copies[:] = 0
    one, two = s["holds"][seat, ONCE], s["holds"][seat, TWICE]
    for card in range(CHANGE_COLOR):
        bit = bit_of(card)
        for more in (s["deck_one"], s["deck_two"]):
            copies[card] += (more & bit) != ZERO
        for less in (one, two, s["discard_one"], s["discard_two"]):
            copies[card] -= (less & bit) != ZERO
    copies[CHANGE_COLOR] = np.int64(s["deck_change_colors"]) - s["change_colors"][seat]
    copies[CHANGE_COLOR] -= np.int64(s["discard_change_colors"])


@inner
def _is_in_hand(place: Any, actor: Int, number: Int) -> bool:
    """Return whether a place's card is in the hand of `actor` before move `number`."""
    return bool(place["seat"] == actor and place["drawn_at"] < number and not place["played"])


@inner
def _place_played(actor: Int, number: Int, card: Int, places: Places) -> bool:
    """Assign a played card to the first compatible place; return whether there is one.

    Moves are placed in order, and the places of a hand are sorted by their draws. So this is the
    place whose seat has lacked the most cards since: the most constrained one.
    """
    for k in range(places.size):
        place = places[k]
        if _is_in_hand(place, actor, number) and place["lacks"] & bit_of(card) == ZERO:
            place["card"], place["played"] = card, 1
            return True
    return False


@inner
def _place_moves(chain: Chain, copies: npt.NDArray[np.int64]) -> bool:
    """Assign the cards that others have played, and note what their moves prove they lacked."""
    places = chain.places
    for number in range(chain.moves.size):
        move = chain.moves[number]
        actor = np.int64(move["actor"])
        if actor == chain.seat:
            continue
        if move["lacks"] != ZERO:
            for k in range(places.size):
                if _is_in_hand(places[k], actor, number):
                    places[k]["lacks"] |= move["lacks"]
        if move["action"] < DRAW:
            card = np.int64(min(move["action"], CHANGE_COLOR))
            copies[card] -= 1
            if copies[card] < 0 or not _place_played(actor, number, card, places):
                return False
    return True


@inner
def _shuffle_pool(
    copies: npt.NDArray[np.int64], pool: npt.NDArray[np.int64], word: np.uint64
) -> Int:
    """Write the cards of `copies` in random order; return how many there are."""
    size = 0
    for card in range(NUM_CARDS):
        for _ in range(copies[card]):
            word = next_random(word)
            place = random_below(word, size + 1)
            pool[size] = pool[place]
            pool[place] = card
            size += 1
    return size


@inner
def _place_rest(places: Places, copies: npt.NDArray[np.int64], word: np.uint64) -> bool:
    """Deal the remaining cards at random, first to the places that lack the most cards."""
    pool = np.empty(MOST_PLACES, np.int64)
    size = _shuffle_pool(copies, pool, word)
    for wanted in range(64, -1, -1):
        for k in range(places.size):
            place = places[k]
            if place["played"] or count_bits(place["lacks"]) != wanted:
                continue
            top = size - 1
            while top >= 0 and place["lacks"] & bit_of(pool[top]) != ZERO:
                top -= 1
            if top < 0:
                return False
            size -= 1
            place["card"] = pool[top]
            pool[top] = pool[size]
    return bool(size == 0)


@inner
def _lay_out(start: State, places: Places, s: State) -> None:
    """Make `s` the start with the cards of the places in hands and draw pile."""
    for k in range(places.size):
        if places[k]["position"] == NOBODY:
            s["hand_sizes"][places[k]["seat"]] = 0
    for k in range(places.size):
        card = np.int64(places[k]["card"])
        if places[k]["position"] == NOBODY:
            add_card(s, np.int64(places[k]["seat"]), card)
        else:
            s["draw_pile"][places[k]["position"]] = card


@inner
def _count_move(s: State, legal: np.uint64, action: Int, fits: npt.NDArray[np.float64]) -> None:
    """Add the log-probability of a move for each of the two kinds of player."""
    any_legal = 1 / count_bits(legal)
    chosen = choose_expert(s, legal, DEFAULT_WEIGHTS) == action
    fits[s["actor"], 0] += log(SURPRISE * any_legal + (1 - SURPRISE if chosen else 0.0))
    fits[s["actor"], 1] += log(any_legal)


@inner
def _is_unseen_pass(s: State, moves: Moves, number: Int, seat: Int) -> bool:
    """Return whether another seat must answer a +3 and has let it stand, unseen by the observer."""
    if s["phase"] != RESPOND or s["actor"] == seat:
        return False
    move = moves[min(number, moves.size - 1)]
    return not (number < moves.size and move["answers"] and move["actor"] == s["actor"])


@inner
def _bound(fits: npt.NDArray[np.float64], players: Int) -> float:
    """Return an upper bound of `_mixture` after any further moves.

    A mean of two likelihoods is at most the larger one, and further moves only lower both.
    """
    most = 0.0
    for other in range(players):
        most += max(fits[other, 0], fits[other, 1])
    return most


@inner
def _mixture(fits: npt.NDArray[np.float64], players: Int) -> float:
    """Return the log-likelihood of all moves, each seat's the mean over the kinds of player."""
    fit = 0.0
    for other in range(players):
        more, less = max(fits[other, 0], fits[other, 1]), min(fits[other, 0], fits[other, 1])
        fit += more + log(0.5 + 0.5 * exp(less - more))  # log-sum-exp: no underflow
    return fit


@inner
def _replay(chain: Chain, least: float) -> float:
    """Play the moves again in the current deal; return the log-likelihood of the others' moves.

    The game after the last move is left in ``worlds[SCRATCH]``. Returns -inf if the deal is
    impossible, or as soon as the result must be below `least`.
    """
    seat, belief, moves, worlds, fits = (
        chain.seat, chain.belief, chain.moves, chain.worlds, chain.fits,
    )  # fmt: skip
    worlds[SCRATCH] = worlds[START]
    s = worlds[SCRATCH]
    players = np.int64(s["num_players"])
    fits[:players] = 0
    number = 0
    while True:
        passes = _is_unseen_pass(s, moves, number, seat)
        if number == moves.size and not passes:
            return _mixture(fits, players)
        action = np.int64(PASS)
        if not passes:
            move = moves[number]
            action = np.int64(move["action"])
            if move["actor"] != s["actor"] or move["answers"] != (s["phase"] == RESPOND):
                return -inf
            number += 1
        legal = legal_actions(s)
        if legal & bit_of(action) == ZERO:
            return -inf
        # a forced move says nothing, nor do the observer's own
        if belief == EXPERT and s["actor"] != seat and legal & (legal - ONE) != ZERO:
            _count_move(s, legal, action, fits)
            if _bound(fits, players) < least:
                return -inf
        apply_action(s, action)


@inner
def _looks_like(s: State, root: State, seat: Int) -> bool:
    """Return whether a replayed game agrees with the root in what is quick to compare."""
    for other in range(np.int64(root["num_players"])):
        if s["hand_sizes"][other] != root["hand_sizes"][other]:
            return False
    table = s["actor"] == root["actor"] and s["phase"] == root["phase"]
    lead = s["lead"] == root["lead"] and s["color"] == root["color"]
    hand = s["holds"][seat, ONCE] == root["holds"][seat, ONCE]
    played = s["discard_one"] == root["discard_one"] and s["draw_size"] == root["draw_size"]
    return bool(table and lead and hand and played)


@inner
def _find_deal(chain: Chain, root: State, start: State, drawers: Any, word: np.uint64) -> bool:
    """Find a first deal that agrees with the rules and leads to the root."""
    copies = np.empty(NUM_CARDS, np.int64)
    count_unseen(start, chain.seat, copies)
    for position in range(np.int64(start["draw_size"])):
        if drawers[position] == chain.seat:
            copies[start["draw_pile"][position]] -= 1
    if not _place_moves(chain, copies) or not _place_rest(chain.places, copies, word):
        return False
    worlds = chain.worlds
    worlds[START] = start
    _lay_out(start, chain.places, worlds[START])
    chain.fit[0] = _replay(chain, -inf)
    if chain.fit[0] == -inf or not _looks_like(worlds[SCRATCH], root, chain.seat):
        return False
    worlds[NOW] = worlds[SCRATCH]
    return True


@inner
def begin(root: State, memory: Any, game: Int, belief: Int, burn_in: Int, word: np.uint64) -> Chain:
    """Return the chain of a game after its first steps.

    Args:
        root: the game now; its actor is the observer.
        memory: of the actors of all games, `Memory.arrays`.
        game: index in the memory.
        belief: index in `BELIEFS`; `UNIFORM` needs no chain and finds no deal.
        burn_in: steps to take.
        word: random word, not 0.

    Returns:
        a chain that `has_deal`, unless nothing is remembered or hidden, or no deal was found.
    """
    starts, moves, counts, drawers, drawn_at = memory
    start, seat = starts[game], np.int64(root["actor"])
    places = np.empty(MOST_PLACES, PLACE_DTYPE)
    hidden = _find_places(start, seat, drawers[game], drawn_at[game], places)
    chain = Chain(
        seat,
        belief,
        moves[game, : counts[game]],
        places[:hidden],
        np.empty(3, GAME_DTYPE),
        np.empty((MAX_PLAYERS, 2)),
        np.full(1, -inf),
        np.full(1, next_random(word)),
    )
    if belief != UNIFORM and counts[game] > 0 and hidden > 0:
        if _find_deal(chain, root, start, drawers[game], word):
            walk(chain, burn_in)
        else:
            chain.fit[0] = -inf
    return chain


@inner
def has_deal(chain: Chain) -> bool:
    """Return whether the chain has a deal that agrees with what was remembered."""
    return bool(chain.fit[0] > -inf)


@inner
def _pick(places: Places, count: Int, kept: bool, word: np.uint64) -> tuple[Int, np.uint64]:
    """Return one of the first `count` places, an unplayed one if `kept`, and the next word.

    Returns -1 if `PICKS` attempts find none. Substituting another place would break detailed
    balance: the reverse step would not be equally likely.
    """
    for _ in range(PICKS):
        word = next_random(word)
        place = random_below(word, count)
        if not kept or not places[place]["played"]:
            return place, word
    return NOBODY, word


@inner
def _swap(s: State, places: Places, one: Int, other: Int) -> None:
    """Exchange the cards of two places, also in the start `s` of the memory."""
    for place in (one, other):  # both are removed first: a hand cannot hold a third copy
        if places[place]["position"] == NOBODY:
            remove_card(s, np.int64(places[place]["seat"]), np.int64(places[place]["card"]))
    card, played = places[one]["card"], places[one]["played"]
    places[one]["card"], places[one]["played"] = places[other]["card"], places[other]["played"]
    places[other]["card"], places[other]["played"] = card, played
    for place in (one, other):
        if places[place]["position"] == NOBODY:
            add_card(s, np.int64(places[place]["seat"]), np.int64(places[place]["card"]))
        else:
            s["draw_pile"][places[place]["position"]] = places[place]["card"]


@inner
def _may_hold(place: Any, other: Any) -> bool:
    """Return whether a place may take another's card: a kept card must not be a lacked one."""
    return bool(other["played"]) or place["lacks"] & bit_of(np.int64(other["card"])) == ZERO


@inner
def walk(chain: Chain, steps: Int) -> None:
    """Take steps of the chain, which has a deal; ``worlds[NOW]`` follows it.

    One place of each swap belongs to a seat: swaps within the rest of the pile change nothing.
    Three of four steps swap only unplayed cards, because few others can move. Both choices make a
    swap and its reverse equally likely, as Metropolis acceptance requires.
    """
    places, worlds, word, fit = chain.places, chain.worlds, chain.word[0], chain.fit[0]
    owned: Int = 0
    while owned < places.size and places[owned]["seat"] != NOBODY:
        owned += 1
    for _ in range(steps):
        word = next_random(word)
        kept_only = bool(random_below(word, 4) > 0)
        one, word = _pick(places, owned, kept_only, word)
        other, word = _pick(places, places.size, kept_only, word)
        if one == NOBODY or other == NOBODY or places[one]["card"] == places[other]["card"]:
            continue
        word = next_random(word)
        if not _may_hold(places[one], places[other]) or not _may_hold(places[other], places[one]):
            continue
        _swap(worlds[START], places, one, other)
        # Metropolis acceptance, u < exp(proposed - fit), in logarithms. The uniform draw comes
        # before the replay, which can then stop as soon as the bound decides.
        least = fit + log(np.float64((word >> _ELEVEN) + ONE) * _UNIT)
        proposed = _replay(chain, least)
        if proposed >= least and proposed > -inf:
            fit = proposed
            worlds[NOW] = worlds[SCRATCH]
        else:
            _swap(worlds[START], places, one, other)
    chain.word[0], chain.fit[0] = word, fit


@inner
def redeal(chain: Chain, root: State, out: States, word: np.uint64) -> None:
    """Write a game that looks like `root` to its actor to ``out[0]``.

    It is the chain's deal with the undrawn cards in a new order. Without a deal, all hidden cards
    are dealt uniformly.
    """
    if not has_deal(chain):
        out[0] = root
        determinize(out[0], chain.seat, word)
        return
    out[0] = chain.worlds[NOW]
    pile = out[0]["draw_pile"]
    for place in range(np.int64(out[0]["draw_size"]) - 1, 0, -1):
        word = next_random(word)
        other = random_below(word, place + 1)
        card = pile[place]
        pile[place] = pile[other]
        pile[other] = card
    out[0]["rng"] = next_random(word)
    out[0]["decisions"] = 0
