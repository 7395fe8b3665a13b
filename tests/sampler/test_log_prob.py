# SPDX-License-Identifier: MIT
"""vmf_log_prob against mpmath, also where kappa (mu.z - 1) cancels; derivatives, torch's checks,
bad rows."""

import math

import mpmath
import pytest
import torch

import svmf.functional as F


@mpmath.workdps(60)
def exact_log_prob(value: list[float], loc: list[float], kappa: float) -> float:
    """log C + kappa - kappa |z - mu|^2/2, which is log C + kappa mu.z for unit vectors."""
    m = len(value)
    half = mpmath.mpf(m) / 2
    if kappa == 0:
        return float(mpmath.loggamma(half) - mpmath.log(2) - half * mpmath.log(mpmath.pi))
    k = mpmath.mpf(kappa)
    log_c = (half - 1) * mpmath.log(k) - half * mpmath.log(2 * mpmath.pi)
    log_c -= mpmath.log(mpmath.besseli(half - 1, k))
    square = sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(value, loc, strict=True))
    return float(log_c + k - k * square / 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("m", [2, 3, 10, 60])
def test_equals_mpmath(directions, m, dtype):
    kappas = [0.0, 1e-6, 0.7, 40.0, 3e3, 1e6] + ([1e8] if dtype == torch.float64 else [])
    loc = directions(len(kappas), m, seed=m, dtype=dtype)
    kappa = torch.tensor(kappas).to(dtype)
    for value in (F.vmf_rsample(loc, kappa), directions(len(kappas), m, seed=99, dtype=dtype)):
        ours = F.vmf_log_prob(value, loc, kappa)
        for i, k in enumerate(kappa.tolist()):
            exact = exact_log_prob(value[i].tolist(), loc[i].tolist(), k)
            spread = k * (value[i].double() - loc[i].double()).square().sum().item()
            scale = max(1.0, abs(exact), spread, m * abs(math.log(max(k, 1))))
            assert abs(ours[i].item() - exact) <= 16 * torch.finfo(dtype).eps * scale


@pytest.mark.parametrize("m", [2, 3, 10])
def test_derivatives(directions, m):
    value, loc = (
        directions(4, m, seed=1).requires_grad_(),
        directions(4, m, seed=2).requires_grad_(),
    )
    kappa = torch.tensor([0.2, 3.0, 20.0, 200.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(F.vmf_log_prob, (value, loc, kappa))
    assert torch.autograd.gradgradcheck(F.vmf_log_prob, (value, loc, kappa))
    torch.library.opcheck(torch.ops.svmf.vmf_log_prob.default, (value, loc, kappa))
    compiled = torch.compile(F.vmf_log_prob, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(value, loc, kappa), F.vmf_log_prob(value, loc, kappa))


def test_density_integrates_to_one():
    """On the circle, by the trapezoidal rule, which is exact to rounding for periodic functions."""
    angle = torch.arange(4096, dtype=torch.float64) * (2 * math.pi / 4096)
    z = torch.stack([angle.cos(), angle.sin()], dim=-1)
    kappa = torch.tensor([[0.0], [1.0], [30.0], [900.0]], dtype=torch.float64)
    loc = torch.tensor([0.6, 0.8], dtype=torch.float64)
    total = F.vmf_log_prob(z, loc, kappa).exp().sum(-1) * (2 * math.pi / 4096)
    torch.testing.assert_close(total, torch.ones(4, dtype=torch.float64))


def test_bad_rows_stay_alone(directions):
    value, loc = directions(6, 5, seed=1), directions(6, 5, seed=2)
    kappa = torch.full((6,), 3.0, dtype=torch.float64)
    clean = F.vmf_log_prob(value, loc, kappa)
    value[0, 1], loc[1, 4], kappa[3] = math.nan, math.inf, -1.0
    ours = F.vmf_log_prob(value, loc, kappa)
    assert ours.isfinite().tolist() == [False, False, True, False, True, True]
    assert torch.equal(ours[[2, 4, 5]], clean[[2, 4, 5]])
