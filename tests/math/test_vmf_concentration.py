# SPDX-License-Identifier: MIT
"""The concentration of a mean length (csrc/math/vmf_concentration.h): the inverse of A, with an
error of 4 eps relative to kappa times the conditioning R/(kappa A'(kappa))."""

import math

import numpy
import pytest
import torch
from helpers import measured_errors
from helpers.measured_errors import DTYPES

import svmf.functional as F

BOUND = 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_error_relative_to_the_conditioning(dtype: str) -> None:
    rows = measured_errors.load("vmf_kappa", dtype)
    rows = measured_errors.take(rows, rows["kappa"] > 1e-9)
    m, kappa, slope, bend = (rows[name] for name in ("m", "kappa", "dA", "d2A"))
    mean = rows["A"].astype(dtype)  # the input, rounded
    lost = (mean.astype(numpy.float64) - rows["A"]) - rows["A_low"]
    # the true inverse at the rounded input, to second order in what the rounding lost
    shift = lost / slope
    shift = shift - bend / slope * shift**2 / 2
    keep = (numpy.abs(shift) < 1e-6 * kappa) & (mean < 1)
    assert keep.sum() > 500
    eps = numpy.finfo(dtype).eps
    for dim in numpy.unique(m[keep]):
        chosen = keep & (m == dim)
        value = F.vmf_concentration(torch.from_numpy(mean[chosen]), int(dim)).double().numpy()
        error = numpy.abs((value - kappa[chosen]) - shift[chosen])
        conditioning = numpy.maximum(mean[chosen] / (kappa * slope)[chosen], 1)
        worst = (error / (eps * kappa[chosen] * conditioning)).max()
        assert worst <= BOUND, (dim, worst)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", [2, 3, 10, 64, 65, 10_000, 1_000_000])
def test_ends_of_the_domain(dim: int, dtype: torch.dtype) -> None:
    lengths = torch.tensor([0.0, 1.0, -0.1, 1.1, math.nan, math.inf], dtype=dtype)
    expected = torch.tensor([0.0, math.inf, *[math.nan] * 4], dtype=dtype)
    torch.testing.assert_close(F.vmf_concentration(lengths, dim), expected, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", [2, 3, 10, 64, 65, 10_000, 1_000_000])
def test_close_to_the_ends(dim: int, dtype: torch.dtype) -> None:
    """kappa = m R for small R; kappa = nu/(1-R) for R next to 1."""
    eps = torch.finfo(dtype).eps
    small = torch.tensor([1e-30, 1e-12], dtype=dtype)
    torch.testing.assert_close(
        F.vmf_concentration(small, dim), (small * dim).to(dtype), rtol=4 * eps, atol=0
    )
    last = 1 - eps / 2
    value = F.vmf_concentration(torch.tensor([last], dtype=dtype), dim).item()
    assert value == pytest.approx((dim - 1) / 2 / (eps / 2), rel=1e-6)
