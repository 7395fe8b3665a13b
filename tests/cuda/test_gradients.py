# SPDX-License-Identifier: MIT
"""Derivatives on the device against finite differences, and torch's own op checks there."""

import pytest
import torch
from helpers.device_calls import place
from helpers.op_cases import CASES, Case, directions
from torch import Tensor

REJECTION = 1
# One order or dimension of each function: the others have the same backward pass.
ONE_EACH = tuple({case.op: case for case in CASES}.values())


@pytest.mark.parametrize("case", [c for c in ONE_EACH if any(c.differentiable)], ids=str)
def test_gradcheck(case: Case, device: torch.device) -> None:
    tensors = place(case.tensors(grad=True), device)
    assert torch.autograd.gradcheck(case.call, tensors)
    assert torch.autograd.gradgradcheck(case.call, tensors)


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
def test_opcheck(case: Case, device: torch.device) -> None:
    tensors = place(case.tensors(torch.float32, grad=True), device)
    torch.library.opcheck(case.op, case.op_arguments(*tensors))


@pytest.mark.parametrize("m", [2, 3, 5, 20, 40])
def test_gradcheck_of_the_sampler(m: int, device: torch.device) -> None:
    """Through the accepted proposal a sample is a differentiable function at a fixed seed."""
    x = directions(4, m, torch.float64, m).to(device).requires_grad_()
    kappa = torch.tensor([0.3, 2.0, 11.0, 60.0], dtype=torch.float64, device=device)
    seed = torch.tensor([2**40 + 12345], device=device)

    def z_and_kl(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        loc = torch.nn.functional.normalize(x, dim=-1)
        return torch.ops.svmf.vmf_rsample_kl.default(loc, k, seed, [2], REJECTION, True)[:2]

    assert torch.autograd.gradcheck(z_and_kl, (x, kappa.requires_grad_()), atol=1e-6)
