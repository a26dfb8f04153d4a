"""Outcomes of the games of a tournament, and the wins counted from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agents.statistics import Floats
from taki_env.base.types import Integers
from training.arena.match import NOBODY

Seats: TypeAlias = npt.NDArray[np.int8]


def win_shares(winners: Seats, losers: Seats) -> Floats:
    """Return the share of a win that each seat gets from each game, (deals, rotations, seats).

    The winner gets the whole win. A forfeited game is shared equally by all seats but the loser.

    Args:
        winners: seats that won, (deals, rotations), -1 for nobody.
        losers: seats that forfeited, (deals, rotations), -1 for nobody.
    """
    seats = np.arange(winners.shape[1])  # as many as rotations
    won = winners[..., np.newaxis] == seats
    lost = losers[..., np.newaxis]
    shares: Floats = won + ((lost != NOBODY) & (lost != seats)) / (seats.size - 1)
    return shares


@dataclass
class Outcomes:
    """How games ended. Arrays are (deals, lineups, rotations), or (deals, rotations) of a lineup.

    In rotation r, member m of a lineup of n sits in seat (m + r) mod n.
    """

    winners: Seats
    """Seats that won, -1 for nobody."""
    losers: Seats
    """Seats that forfeited, -1 for nobody."""
    reasons: Seats
    """Reasons of forfeits, as indices of `training.arena.match.REASONS`; -1 for no forfeit."""
    decisions: Integers
    """Lengths of games in decisions of all seats."""
    examples: dict[tuple[int, str], tuple[int, str]]
    """First game and error message by agent and reason of forfeits."""

    @classmethod
    def empty(cls, deals: int, lineups: int, rotations: int) -> Outcomes:
        """Return the outcomes of games that have not been played."""
        shape = (deals, lineups, rotations)
        winners, losers, reasons = np.full((3, *shape), NOBODY, np.int8)
        return cls(winners, losers, reasons, np.zeros(shape, np.int64), {})

    def of_lineup(self, lineup: int, deals: int) -> Outcomes:
        """Return views of the first `deals` deals of a lineup, arrays (deals, rotations)."""
        part = slice(deals), lineup
        return Outcomes(
            self.winners[part], self.losers[part], self.reasons[part], self.decisions[part],
            self.examples,
        )  # fmt: skip

    @property
    def capped(self) -> int:
        """Number of games that reached the decision cap; nobody wins them."""
        return int(np.sum((self.winners == NOBODY) & (self.losers == NOBODY)))

    @property
    def forfeited(self) -> int:
        """Number of forfeited games."""
        return int(np.sum(self.losers != NOBODY))

    def wins_by_seat(self) -> Floats:
        """Return the wins of each seat in each deal of a lineup, (deals, seats)."""
        wins: Floats = win_shares(self.winners, self.losers).sum(1)
        return wins

    def wins_by_member(self) -> Floats:
        """Return the wins of each member of a lineup in each deal, (deals, members)."""
        seats = self.winners.shape[-1]
        rotations = np.arange(seats, dtype=np.int8)
        winners, losers = (
            np.where(who == NOBODY, who, (who - rotations) % seats)
            for who in (self.winners, self.losers)
        )
        wins: Floats = win_shares(winners, losers).sum(1)
        return wins
