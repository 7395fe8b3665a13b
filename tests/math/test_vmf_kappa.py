# SPDX-License-Identifier: MIT
"""Functions of kappa (csrc/math/vmf_kappa.h): errors against the tables of true values, and what
must hold exactly or at the ends of the domain."""

import json
import math

import numpy
import pytest
import torch
from helpers import measured_errors
from helpers.commands import python
from helpers.measured_errors import DTYPES, QUANTITIES, Quantity
from helpers.paths import PROJECT

import svmf
import svmf.functional as F

ops = torch.ops.svmf
DIMS = (2, 3, 4, 5, 10, 31, 64, 65, 66, 1000, 65536, 1_000_000)
OF_KAPPA = [q for q in QUANTITIES if q.table == "vmf_kappa"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("quantity", OF_KAPPA, ids=lambda q: q.formula)
def test_error_is_within_the_stated_bound(quantity: Quantity, dtype: str) -> None:
    error, where = quantity.largest(dtype)
    assert error <= quantity.bound, where  # also fails for nan


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_error_is_within_the_bound_on_each_instruction_set(isa: str) -> None:
    if isa not in svmf.build_info()["cpu_isas"].split():
        pytest.skip(f"this build has no {isa}")
    measured = python(
        PROJECT / "tools" / "error_table.py",
        "--json",
        check=False,
        environment={"SVMF_CPU_ISA": isa},
    )
    if "which this CPU does not have" in measured.stderr:
        pytest.skip(f"this CPU has no {isa}")
    assert measured.returncode == 0, measured.stderr
    report = json.loads(measured.stdout)
    assert report["cpu_isa"] == isa
    assert [row for row in report["rows"] if not row["error"] <= row["bound"]] == []


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", DIMS)
def test_kappa_zero_is_exact(dim: int, dtype: torch.dtype) -> None:
    zero = torch.zeros(3, dtype=dtype)
    one_over_m = torch.full_like(zero, 1 / dim)
    for function, expected in (
        (F.vmf_mean_length, zero),
        (F.vmf_mean_length_complement, zero + 1),
        (ops._vmf_mean_length_grad2, zero),
        (F.vmf_kl_uniform, zero),
        (ops._vmf_kl_uniform_grad, zero),
        (F.vmf_log_partition, zero),
    ):
        assert torch.equal(function(zero, dim), expected), function
    # -0 is 0
    assert torch.equal(F.vmf_kl_uniform(-zero, dim), zero)
    for function in (ops._vmf_mean_length_grad, ops._vmf_kl_uniform_grad2):
        torch.testing.assert_close(
            function(zero, dim), one_over_m, rtol=2 * torch.finfo(dtype).eps, atol=0
        )
    assert torch.equal(F.vmf_log_norm(zero, dim), -F.vmf_entropy(zero, dim))


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", DIMS)
def test_tiny_kappa_keeps_full_precision(dim: int, dtype: torch.dtype) -> None:
    """A = kappa/m, KL' = kappa/m, KL = L = kappa^2/(2m), while kappa^2 underflows."""
    info = torch.finfo(dtype)
    kappa = torch.tensor([info.tiny * 2**20, info.tiny**0.75, info.tiny**0.5, 1e-10], dtype=dtype)
    k = kappa.double() if dtype == torch.float32 else kappa
    close = {"rtol": 4 * info.eps, "atol": 0.0}
    for function in (F.vmf_mean_length, ops._vmf_kl_uniform_grad):
        value = function(kappa, dim)
        keep = (k / dim) >= info.tiny
        torch.testing.assert_close(value[keep], (k / dim).to(dtype)[keep], **close)
    for function in (F.vmf_kl_uniform, F.vmf_log_partition):
        value, true = function(kappa, dim), k * (k / (2 * dim))
        keep = true >= info.tiny
        torch.testing.assert_close(value[keep], true.to(dtype)[keep], **close)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", [2, 3, 17, 64, 65, 1000])
def test_kappa_at_the_upper_end(dim: int, dtype: torch.dtype) -> None:
    huge = torch.tensor([1e15 if dtype == torch.float32 else 1e100, torch.inf], dtype=dtype)
    assert torch.equal(F.vmf_mean_length(huge, dim), torch.ones_like(huge))
    assert F.vmf_mean_length_complement(huge, dim)[1] == 0
    assert F.vmf_kl_uniform(huge, dim).tolist()[1] == math.inf
    assert F.vmf_log_partition(huge, dim).tolist()[1] == math.inf
    assert F.vmf_log_norm(huge, dim).tolist()[1] == -math.inf
    assert F.vmf_entropy(huge, dim).tolist()[1] == -math.inf
    for function in (F.vmf_mean_length_complement, ops._vmf_kl_uniform_grad, F.vmf_kl_uniform):
        assert torch.isfinite(function(huge[:1], dim)).all(), function


@pytest.mark.parametrize("quantity", [q for q in OF_KAPPA if q.bound == 4], ids=lambda q: q.formula)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pieces_meet(quantity: Quantity, dtype: str) -> None:
    """Across an edge between two polynomials a function moves as its derivative says, to 4 eps.

    The rows of the table beside an edge come in pairs, 4 eps of kappa below and above it; the
    truth's own step between the two is subtracted.
    """
    rows = measured_errors.load("vmf_kappa", dtype)
    kappa = rows["kappa"]
    eps = numpy.finfo(dtype).eps
    step = numpy.diff(kappa)
    pair = (step > 0) & (step < 20 * eps * kappa[1:]) & (numpy.diff(rows["m"]) == 0)
    assert pair.sum() > 20
    computed = quantity.compute(rows, DTYPES[dtype])
    deviation = (computed - rows[quantity.column]) - rows[quantity.column + "_low"]
    jump = numpy.abs(numpy.diff(deviation))[pair] / (eps * quantity.scale(rows)[1:][pair])
    assert jump.max() <= quantity.bound


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_entropy_and_norm_at_zero_are_those_of_the_sphere(dtype: torch.dtype) -> None:
    """log of the area, where lgamma in double would lose digits: near m = 19 it is almost 0."""
    for dim, area in ((2, 2 * math.pi), (3, 4 * math.pi), (4, 2 * math.pi**2), (6, math.pi**3)):
        value = F.vmf_entropy(torch.zeros(1, dtype=dtype), dim).item()
        assert abs(value - math.log(area)) <= torch.finfo(dtype).eps * math.log(area)


def test_large_dimension_joins_the_small_ones() -> None:
    """From m = 64 (tabulated) to 65 (expansion in 1/nu), A obeys its recurrence in m."""
    kappa = torch.logspace(-6, 9, 400, dtype=torch.float64)
    # 1/A_m = m/kappa + A_(m+2) (DLMF 10.29.1)
    for dim in (62, 63, 64, 65):
        left = 1 / F.vmf_mean_length(kappa, dim)
        right = dim / kappa + F.vmf_mean_length(kappa, dim + 2)
        torch.testing.assert_close(left, right, rtol=2e-15, atol=0)
