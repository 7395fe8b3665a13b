# SPDX-License-Identifier: MIT
"""Keeps the promise of helpers/gof.py: a run makes no more checks than its false-alarm rate
allows for."""

import pytest
from helpers import exact, gof

import svmf.functional  # noqa: F401  (registers torch.ops.svmf for every test of this folder)


@pytest.fixture(scope="session", autouse=True)
def checks_are_counted():
    yield
    assert gof.Ledger.count <= gof.CHECKS


@pytest.fixture(scope="session")
def directions():
    return exact.directions
