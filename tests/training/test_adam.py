# SPDX-License-Identifier: MIT
"""The trainer's Adam against torch's own: the same bits, the same state."""

import copy

import torch
from torch import nn

from svmf.training.adam import FusedAdam


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5))


def pair():
    """Ours and torch's, each with a network of its own."""
    first, second = network(), network()
    ours = FusedAdam(first.parameters(), 1e-2)
    return first, ours, second, torch.optim.Adam(second.parameters(), lr=1e-2, fused=True)


def train(model, optimizer, steps, seed):
    torch.manual_seed(seed)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 20)).square().mean().backward()
        optimizer.step()


def assert_same_bits(first, ours, second, theirs):
    for left, right in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(left, right)
    left, right = ours.state_dict(), theirs.state_dict()
    assert left["param_groups"] == right["param_groups"]
    assert left["state"].keys() == right["state"].keys()
    for index, state in left["state"].items():
        for name, value in state.items():
            assert torch.equal(value, right["state"][index][name]), (index, name)


def test_same_bits_as_torch():
    first, ours, second, theirs = pair()
    train(first, ours, 20, 1)
    train(second, theirs, 20, 1)
    assert_same_bits(first, ours, second, theirs)


def test_continues_from_torch_s_state():
    first, ours, second, theirs = pair()
    train(second, theirs, 5, 1)
    train(first, ours, 3, 7)  # a state that the loaded one must replace
    first.load_state_dict(second.state_dict())
    ours.load_state_dict(copy.deepcopy(theirs.state_dict()))  # load_state_dict shares tensors
    train(first, ours, 5, 2)
    train(second, theirs, 5, 2)
    assert_same_bits(first, ours, second, theirs)


def test_a_gradient_may_fail_to_come():
    first, ours, second, theirs = pair()
    for model, optimizer in ((first, ours), (second, theirs)):
        train(model, optimizer, 3, 1)
        optimizer.zero_grad()
        model[0](torch.ones(8, 20)).sum().backward()
        optimizer.step()
        train(model, optimizer, 3, 2)
    assert_same_bits(first, ours, second, theirs)


def test_weights_without_gradient_stay():
    model = network()
    optimizer = FusedAdam(model.parameters(), 1e-2)
    before = model[2].weight.clone()
    model[0](torch.randn(8, 20)).sum().backward()
    optimizer.step()
    optimizer.step()
    assert torch.equal(model[2].weight, before)
    train(model, optimizer, 3, 1)
    assert not torch.equal(model[2].weight, before)
