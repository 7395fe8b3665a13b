# SPDX-License-Identifier: MIT
"""torch.func: vmap equals a loop, grad equals autograd, and both together."""

import pytest
import torch
from helpers.op_cases import CASES, DIFFERENTIABLE, Case
from torch.func import grad, jacrev, vmap

import svmf.functional as F


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vmap_equals_a_loop(case: Case) -> None:
    tensors = case.tensors()
    mapped = vmap(case.call)(*tensors)
    loop = torch.stack([case.call(*row) for row in zip(*tensors, strict=True)])
    if case.name.startswith("vmf_pathwise"):
        # In float64 its method, and so the last bit, may depend on the register's other lanes.
        torch.testing.assert_close(mapped, loop, rtol=1e-15, atol=0)
    else:
        assert torch.equal(mapped, loop)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_vmap_of_grad_equals_autograd(case: Case) -> None:
    tensors = case.tensors(grad=True)
    wanted = tuple(i for i, yes in enumerate(case.differentiable) if yes)
    (expected) = torch.autograd.grad(
        case.call(*tensors).sum(), [tensors[i] for i in wanted], create_graph=False
    )
    rows = vmap(grad(lambda *row: case.call(*row).sum(), argnums=wanted))(
        *(tensor.detach() for tensor in tensors)
    )
    for ours, theirs in zip(rows, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=1e-14)


def test_vmap_over_another_dimension_and_over_one_argument() -> None:
    kappa = torch.rand(3, 4, dtype=torch.float64) * 20
    by_column = vmap(lambda k: F.vmf_kl_uniform(k, 5), in_dims=1, out_dims=1)(kappa)
    assert torch.equal(by_column, F.vmf_kl_uniform(kappa, 5))
    w = torch.linspace(-0.5, 0.9, 4, dtype=torch.float64)
    mapped = vmap(lambda k: F.vmf_pathwise_derivative(w, k, 5))(kappa)
    assert torch.equal(mapped, F.vmf_pathwise_derivative(w, kappa, 5))


def test_second_derivative_by_nested_transforms() -> None:
    kappa = torch.tensor([0.4, 6.0, 70.0], dtype=torch.float64)
    kl = lambda k: F.vmf_kl_uniform(k, 8)  # noqa: E731
    bend = vmap(grad(grad(kl)))(kappa)
    torch.testing.assert_close(bend, torch.ops.svmf._vmf_kl_uniform_grad2(kappa, 8))
    torch.testing.assert_close(jacrev(kl)(kappa), torch.diag(vmap(grad(kl))(kappa)))
