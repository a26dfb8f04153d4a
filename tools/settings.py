"""Rules and decks that the tools and the tests play with."""

from __future__ import annotations

from taki_env import CARDS, Rules

SMALL_DECK = (*(1 if card % 3 else 2 for card in range(56)), 2)
"""A deck of 78 cards that reaches refills and empty piles early."""

VARIANTS = {
    "standard": Rules(),
    "tournament": Rules(tournament=True),
    "voluntary_draw": Rules(voluntary_draw=True),
    "full_runs": Rules(full_runs=True),
    "auto_last_card": Rules(auto_last_card=True),
    "hand_size": Rules(hand_size=3),
    "deck": Rules(hand_size=6, deck=SMALL_DECK),
    "all": Rules(True, True, True, True, 4, SMALL_DECK),
}


def rest_of_deck(*placed: list[str], rules: Rules | None = None) -> list[str]:
    """Return the cards of the deck that are not in `placed`, sorted by card index."""
    deck = (rules or Rules()).deck
    rest = [card for index, card in enumerate(CARDS) for _ in range(deck[index])]
    for cards in placed:
        for card in cards:
            rest.remove(card)
    return rest
