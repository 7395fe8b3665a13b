# SPDX-License-Identifier: MIT
"""Gradients at a fixed seed, float64: exact derivatives of the op as a function, against finite
differences and formulas.

Only the part of the gradient in mu that is tangential to the sphere has a meaning, so mu is a
normalised parameter. With "rejection" the sample is a differentiable function of (mu, kappa) at a
fixed seed; the pathwise derivative is not the derivative at a fixed seed, and is compared with
svmf.reference's quadrature instead.
"""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

import svmf.functional
import svmf.reference

PATHWISE, REJECTION = 0, 1
SEED = torch.tensor([2**40 + 12345])


def sample(
    x: Tensor, kappa: Tensor, gradient: int = REJECTION, shape: tuple[int, ...] = ()
) -> tuple[Tensor, Tensor]:
    """z and the state (1-w, 1+w), for the mean direction x/|x|."""
    loc = torch.nn.functional.normalize(x, dim=-1)
    return torch.ops.svmf.vmf_rsample.default(loc, kappa, SEED, list(shape), gradient, True)


def parameters(directions, m: int, rows: int = 5) -> tuple[Tensor, Tensor]:
    x = directions(rows, m, seed=m) * torch.linspace(0.5, 2, rows, dtype=torch.float64)[:, None]
    kappa = torch.tensor([0.3, 2.0, 11.0, 60.0, 900.0], dtype=torch.float64)[:rows]
    return x.requires_grad_(), kappa.requires_grad_()


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
@pytest.mark.parametrize("m", [2, 3, 4, 5, 9, 17, 20, 33])
def test_gradcheck(directions, m, shape):
    x, kappa = parameters(directions, m)
    assert gradcheck(lambda x, k: sample(x, k, shape=shape)[0], (x, kappa), atol=1e-6)


