# SPDX-License-Identifier: MIT
"""log K_v, its derivatives, and the derivatives in the order (csrc/math/log_bessel_k.h,
bessel_order_derivative.h): errors against the table of true values, no jump between methods,
identities, ends of the domain, neighbours."""

import math

import numpy
import pytest
import torch
from helpers.measured_errors import DTYPES, QUANTITIES, Quantity
from torch import Tensor

import svmf.functional as F

ops = torch.ops.svmf
EPS = torch.finfo(torch.float64).eps
INF = math.inf


def op(name: str):
    """The op as a function of a number or a tensor of orders (one element alone would be taken for
    a number)."""
    packet = getattr(ops, name)
    return lambda order, x: (packet.tensor if isinstance(order, Tensor) else packet.default)(
        order, x
    )


FUNCTIONS = {
    "log_kv": F.log_kv,
    "log_kve": F.log_kve,
    "slope": op("_log_kve_grad"),
    "bend": op("_log_kve_grad2"),
    "kv_order": F.log_kv_order_derivative,
    "iv_order": F.log_iv_order_derivative,
}


@pytest.mark.parametrize("per_element", [False, True], ids=["one order", "orders"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "quantity", [q for q in QUANTITIES if q.table == "bessel_k"], ids=lambda q: q.formula
)
def test_error_is_within_the_stated_bound(
    quantity: Quantity, dtype: str, per_element: bool
) -> None:
    if not per_element:
        error, where = quantity.largest(dtype)
        assert error <= quantity.bound, where
        return
    rows = quantity.rows(dtype)
    order, x = (torch.from_numpy(rows[name]).to(DTYPES[dtype]) for name in ("order", "x"))
    computed = FUNCTIONS[quantity.column](order, x).double().numpy()
    assert numpy.max(quantity.errors(rows, dtype, computed)) <= quantity.bound


def values(function, orders: list[float], arguments: list[float]) -> Tensor:
    return function(
        torch.tensor(orders, dtype=torch.float64), torch.tensor(arguments, dtype=torch.float64)
    )


# kNear and kFar of the headers, and v = 1/2, 3/2, where Temme's orders change.
EDGES = [
    *((v, 0.25, "x") for v in (0.0, 0.3, 1.0, 7.7, 19.0)),
    *((v, math.sqrt(400 - v * v), "x") for v in (0.0, 0.3, 3.0, 12.5, 19.5)),
    *((v, 0.1, "order") for v in (0.5, 1.5, 12.5)),
]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("order", "x", "moved"), EDGES)
def test_no_jump_where_the_method_changes(name: str, order: float, x: float, moved: str) -> None:
    at = order if moved == "order" else x
    sides = [math.nextafter(at, side) for side in (0, 1e3)]
    orders, arguments = (sides, [x, x]) if moved == "order" else ([order, order], sides)
    below, above = values(FUNCTIONS[name], orders, arguments).tolist()
    scale = max(abs(below), 0.5 if name in ("log_kv", "log_kve", "iv_order") else 0.0)
    # Near a zero of log(e^x K_v) the slope counts.
    if name in ("log_kv", "log_kve"):
        scale = max(scale, order)
    assert abs(above - below) <= 12 * EPS * scale


@pytest.mark.parametrize("x", [1e-3, 0.3, 0.7, 5.0, 30.0, 1e4])
def test_half_orders_have_a_closed_form(x: float) -> None:
    """K_(1/2) = sqrt(pi/(2x)) e^-x and K_(3/2) = K_(1/2) (1 + 1/x)."""
    t = torch.tensor([x], dtype=torch.float64)
    half = math.log(math.pi / (2 * x)) / 2
    for order, true in ((0.5, half), (1.5, half + math.log1p(1 / x))):
        scale = max(abs(true), 0.5)
        assert abs(F.log_kve(order, t).item() - true) <= 4 * EPS * scale
    assert abs(ops._log_kve_grad(0.5, t).item() * x + 0.5) <= 4 * EPS
    assert abs(ops._log_kve_grad2(0.5, t).item() * x * x - 0.5) <= 8 * EPS


@pytest.mark.parametrize("order", [0.2, 1.0, 4.7, 15.0, 60.5])
@pytest.mark.parametrize("x", [0.05, 0.8, 6.0, 18.0, 400.0])
def test_the_wronskian(order: float, x: float) -> None:
    """I_v K_(v+1) + I_(v+1) K_v = 1/x (DLMF 10.28.2), with the functions of the first kind."""
    t = torch.tensor([x], dtype=torch.float64)
    first = F.log_ive(order, t) + F.log_kve(order + 1, t)
    second = F.log_ive(order + 1, t) + F.log_kve(order, t)
    size = abs(F.log_ive(order, t).item()) + abs(F.log_kve(order + 1, t).item()) + order
    assert abs(torch.logaddexp(first, second).item() + math.log(x)) <= 40 * EPS * max(size, 1.0)


