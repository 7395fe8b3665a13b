# SPDX-License-Identifier: MIT
"""bfloat16 and float16 are computed in float32 and rounded once."""

import pytest
import torch
from helpers.op_cases import CASES, DIFFERENTIABLE, Case


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_computed_in_float32_and_rounded_once(case: Case, dtype: torch.dtype) -> None:
    tensors = case.tensors(dtype)
    value = case.call(*tensors)
    assert value.dtype == dtype
    assert torch.equal(value, case.call(*(t.float() for t in tensors)).to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradient(case: Case, dtype: torch.dtype) -> None:
    tensors = case.tensors(dtype, grad=True)
    value = case.call(*tensors)
    wanted = [t for t in tensors if t.requires_grad]
    grads = torch.autograd.grad(value.float().sum(), wanted)
    wide = [t.detach().float().requires_grad_(t.requires_grad) for t in tensors]
    expected = torch.autograd.grad(case.call(*wide).sum(), [t for t in wide if t.requires_grad])
    eps = torch.finfo(dtype).eps
    for ours, theirs in zip(grads, expected, strict=True):
        assert ours.dtype == dtype
        # The chain rule's few products are rounded to the type.
        # float16 ends at 65504.
        expected_in_type = theirs.to(dtype).float()
        torch.testing.assert_close(ours.float(), expected_in_type, rtol=8 * eps, atol=8 * eps)
