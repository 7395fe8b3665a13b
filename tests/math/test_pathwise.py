# SPDX-License-Identifier: MIT
"""The pathwise derivative dw/dkappa (csrc/math/vmf_pathwise.h): error against the table of true
values, closed forms, the recurrence in the dimension, and the ends of the domain."""

import math

import numpy
import pytest
import torch
from helpers.measured_errors import DTYPES, QUANTITIES, load, take

import svmf.functional as F

(PATHWISE,) = (q for q in QUANTITIES if q.table == "vmf_pathwise")


@pytest.mark.parametrize("dtype", DTYPES)
def test_error_is_within_the_stated_bound(dtype: str) -> None:
    error, where = PATHWISE.largest(dtype)
    assert error <= PATHWISE.bound, where


@pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_error_with_both_differences_given(svmf_math, dtype: str, vector: bool) -> None:
    """As the sampler calls it, with 1-w and 1+w: also where w itself rounds to 1."""
    rows = load("vmf_pathwise", dtype)
    rows = take(rows, rows["kind"] == "one_minus_w")
    function = getattr(svmf_math, "pathwise_f64" if dtype == "float64" else "pathwise_f32")
    value = numpy.empty(rows["m"].size)
    for dim in numpy.unique(rows["m"]):
        chosen = rows["m"] == dim
        below = rows["given"][chosen].astype(dtype)
        value[chosen] = function(
            below, (2 - below).astype(dtype), rows["kappa"][chosen].astype(dtype), int(dim), vector
        )
    errors = PATHWISE.errors(rows, dtype, value)
    worst = int(numpy.argmax(errors))
    assert errors.max() <= PATHWISE.bound, {n: rows[n][worst] for n in ("m", "kappa", "given")}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", [2, 3, 4, 17, 64, 65, 1000, 1_000_000])
def test_uniform_distribution(dim: int, dtype: torch.dtype) -> None:
    """kappa = 0: (1-w^2)/(m-1)."""
    w = torch.linspace(-0.99, 0.99, 41, dtype=dtype)
    if dim > 64:
        w = w * 5 / math.sqrt(dim)
    true = ((1 - w.double()) * (1 + w.double()) / (dim - 1)).to(dtype)
    value = F.vmf_pathwise_derivative(w, torch.zeros_like(w), dim)
    torch.testing.assert_close(value, true, rtol=4 * torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("kappa", [0.5, 2.0, 9.0])
def test_sphere_in_three_dimensions(kappa: float) -> None:
    """m = 3: (coth k - w - e^(-kw)/sinh k)/k."""
    w = torch.linspace(-0.95, 0.95, 39, dtype=torch.float64)
    k = torch.full_like(w, kappa)
    true = (1 / torch.tanh(k) - w - torch.exp(-k * w) / torch.sinh(k)) / k
    value = F.vmf_pathwise_derivative(w, k, 3)
    torch.testing.assert_close(value, true, rtol=1e-13, atol=1e-15 / kappa)


@pytest.mark.parametrize("dim", [2, 3, 5, 20, 63, 64, 65, 300])
def test_recurrence_in_the_dimension(dim: int) -> None:
    """With D = (1-w^2) y: (m-1) y_m = 1 - A_m w - kappa A_m (1-w^2) y_(m+2)."""
    nu = (dim - 1) / 2
    for kappa in (0.3, 4.0, 30.0, 44.0, 46.0, 200.0, 3e3):
        k = torch.full((25,), kappa, dtype=torch.float64)
        mean = F.vmf_mean_length(k, dim)
        width = math.sqrt(1 / (nu + kappa + 1))
        w = (mean + torch.linspace(-2, 2, 25) * width).clamp(-0.99, 0.9999).double()
        square = (1 - w) * (1 + w)
        left = (dim - 1) * F.vmf_pathwise_derivative(w, k, dim) / square
        right = 1 - mean * w - k * mean * F.vmf_pathwise_derivative(w, k, dim + 2)
        scale = 1 + (mean * w).abs() + (1 - mean * w)
        assert ((left - right).abs() / scale).max() <= 1e-14, kappa


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("dim", [2, 3, 10, 64, 65, 1000])
def test_no_jump_in_kappa(dim: int, dtype: torch.dtype) -> None:
    """Beside every change of method the derivative moves by its bound at most: kappa grows in steps
    of a few eps across sqrt(nu^2 + kappa^2) = 45, 64, 150, ..., and around kappa = 4."""
    nu = (dim - 1) / 2
    eps = torch.finfo(dtype).eps
    for s in (4.0, 45.0, 64.0, 150.0, 600.0, 1000.0, 5000.0):
        if s <= nu and s != 4.0:
            continue
        kappa = 4.0 if s == 4.0 else math.sqrt(s * s - nu * nu)
        k = torch.tensor(kappa, dtype=dtype) * (1 + eps * torch.arange(-8, 9, dtype=dtype))
        mean = F.vmf_mean_length(k[:1].double(), dim).item()
        deviation = math.sqrt(F.vmf_mean_length_complement(k[:1].double(), dim).item() * (1 + mean))
        for offset in (-1.5, -0.3, 0.4, 1.0):
            w = min(max(mean + offset * deviation / math.sqrt(nu), -0.98), 1 - eps)
            value = F.vmf_pathwise_derivative(torch.full_like(k, w), k, dim).double()
            jump = value.diff().abs() / value[1:].abs() / eps
            # a step of kappa moves D by about one eps; two methods differ by two bounds at most
            assert jump.max() <= 2 * PATHWISE.bound, (s, offset)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_ends_of_the_domain(dtype: torch.dtype) -> None:
    for dim in (2, 3, 10, 100):
        poles = torch.tensor([-1.0, 1.0], dtype=dtype)
        assert torch.equal(
            F.vmf_pathwise_derivative(poles, torch.full_like(poles, 5.0), dim), poles * 0
        )
        w = torch.tensor([0.1, 0.1, 0.1, 1.5, -1.5, math.nan], dtype=dtype)
        kappa = torch.tensor([math.inf, -1.0, math.nan, 2.0, 2.0, 2.0], dtype=dtype)
        value = F.vmf_pathwise_derivative(w, kappa, dim)
        assert value[0] == 0
        assert value[1:].isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", [2, 3, 4, 10, 50, 89, 200])
def test_tiny_kappa_up_to_the_poles(dim: int, dtype: torch.dtype) -> None:
    """The limit (1-w^2)/(m-1) and finite slopes; at w = -1 too, where rounding chose a side."""
    eps = torch.finfo(dtype).eps
    below = torch.tensor([0, eps / 2, eps, 4 * eps, 1e-3, 0.5, 1], dtype=torch.float64)
    w = torch.cat((below - 1, 1 - below)).to(dtype)
    kappa = torch.logspace(-44 if dtype == torch.float32 else -320, -9, 300, dtype=torch.float64)
    w, kappa = torch.cartesian_prod(w, kappa.to(dtype)).requires_grad_().unbind(-1)
    value = F.vmf_pathwise_derivative(w, kappa, dim)
    expected = (1 - w) * (1 + w) / (dim - 1)
    torch.testing.assert_close(value, expected, rtol=4 * eps + 2e-9, atol=0)
    for slope in torch.autograd.grad(value.sum(), (w, kappa)):
        assert bool(slope.isfinite().all())
