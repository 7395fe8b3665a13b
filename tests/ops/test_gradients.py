# SPDX-License-Identifier: MIT
"""First and second derivatives of every deterministic op, torch's own op checks, and derivatives at
kappa = 0, where numerical differentiation cannot go."""

import pytest
import torch
from helpers.op_cases import CASES, DIFFERENTIABLE, Case, directions

import svmf.functional as F


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradcheck(case: Case) -> None:
    assert torch.autograd.gradcheck(case.call, case.tensors(grad=True))


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradgradcheck(case: Case) -> None:
    assert torch.autograd.gradgradcheck(case.call, case.tensors(grad=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_opcheck(case: Case, dtype: torch.dtype) -> None:
    torch.library.opcheck(case.op, case.op_arguments(*case.tensors(dtype, grad=True)))


@pytest.mark.parametrize(
    "name", ["_iv_ratio_grad", "_vmf_mean_length_grad", "_vmf_kl_uniform_grad"]
)
def test_opcheck_of_derivative_ops(name: str) -> None:
    x = torch.tensor([0.3, 4.0, 50.0], dtype=torch.float64, requires_grad=True)
    op = getattr(torch.ops.svmf, name)
    torch.library.opcheck(op.default, (2.5, x) if name == "_iv_ratio_grad" else (x, 5))


@pytest.mark.parametrize("name", ["_vmf_mean_length_grad2", "_vmf_kl_uniform_grad2"])
def test_opcheck_of_second_derivative_ops(name: str) -> None:
    x = torch.tensor([0.3, 4.0, 50.0], dtype=torch.float64)
    torch.library.opcheck(getattr(torch.ops.svmf, name).default, (x, 5))


def test_opcheck_of_householder_backward() -> None:
    x, loc, grad = (directions(4, 6, torch.float64, seed) for seed in (1, 2, 3))
    torch.library.opcheck(torch.ops.svmf._householder_backward.default, (grad, x, loc))


@pytest.mark.parametrize("dim", [2, 3, 10, 65, 1000])
def test_derivatives_at_zero(dim: int) -> None:
    """KL = L = kappa^2/(2m) + ..., A = kappa/m + ...: first and second derivatives at 0."""
    for function, first, second in (
        (F.vmf_kl_uniform, 0, 1 / dim),
        (F.vmf_log_partition, 0, 1 / dim),
        (F.vmf_log_norm, 0, -1 / dim),
        (F.vmf_entropy, 0, -1 / dim),
        (F.vmf_mean_length, 1 / dim, 0),
        (F.vmf_mean_length_complement, -1 / dim, 0),
    ):
        kappa = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        (slope,) = torch.autograd.grad(function(kappa, dim).sum(), kappa, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), kappa)
        assert slope.tolist() == pytest.approx([first] * 2, rel=1e-15), function
        assert bend.tolist() == pytest.approx([second] * 2, rel=1e-15), function


@pytest.mark.parametrize("order", [0.0, 0.5, 2.0, 7.3])
def test_bessel_derivatives_at_zero(order: float) -> None:
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(F.log_iv(order, x), x, create_graph=True)
    assert slope.item() == (0 if order == 0 else torch.inf)
    if order == 0:
        assert torch.autograd.grad(slope, x)[0].item() == 0.5
    else:
        (slope,) = torch.autograd.grad(F.iv_ratio(order, x), x, create_graph=True)
        assert slope.item() == pytest.approx(0.5 / order, rel=1e-15)
        assert torch.autograd.grad(slope, x)[0].item() == 0  # the ratio is odd


def test_gradient_of_broadcast_arguments() -> None:
    """Gradients of expanded tensors are summed to the shape that was given."""
    order = torch.tensor([[0.5], [3.0]], dtype=torch.float64)
    x = torch.tensor([1.0, 5.0, 30.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: F.log_iv(order, x), x)
    loc = directions(1, 4, torch.float64, 1).requires_grad_()
    kappa = torch.tensor([[2.0], [9.0]], dtype=torch.float64, requires_grad=True)
    other = directions(3, 4, torch.float64, 2).requires_grad_()
    assert torch.autograd.gradcheck(F.vmf_log_prob, (other, loc, kappa))
    assert F.vmf_log_prob(other, loc, kappa).shape == (2, 3)
