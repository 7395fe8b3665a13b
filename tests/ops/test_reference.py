# SPDX-License-Identifier: MIT
"""Every deterministic op equals svmf.reference where the reference's own formulas hold."""

import pytest
import torch
from helpers.op_cases import CASES, OF_KAPPA, Case

import svmf.functional as F
from svmf import reference


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_the_reference(case: Case, dtype: torch.dtype) -> None:
    tensors = case.tensors(dtype)
    expected = case.reference(*(tensor.double() for tensor in tensors)).to(dtype)
    eps = torch.finfo(dtype).eps
    # In float64 the tolerances are for the reference: its terms of size m log m cancel, and its
    # quadrature of the pathwise derivative subtracts A.
    rtol = max(1e-9 if case.name.startswith("vmf_pathwise") else 1e-12, 12 * eps)
    torch.testing.assert_close(case.call(*tensors), expected, rtol=rtol, atol=max(2e-13, 16 * eps))


@pytest.mark.parametrize("name", OF_KAPPA)
@pytest.mark.parametrize("dim", [2, 3, 10, 1000])
def test_from_zero_to_a_million(name: str, dim: int) -> None:
    kappa = torch.tensor([0.0, 1e-6, 1.0, 1e3, 1e6], dtype=torch.float64)
    value = getattr(F, name)(kappa, dim)
    expected = getattr(reference, name)(kappa, dim)
    # ive underflows for large orders and small arguments; elsewhere terms of size kappa cancel.
    known = expected.isfinite()
    assert known.sum() >= 2
    scale = 1 + kappa + dim
    assert ((value - expected).abs() <= 1e-14 * scale)[known].all()


@pytest.mark.parametrize("gradient_of", ["vmf_kl_uniform", "vmf_mean_length", "vmf_log_norm"])
@pytest.mark.parametrize("dim", [3, 10, 40])
def test_first_and_second_derivatives_equal_the_reference(gradient_of: str, dim: int) -> None:
    results = []
    for module in (F, reference):
        kappa = torch.tensor([0.5, 3.0, 20.0, 90.0], dtype=torch.float64, requires_grad=True)
        value = getattr(module, gradient_of)(kappa, dim)
        (slope,) = torch.autograd.grad(value.sum(), kappa, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), kappa)
        results.append((slope.detach(), bend))
    torch.testing.assert_close(*results, rtol=1e-8, atol=1e-10)
