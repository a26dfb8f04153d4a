"""`Game` methods in any order (Hypothesis): every way of copying gives the same game."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from taki_env import Game, Rules
from taki_env.records.read import positions_of
from tests.helpers import SMALL_DECK

SEEDS = st.integers(0, 99)
OPTIONS = st.builds(
    Rules,
    tournament=st.booleans(),
    voluntary_draw=st.booleans(),
    full_runs=st.booleans(),
    auto_last_card=st.booleans(),
    hand_size=st.integers(1, 4),
    deck=st.sampled_from([Rules().deck, SMALL_DECK]),
)


class GameMachine(RuleBasedStateMachine):
    """Plays a game and a twin that is copied, written, read and replayed on the way."""

    @initialize(players=st.integers(2, 10), rules=OPTIONS, seed=SEEDS)
    def deal(self, players: int, rules: Rules, seed: int) -> None:
        """Deal a game and clone it."""
        self.game = Game(players, rules, seed)
        self.twin = self.game.clone()

    @precondition(lambda self: not self.game.is_over)
    @rule(picks=st.lists(st.integers(0, 999), min_size=1, max_size=8))
    def play(self, picks: list[int]) -> None:
        """Play in both, by id and by name."""
        for pick in picks:
            legal = self.game.legal_actions()
            if legal:
                action = legal[pick % len(legal)]
                self.twin.apply(self.twin.legal_names()[legal.index(action)])
                self.game.apply(action)

    @rule()
    def copy(self) -> None:
        """A clone takes the twin's place."""
        self.twin = self.game.clone()

    @rule()
    def replay(self) -> None:
        """The record restores the game, which continues in the same way: refills are the same."""
        record = json.loads(json.dumps(self.game.record()))
        self.twin = Game.replay(record)[-1]

    @rule(seed=SEEDS)
    def read(self, seed: int) -> None:
        """The position gives back the game; from here on both shuffle by a new seed."""
        at = json.loads(json.dumps(self.game.to_dict()))
        self.game, self.twin = Game.from_dict(at, seed), Game.from_dict(at, seed)
        assert self.game.to_dict() == at

    @rule(seat=st.integers(0, 9), seed=SEEDS)
    def re_deal(self, seat: int, seed: int) -> None:
        """A re-deal looks the same to its seat, can be read and recorded, and leaves the game."""
        seat %= self.game.num_players
        before = self.game.to_dict()
        other = self.game.determinize(seat, seed)
        assert (other.observation(seat) == self.game.observation(seat)).all()
        assert self.game.to_dict() == before
        assert Game.from_dict(other.to_dict()).to_dict() == other.to_dict()
        assert Game.replay(other.record())[-1].to_dict() == other.to_dict()

    @rule(seat=st.integers(0, 9))
    def watch(self, seat: int) -> None:
        """A seat's record reaches the end of the game and holds the seat's own hand."""
        seat %= self.game.num_players
        last: dict[str, Any] = positions_of(self.game.record(seat))[-1]
        assert last["hands"][seat] == self.game.to_dict()["hands"][seat]

    @invariant()
    def they_are_the_same(self) -> None:
        """Positions, legal actions and observations of the two agree at all times."""
        if hasattr(self, "game"):
            assert self.game.to_dict() == self.twin.to_dict()
            assert self.game.legal_actions() == self.twin.legal_actions()
            assert bool(self.game.legal_actions()) != self.game.is_over
            assert (self.game.observation(0) == self.twin.observation(0)).all()
            assert abs(self.game.rewards().sum()) < 1e-12


TestGame = GameMachine.TestCase
TestGame.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    stateful_step_count=15,
    suppress_health_check=[HealthCheck.too_slow],
)
