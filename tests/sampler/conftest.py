# SPDX-License-Identifier: MIT
"""Keeps the promise of helpers/gof.py: a run makes no more checks than its false-alarm rate
allows for."""

import pytest
import torch
from helpers import gof

import svmf.functional  # noqa: F401  (registers torch.ops.svmf for every test of this folder)


@pytest.fixture(scope="session", autouse=True)
def checks_are_counted():
    yield
    assert gof.Ledger.count <= gof.CHECKS


def unit_vectors(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Random unit vectors [*shape]."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(normal, dim=-1).to(dtype)


@pytest.fixture(scope="session")
def directions():
    return unit_vectors
