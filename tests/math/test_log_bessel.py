# SPDX-License-Identifier: MIT
"""Bessel functions of real order (csrc/math/log_bessel.h): errors against the table of true values,
no jump between methods, ends of the domain."""

import math

import mpmath
import numpy
import pytest
import torch
from helpers.measured_errors import DTYPES, QUANTITIES, Quantity, has_table
from torch import Tensor

import svmf.functional as F

ops = torch.ops.svmf
EPS = torch.finfo(torch.float64).eps
OF_ORDER = [q for q in QUANTITIES if q.table == "bessel"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("quantity", OF_ORDER, ids=lambda q: q.formula)
def test_error_is_within_the_stated_bound(quantity: Quantity, dtype: str) -> None:
    error, where = quantity.largest(dtype)
    assert error <= quantity.bound, where


def true_log_iv(order: float, x: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        return mpmath.log(mpmath.besseli(order, x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_orders_densely(dtype: str) -> None:
    """log I_v crosses zero here, and the terms of its formulas are larger than itself."""
    random = numpy.random.default_rng(1)
    eps = float(numpy.finfo(dtype).eps)
    orders = numpy.r_[numpy.zeros(150), random.integers(0, 8, 300) / 2, random.random(150) * 3]
    for order in orders.astype(dtype):
        v = float(order)
        x = float(numpy.exp(random.uniform(-5, 3)).astype(dtype))
        value = F.log_iv(v, torch.tensor([x], dtype=DTYPES[dtype])).item()
        true = true_log_iv(v, x)
        slope = float(x * mpmath.besseli(v + 1, x) / mpmath.besseli(v, x) + v)
        scale = max(abs(float(true)), slope)
        assert abs(float(value - true)) <= 4 * eps * scale, (v, x)


def jump(function, below: tuple[float, float], above: tuple[float, float], scale: float) -> float:
    """Difference of two values at arguments one rounding apart, in eps of the scale."""
    values = [
        function(order, torch.tensor([x], dtype=torch.float64)).item()
        for order, x in (below, above)
    ]
    return abs(values[0] - values[1]) / (EPS * scale)


def slope_scale(order: float, x: float) -> float:
    """max(|log I_v|, |x d/dx log I_v|)"""
    t = torch.tensor([x], dtype=torch.float64)
    slope = x * F.iv_ratio(order + 1, t).item() + order
    return max(abs(F.log_iv(order, t).item()), slope)


@pytest.mark.parametrize("x", [0.01, 1.0, 7.5, 40.0, 300.0, 1e5])
@pytest.mark.parametrize("order", [0.5, 3.0, 17.5, 31.0, 31.5, 32.0])
def test_no_jump_between_a_tabulated_order_and_the_recurrence(order: float, x: float) -> None:
    beside = math.nextafter(order, 0)
    assert not has_table(numpy.array([beside]))[0] or order > 31.5
    assert jump(F.log_iv, (beside, x), (order, x), slope_scale(order, x)) <= 4
    ratio = F.iv_ratio(order + 1, torch.tensor([x], dtype=torch.float64)).item()
    assert jump(F.iv_ratio, (beside + 1, x), (order + 1, x), ratio) <= 6


# kRecurrenceHugeX, kRecurrenceScaledX and scaled_form_from of csrc/math/log_bessel.h.
@pytest.mark.parametrize("order", [0.2, 0.7, 3.3, 12.1, 30.9])
@pytest.mark.parametrize(("function", "x"), [(F.log_iv, 1e10), (F.log_ive, 128.0)])
def test_no_jump_where_the_recurrence_changes_its_form(function, x: float, order: float) -> None:
    t = torch.tensor([x], dtype=torch.float64)
    scale = slope_scale(order, x) if function is F.log_iv else abs(F.log_ive(order, t).item())
    bound = 4 if function is F.log_iv else 32
    for beside in (math.nextafter(x, 0), math.nextafter(x, math.inf)):
        assert jump(function, (order, beside), (order, x), scale) <= bound


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0, 4.5, 16.0, 31.0])
def test_no_jump_where_the_scaled_function_changes_its_form(order: float) -> None:
    x = 1.5 + order / 2
    scale = abs(F.log_ive(order, torch.tensor([x], dtype=torch.float64)).item())
    assert jump(F.log_ive, (order, math.nextafter(x, 0)), (order, x), scale) <= 4


@pytest.mark.parametrize("order", [0.0, 0.3, 7.7, 31.2, 50.5])
def test_beyond_the_domain_nothing_overflows(order: float) -> None:
    """log I_v = x - log(2 pi x)/2 for x far beyond v^2."""
    x = torch.tensor([1.5e10, 1e30, 1e200], dtype=torch.float64)
    true = x - torch.log(2 * math.pi * x) / 2
    torch.testing.assert_close(F.log_iv(order, x), true, rtol=4 * EPS, atol=0)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("order", [0.0, 0.3, 0.5, 1.0, 31.0, 31.2, 31.5, 1000.0])
def test_ends_of_the_domain(order: float, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, math.inf, -1.0, math.nan, -math.inf], dtype=dtype)
    at_zero = 0.0 if order == 0 else -math.inf
    expected = torch.tensor([at_zero, math.inf, *[math.nan] * 3], dtype=dtype)
    torch.testing.assert_close(F.log_iv(order, x), expected, equal_nan=True)
    expected[1] = -math.inf
    torch.testing.assert_close(F.log_ive(order, x), expected, equal_nan=True)
    expected[:2] = torch.tensor([math.inf if order == 0 else 0.0, 1.0])
    torch.testing.assert_close(F.iv_ratio(order, x), expected, equal_nan=True)


def test_ratio_of_order_zero_is_the_inverse_of_order_one() -> None:
    """I_0/I_(-1) = I_0/I_1."""
    x = torch.logspace(-6, 6, 200, dtype=torch.float64)
    torch.testing.assert_close(F.iv_ratio(0, x), 1 / F.iv_ratio(1, x), rtol=6 * EPS, atol=0)


def _slope_by_recurrence_identity(order: Tensor, x: Tensor) -> Tensor:
    """R' = 1 - R^2 - (2v-1) R/x (DLMF 10.29.2), which cancels."""
    ratio = F.iv_ratio(order, x)
    return 1 - ratio * ratio - (2 * order - 1) * ratio / x


def test_slope_of_the_ratio() -> None:
    order, x = torch.meshgrid(
        torch.tensor([0.5, 0.8, 1.0, 1.2, 5.5, 6.1, 31.9, 40.3], dtype=torch.float64),
        torch.logspace(-3, 3, 60, dtype=torch.float64),
        indexing="ij",
    )
    value = ops._iv_ratio_grad(order, x)
    # The identity's terms are of size 1 + (2v-1) R/x, so that is the scale of its own error.
    scale = 1 + (2 * order - 1).abs() * F.iv_ratio(order, x) / x
    error = (value - _slope_by_recurrence_identity(order, x)).abs() / scale
    assert error.max() <= 8 * EPS


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_slope_of_the_ratio_at_order_one_half(dtype: torch.dtype) -> None:
    """sech(x)^2, which falls below the error that docs/math.md states."""
    x = torch.logspace(-3, 6, 4000, dtype=torch.float64).to(dtype)
    value = ops._iv_ratio_grad(torch.full_like(x, 0.5), x).double()
    true = torch.cosh(x.double().clamp(max=700)) ** -2
    error = (value - true).abs() * x.double().clamp(min=1)
    assert error.max() <= 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize("function", [F.log_iv, F.log_ive, F.iv_ratio], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_orders_in_a_tensor_equal_orders_one_by_one(function, dtype: torch.dtype) -> None:
    orders = torch.tensor([0.0, 0.25, 0.5, 3.0, 3.0, 31.2, 31.5, 77.7], dtype=dtype)
    x = torch.tensor([1e-3, 0.5, 3.0, 63.0, 64.0, 500.0], dtype=dtype)
    together = function(orders[:, None], x)
    one_by_one = torch.stack([function(v, x) for v in orders.tolist()])
    assert together.shape == (8, 6)
    assert torch.equal(together, one_by_one)
    bad = function(torch.tensor([-1.0, math.nan, 2.0], dtype=dtype), x[:3])
    assert bad.isnan().tolist() == [True, True, False]
