# SPDX-License-Identifier: MIT
"""KL between two vMF distributions (csrc/math/vmf_kl.h) against the tables of true values:
KL = L2 - L1 - A1 (k2 - k1) + k2 A1 |mu1 - mu2|^2/2."""

import csv
import gzip
import itertools
from decimal import Decimal, localcontext

import mpmath
import numpy
import pytest
import torch
from helpers.measured_errors import DATA, DTYPES
from helpers.vmf_exact import mean_length

import svmf.functional as F

# In eps, relative to the KL: concentrations within a factor of 3 (quadrature), and farther apart.
NEAR_BOUND = 8
FAR_BOUND = 16
# Of the derivative in kappa2, A2 - A1 for equal directions, in eps.
SLOPE_BOUND = 24


def rows(dtype: str) -> list[dict[str, str]]:
    with gzip.open(DATA / "vmf_kappa.csv.gz", "rt", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["dtype"] == dtype]


def axis(dim: int, dtype: torch.dtype) -> torch.Tensor:
    e1 = torch.zeros(1, dim, dtype=dtype)
    e1[0, 0] = 1
    return e1


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_directions(dtype: str) -> None:
    """The part that does not depend on the directions, for pairs of rows of one dimension."""
    eps = float(numpy.finfo(dtype).eps)
    by_dim = itertools.groupby(
        sorted(rows(dtype), key=lambda r: int(r["m"])), lambda r: int(r["m"])
    )
    checked = 0
    for dim, group in by_dim:
        group = [row for row in group if float(row["kappa"]) > 1e-6]
        if dim > 3000 or len(group) < 4:
            continue
        group = group[:: max(1, len(group) // 8)]
        pairs = list(itertools.permutations(group, 2))
        with localcontext() as context:
            context.prec = 50
            true, near = [], []
            for one, two in pairs:
                k1, k2 = (Decimal(float(row["kappa"])) for row in (one, two))
                value = Decimal(two["L"]) - Decimal(one["L"]) - Decimal(one["A"]) * (k2 - k1)
                # the table's 25 digits must leave enough of the difference
                enough = value > Decimal("1e-5") * max(Decimal(one["L"]), Decimal(two["L"]))
                true.append(float(value) if enough else float("nan"))
                near.append(k1 / 3 <= k2 <= 3 * k1)
        kappa1 = torch.tensor([float(one["kappa"]) for one, _ in pairs], dtype=DTYPES[dtype])
        kappa2 = torch.tensor([float(two["kappa"]) for _, two in pairs], dtype=DTYPES[dtype])
        loc = axis(dim, DTYPES[dtype]).expand(len(pairs), dim)
        value = F.vmf_kl(loc, kappa1, loc, kappa2).double().numpy()
        truth = numpy.array(true)
        known = numpy.isfinite(truth)
        bound = numpy.where(near, NEAR_BOUND, FAR_BOUND)
        error = numpy.abs(value - truth) / truth / eps
        assert (error[known] <= bound[known]).all(), (dim, numpy.nanmax(error / bound))
        checked += int(known.sum())
    assert checked > 1000


@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("dim", "kappa"), [(2, 3.0), (3, 0.25), (10, 700.0), (65, 40.0)])
def test_close_concentrations_do_not_cancel(dim: int, kappa: float, step: float) -> None:
    other = kappa * (1 + step)
    with mpmath.workdps(60):
        v = mpmath.mpf(dim) / 2 - 1

        def log_partition(k):
            k = mpmath.mpf(k)
            return mpmath.log(mpmath.besseli(v, k)) - v * mpmath.log(k)

        ratio = mpmath.besseli(v + 1, kappa) / mpmath.besseli(v, kappa)
        difference = mpmath.mpf(other) - mpmath.mpf(kappa)
        true = float(log_partition(other) - log_partition(kappa) - ratio * difference)
    loc = axis(dim, torch.float64)
    one, two = (torch.tensor([k], dtype=torch.float64) for k in (kappa, other))
    # the KL is quadratic in the difference of the concentrations
    assert F.vmf_kl(loc, one, loc, two).item() == pytest.approx(true, rel=1e-15 * NEAR_BOUND)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_itself_is_at_no_distance(dtype: torch.dtype) -> None:
    loc = torch.nn.functional.normalize(torch.randn(50, 7, dtype=dtype), dim=-1)
    kappa = torch.logspace(-3, 6, 50).to(dtype)
    assert torch.equal(F.vmf_kl(loc, kappa, loc, kappa), torch.zeros(50, dtype=dtype))
    zero = torch.zeros(50, dtype=dtype)
    assert torch.equal(F.vmf_kl(loc, zero, -loc, zero), zero)


def test_second_uniform_is_the_kl_to_the_uniform_distribution() -> None:
    loc = torch.nn.functional.normalize(torch.randn(2, 60, 9, dtype=torch.float64), dim=-1)
    kappa = torch.logspace(-4, 9, 60, dtype=torch.float64)
    torch.testing.assert_close(
        F.vmf_kl(loc[0], kappa, loc[1], torch.zeros_like(kappa)),
        F.vmf_kl_uniform(kappa, 9),
        rtol=4e-15,
        atol=0,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ratio", [1 + 1e-6, 1.001, 1.1, 1.49, 1.51, 2.0, 30.0, 0.999, 0.3])
@pytest.mark.parametrize("dim", [2, 3, 10, 65, 1000])
def test_slope_in_kappa2_does_not_cancel(dim: int, ratio: float, dtype: str) -> None:
    """d/dkappa2 is A2 - A1 for equal directions: 7 per cent were lost at kappa 1e6 and 2e6."""
    largest = 1e6 if dtype == "float32" else 1e9
    kappa1 = torch.logspace(-3, numpy.log10(largest / 30), 12).to(DTYPES[dtype])
    kappa2 = (kappa1.double() * ratio).to(DTYPES[dtype])
    with mpmath.workdps(60):
        true = [
            float(mean_length(dim, k2) - mean_length(dim, k1))
            for k1, k2 in zip(kappa1.tolist(), kappa2.tolist(), strict=True)
        ]
    loc = axis(dim, DTYPES[dtype]).expand(len(kappa1), dim)
    (slope,) = torch.autograd.grad(
        F.vmf_kl(loc, kappa1, loc, kappa2.requires_grad_()).sum(), kappa2
    )
    error = numpy.abs(slope.double().numpy() - true) / numpy.maximum(numpy.abs(true), 1e-300)
    assert (error <= SLOPE_BOUND * numpy.finfo(dtype).eps).all(), error.max()
