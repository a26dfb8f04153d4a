"""TAKI as a game of OpenSpiel: ``pyspiel.load_game("python_taki", {"deck": "mini-1"})``.

Importing this module registers the game. Its parameters:

    players          number of players, 2 to 10
    deck             name of a deck of `taki_env.core.decks`, or "x" and the 57 copies of card types
    hand_size        cards dealt to each player; 0 for the default of the deck
    max_decisions    decision cap; a capped game is a draw, with returns of 0; 0 for the default of
                     the deck
    SWITCH           True or False, for each of the options of `taki_env.Rules` that is on or off

The rules are those of the engine. Chance nodes decide what the engine takes from its random word,
one card at a time: the deal and the card that leads first, and after a decision the cards drawn
because of it, from a new draw pile if the old one is used up. The engine carries out a decision
when all its cards are known, with a draw pile in that order. Until chance decides, a draw pile has
no order: each of its unknown cards is equally likely to be next.

A seat's information state is everything that it has seen and done: the hand dealt to it, the card
that led first, and for each decision who took which action, how many cards each seat drew because
of it, and which cards it drew itself. A pass on a +3 is known only to the seat that passes
(RULES.md section 7). Observations are those of the other environments. Neither shows the colorless
cards that were turned over at the setup.
"""

from taki_env.openspiel.game import NAME, PARAMETERS, TakiGame, TakiState, load
from taki_env.openspiel.tree import TreeState

__all__ = ["NAME", "PARAMETERS", "TakiGame", "TakiState", "TreeState", "load"]
