"""Text of what happens in learner games, for rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taki_env.base.types import Integers
from taki_env.core.cards import Position
from taki_env.render.words import LastActions


class Narrator:
    """Describes decisions as text: for each game what was done since its learner's last decision.

    Args:
        last: The text of each game, (num_games,); see `Renderer.last`.
        on_decision: Called after every decision that adds text.
    """

    def __init__(
        self, last: Sequence[LastActions], on_decision: Callable[[], object] | None = None
    ) -> None:
        self._last, self._on_decision = last, on_decision

    def clear(self, games: Integers) -> None:
        """Remove the text of games that were dealt."""
        for game in games.tolist():
            self._last[game].clear()

    def note(
        self, game: int, before: Position, action: int, after: Position, by_learner: bool
    ) -> None:
        """Add a decision; a learner's decision replaces the text before it."""
        told = self._last[game].note(before, action, after, only=by_learner)
        if told and self._on_decision is not None:
            self._on_decision()
