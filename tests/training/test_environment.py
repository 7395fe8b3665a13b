# SPDX-License-Identifier: MIT
"""What a run changes in its process is in force inside, and put back."""

import os

import pytest
import torch

from svmf.errors import ConfigError
from svmf.training.config import make_config
from svmf.training.environment import flushes_subnormals, run_environment


@pytest.fixture
def subnormals():
    """As Python starts: kept."""
    before = flushes_subnormals()
    torch.set_flush_denormal(False)
    yield
    torch.set_flush_denormal(before)


@pytest.mark.parametrize("before", [False, True])
def test_subnormals_are_flushed_inside_only(subnormals, before):
    torch.set_flush_denormal(before)
    with run_environment(make_config("svae", data="digits")):
        assert flushes_subnormals()
    assert flushes_subnormals() == before


def test_put_back_after_an_error(subnormals):
    threads = torch.get_num_threads()
    environment = run_environment(make_config("svae", data="digits", threads=1))
    environment.__enter__()
    assert torch.get_num_threads() == 1
    environment.__exit__(RuntimeError, RuntimeError(), None)
    assert torch.get_num_threads() == threads
    assert not flushes_subnormals()


def test_nothing_changes_where_the_device_is_refused(subnormals, monkeypatch):
    def refuse(device):
        raise ConfigError("no such device")

    monkeypatch.setattr("svmf.training.environment.Processes", refuse)
    threads = torch.get_num_threads()
    with pytest.raises(ConfigError):
        run_environment(make_config("svae", data="digits", threads=threads + 1)).__enter__()
    assert torch.get_num_threads() == threads
    assert not flushes_subnormals()


def test_moments_of_a_dead_weight_vanish(subnormals):
    """Without flushing they stay at the smallest subnormal number, and every step is slow."""

    def moment_after(steps):
        weight = torch.ones(64, requires_grad=True)
        optimizer = torch.optim.Adam([weight], fused=True)
        for step in range(steps):
            weight.grad = torch.full_like(weight, 0.0 if step else 1.0)
            optimizer.step()
        return optimizer.state[weight]["exp_avg"]

    assert (moment_after(1500) > 0).all()
    with run_environment(make_config("svae", data="digits")):
        assert (moment_after(1500) == 0).all()


def test_a_thousand_threads_are_not_made():
    """Their stacks take 8 GB of addresses, which a limit on memory may not give."""
    before = torch.get_num_threads()
    with run_environment(make_config("svae", threads=1024)):
        assert torch.get_num_threads() == max(os.cpu_count(), 64)
    assert torch.get_num_threads() == before
