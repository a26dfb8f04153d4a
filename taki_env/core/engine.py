"""The rules of TAKI, compiled (RULES.md); section numbers refer to that page.

A game is one record of `GAME_DTYPE`, changed in place. A set of actions is one `uint64` with bit
`a` for action `a`. A hand uses the same bits, in two planes (held at least once, held twice), so a
legal set is the first plane ANDed with a mask. Change Color, with up to four copies, is counted
separately and appears in the first plane as its four actions.

Functions do not check their arguments; `Game` and `Batch` do.
"""

from __future__ import annotations

import numpy as np

from taki_env.base.jit import inlined, inner
from taki_env.base.types import Int, Word
from taki_env.core.bits import ZERO
from taki_env.core.cards import (
    BREAKER,
    CHANGE_COLOR,
    CHANGE_DIRECTION,
    CLOSE_TAKI,
    DRAW,
    KING,
    KING_PHASE,
    LAST_CARD,
    MAX_PLAYERS,
    NO_SYMBOL,
    NUM_COLORED,
    NUM_SYMBOLS,
    OVER,
    PASS,
    PLAY,
    PLUS,
    PLUS_PHASE,
    PLUS_THREE,
    PLUS_TWO,
    RESPOND,
    RUN,
    STOP,
    SUPER_TAKI,
    TAKI,
)
from taki_env.core.state import (
    BREAKER_BIT,
    CALLS,
    CLOSE_BIT,
    COLOR_CARDS,
    COLORLESS_CARDS,
    DRAW_BIT,
    KING_BIT,
    NOBODY,
    ONCE,
    PASS_BIT,
    STACK_ANSWERS,
    SUPER_TAKI_BIT,
    SYMBOL_CARDS,
    State,
    clear_hand,
    discard_card,
    draw_cards,
    set_discard,
    shuffle,
)

BREAKER_PENALTY = 3
PLUS_THREE_DRAWS = 3
SILENCE_PENALTY = 4


# Setup (section 3) ------------------------------------------------------------------------------


@inner
def deal(s: State, word: np.uint64) -> None:
    """Start a new game from a random word, with the rules and players of the record (section 3)."""
    s["rng"] = word
    for seat in range(MAX_PLAYERS):
        clear_hand(s, seat)
        s["stages"][seat] = 0
    shuffle(s, s["deck_one"], s["deck_two"], s["deck_change_colors"])
    for seat in range(np.int64(s["num_players"])):
        draw_cards(s, seat, np.int64(s["hand_size"]))
        if s["tournament"]:
            s["stages"][seat] = s["hand_size"]
    _turn_over_lead(s)
    s["decisions"] = 0
    s["pending_draw"] = 0
    s["turn"] = 0
    s["actor"] = 0
    s["direction"] = 1
    s["phase"] = PLAY
    s["open_taki"] = 0
    s["can_close"] = 0
    s["skip_next"] = 0
    s["plus_three_by"] = NOBODY
    s["winner"] = NOBODY


@inner
def _turn_over_lead(s: State) -> None:
    """Turn the top card over; colorless ones go to the bottom until a colored one comes.

    `Rules.check_players` ensures that there is a colored one. Its action is ignored.
    """
    top = np.int64(s["draw_size"]) - 1
    while s["draw_pile"][top] >= NUM_COLORED:
        card = s["draw_pile"][top]
        for place in range(top, 0, -1):
            s["draw_pile"][place] = s["draw_pile"][place - 1]
        s["draw_pile"][0] = card
    lead = np.int64(s["draw_pile"][top])
    s["draw_size"] = top
    s["lead"] = lead
    s["color"] = lead // NUM_SYMBOLS
    s["symbol"] = lead % NUM_SYMBOLS
    set_discard(s, lead)


# Legal actions (sections 4 to 8) ------------------------------------------------------------------


@inlined
def next_seat(s: State, seat: Int) -> Int:
    """Return the seat after `seat` in the direction of play."""
    following = np.int64(seat) + s["direction"]
    if following < 0:
        return np.int64(s["num_players"]) - 1
    return 0 if following >= s["num_players"] else following


@inner
def _legal_play(s: State, hand: np.uint64) -> Word:
    """Return the legal actions in phases `play` and `plus` (sections 4 and 5)."""
    if s["pending_draw"]:
        return (hand & STACK_ANSWERS) | DRAW_BIT
    plays = hand & (COLOR_CARDS[s["color"]] | SYMBOL_CARDS[s["symbol"]] | COLORLESS_CARDS)
    # a Breaker never has to be played
    may_draw = (plays & ~BREAKER_BIT) == ZERO or (s["voluntary_draw"] and s["phase"] == PLAY)
    return plays | DRAW_BIT if may_draw else plays


