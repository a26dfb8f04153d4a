"""What a seat remembers of a game: what all have done since the cards were last shuffled.

From this an agent can draw conclusions about hidden cards: who drew had nothing to play.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry, inner
from taki_env.base.types import Int
from taki_env.core.bits import ONE, ZERO, bit_of
from taki_env.core.cards import (
    CHANGE_COLOR,
    DRAW,
    MAX_PLAYERS,
    NUM_ACTIONS,
    PASS,
    RESPOND,
    STANDARD_DECK,
)
from taki_env.core.engine import apply_action, legal_actions, next_seat
from taki_env.core.state import CHANGE_COLORS, GAME_DTYPE, NOBODY, ONCE, TWICE, State, States

MOVE_DTYPE = np.dtype(
    [
        ("lacks", "u8"),  # cards, as actions, that the mover surely did not hold
        ("actor", "i1"),
        ("action", "i1"),
        ("answers", "i1"),  # 1 if it answers a +3
        ("unused", "i1", 5),
    ]
)
"""A move that the seat has seen. A pass of another seat on a +3 is not seen, nor is the asking."""
MOST_ACTIONS = 10_000
"""Actions that are kept of a game for its players to remember; longer ones are forgotten whole."""
PILE = sum(STANDARD_DECK)
"""Places of the draw pile."""


@dataclass(frozen=True)
class Memory:
    """What the actors of B games remember since the last shuffle.

    Where nothing is known of the past, `starts` is now and `counts` is 0. It begins later than the
    last shuffle where somebody was asked to answer a +3 right after that.
    """

    starts: States
    """The game then, `GAME_DTYPE` (B,): no hand but the actor's own, and of the draw pile, which is
    drawn from the end, only the cards that the actor has drawn from it since."""
    moves: npt.NDArray[np.void]
    """What was done since, `MOVE_DTYPE` (B, most)."""
    counts: npt.NDArray[np.int64]
    """Moves of each game, (B,)."""
    drawers: npt.NDArray[np.int8]
    """Who has drawn each card of the draw pile since, (B, 116); -1 for nobody."""
    drawn_at: npt.NDArray[np.int16]
    """In which move, (B, 116)."""

    def arrays(self, games: slice = slice(None)) -> tuple[npt.NDArray[Any], ...]:
        """Return the arrays of some games, in their order here, for compiled functions."""
        every = (self.starts, self.moves, self.counts, self.drawers, self.drawn_at)
        return tuple(array[games] for array in every)

    @classmethod
    def empty(cls, starts: States, most: int = 0) -> Memory:
        """Return a memory of nothing yet, with room for `most` moves of each game."""
        games = starts.size
        return cls(
            starts,
            np.zeros((games, most), MOVE_DTYPE),
            np.zeros(games, np.int64),
            np.full((games, PILE), NOBODY, np.int8),
            np.zeros((games, PILE), np.int16),
        )


@inner
def _lacked(s: State, action: Int) -> np.uint64:
    """Return the cards with any of which the actor could not have taken an action."""
    if action < DRAW:
        return ZERO
    actor = np.int64(s["actor"])
    holds = s["holds"][actor, ONCE]
    lacked = ZERO
    for card in range(CHANGE_COLOR + 1):
        bits = CHANGE_COLORS if card == CHANGE_COLOR else bit_of(card)
        s["holds"][actor, ONCE] = bits
        if legal_actions(s) & bit_of(action) == ZERO:
            lacked |= bits
    s["holds"][actor, ONCE] = holds
    return lacked


@inner
def _note_draws(
    s: State, before: State, action: Int, move: Int, drawers: Any, drawn_at: Any
) -> None:
    """Note who has drawn what in an action.

    First the actor, for itself, but not after letting a +3 stand; then the seats from the one after
    the turn's on.
    """
    top, actor = np.int64(before["draw_size"]), np.int64(before["actor"])
    first = before["phase"] != RESPOND or action != PASS
    seat = actor if first else next_seat(s, before["turn"])
    for number in range(np.int64(s["num_players"]) + (1 if first else 0)):
        if number == 0 or not first or seat != actor:
            drawn = np.int64(s["hand_sizes"][seat]) - before["hand_sizes"][seat]
            if seat == actor and action < DRAW:
                drawn += 1
            for _ in range(drawn):
                top -= 1
                drawers[top] = seat
                drawn_at[top] = move
        seat = next_seat(s, before["turn"] if first and number == 0 else seat)


@inner
def _hide(start: State, seat: Int, drawers: Any) -> None:
    """Remove all that `seat` has not seen since."""
    for other in range(MAX_PLAYERS):
        if other != seat:
            start["holds"][other, ONCE] = ZERO
            start["holds"][other, TWICE] = ZERO
            start["change_colors"][other] = 0
    for place in range(start["draw_pile"].size):
        if place >= start["draw_size"] or drawers[place] != seat:
            start["draw_pile"][place] = 0
    start["rng"] = ONE
    start["decisions"] = 0  # counts who was asked and passed


@entry
def remember_many(
    starts: States,
    ends: States,
    scratch: States,
    actions: npt.NDArray[np.uint8],
    lengths: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    moves: npt.NDArray[np.void],
    counts: npt.NDArray[np.int64],
    drawers: npt.NDArray[np.int8],
    drawn_at: npt.NDArray[np.int16],
) -> None:
    """Write what `seats` remember of games (B,).

    Args:
        starts: the games when their history begins; afterwards see `Memory`.
        ends: for the games as they are after all that was done, (B,).
        scratch: memory, two records.
        actions: all that was done since, (B, most), of which the first `lengths` count.
        lengths: (B,).
        seats: who remembers, (B,).
        moves: this and the others are for the result, see `Memory`.
        counts: (B,).
        drawers: (B, 116).
        drawn_at: (B, 116).
    """
    s, before = scratch[0], scratch[1]
    for i in range(starts.size):
        scratch[0] = starts[i]
        count = 0
        for k in range(lengths[i]):
            scratch[1] = scratch[0]
            action = np.int64(actions[i, k])
            if action >= NUM_ACTIONS or legal_actions(s) & bit_of(action) == ZERO:
                break  # it is the past of another game
            lacked = _lacked(s, action)
            apply_action(s, action)
            if s["rng"] != before["rng"] or starts[i]["phase"] == RESPOND:
                starts[i] = scratch[0]
                count = 0
                drawers[i, :] = NOBODY
                drawn_at[i, :] = 0
                continue
            asked = before["phase"] == RESPOND
            if not asked or action != PASS or before["actor"] == seats[i]:
                move = moves[i, count]
                move["lacks"], move["actor"], move["action"] = lacked, before["actor"], action
                move["answers"] = asked
                count += 1
            _note_draws(s, before, action, count - 1, drawers[i], drawn_at[i])
        counts[i] = count
        ends[i] = scratch[0]
        _hide(starts[i], seats[i], drawers[i])


def in_bytes(states: States) -> npt.NDArray[np.uint8]:
    """Return records as bytes, (B, bytes of one)."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(states.size, GAME_DTYPE.itemsize)


def recall(
    states: States,
    starts: States,
    actions: npt.NDArray[np.uint8],
    lengths: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
) -> Memory:
    """Return what `seats` remember of games `states` (B,), see `remember_many`.

    Nothing where the past is of another game: where it does not lead to the state.
    """
    memory, ends = Memory.empty(starts.copy(), int(lengths.max(initial=0))), np.empty_like(states)
    remember_many(
        memory.starts, ends, np.empty(2, GAME_DTYPE), actions, lengths, seats,
        memory.moves, memory.counts, memory.drawers, memory.drawn_at,
    )  # fmt: skip
    other = (in_bytes(ends) != in_bytes(states)).any(1)
    if other.any():
        begun, known = starts.copy(), np.where(other, 0, lengths)
        begun[other] = states[other]
        return recall(states, begun, actions, known, seats)
    seen = memory.moves[:, : memory.counts.max(initial=0)].copy()  # no room for what was not seen
    return replace(memory, moves=seen)