@pytest.mark.parametrize("m", [2, 3, 6, 20])
def test_gradcheck_with_kl(directions, m):
    x, kappa = parameters(directions, m)

    def z_and_kl(x: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        loc = torch.nn.functional.normalize(x, dim=-1)
        return torch.ops.svmf.vmf_rsample_kl.default(loc, k, SEED, [2], REJECTION, True)[:2]

    assert gradcheck(z_and_kl, (x, kappa), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("m", [2, 3, 10, 64, 65, 300, 10_000])
def test_fused_kl_is_the_kl(directions, m, dtype):
    """Value and derivative are those of vmf_kl_uniform, bit by bit."""
    kappa = torch.logspace(-3, 5, 30).to(dtype).requires_grad_()
    _, fused = svmf.functional.vmf_rsample_kl(directions(30, m, seed=m, dtype=dtype), kappa)
    alone = svmf.functional.vmf_kl_uniform(kappa, m)
    assert torch.equal(fused, alone)
    slopes = [torch.autograd.grad(kl.sum(), kappa)[0] for kl in (fused, alone)]
    assert torch.equal(*slopes)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("m", [2, 3, 5, 20, 40])
def test_gradient_in_mu_at_the_poles_of_the_reflection(m, sign):
    """mu = e1 and -e1, and mu one rounding step from them."""
    x = torch.zeros(3, m, dtype=torch.float64)
    x[:, 0] = sign
    x[1, 1] = 1e-9
    x[2, -1] = -1e-16
    kappa = torch.tensor([0.5, 5.0, 50.0], dtype=torch.float64)
    assert gradcheck(lambda x: sample(x, kappa)[0], (x.requires_grad_(),), atol=1e-6)


@pytest.mark.parametrize("m", [2, 3, 4, 7, 20, 150])
def test_pathwise_gradient_in_kappa(directions, m):
    """dz/dkappa = dw/dkappa (mu - w z)/(1 - w^2), dw/dkappa from the reference's quadrature."""
    rows = 40
    loc = directions(rows, m, seed=m)
    kappa = torch.logspace(-2, 3, rows, dtype=torch.float64, requires_grad=True)
    z, state = torch.ops.svmf.vmf_rsample.default(loc, kappa, SEED, [6], PATHWISE, True)
    weight = torch.randn(z.shape, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((weight * z).sum(), kappa)
    below, above = state
    w = torch.where(below < above, 1 - below, above - 1)
    slope = svmf.reference.vmf_pathwise_derivative(w, kappa.detach(), m)
    along = (weight * (loc - w[..., None] * z.detach())).sum(-1) / (below * above)
    terms = slope * along
    assert ((gradient - terms.sum(0)).abs() <= 1e-8 * terms.abs().sum(0)).all()


@pytest.mark.parametrize("gradient", [PATHWISE, REJECTION])
@pytest.mark.parametrize("m", [2, 3, 5, 20, 600])
def test_gradient_in_mu_does_not_depend_on_the_mode(directions, m, gradient):
    """Both modes have the same gradient in mu; the samples are the same bits."""
    x, kappa = parameters(directions, m)
    z, _ = sample(x, kappa, gradient, (3,))
    z_other, _ = sample(x, kappa, 1 - gradient, (3,))
    assert torch.equal(z, z_other)
    weight = torch.randn(z.shape, dtype=torch.float64)
    ours, other = (torch.autograd.grad((weight * t).sum(), x)[0] for t in (z, z_other))
    torch.testing.assert_close(ours, other, rtol=1e-12, atol=1e-14)


def test_correction_equals_the_derivative_of_log_g_over_r(directions):
    """log_ratio is 0 and has the gradient of log g(h(eps, kappa)) + log |dh/deps| at the accepted
    eps (paper, appendix)."""
    for m in (2, 4, 5, 10, 31):
        loc = directions(50, m, seed=m)
        kappa = torch.logspace(-1.5, 2, 50, dtype=torch.float64, requires_grad=True)
        _z, log_ratio, state = torch.ops.svmf.vmf_rsample_with_correction.default(
            loc, kappa, SEED, [], True
        )
        assert not log_ratio.any()
        (ours,) = torch.autograd.grad(log_ratio.sum(), kappa)
        b = (m - 1) / (2 * kappa + (4 * kappa**2 + (m - 1) ** 2).sqrt())
        epsilon = (state[0] / (state[0] + b * state[1])).detach()
        omega = (1 - (1 + b) * epsilon) / (1 - (1 - b) * epsilon)
        log_g = svmf.reference.vmf_log_norm(kappa, m) + omega * kappa
        log_g = log_g + (m - 3) / 2 * torch.log(1 - omega**2)
        formula = log_g + torch.log(2 * b / (1 - (1 - b) * epsilon) ** 2)
        (expected,) = torch.autograd.grad(formula.sum(), kappa)
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-11)


def test_corrected_samples_carry_the_rejection_gradient(directions):
    x, kappa = parameters(directions, 6)
    loc = torch.nn.functional.normalize(x, dim=-1)
    z, _, _ = torch.ops.svmf.vmf_rsample_with_correction.default(loc, kappa, SEED, [], True)
    z_rejection, _ = sample(x, kappa)
    assert torch.equal(z, z_rejection)
    ours, other = (
        torch.autograd.grad(t.square()[..., 0].sum(), kappa)[0] for t in (z, z_rejection)
    )
    assert torch.equal(ours, other)


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.0, 1e-8, 1e6, 1e10])
def test_gradients_stay_finite_at_the_ends(directions, m, kappa):
    loc = directions(200, m, seed=3).requires_grad_()
    for gradient in ("pathwise", "rejection"):
        k = torch.full((200,), kappa, dtype=torch.float64, requires_grad=True)
        z = svmf.functional.vmf_rsample(loc, k, gradient=gradient)
        for part in torch.autograd.grad(z[:, -1].sum() + z[:, 0].square().sum(), (loc, k)):
            assert part.isfinite().all()


def test_gradient_in_kappa_for_huge_kappa_keeps_its_digits():
    """m = 3: w = 1 - x/kappa + ..., so d(1-w)/dkappa = -(1-w)/kappa, up to a factor 1 + 1/kappa."""
    kappa = torch.full((1000,), 1e9, dtype=torch.float64, requires_grad=True)
    loc = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64).expand(1000, 3)
    z, state = torch.ops.svmf.vmf_rsample.default(loc, kappa, SEED, [], PATHWISE, True)
    across = z[:, [0, 2]]
    (gradient,) = torch.autograd.grad(across.square().sum(), kappa)
    expected = -(across.detach().square().sum(-1)) / kappa.detach()  # |across|^2 = (1-w)(1+w)
    torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=0.0)
    assert math.isfinite(state.sum().item())
