# SPDX-License-Identifier: MIT
"""The special functions on the GPU against the tables of true values, with the bounds that hold on
the CPU: the mathematics is the same headers, and nvcc is told to contract nothing."""

import pytest
import torch
from helpers import measured_errors
from helpers.measured_errors import DTYPES, QUANTITIES, Quantity


@pytest.mark.needs_cuda
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda q: q.formula)
def test_error_is_within_the_stated_bound(
    quantity: Quantity, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_errors, "DEVICE", torch.device("cuda"))
    error, where = quantity.largest(dtype)
    assert error <= quantity.bound, where
