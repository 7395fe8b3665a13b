# SPDX-License-Identifier: MIT
"""The derivatives of the pathwise derivative D(w, kappa), which second derivatives through it use
(svmf/_slopes.py): at real samples of every type, and at the poles."""

import pytest
import torch
from helpers.vmf_exact import mean_length

import svmf.functional as F


def slopes(w: torch.Tensor, kappa: torch.Tensor, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    leaves = w.detach().requires_grad_(), kappa.detach().requires_grad_()
    in_w, in_kappa = torch.autograd.grad(F.vmf_pathwise_derivative(*leaves, m).sum(), leaves)
    return in_w, in_kappa


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("m", [2, 3, 5, 40])
def test_finite_at_samples(m: int, dtype: torch.dtype) -> None:
    """5 to 11 per cent of the samples in float32 gave inf or nan for m = 2 and 3."""
    kappa = torch.logspace(-4, 6, 21).to(dtype).repeat_interleave(500)
    loc = torch.eye(m, dtype=dtype)[0].expand(len(kappa), m)
    w = F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(m))[:, 0]
    for slope in slopes(w.clamp(-1, 1), kappa, m):
        assert slope.isfinite().all()


@pytest.mark.parametrize("m", [2, 3, 5, 40])
def test_float32_is_float64_rounded(m: int) -> None:
    kappa = torch.logspace(-4, 5, 19).repeat_interleave(200)
    loc = torch.eye(m)[0].expand(len(kappa), m)
    w = F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(m))[:, 0].clamp(-1, 1)
    for narrow, wide in zip(
        slopes(w, kappa, m), slopes(w.double(), kappa.double(), m), strict=True
    ):
        torch.testing.assert_close(narrow, wide.float(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("m", [2, 3, 4, 30])
@pytest.mark.parametrize("kappa", [0.0, 1e-30, 1e-8, 1.0, 500.0])
def test_limits_at_the_poles(m: int, kappa: float, dtype: torch.dtype) -> None:
    """D vanishes at both poles: in w with slopes -2 (1-A)/(m-1) and 2 (1+A)/(m-1), in kappa
    with none."""
    w, mean = torch.tensor([1.0, -1.0], dtype=dtype), mean_length(m, kappa)
    in_w, in_kappa = slopes(w, torch.full((2,), kappa, dtype=dtype), m)
    expected = [float(-2 * (1 - mean) / (m - 1)), float(2 * (1 + mean) / (m - 1))]
    assert in_w.tolist() == pytest.approx(expected, rel=16 * torch.finfo(dtype).eps)
    assert in_kappa.tolist() == [0, 0]
    if kappa > 1 or m > 4:
        return  # no accuracy of D is promised where the density is below e^-40 of its mode
    # The limit is what the points beside the pole tend to.
    beside = torch.tensor([1 - 1e-6, -1 + 1e-6], dtype=torch.float64)
    near, _ = slopes(beside, torch.full((2,), kappa, dtype=torch.float64), m)
    assert near.tolist() == pytest.approx(expected, rel=2e-3)
