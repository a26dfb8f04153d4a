"""TAKI as a game of OpenSpiel: ``pyspiel.load_game("python_taki", {"deck": "mini-1"})``.

Importing this module registers the game. Its parameters:

    players          number of players, 2 to 10
    deck             a deck of `taki_env.core.decks`, or "x" and the 57 copies of the card types
    hand_size        cards dealt to each player; 0 for the deck's default
    max_decisions    decision cap, after which all returns are 0; 0 for the deck's default
    OPTION           True or False, for each on/off option of `taki_env.Rules`, such as `tournament`

The rules are those of the engine. Chance nodes decide what the engine takes from its random word,
one card at a time: the deal and the first leading card, and after a decision the cards drawn
because of it, from a new draw pile where the old one runs out. When all its cards are known, the
engine carries out the decision on piles in that order. So a draw pile has no order before chance
decides, and each of its unknown cards is equally likely to be next.

A seat's information state is everything that it has seen and done: its first hand, the first
leading card, and for each decision who took which action, how many cards each seat drew because of
it, and which cards the seat itself drew. A pass on a +3 is known only to the seat that passes
(RULES.md section 7). Observations are the same as in the other environments. Neither shows the
colorless cards that were turned over at the setup.
"""

from taki_env.openspiel.game import NAME, PARAMETERS, TakiGame, TakiState, load
from taki_env.openspiel.tree import TreeState

__all__ = ["NAME", "PARAMETERS", "TakiGame", "TakiState", "TreeState", "load"]
