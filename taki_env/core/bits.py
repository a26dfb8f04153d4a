"""Sets of actions, and random words: each is one `uint64`.

Bit `a` of a set stands for action `a`. All constants are `np.uint64`: Numba turns an expression of
a `uint64` and a plain int into a signed or a floating one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from taki_env.base.jit import inlined
from taki_env.base.types import Int, Word, Words

ZERO, ONE = np.uint64(0), np.uint64(1)

# Masks, multiplier and shifts of the parallel bit count.
_M1, _M2, _M4 = (np.uint64(m) for m in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))

_BYTES = np.uint64(0x0101010101010101)

_S1, _S2, _S4, _S56 = (np.uint64(k) for k in (1, 2, 4, 56))

# Shifts of xorshift64.
_X13, _X7, _X17, _X32 = (np.uint64(k) for k in (13, 7, 17, 32))


@inlined
def bit_of(action: Int) -> np.uint64:
    """Return the set that contains only `action`."""
    return ONE << np.uint64(action)


@inlined
def count_bits(word: np.uint64) -> Int:
    """Return the number of actions in a set (LLVM compiles this to one instruction)."""
    word = word - ((word >> _S1) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    return np.int64((word * _BYTES) >> _S56)


@inlined
def lowest(word: np.uint64) -> Int:
    """Return the lowest action of a nonempty set."""
    return count_bits((word & (~word + ONE)) - ONE)


@inlined
def next_random(word: Word) -> Word:
    """Return the next random word after a nonzero one (xorshift64, Marsaglia 2003); never 0."""
    word = word ^ (word << _X13)
    word = word ^ (word >> _X7)
    return word ^ (word << _X17)


@inlined
def random_below(word: np.uint64, bound: Int) -> Int:
    """Return a number in [0, bound) from the high half of a random word (Lemire 2019).

    The rejection step is omitted: with bounds of at most 116 the bias is below 2**-25.
    """
    return np.int64(((word >> _X32) * np.uint64(bound)) >> _X32)


@inlined
def sample_action(legal: np.uint64, word: np.uint64) -> Int:
    """Return a uniformly random action of a nonempty set."""
    for _ in range(random_below(word, count_bits(legal))):
        legal = legal & (legal - ONE)
    return lowest(legal)


# Constants of SplitMix64.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_X30, _X27, _X31 = (np.uint64(k) for k in (30, 27, 31))

_C30, _C27 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def _mix(word: Word) -> Word:
    """Return a hash of a word: the finalizer of SplitMix64 (Steele et al. 2014)."""
    word = (word ^ (word >> _X30)) * _C30
    word = (word ^ (word >> _X27)) * _C27
    return word ^ (word >> _X31)


@inlined
def _mix_in(word: Word, number: Word) -> Word:
    return _mix(word + (number + ONE) * _GOLDEN)


@inlined
def seed_word(base: Word, index: Word, episode: Word) -> Word:
    """Return the random word of an episode of game `index`; never 0.

    Args:
        base: `base_word` of the seed.
        index: index of the game.
        episode: number of the episode, from 0.
    """
    word = _mix_in(_mix_in(base, index), episode)
    return word + np.uint64(word == ZERO) * _GOLDEN  # a bare bool would make it signed


def seed_words(
    seed: int, indices: npt.ArrayLike, episodes: npt.ArrayLike = 0, stream: int = 0
) -> Words:
    """Return a random word for each game index and episode, (num_games,).

    A word depends only on the arguments, so neither the batch size nor earlier play changes a
    deal. Streams are independent: stream 0 deals the cards, others are for policies.
    """
    numbers = (np.atleast_1d(number).astype(np.uint64) for number in (indices, episodes))
    words: Words = seed_word(base_word(seed, stream), *numbers)
    return words


@lru_cache(maxsize=1024)
def base_word(seed: int, stream: int = 0) -> np.uint64:
    """Return the word of a seed and stream from which `seed_word` derives those of games."""
    words = np.random.SeedSequence(seed, spawn_key=(stream,)).generate_state(1, np.uint64)
    return np.uint64(words[0])


def spread_words(words: Words, count: int) -> Words:
    """Return `count` independent words for each word, (num_games, count)."""
    spread: Words = _mix(words[:, np.newaxis] + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)
    return spread
