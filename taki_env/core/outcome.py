"""What follows from how a game ends and from its actions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taki_env.core.cards import OVER
from taki_env.core.state import States


def rewards_of(states: States) -> npt.NDArray[np.float64]:
    """Return the rewards of all seats, (num_games, most players); 0 for seats not at the table."""
    players = states["num_players"].astype(np.int64)[:, None]
    seats = np.arange(players.max(initial=0))
    lost = np.where(seats < players, -1 / (players - 1), 0)
    won = seats == states["winner"][:, None]
    done = states["phase"][:, None] == OVER
    return np.where(done, np.where(won, 1, lost), 0)