@pytest.mark.parametrize("name", ["log_iv", "log_kv"])
@pytest.mark.parametrize("order", [0.4, 3.0, 25.0])
def test_order_derivative_is_that_of_the_function(name: str, order: float) -> None:
    """A central difference of fourth order."""
    x = torch.tensor([0.2, 0.9, 4.0, 15.0, 80.0], dtype=torch.float64)
    function, h = getattr(F, name), 2.0**-7
    near = function(order + h, x) - function(order - h, x)
    apart = function(order + 2 * h, x) - function(order - 2 * h, x)
    difference = (8 * near - apart) / (12 * h)
    value = getattr(F, f"{name}_order_derivative")(order, x)
    torch.testing.assert_close(value, difference, rtol=1e-7, atol=1e-9)


def test_order_derivative_of_order_zero() -> None:
    """d/dv log K_v is odd in v, and d/dv log I_v = -K_0/I_0 (DLMF 10.38.4)."""
    x = torch.tensor([1e-3, 0.4, 3.0, 12.0, 30.0], dtype=torch.float64)
    assert F.log_kv_order_derivative(0, x).tolist() == [0.0] * 5
    small = F.log_kv_order_derivative(1e-9, x) / 1e-9
    torch.testing.assert_close(small, F.log_kv_order_derivative(1e-5, x) / 1e-5, rtol=1e-8, atol=0)
    true = -torch.exp(F.log_kv(0, x) - F.log_iv(0, x))
    torch.testing.assert_close(F.log_iv_order_derivative(0, x), true, rtol=0, atol=8 * EPS)


AT_ENDS = {  # x = 0 and x = inf
    "log_kv": (INF, -INF),
    "log_kve": (INF, -INF),
    "slope": (-INF, 0.0),
    "bend": (INF, 0.0),
    "kv_order": (INF, 0.0),
    "iv_order": (-INF, 0.0),
}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [0.0, 0.3, 7.0, 1000.0])
def test_ends_of_the_domain(name: str, order: float, dtype: torch.dtype) -> None:
    x = torch.tensor([0.0, INF, -1.0, math.nan, -INF], dtype=dtype)
    expected = torch.tensor([*AT_ENDS[name], *[math.nan] * 3], dtype=dtype)
    if name == "kv_order" and order == 0:
        expected[0] = 0
    value = FUNCTIONS[name](order, x)
    torch.testing.assert_close(value, expected, equal_nan=True)
    orders = FUNCTIONS[name](torch.full_like(x, order), x)
    assert torch.equal(orders.nan_to_num(1.5), value.nan_to_num(1.5))
    outside = torch.tensor([-1.0, math.nan, INF], dtype=dtype)
    assert FUNCTIONS[name](outside, torch.ones(3, dtype=dtype)).isnan().all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_far_beyond_the_usual(name: str) -> None:
    """Subnormal and huge arguments give finite values where the true ones are."""
    value = values(FUNCTIONS[name], [0.0, 0.3, 19.0, 40.0], [5e-324, 1e-310, 1e-300, 1e-300])
    huge = values(FUNCTIONS[name], [0.0, 5.0, 1e6, 1e100], [1e200, 1e300, 1e12, 3.0])
    both = torch.cat((value, huge))
    assert not both.isnan().any()
    if name in ("log_kv", "log_kve", "kv_order", "iv_order"):
        assert both.isfinite().all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_neighbours_change_no_bit(name: str) -> None:
    """Elements are sorted by method and share registers: each has the bits that it has alone."""
    generator = torch.Generator().manual_seed(5)
    x = torch.exp(torch.empty(601, dtype=torch.float64).uniform_(-4, 6, generator=generator))
    order = torch.empty(601, dtype=torch.float64).uniform_(0, 30, generator=generator)
    order[::7] = 0
    function = FUNCTIONS[name]
    together = function(order, x)
    for i in range(0, 601, 13):
        assert torch.equal(function(order[i : i + 1], x[i : i + 1]), together[i : i + 1])
    reverse = function(order.flip(0), x.flip(0)).flip(0)
    assert torch.equal(together, reverse)
    same = function(2.3, x)
    assert torch.equal(function(2.3, x.flip(0)).flip(0), same)
    torch.testing.assert_close(
        function(torch.full_like(x, 2.3), x), same, rtol=32 * EPS, atol=8 * EPS
    )
