# SPDX-License-Identifier: MIT
"""Dynamic binarisation: exact probabilities, fresh draws, a state that can be carried over."""

import numpy as np
import pytest
import torch
from scipy import stats

from svmf.data import Binarizer

FALSE_ALARM = 1e-6


def test_probability_is_grey_over_255():
    grey = torch.arange(256, dtype=torch.uint8).repeat(40_000, 1)
    ones = Binarizer(1)(grey).double().sum(0).numpy()
    assert ones[0] == 0
    assert ones[255] == 40_000
    p = np.arange(1, 255) / 255
    lowest = stats.binom.cdf(ones[1:255], 40_000, p)
    highest = stats.binom.sf(ones[1:255] - 1, 40_000, p)
    assert min(lowest.min(), highest.min()) > FALSE_ALARM / (2 * 254)


def test_pixels_are_independent():
    grey = torch.full((20_000, 16), 128, dtype=torch.uint8)
    x = Binarizer(2)(grey).double().numpy()
    correlation = np.corrcoef(x.T)[np.triu_indices(16, 1)]
    bound = stats.norm.isf(FALSE_ALARM / (2 * correlation.size)) / np.sqrt(20_000)
    assert np.abs(correlation).max() < bound


def test_each_use_is_new_and_each_seed_its_own():
    grey = torch.full((4, 784), 128, dtype=torch.uint8)
    first, second, other = Binarizer(3), Binarizer(3), Binarizer(3, 1)
    x = first(grey)
    assert torch.equal(x, second(grey))
    assert not torch.equal(x, first(grey))
    assert not torch.equal(x, other(grey))


def test_state_continues_the_stream():
    grey = torch.full((7, 13), 128, dtype=torch.uint8)
    original = Binarizer(4)
    original(grey)
    state = original.state()
    assert all(type(word) is int for word in state)
    continued = Binarizer(99)
    continued.restore(state)
    for _ in range(3):
        assert torch.equal(original(grey), continued(grey))


def test_output_buffer_is_used():
    grey = torch.full((2, 5), 255, dtype=torch.uint8)
    out = torch.zeros(2, 5)
    assert Binarizer(5)(grey, out=out).data_ptr() == out.data_ptr()
    assert bool((out == 1).all())


@pytest.mark.parametrize(
    "wrong",
    [[], [0] * 5, [0] * 7, [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 2**32], [-1, 0, 0, 0, 0, 0],
     [2**64, 0, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0], [float("inf"), 0, 0, 0, 0, 0],
     [0, 0, 0, 0, 0, True]],
)  # fmt: skip
def test_state_of_a_stranger_is_refused(wrong):
    binarizer = Binarizer(0)
    before = binarizer.state()
    with pytest.raises(ValueError, match="the state of a binarizer"):
        binarizer.restore(wrong)
    assert binarizer.state() == before
