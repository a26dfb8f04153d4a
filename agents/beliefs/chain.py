"""Re-deals that agree with what others have done, compiled: hands by what was played from them.

A deal is a card for each place that the observer has not seen: of the hands of others at the start
of its memory, and of the draw pile. A Markov chain walks over the deals (Metropolis et al. 1953):
a step swaps two cards, plays the remembered moves over again, and is kept by how much better or
worse the others' moves fit the hands that they would have had. A deal in which a move would have
been against the rules is impossible.

Before anything was seen, a player is believed to be one of two kinds, either as likely: one who
chooses as the expert does, but for a share `SURPRISE` of moves that are any legal ones; or one who
always plays any legal action.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import inner
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, bit_of, count_bits, next_random, random_below
from taki_env.core.cards import CHANGE_COLOR, DRAW, NUM_CARDS, PASS, RESPOND
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.memory import PILE
from taki_env.core.policies.expert import DEFAULT_WEIGHTS, choose_expert
from taki_env.core.state import NOBODY, ONCE, TWICE, State, add_card, remove_card

BELIEFS = ("uniform", "rules", "expert")
"""What others' moves are taken to say of their hands: nothing; what the rules say; all."""
UNIFORM, RULES, EXPERT = range(len(BELIEFS))
SURPRISE = 0.1
"""Share of moves in which an expert does anything."""
FIRST_STEPS, STEPS = 500, 20
"""Steps of the chain to the first deal, and from each deal to the next."""
PICKS = 60
"""Places that are looked at for one whose card was not played."""
PLACE_DTYPE = np.dtype(
    [
        ("lacks", "u8"),  # cards that it surely did not hold when it was in a hand
        ("card", "i2"),
        ("seat", "i2"),  # whose hand it is in or was drawn to, or -1
        ("position", "i2"),  # in the draw pile, or -1 for a hand at the start
        ("drawn_at", "i2"),  # move
        ("played", "i2"),  # 1 if the card is one that was played from here
        ("unused", "i2", 3),
    ]
)
Places: TypeAlias = npt.NDArray[np.void]
MOST_PLACES = PILE
_UNIT = 2.0**-53
_ELEVEN = np.uint64(11)


@inner
def _find_places(start: State, seat: Int, drawers: Any, drawn_at: Any, places: Places) -> Int:
    """List all places that `seat` has not seen, each hand's in the order that it got them."""
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
def count_unseen(s: State, seat: Int, copies: Any) -> None:
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
def _place_played(move: Any, number: Int, card: Int, places: Places, count: Int) -> bool:
    """Let a card have been played from the place that fewest others could have come from."""
    for k in range(count):
        place = places[k]
        if place["seat"] == move["actor"] and place["drawn_at"] < number and not place["played"]:
            if place["lacks"] & bit_of(card) == ZERO:
                place["card"], place["played"] = card, 1
                return True
    return False


@inner
def _place_moves(
    moves: Any, moved: Int, seat: Int, places: Places, count: Int, copies: Any
) -> bool:
    """Place all cards that others have played, and note what their other moves say they lacked."""
    for number in range(moved):
        move = moves[number]
        if move["actor"] == seat:
            continue
        if move["lacks"] != ZERO:
            for k in range(count):
                place = places[k]
                mine = place["seat"] == move["actor"] and place["drawn_at"] < number
                if mine and not place["played"]:
                    place["lacks"] |= move["lacks"]
        if move["action"] < DRAW:
            card = min(np.int64(move["action"]), CHANGE_COLOR)
            copies[card] -= 1
            if copies[card] < 0 or not _place_played(move, number, card, places, count):
                return False
    return True


@inner
def _place_rest(places: Places, count: Int, copies: Any, word: np.uint64) -> bool:
    """Deal what is left to the other places, at random, the ones that lack most cards first."""
    pool, size = np.empty(MOST_PLACES, np.int64), 0
    for card in range(NUM_CARDS):
        for _ in range(copies[card]):
            word = next_random(word)
            place = random_below(word, size + 1)
            pool[size] = pool[place]
            pool[place] = card
            size += 1
    for wanted in range(64, -1, -1):
        for k in range(count):
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
    return size == 0


@inner
def _lay_out(start: State, places: Places, count: Int, worlds: Any) -> None:
    """Make ``worlds[2]`` the start with all cards where they lie in this deal."""
    worlds[2] = start
    s = worlds[2]
    for k in range(count):
        if places[k]["position"] == NOBODY:
            s["hand_sizes"][places[k]["seat"]] = 0
    for k in range(count):
        card = np.int64(places[k]["card"])
        if places[k]["position"] == NOBODY:
            add_card(s, np.int64(places[k]["seat"]), card)
        else:
            s["draw_pile"][places[k]["position"]] = card


@inner
def _count_move(s: State, legal: np.uint64, action: Int, fits: Any) -> None:
    """Note how likely a move is of the two kinds of player."""
    any_legal = 1 / count_bits(legal)
    chosen = choose_expert(s, legal, DEFAULT_WEIGHTS) == action
    fits[s["actor"], 0] += log(SURPRISE * any_legal + (1 - SURPRISE if chosen else 0.0))
    fits[s["actor"], 1] += log(any_legal)


@inner
def _is_unseen_pass(s: State, moves: Any, number: Int, moved: Int, seat: Int) -> bool:
    """Tell whether another seat is asked to answer a +3, and nobody has seen it do so."""
    if s["phase"] != RESPOND or s["actor"] == seat:
        return False
    move = moves[min(number, moved - 1)]
    return not (number < moved and move["answers"] and move["actor"] == s["actor"])


