"""Outcomes: who drew which cards because of an action, what stays secret, and the rewards.

Draws are read from the states before and after an action, so that no caller repeats a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry, inlined, inner
from taki_env.base.types import Int
from taki_env.core.cards import CHANGE_COLOR, DRAW, OVER, PASS, RESPOND, STANDARD_DECK
from taki_env.core.engine import next_seat
from taki_env.core.state import State, States

MOST_DRAWS = sum(STANDARD_DECK)
"""Upper bound on the cards drawn because of one action: the whole deck."""

# Rewards ------------------------------------------------------------------------------------------


@inlined
def loser_reward(num_players: Any) -> Any:
    """Return the reward of each loser, -1/(n-1), for a number of players or an array of them."""
    return -1.0 / (num_players - 1)


def seat_rewards(winner: int | None, num_players: int) -> list[float]:
    """Return the reward of each seat of one game; all are 0 without a winner."""
    if winner is None:
        return [0.0] * num_players
    return [1.0 if seat == winner else loser_reward(num_players) for seat in range(num_players)]


def rewards_of(states: States) -> npt.NDArray[np.float64]:
    """Return the rewards of all seats, (num_games, most players); 0 for seats not at the table."""
    players = states["num_players"].astype(np.int64)[:, None]
    seats = np.arange(players.max(initial=0))
    lost = np.where(seats < players, loser_reward(players), 0)
    won = seats == states["winner"][:, None]
    done = states["phase"][:, None] == OVER
    return np.where(done, np.where(won, 1, lost), 0)


# Secrets (RULES.md section 7) ---------------------------------------------------------------------


@inlined
def lets_plus_three_stand(phase: Int, action: Int) -> bool:
    """Return whether an action in a phase is a pass on a +3."""
    return phase == RESPOND and action == PASS


@inlined
def is_hidden_pass(phase: Int, action: Int, actor: Int, seat: Int) -> bool:
    """Return whether `seat` does not see an action: another seat's pass on a +3."""
    return seat != actor and lets_plus_three_stand(phase, action)


@inlined
def is_hidden_actor(phase: Int, actor: Int, seat: Int) -> bool:
    """Return whether `seat` does not know who decides: another seat is asked to answer a +3."""
    return phase == RESPOND and seat != actor


# Draws (RULES.md section 8) -----------------------------------------------------------------------


def played_card(action: int) -> int | None:
    """Return the card type that an action plays, or None."""
    return min(action, CHANGE_COLOR) if action < DRAW else None


@inlined
def count_drawn(before: State, action: Int, after: State, seat: Int) -> Int:
    """Return how many cards a seat drew because of an action."""
    played = action < DRAW and seat == before["actor"]
    before_size, size = before["hand_sizes"][seat], after["hand_sizes"][seat]
    return np.int64(size) - np.int64(before_size) + np.int64(played)


@inner
def write_drawers(before: State, action: Int, after: State, drawers: Any) -> Int:
    """Write the seat that drew each card, in the order drawn; return the number of cards.

    The actor draws first: from the pile, for a stage, or as a penalty. A pass on a +3 is the
    exception: it makes the actor one of the others, who draw in the direction of play.

    Args:
        before: State in which the action was taken.
        action: Action id.
        after: State that followed.
        drawers: Output, (MOST_DRAWS,).
    """
    players, actor = np.int64(before["num_players"]), np.int64(before["actor"])
    is_actor_first = not lets_plus_three_stand(before["phase"], action)
    count = 0
    if is_actor_first:
        for _ in range(count_drawn(before, action, after, actor)):
            drawers[count] = actor
            count += 1
    seat = np.int64(before["turn"])
    for _ in range(players):
        seat = np.int64(next_seat(before, seat))
        if seat != actor or not is_actor_first:
            for _ in range(count_drawn(before, action, after, seat)):
                drawers[count] = seat
                count += 1
    return count


@entry
def write_draws(
    before: States,
    action: int,
    after: States,
    drawers: npt.NDArray[np.uint8],
    cards: npt.NDArray[np.uint8],
) -> Int:
    """Write who drew which card because of an action, in the order drawn; return how many.

    Beyond its size a draw pile still holds the cards drawn from it. One action refills the pile at
    most once, because it plays its card before it draws any.

    Args:
        before: State in which the action was taken, (1,).
        action: Action id.
        after: State that followed, (1,), with its draw pile as the action left it.
        drawers: Output, the seats, (MOST_DRAWS,).
        cards: Output, the card types, (MOST_DRAWS,).
    """
    old, new = before[0], after[0]
    count = write_drawers(old, action, new, drawers)
    size = np.int64(old["draw_size"])
    refilled = np.int64(new["draw_size"]) + count
    for k in range(count):
        pile, place = (old, size) if k < size else (new, refilled)
        cards[k] = pile["draw_pile"][place - 1 - k]
    return count


def draws_of(before: States, action: int, after: States) -> list[tuple[int, int]]:
    """Return (seat, card type) of each card drawn because of an action; see `write_draws`."""
    drawers, cards = np.empty((2, MOST_DRAWS), np.uint8)
    count = write_draws(before, action, after, drawers, cards)
    return list(zip(drawers[:count].tolist(), cards[:count].tolist(), strict=True))