@inner
def _legal_run(s: State, hand: np.uint64) -> Word:
    """Return the legal actions in phase `run` (section 6)."""
    colored = hand & COLOR_CARDS[s["color"]]
    plays = colored | (hand & SUPER_TAKI_BIT)
    if s["full_runs"] and colored != ZERO:
        return plays
    return plays | PASS_BIT | (CLOSE_BIT if s["can_close"] else ZERO)


@inner
def answers(s: State, seat: Int) -> Word:
    """Return the cards with which `seat` can answer a +3 (section 7): the next seat also a King."""
    kings = KING_BIT if seat == next_seat(s, s["turn"]) else ZERO
    return s["holds"][seat, ONCE] & (BREAKER_BIT | kings)


@inlined
def legal_actions(s: State) -> Word:
    """Return the actor's legal actions; the empty set when the game is over."""
    phase = s["phase"]
    hand = s["holds"][s["actor"], ONCE]
    if phase == PLAY or phase == PLUS_PHASE:
        return _legal_play(s, hand)
    if phase == RUN:
        return _legal_run(s, hand)
    if phase == LAST_CARD:
        return CALLS
    if phase == KING_PHASE:
        return hand | PASS_BIT
    if phase == RESPOND:
        return answers(s, np.int64(s["actor"])) | PASS_BIT
    return ZERO


# The end of a turn (sections 7 and 8) -------------------------------------------------------------


@inner
def _win(s: State, seat: Int) -> None:
    """End the game, and reset what has no meaning after it (section 8)."""
    s["winner"] = seat
    s["turn"] = seat
    s["actor"] = seat
    s["phase"] = OVER
    s["pending_draw"] = 0
    s["open_taki"] = 0
    s["can_close"] = 0
    s["skip_next"] = 0
    s["plus_three_by"] = NOBODY
    s["stages"][seat] = 0


@inner
def _pass_turn(s: State) -> None:
    """Pass the turn to the next seat, or after a stop to the one after it."""
    seat = next_seat(s, s["turn"])
    if s["skip_next"]:
        seat = next_seat(s, seat)
        s["skip_next"] = 0
    s["turn"] = seat
    s["actor"] = seat
    s["phase"] = PLAY


@inner
def _ask(s: State, seat: Int) -> None:
    """Ask the first seat from `seat` on that can answer the +3 (section 7).

    If nobody can, the other players draw and the turn passes. Seats without an answer are not
    asked, so there is no decision with only one action.
    """
    turn = np.int64(s["turn"])
    while seat != turn:
        if answers(s, seat) != ZERO:
            s["actor"] = seat
            s["phase"] = RESPOND
            return
        seat = next_seat(s, seat)
    s["plus_three_by"] = NOBODY
    seat = next_seat(s, turn)
    while seat != turn:
        draw_cards(s, seat, PLUS_THREE_DRAWS)
        seat = next_seat(s, seat)
    _pass_turn(s)


@inner
def _resolve_turn(s: State) -> None:
    """Carry out what a turn does to the other players, after its own player's hand is settled."""
    if s["plus_three_by"] >= 0:
        _ask(s, next_seat(s, s["turn"]))
    else:
        _pass_turn(s)


@inner
def _break_plus_three(s: State) -> None:
    """Let the player of a broken +3 draw, and pass the turn from there (section 7)."""
    draw_cards(s, np.int64(s["turn"]), PLUS_THREE_DRAWS)
    _pass_turn(s)


@inner
def _settle_hand(s: State, seat: Int) -> bool:
    """Settle a hand after a play: a win, a new stage, or a last-card call (section 8).

    Returns whether the turn continues at once: False if the game is over or a call is due.
    """
    size = s["hand_sizes"][seat]
    if size > 1:
        return True
    if size == 1:
        if s["auto_last_card"]:
            return True
        s["phase"] = LAST_CARD
        return False
    if s["stages"][seat] <= 1:
        _win(s, seat)
        return False
    s["stages"][seat] -= 1
    draw_cards(s, seat, np.int64(s["stages"][seat]))
    return True


@inner
def _end_turn(s: State) -> None:
    """End a turn by playing. The hand is settled first: a win cancels the turn's effects."""
    s["can_close"] = 0
    if _settle_hand(s, np.int64(s["turn"])):
        _resolve_turn(s)


# Actions (sections 4 to 8) ------------------------------------------------------------------------
#
# These functions carry out an action and return whether it ends the turn by playing, so that
# `apply_action` has the only call of `_end_turn`, which is then inlined once.


@inner
def _apply_symbol(s: State) -> bool:
    """Carry out the action of the leading symbol, the last card of a turn (section 5)."""
    symbol = s["symbol"]
    if symbol == STOP:
        s["skip_next"] = 1
    elif symbol == PLUS_TWO:
        s["pending_draw"] += 2
    elif symbol == CHANGE_DIRECTION:
        s["direction"] = -s["direction"]
    return True


