# SPDX-License-Identifier: MIT
"""Gradients in the order of a Bessel function: offered for the four logarithms, once, in reverse
and in forward mode and in compiled graphs; refused with a reason everywhere else."""

import pytest
import torch
from torch import Tensor

import svmf.functional as F
from svmf import _inventory as inventory

# torch's forward mode builds a decomposition table on first use, by torch.jit.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")

LOGARITHMS = tuple(inventory.BESSEL_IN_ORDER)


def orders_and_x() -> tuple[Tensor, Tensor]:
    order = torch.tensor([0.2, 0.8, 3.4, 12.0, 31.5, 80.0], dtype=torch.float64)
    x = torch.tensor([0.3, 2.0, 0.9, 15.0, 40.0, 7.0], dtype=torch.float64)
    return order.requires_grad_(), x.requires_grad_()


@pytest.mark.parametrize("name", LOGARITHMS)
def test_gradient_in_order_and_x(name: str) -> None:
    function, (order, x) = getattr(F, name), orders_and_x()
    assert torch.autograd.gradcheck(function, (order, x))
    along = torch.full_like(order, 0.3), torch.full_like(x, -0.7)
    _, tangent = torch.func.jvp(function, (order.detach(), x.detach()), along)
    grads = torch.autograd.grad(function(order, x).sum(), (order, x))
    torch.testing.assert_close(tangent, 0.3 * grads[0] - 0.7 * grads[1])


@pytest.mark.parametrize("name", LOGARITHMS)
def test_gradient_in_order_is_the_op(name: str) -> None:
    order, x = orders_and_x()
    (grad,) = torch.autograd.grad(getattr(F, name)(order, x).sum(), order)
    assert torch.equal(grad, getattr(F, inventory.BESSEL_IN_ORDER[name])(order, x).detach())


@pytest.mark.parametrize("name", LOGARITHMS)
def test_a_broadcast_order_gathers_its_gradient(name: str) -> None:
    order, x = orders_and_x()
    single = order[2].detach().requires_grad_()
    (grad,) = torch.autograd.grad(getattr(F, name)(single, x).sum(), single)
    per_element = getattr(F, inventory.BESSEL_IN_ORDER[name])(single.detach(), x.detach())
    torch.testing.assert_close(grad, per_element.sum())


def test_the_gradient_in_x_does_not_need_that_of_the_order() -> None:
    """What asks for x alone is what it was."""
    order, x = orders_and_x()
    (grad,) = torch.autograd.grad(F.log_iv(order.detach(), x).sum(), x)
    expected = F.iv_ratio(order.detach() + 1, x.detach()) + order.detach() / x.detach()
    assert torch.equal(grad, expected)


@pytest.mark.parametrize("name", LOGARITHMS)
def test_compiled(name: str) -> None:
    order, x = orders_and_x()
    function = torch.compile(getattr(F, name), fullgraph=True, backend="aot_eager")
    made = torch.autograd.grad(function(order, x).sum(), (order, x))
    eager = torch.autograd.grad(getattr(F, name)(order, x).sum(), (order, x))
    torch.testing.assert_close(made, eager)


def test_what_is_not_offered_says_so() -> None:
    order, x = orders_and_x()
    with pytest.raises(NotImplementedError, match="iv_ratio has no derivative in `order`"):
        torch.autograd.grad(F.iv_ratio(order + 1, x).sum(), order)
    (first,) = torch.autograd.grad(F.log_kv(order, x).sum(), order, create_graph=True)
    with pytest.raises(NotImplementedError, match="not differentiated again"):
        torch.autograd.grad(first.sum(), order)
    with pytest.raises(NotImplementedError, match="not differentiated again"):
        torch.autograd.grad(F.log_iv_order_derivative(2.0, x).sum(), x)
    (slope,) = torch.autograd.grad(F.log_kve(2.0, x).sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="third derivatives of log_kv"):
        torch.autograd.grad(bend.sum(), x)


@pytest.mark.parametrize("name", sorted({*inventory.BESSEL_IN_ORDER.values()}))
def test_the_derivative_itself_in_graphs_and_without_elements(name: str) -> None:
    order, x = (t.detach() for t in orders_and_x())
    function = getattr(F, name)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(order, x), function(order, x))
    assert function(order[:0], x[:0]).shape == (0,)
    assert function(2.5, x[:0]).shape == (0,)
