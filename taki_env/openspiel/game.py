"""OpenSpiel's interface: the game `python_taki` and its states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from taki_env.base.checks import check_at_least_one
from taki_env.core.cards import (
    ACTIONS,
    CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ACTIONS,
    NUM_CARDS,
)
from taki_env.core.decks import DECKS
from taki_env.core.outcome import loser_reward, rewards_of
from taki_env.core.rules import SWITCHES, Rules
from taki_env.openspiel.observer import InformationObserver, Observer
from taki_env.openspiel.tree import DEAL, Setup, TreeState
from taki_env.records.position import new_states

try:
    import pyspiel
except ImportError as error:
    raise ImportError("OpenSpiel is not installed: pip install 'taki-env[openspiel]'") from error

NAME = "python_taki"
PARAMETERS = {
    "players": 2,
    "deck": "standard",
    "hand_size": 0,
    "max_decisions": 0,
    **dict.fromkeys(SWITCHES, False),
}
COUNTED = "x"
"""Prefix of a parameter `deck` that lists copies instead of a name."""

_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="TAKI",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=PARAMETERS,
)


class TakiGame(pyspiel.Game):  # type: ignore[misc]
    """TAKI with a number of players, rules and a decision cap.

    Raises:
        ValueError: A parameter is invalid; the message says what is allowed.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        num_players = given["players"]
        rules = _rules(given)
        rules.check_players(num_players)
        max_decisions = given["max_decisions"] or _default_cap(given["deck"])
        check_at_least_one("max_decisions", max_decisions)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=NUM_CARDS,
            num_players=num_players,
            min_utility=loser_reward(num_players),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=max_decisions,
        )
        super().__init__(_TYPE, info, dict(params or {}))
        self.rules, self.max_decisions = rules, max_decisions
        self.start = TreeState(
            Setup(rules, max_decisions), new_states(1, num_players, rules), 0, 0, 0, (), (), DEAL,
            num_players * rules.hand_size + 1, (), (),
        )  # fmt: skip

    def new_initial_state(self) -> TakiState:
        """Return the state before the deal."""
        return TakiState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return an upper bound: no decision draws more than the whole deck."""
        return sum(self.rules.deck) * (self.max_decisions + 1)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """Return an observer of information states for perfect recall, else of observations.

        Return None for an observer of public information only, or of private information only:
        neither exists.

        Raises:
            ValueError: `params` are given; observations have no parameters.
        """
        if params:
            raise ValueError(f"observations of TAKI have no parameters, got {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        if kind.perfect_recall:
            return InformationObserver(self.num_players(), self.max_decisions)
        return Observer()


def _rules(given: Mapping[str, Any]) -> Rules:
    """Return the rules given by the parameters of a game."""
    options = {name: given[name] for name in SWITCHES}
    if given["hand_size"]:
        options["hand_size"] = given["hand_size"]
    deck: str = given["deck"]
    if deck.startswith(COUNTED) and deck[len(COUNTED) :].isdecimal():
        return Rules(deck=[int(copies) for copies in deck[len(COUNTED) :]], **options)
    return Rules(deck=deck, **options)


def _default_cap(deck: str) -> int:
    return DECKS[deck if deck in DECKS else "standard"].max_decisions


def load(num_players: int = 2, rules: Rules | None = None, max_decisions: int = 0) -> TakiGame:
    """Return the game for a number of players and rules with any deck.

    Raises:
        ValueError: An argument is invalid; the message says what is allowed.
    """
    rules = rules or Rules()
    names = [name for name, deck in DECKS.items() if deck.counts == rules.deck]
    deck = names[0] if names else COUNTED + "".join(map(str, rules.deck))
    given = {name: getattr(rules, name) for name in (*SWITCHES, "hand_size")}
    given |= {"players": num_players, "deck": deck, "max_decisions": max_decisions}
    game: TakiGame = pyspiel.load_game(NAME, given)
    return game


class TakiState(pyspiel.State):  # type: ignore[misc]
    """A state of the game: a `TreeState` at a decision or a chance node."""

    def __init__(self, game: TakiGame) -> None:
        super().__init__(game)
        self.table = game.start

    def current_player(self) -> int:
        """Return the seat that decides, or OpenSpiel's number for chance or the end."""
        if self.table.action is not None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.table.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.table.record["actor"][0])

    def _legal_actions(self, player: int) -> list[int]:
        legal = self.table.legal
        return [action for action in range(NUM_ACTIONS) if legal >> action & 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the card types that can be drawn next, with their probabilities."""
        cards = self.table.next_cards()
        return [(card, copies / len(cards)) for card, copies in sorted(Counter(cards).items())]

    def _apply_action(self, action: int) -> None:
        table = self.table
        self.table = table.decide(action) if table.action is None else table.choose(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return CARDS[action] if player == pyspiel.PlayerId.CHANCE else ACTIONS[action]

    def is_terminal(self) -> bool:
        """Return whether a seat has won, or the game was cut off."""
        return self.table.is_over

    def returns(self) -> list[float]:
        """Return +1 for the winner and -1/(n-1) for the others; 0 before the end and at the cap."""
        rewards: list[float] = rewards_of(self.table.record)[0].tolist()
        return rewards

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> TakiState:
        """Return a state in which everything that a player cannot see now is dealt again.

        As in `View.sample_states`, what the others' actions reveal of their cards is ignored.
        """
        state: TakiState = self.clone()
        state.table = self.table.determinized(player, int(sampler() * 2**63) | 1)
        return state

    def __str__(self) -> str:
        """Return the state as text."""
        return str(self.table)


pyspiel.register_game(_TYPE, TakiGame)