@inner
def _open_run(s: State, seat: Int) -> bool:
    """Open a run; played as the only card, a TAKI ends the turn and stays open (section 6)."""
    s["symbol"] = TAKI
    s["open_taki"] = 1
    s["phase"] = RUN
    return bool(s["hand_sizes"][seat] == 0)


@inner
def _close_run(s: State) -> bool:
    """Close a run and carry out the action of its final card (section 6)."""
    s["open_taki"] = 0
    s["can_close"] = 0
    if s["symbol"] == PLUS:
        s["phase"] = PLUS_PHASE
        return False
    return _apply_symbol(s)


@inner
def _lay_on_run(s: State, seat: Int, card: Int) -> bool:
    """Lay a card on an open run; an emptied hand closes the run (section 6)."""
    s["symbol"] = TAKI if card == SUPER_TAKI else card % NUM_SYMBOLS
    s["can_close"] = 1
    s["phase"] = RUN
    return s["hand_sizes"][seat] == 0 and _close_run(s)


@inner
def _play_colored(s: State, seat: Int, card: Int) -> bool:
    """Play a colored card outside a run (section 5)."""
    symbol = card % NUM_SYMBOLS
    s["color"] = card // NUM_SYMBOLS
    s["symbol"] = symbol
    if symbol == TAKI:
        return _open_run(s, seat)
    if symbol == PLUS:
        s["phase"] = PLUS_PHASE
        return False
    return _apply_symbol(s)


@inner
def _play_colorless(s: State, seat: Int, card: Int, action: Int) -> bool:
    """Play a colorless card other than a Breaker outside a run (section 5)."""
    if card == SUPER_TAKI:
        return _open_run(s, seat)
    s["symbol"] = NO_SYMBOL
    if card == KING:
        s["pending_draw"] = 0
        s["phase"] = KING_PHASE
        return bool(s["hand_sizes"][seat] == 0)
    if card == PLUS_THREE:
        s["plus_three_by"] = seat
    else:
        s["color"] = action - CHANGE_COLOR
    return True


@inner
def _play_breaker(s: State, seat: Int) -> bool:
    """Lay a Breaker beneath the leading card, as an answer or at a penalty (sections 5 and 7)."""
    if s["phase"] == RESPOND:
        s["plus_three_by"] = NOBODY
        if _settle_hand(s, seat):
            _break_plus_three(s)
    else:
        s["open_taki"] = 0
        draw_cards(s, seat, BREAKER_PENALTY)
        _pass_turn(s)
    return False


@inlined
def _play(s: State, action: Int) -> bool:
    """Play a card from the actor's hand."""
    seat = np.int64(s["actor"])
    card = min(action, CHANGE_COLOR)  # the four actions of a Change Color are one card
    discard_card(s, seat, card)
    if card == BREAKER:
        return _play_breaker(s, seat)
    s["lead"] = card
    if s["phase"] == RESPOND:  # a King cancels the +3; it is now the answerer's turn
        s["plus_three_by"] = NOBODY
        s["turn"] = seat
    of_run = card == SUPER_TAKI or (card < NUM_COLORED and card // NUM_SYMBOLS == s["color"])
    if s["open_taki"] and of_run:
        return _lay_on_run(s, seat, card)
    s["open_taki"] = 0
    if card < NUM_COLORED:
        return _play_colored(s, seat, card)
    return _play_colorless(s, seat, card, action)


@inner
def _draw_and_end_turn(s: State) -> bool:
    """Draw one card or the whole +2 stack, and end the turn by drawing (section 4)."""
    count = np.int64(s["pending_draw"]) or np.int64(1)
    s["pending_draw"] = 0
    draw_cards(s, np.int64(s["actor"]), count)
    _pass_turn(s)
    return False


@inner
def _answer_call(s: State, action: Int) -> bool:
    """Call the last card or draw the penalty; then resume the turn or the answer (section 8)."""
    seat = np.int64(s["actor"])
    if action == PASS:
        draw_cards(s, seat, SILENCE_PENALTY)
    if seat == s["turn"]:
        _resolve_turn(s)
    else:
        _break_plus_three(s)
    return False


@inlined
def _carry_out(s: State, action: Int) -> bool:
    """Carry out a legal action by its kind and the phase."""
    if action < DRAW:
        return _play(s, action)
    if action == DRAW:
        return _draw_and_end_turn(s)
    if action == CLOSE_TAKI:
        return _close_run(s)
    if s["phase"] == LAST_CARD:
        return _answer_call(s, action)
    if s["phase"] == RESPOND:
        _ask(s, next_seat(s, s["actor"]))
        return False
    return True  # the run is left open, or the King's extra card declined


@inlined
def apply_action(s: State, action: Int) -> None:
    """Carry out a legal action of the actor."""
    s["decisions"] += 1
    if _carry_out(s, action):
        _end_turn(s)
