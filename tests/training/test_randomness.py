# SPDX-License-Identifier: MIT
"""Streams of random numbers do not touch each other."""

import torch

from svmf.training.randomness import Purpose, derived_seed, noise_from


def test_streams_differ_by_purpose_and_part():
    seeds = {derived_seed(purpose, a, b) for purpose in Purpose for a in range(5) for b in range(5)}
    assert len(seeds) == len(Purpose) * 25
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_inner_noise_does_not_disturb_the_outer():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    with noise_from(torch.device("cpu"), Purpose.TEST, 0):
        inner = torch.rand(2)
    assert torch.equal(torch.rand(3), expected)
    with noise_from(torch.device("cpu"), Purpose.TEST, 0):
        assert torch.equal(torch.rand(2), inner)
