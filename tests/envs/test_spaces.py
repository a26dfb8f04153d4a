"""The action space: Gymnasium's `Discrete`, with cheap masked samples."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from taki_env.envs.spaces import ActionSpace


def mask_of(*actions: int) -> np.ndarray:
    """Return a mask of some actions."""
    mask = np.zeros(64, np.int8)
    mask[list(actions)] = 1
    return mask


def test_it_is_gymnasiums_space_of_64_actions() -> None:
    """Libraries that look at the type or compare see a `Discrete`."""
    assert isinstance(ActionSpace(), spaces.Discrete) and ActionSpace() == spaces.Discrete(64)


def test_samples_are_uniform_over_the_mask() -> None:
    """Each of three actions comes about a third of 30,000 times: five standard errors are 408."""
    space = ActionSpace()
    space.seed(1)
    counts = np.bincount([space.sample(mask_of(0, 17, 63)) for _ in range(30_000)], minlength=64)
    assert counts.sum() == counts[[0, 17, 63]].sum()
    assert np.abs(counts[[0, 17, 63]] - 10_000).max() < 408


def test_the_same_seed_gives_the_same_samples() -> None:
    """And another seed others."""

    def samples(seed: int) -> list[int]:
        space = ActionSpace()
        space.seed(seed)
        return [int(space.sample(mask_of(*range(0, 64, 3)))) for _ in range(20)]

    assert samples(1) == samples(1) != samples(2)


def test_a_mask_of_zeros_gives_action_0() -> None:
    """As Gymnasium's own."""
    assert ActionSpace().sample(mask_of()) == 0 == spaces.Discrete(64).sample(mask_of())


@pytest.mark.parametrize(
    "mask", [np.ones(63, np.int8), np.ones(64), np.full(64, 2, np.int8), [1] * 64]
)
def test_what_is_no_mask_is_refused_as_gymnasium_refuses_it(mask: object) -> None:
    """Wrong length, type, values, or no array."""
    with pytest.raises(AssertionError):
        ActionSpace().sample(mask)  # type: ignore[arg-type]


def test_true_and_false_are_no_actions() -> None:
    """They would count as 1 and 0."""
    space = ActionSpace()
    assert not space.contains(True) and not space.contains(np.True_)
    assert space.contains(1) and space.contains(np.int64(63)) and not space.contains(64)
