"""TAKI as a game of OpenSpiel: ``pyspiel.load_game("python_taki", {"deck": "mini-1"})``.

Importing this module registers the game. Its parameters:

    players          2 to 10
    deck             a deck of `taki_env.core.decks`, or "x" and the 57 copies of the card types
    hand_size        cards dealt to each player; 0: as many as go with the deck
    max_decisions    a game ends undecided, with returns of 0, after so many; 0: as the deck says
    tournament, voluntary_draw, full_runs, auto_last_card    options of `taki_env.Rules`

The rules are those of the engine. What the engine takes from its random word, chance nodes decide
here, a card at a time: the deal and the card to lead, and after a decision the cards that are
drawn because of it, from a new draw pile where the old one runs out. A decision is carried out
when all its cards are known, by the engine, which finds the piles in that order. So a draw pile
has no order before chance decides; of its unknown cards each is as likely to be next.

A seat's information state is all that it has seen and done: the hand dealt to it, the card that
led, and for each decision who took which action, how many cards each seat drew because of it, and
which ones it drew itself. A pass on a +3 is known to the seat alone that passes (RULES.md section
7). Observations are those of the other environments. Neither shows colorless cards that were
turned over at the setup.
"""

from taki_env.openspiel.game import NAME, PARAMETERS, TakiGame, TakiState, load
from taki_env.openspiel.tree import TreeState

__all__ = ["NAME", "PARAMETERS", "TakiGame", "TakiState", "TreeState", "load"]