@inner
def _fit(
    s: State, moves: Any, moved: Int, seat: Int, belief: Int, fits: Any, least: float
) -> float:
    """Play all moves over again; return the logarithm of how likely they were in this deal.

    It is cut short, and -inf, where it must be less than `least`.
    """
    players = np.int64(s["num_players"])
    fits[:players] = 0
    number = 0
    while True:
        passes = _is_unseen_pass(s, moves, number, moved, seat)
        if number == moved and not passes:
            break
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
        if belief == EXPERT and s["actor"] != seat and legal & (legal - ONE) != ZERO:
            _count_move(s, legal, action, fits)
            most = 0.0
            for other in range(players):
                most += max(fits[other, 0], fits[other, 1])
            if most < least:
                return -inf
        apply_action(s, action)
    fit = 0.0
    for other in range(players):
        more, less = max(fits[other, 0], fits[other, 1]), min(fits[other, 0], fits[other, 1])
        fit += more + log(0.5 + 0.5 * exp(less - more))
    return fit


@inner
def _looks_like(s: State, root: State, seat: Int) -> bool:
    """Tell whether a game played over again can be the one that the seat sees, by a first look."""
    for other in range(np.int64(root["num_players"])):
        if s["hand_sizes"][other] != root["hand_sizes"][other]:
            return False
    table = s["actor"] == root["actor"] and s["phase"] == root["phase"]
    lead = s["lead"] == root["lead"] and s["color"] == root["color"]
    hand = s["holds"][seat, ONCE] == root["holds"][seat, ONCE]
    played = s["discard_one"] == root["discard_one"] and s["draw_size"] == root["draw_size"]
    return bool(table and lead and hand and played)


@inner
def begin(
    root: State, start: State, moves: Any, moved: Int, drawers: Any, drawn_at: Any,
    belief: Int, places: Places, worlds: Any, fits: Any, word: np.uint64,
) -> tuple[Int, float]:  # fmt: skip
    """Find a first deal that agrees with the rules; ``worlds[1]`` is the game now in it.

    ``worlds[0]`` is for calculation, and ``worlds[2]`` the start of the memory in this deal.

    Returns the number of places, or 0 if there is no such deal, and how well it fits.
    """
    seat = np.int64(root["actor"])
    copies = np.empty(NUM_CARDS, np.int64)
    count = _find_places(start, seat, drawers, drawn_at, places)
    count_unseen(start, seat, copies)
    for position in range(np.int64(start["draw_size"])):
        if drawers[position] == seat:
            copies[start["draw_pile"][position]] -= 1
    if not _place_moves(moves, moved, seat, places, count, copies):
        return 0, -inf
    if not _place_rest(places, count, copies, word):
        return 0, -inf
    _lay_out(start, places, count, worlds)
    worlds[0] = worlds[2]
    fit = _fit(worlds[0], moves, moved, seat, belief, fits, -inf)
    if fit == -inf or not _looks_like(worlds[0], root, seat):
        return 0, -inf
    worlds[1] = worlds[0]
    return count, fit


@inner
def _pick(places: Places, count: Int, kept: bool, word: np.uint64) -> tuple[Int, np.uint64]:
    """Return one of the first places, if wanted one whose card was not played, and a word.

    The place is -1 if none was found: another one in its stead would not be as likely on the way
    back, and the chain would favor some deals.
    """
    for _ in range(PICKS):
        word = next_random(word)
        place = random_below(word, count)
        if not kept or not places[place]["played"]:
            return place, word
    return NOBODY, word


@inner
def _swap(s: State, places: Places, one: Int, other: Int) -> None:
    """Let the cards of two places change places, also in the start `s` of the memory."""
    for place in (one, other):  # both first: a hand cannot hold a third copy for a moment
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
    """Tell whether a place may hold another's card: not one that it lacked and that was kept."""
    return bool(other["played"]) or place["lacks"] & bit_of(np.int64(other["card"])) == ZERO


@inner
def walk(
    start: State, moves: Any, moved: Int, seat: Int, belief: Int, places: Places, count: Int,
    worlds: Any, fits: Any, fit: float, word: np.uint64, steps: Int,
) -> tuple[float, np.uint64]:  # fmt: skip
    """Take some steps of the chain; ``worlds[1]`` stays the game now in the deal it has come to.

    Three of four steps swap cards that were not played: few others can be moved.

    Returns how well this deal fits, and the next random word.
    """
    owned: Int = 0
    while owned < count and places[owned]["seat"] != NOBODY:
        owned += 1
    for _ in range(steps):
        word = next_random(word)
        kept_only = random_below(word, 4) > 0
        one, word = _pick(places, owned, kept_only, word)
        other, word = _pick(places, count, kept_only, word)
        if one == NOBODY or other == NOBODY or places[one]["card"] == places[other]["card"]:
            continue
        word = next_random(word)
        if not _may_hold(places[one], places[other]) or not _may_hold(places[other], places[one]):
            continue
        _swap(worlds[2], places, one, other)
        worlds[0] = worlds[2]
        least = fit + log(np.float64((word >> _ELEVEN) + ONE) * _UNIT)
        proposed = _fit(worlds[0], moves, moved, seat, belief, fits, least)
        if proposed >= least and proposed > -inf:
            fit = proposed
            worlds[1] = worlds[0]
        else:
            _swap(worlds[2], places, one, other)
    return fit, word


@inner
def copy_world(worlds: Any, s: Any, word: np.uint64) -> None:
    """Make ``s[0]`` the game now in the chain's deal, the rest of the draw pile in a new order."""
    s[0] = worlds[1]
    pile = s[0]["draw_pile"]
    for place in range(np.int64(s[0]["draw_size"]) - 1, 0, -1):
        word = next_random(word)
        other = random_below(word, place + 1)
        card = pile[place]
        pile[place] = pile[other]
        pile[other] = card
    s[0]["rng"] = next_random(word)
    s[0]["decisions"] = 0
