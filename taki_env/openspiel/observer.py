"""What a seat sees now, and everything that it has seen, as tensors and as text."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from taki_env.core.cards import NUM_ACTIONS, NUM_CARDS
from taki_env.core.loops import observe_many
from taki_env.core.observation import OBSERVATION_SIZE
from taki_env.openspiel.tree import Event, TreeState


class HasTable(Protocol):
    """A state of OpenSpiel with its `TreeState`."""

    table: TreeState


class Observer:
    """What a seat sees now: the observation of the other environments, (OBSERVATION_SIZE,)."""

    def __init__(self) -> None:
        self.tensor = np.zeros(OBSERVATION_SIZE, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: HasTable, player: int) -> None:
        """Write what a seat sees into the tensor; zeros before the deal."""
        if state.table.is_dealt:
            observe_many(state.table.record, np.array([player]), self.tensor[np.newaxis])
        else:
            self.tensor[:] = 0

    def string_from(self, state: HasTable, player: int) -> str:
        """Return what a seat sees, as text."""
        return state.table.observation(player)


class InformationObserver(Observer):
    """Everything that a seat has seen and done.

    Parts of the tensor: `seat`, one-hot; `hand`, copies of each card type dealt to it; `lead`, the
    first leading card, one-hot; `notes`, a row per decision: the actor, one-hot, the action,
    one-hot, the number of cards that each seat drew, and the copies of each card type that the seat
    itself drew.
    """

    def __init__(self, num_players: int, max_decisions: int) -> None:
        self._players = num_players
        row = 2 * num_players + NUM_ACTIONS + NUM_CARDS
        shapes = {
            "seat": (num_players,), "hand": (NUM_CARDS,), "lead": (NUM_CARDS,),
            "notes": (max_decisions, row),
        }  # fmt: skip
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {
            name: part.reshape(shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }

    def set_from(self, state: HasTable, player: int) -> None:
        """Write what a seat knows into the tensor."""
        table = state.table
        self.tensor[:] = 0
        self.dict["seat"][player] = 1
        if table.is_dealt:
            np.add.at(self.dict["hand"], list(table.hands[player]), 1)
            self.dict["lead"][table.lead] = 1
            for row, event in zip(self.dict["notes"], table.notes[player], strict=False):
                self._write(event, row)

    def _write(self, event: Event, row: Any) -> None:
        actors, actions, drawn, own = np.split(
            row, np.cumsum([self._players, NUM_ACTIONS, self._players])
        )
        actors[event.seat] = actions[event.action] = 1
        drawn[:] = event.drawn
        np.add.at(own, list(event.own), 1)

    def string_from(self, state: HasTable, player: int) -> str:
        """Return what a seat knows, as text."""
        return state.table.information(player)
