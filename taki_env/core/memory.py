"""What a seat remembers: the moves and draws that it has seen since the last shuffle.

From these an agent can infer hidden cards: a player who drew had nothing to play.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import entry, inner
from taki_env.base.types import Int, Integers
from taki_env.core.bits import ONE, ZERO, bit_of
from taki_env.core.cards import CHANGE_COLOR, DRAW, MAX_PLAYERS, NUM_ACTIONS, RESPOND, STANDARD_DECK
from taki_env.core.engine import apply_action, legal_actions
from taki_env.core.history import History, as_bytes, copy_states
from taki_env.core.outcome import MOST_DRAWS, is_hidden_pass, write_drawers
from taki_env.core.state import CHANGE_COLORS, GAME_DTYPE, NOBODY, ONCE, TWICE, State, States

MOVE_DTYPE = np.dtype(
    [
        ("lacks", "u8"),  # cards, as actions, that the player cannot have held
        ("actor", "i1"),
        ("action", "i1"),
        ("answers", "i1"),  # 1 if it answers a +3
        ("unused", "i1", 5),
    ]
)
"""A move that the seat has seen. Another seat's pass on a +3 is hidden, as is who was asked."""
MOST_ACTIONS = 10_000
"""Actions kept of a game for its players to remember. Longer games are not remembered at all."""
PILE = sum(STANDARD_DECK)
"""Places of the draw pile."""


class Memory(NamedTuple):
    """What the actors of B games remember since the last shuffle.

    Compiled functions take it as it is. Where the past is unknown, `starts` is the current state
    and `counts` is 0. A memory starts later than the last shuffle where a seat was asked to answer
    a +3 right after it.
    """

    starts: States
    """Games at the start of the memory, `GAME_DTYPE` (B,). Only the actor's own hand is there, and
    of the draw pile, which is drawn from its end, only the cards that the actor has drawn since."""
    moves: npt.NDArray[np.void]
    """Moves since, `MOVE_DTYPE` (B, most)."""
    counts: npt.NDArray[np.int64]
    """Number of moves of each game, (B,)."""
    drawers: npt.NDArray[np.int8]
    """Seat that has drawn each card of the draw pile since, (B, 116); -1 for nobody."""
    drawn_at: npt.NDArray[np.int16]
    """Index of the move in which it was drawn, (B, 116)."""

    def arrays(self, games: slice = slice(None)) -> Memory:
        """Return the memory of some games."""
        return Memory(
            self.starts[games], self.moves[games], self.counts[games], self.drawers[games],
            self.drawn_at[games],
        )  # fmt: skip

    @classmethod
    def empty(cls, starts: States, most: int = 0) -> Memory:
        """Return a memory without moves, with room for `most` of them in each game."""
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
    """Return the cards that would have made an action illegal, had the actor held any of them."""
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
def _hide(start: State, seat: Int, drawers: Any) -> None:
    """Remove everything that `seat` has not seen since."""
    for other in range(MAX_PLAYERS):
        if other != seat:
            start["holds"][other, ONCE] = ZERO
            start["holds"][other, TWICE] = ZERO
            start["change_colors"][other] = 0
    for place in range(start["draw_pile"].size):
        if place >= start["draw_size"] or drawers[place] != seat:
            start["draw_pile"][place] = 0
    start["rng"] = ONE
    start["decisions"] = 0  # it also counts hidden passes


@entry
def remember_many(history: History, seats: Integers, memory: Memory, ends: States) -> None:
    """Write what `seats` (B,) remember of games (B,).

    Args:
        history: How the games came to be.
        seats: The seat that remembers in each game, (B,).
        memory: Output: an empty memory that starts with the histories.
        ends: Output: the games after the last legal action, (B,).
    """
    starts, moves, counts, drawers, drawn_at = memory
    scratch, drawn_by = np.empty(2, GAME_DTYPE), np.empty(MOST_DRAWS, np.uint8)
    s, before = scratch[0], scratch[1]
    for i in range(starts.size):
        scratch[0] = starts[i]
        count = 0
        for k in range(history.lengths[i]):
            scratch[1] = scratch[0]
            action = np.int64(history.actions[i, k])
            if action >= NUM_ACTIONS or legal_actions(s) & bit_of(action) == ZERO:
                break  # the history is another game's
            lacked = _lacked(s, action)
            apply_action(s, action)
            if s["rng"] != before["rng"] or starts[i]["phase"] == RESPOND:
                starts[i] = scratch[0]
                count = 0
                drawers[i, :] = NOBODY
                drawn_at[i, :] = 0
                continue
            if not is_hidden_pass(before["phase"], action, before["actor"], seats[i]):
                move = moves[i, count]
                move["lacks"], move["actor"], move["action"] = lacked, before["actor"], action
                move["answers"] = before["phase"] == RESPOND
                count += 1
            if s["draw_size"] != before["draw_size"]:  # without a shuffle, cards were drawn
                place = np.int64(before["draw_size"])
                for k_drawn in range(write_drawers(before, action, s, drawn_by)):
                    place -= 1
                    drawers[i, place] = drawn_by[k_drawn]
                    drawn_at[i, place] = count - 1
        counts[i] = count
        ends[i] = scratch[0]
        _hide(starts[i], seats[i], drawers[i])


def recall(states: States, history: History, seats: Integers) -> Memory:
    """Return what `seats` (B,) remember of games `states` (B,).

    They remember nothing of a game whose history does not lead to its state.
    """
    memory = Memory.empty(copy_states(history.starts), int(history.lengths.max(initial=0)))
    ends = np.empty_like(states)
    remember_many(history, seats, memory, ends)
    is_other = (as_bytes(ends) != as_bytes(states)).any(1)
    if is_other.any():
        starts, lengths = history.starts.copy(), np.where(is_other, 0, history.lengths)
        starts[is_other] = states[is_other]
        return recall(states, History(starts, history.actions, lengths), seats)
    seen = memory.moves[:, : memory.counts.max(initial=0)].copy()  # drop the room for unseen moves
    return memory._replace(moves=seen)
