# SPDX-License-Identifier: MIT
"""Shapes and memory layouts: scalars, empty, strided, expanded and transposed tensors, tails of
every length; and bad values, which spoil their own element alone."""

import math

import pytest
import torch
from helpers.op_cases import CASES, DIFFERENTIABLE, Case, directions

import svmf.functional as F
from svmf import _inventory as inventory

OF_ROWS = [op for op in inventory.OF_ROWS if inventory.is_public(op.name)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_strided_arguments(case: Case) -> None:
    tensors = case.tensors()
    strided = [torch.stack([t, torch.full_like(t, math.nan)], dim=1)[:, 0] for t in tensors]
    assert not strided[0].is_contiguous()
    value = case.call(*strided)
    assert value.is_contiguous()
    assert torch.equal(value, case.call(*tensors))


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_empty_batch(case: Case) -> None:
    full = case.call(*case.tensors())
    tensors = [t.detach()[:0] for t in case.tensors()]
    for tensor, wanted in zip(tensors, case.differentiable, strict=True):
        tensor.requires_grad_(wanted)
    value = case.call(*tensors)
    assert value.shape == (0, *full.shape[1:])
    value.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_row_alone_equals_the_batch(case: Case, dtype: torch.dtype) -> None:
    """Also without a batch dimension, and in every length up to 7: the tails of the registers."""
    tensors = case.tensors(dtype)
    together = case.call(*tensors)
    for i in range(together.shape[0]):
        assert torch.equal(case.call(*(t[i] for t in tensors)), together[i])
    for length in range(1, together.shape[0]):
        assert torch.equal(case.call(*(t[:length] for t in tensors)), together[:length])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("m", [2, 3, 10, 79, 80, 1000])
def test_pathwise_derivative_beside_any_neighbours(m: int, dtype: torch.dtype) -> None:
    """Rows that ask for different formulas and numbers of terms share registers here."""
    count = 401
    kappa = 10 ** (torch.rand(count, dtype=torch.float64) * 9 - 2)
    kappa[::97], kappa[5::101] = torch.finfo(dtype).max, 0
    kappa = kappa.to(dtype)
    w = torch.cos(torch.rand(count, dtype=dtype) * math.pi)
    together = F.vmf_pathwise_derivative(w, kappa, m)
    alone = [F.vmf_pathwise_derivative(w[i], kappa[i], m) for i in range(count)]
    torch.testing.assert_close(torch.stack(alone), together, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_expanded_and_transposed(dtype: torch.dtype) -> None:
    kappa = torch.rand(5, 1, dtype=dtype) * 30
    expanded = kappa.expand(5, 4)
    assert torch.equal(F.vmf_kl_uniform(expanded, 6), F.vmf_kl_uniform(kappa, 6).expand(5, 4))
    grid = torch.rand(3, 4, 5, dtype=dtype) * 30
    turned = grid.permute(2, 0, 1)
    assert torch.equal(F.vmf_log_norm(turned, 6), F.vmf_log_norm(grid, 6).permute(2, 0, 1))
    scalar = torch.tensor(3.0, dtype=dtype)
    assert F.vmf_mean_length(scalar, 6).shape == ()
    loc = torch.nn.functional.normalize(torch.randn(4, 3, dtype=dtype), dim=-1).T
    same = loc.contiguous()
    assert torch.equal(F.householder(loc, loc.flip(0)), F.householder(same, same.flip(0)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("bad", [-1.0, math.nan, -math.inf, -1e-30])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_bad_value_spoils_its_own_element(case: Case, bad: float, dtype: torch.dtype) -> None:
    if case.name.startswith("householder") and not math.isnan(bad):
        pytest.skip("every real vector has a reflection")
    clean = case.tensors(dtype)
    expected = case.call(*clean)
    for argument in range(len(clean)):
        tensors = [t.clone() for t in clean]
        one_minus = case.name.startswith(("vmf_pathwise", "vmf_kl-", "vmf_log_prob"))
        vector_or_cosine = tensors[argument].dim() == 2 or (one_minus and argument == 0)
        if vector_or_cosine and not math.isnan(bad):
            continue  # a direction or a cosine may be negative
        tensors[argument][4] = bad
        value = case.call(*tensors)
        others = [i for i in range(7) if i != 4]
        assert value[4].isnan().all(), argument
        assert torch.equal(value[others], expected[others]), argument


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradient_of_a_bad_value_stays_in_its_row(case: Case) -> None:
    clean = case.tensors(grad=True)
    wanted = [i for i, yes in enumerate(case.differentiable) if yes]
    expected = torch.autograd.grad(case.call(*clean).sum(), [clean[i] for i in wanted])
    tensors = [t.detach().clone() for t in clean]
    tensors[-1][4] = math.nan
    for i in wanted:
        tensors[i].requires_grad_()
    grads = torch.autograd.grad(case.call(*tensors).sum(), [tensors[i] for i in wanted])
    others = [i for i in range(7) if i != 4]
    for ours, clean_grad in zip(grads, expected, strict=True):
        assert torch.equal(ours[others], clean_grad[others])
        assert ours[4].isnan().any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("op", OF_ROWS, ids=lambda op: op.name)
def test_nan_in_a_vector_is_not_lost_at_parameter_zero(op: inventory.OfRows, dtype) -> None:
    """0 times nan is nan, also where 0 times infinity is meant to be 0."""
    for place in (i for i, kind in enumerate(op.arguments) if kind == "vector"):
        tensors = [
            directions(3, 5, dtype, i) if kind == "vector" else torch.zeros(3, dtype=dtype)
            for i, kind in enumerate(op.arguments)
        ]
        tensors[place][1, 2] = math.nan
        value = getattr(F, op.name)(*tensors)
        assert value[1].isnan().all()
        assert value[[0, 2]].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("op", OF_ROWS, ids=lambda op: op.name)
def test_gradients_do_not_depend_on_the_layout(op: inventory.OfRows, dtype) -> None:
    """torch sums a row by another scheme where rows do not lie one after another."""
    rows, m = 300, 77
    tensors = [
        directions(rows, m, dtype, i) if kind == "vector" else torch.rand(rows, dtype=dtype)
        for i, kind in enumerate(op.arguments)
    ]
    turned = [t.mT.contiguous().mT if t.dim() == 2 else t for t in tensors]
    for ours, other in zip(gradients(op, tensors), gradients(op, turned), strict=True):
        assert torch.equal(ours, other)


@pytest.mark.parametrize("op", OF_ROWS, ids=lambda op: op.name)
def test_gradients_of_a_long_row_do_not_depend_on_threads(op: inventory.OfRows) -> None:
    """Of a single row torch lets every thread sum a part."""
    m, dtype = 1_000_000, torch.float32
    tensors = [
        directions(1, m, dtype, i)[0] if kind == "vector" else torch.tensor(0.7, dtype=dtype)
        for i, kind in enumerate(op.arguments)
    ]
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(gradients(op, tensors))
    for others in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], others, strict=True))


def gradients(op: inventory.OfRows, tensors: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    return torch.autograd.grad(getattr(F, op.name)(*leaves).sum(), leaves)
