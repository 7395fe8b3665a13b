# SPDX-License-Identifier: MIT
"""The reference's sampler: distribution, gradients, proposals and the Householder reflection.

Fixed seeds. The statistical checks here allow 5 standard errors (false alarm 6e-7 each).
"""

import math

import mpmath
import numpy
import pytest
import scipy.integrate
import scipy.stats
import torch
from helpers.exact import directions

from reproduction.paper import TABLE5, TABLE5_KAPPAS
from svmf import reference


def omega_cdf(dim: int, kappa: float, omega: numpy.ndarray) -> numpy.ndarray:
    """Distribution function of w = mu.z, by the trapezoidal rule in the angle."""
    angle = numpy.linspace(0, math.pi, 20001)
    with numpy.errstate(divide="ignore"):
        log_density = kappa * (numpy.cos(angle) - 1)
        if dim > 2:
            log_density = log_density + (dim - 2) * numpy.log(numpy.sin(angle))
    density = numpy.exp(log_density - log_density.max())
    upper = scipy.integrate.cumulative_trapezoid(density, angle, initial=0)
    return 1 - numpy.interp(numpy.arccos(omega.clip(-1, 1)), angle, upper / upper[-1])


@pytest.mark.parametrize("dim", [2, 3, 4, 9, 60])
@pytest.mark.parametrize("kappa", [0.0, 0.8, 25.0, 900.0])
def test_samples_follow_the_distribution(dim, kappa):
    loc = directions(dim)
    generator = torch.Generator().manual_seed(11)
    z = reference.vmf_rsample(
        loc, torch.tensor(kappa, dtype=torch.float64), (20000,), generator=generator
    )
    torch.testing.assert_close(z.norm(dim=-1), torch.ones(20000, dtype=torch.float64))
    omega = (z * loc).sum(-1)
    test = scipy.stats.kstest(omega.numpy(), lambda w: omega_cdf(dim, kappa, w))
    assert test.pvalue > 6e-7
    # The direction in the tangent plane has mean zero; each coordinate has variance 1 / (m - 1).
    tangent = z - omega[:, None] * loc
    tangent = tangent / tangent.norm(dim=-1, keepdim=True)
    assert tangent.mean(0).abs().max() < 5 / math.sqrt(20000 * max(1, dim - 1))


@pytest.mark.parametrize("dim", [2, 3, 5, 20])
def test_unbiased_gradients_agree_with_the_exact_derivative(dim):
    """d/dkappa E[f(w)] for f(w) = w^3 + w, by both unbiased estimators."""
    kappa = torch.full((100_000,), 3.0, dtype=torch.float64, requires_grad=True)
    loc = directions(dim)
    angle = numpy.linspace(0, math.pi, 20001)

    def expectation(k: float) -> float:
        density = numpy.exp(k * numpy.cos(angle)) * numpy.sin(angle) ** (dim - 2)
        f = numpy.cos(angle) ** 3 + numpy.cos(angle)
        return numpy.trapezoid(density * f, angle) / numpy.trapezoid(density, angle)

    exact = (expectation(3.0 + 1e-4) - expectation(3.0 - 1e-4)) / 2e-4

    def agrees(gradient: torch.Tensor) -> bool:
        error = gradient.std() / math.sqrt(gradient.numel())
        return abs(gradient.mean() - exact) < 5 * error

    def f(z: torch.Tensor) -> torch.Tensor:
        omega = (z * loc).sum(-1)
        return omega**3 + omega

    generator = torch.Generator().manual_seed(3)
    z = reference.vmf_rsample(loc, kappa, generator=generator)
    assert agrees(torch.autograd.grad(f(z).sum(), kappa)[0])
    z, log_ratio = reference.vmf_rsample_with_correction(loc, kappa, generator=generator)
    assert not log_ratio.any()
    value = f(z)
    assert agrees(torch.autograd.grad((value + value.detach() * log_ratio).sum(), kappa)[0])
    if dim != 3:  # without the correction the gradient is biased, visibly so with these draws
        z = reference.vmf_rsample(loc, kappa, gradient="rejection", generator=generator)
        assert not agrees(torch.autograd.grad(f(z).sum(), kappa)[0])


@pytest.mark.parametrize("dim", [2, 3, 4, 11])
@pytest.mark.parametrize("kappa", [0.0, 0.6, 18.0])
@mpmath.workdps(50)  # this integral cancels in the left tail
def test_pathwise_derivative_equals_mpmath(dim, kappa):
    mean = 0 if kappa == 0 else mpmath.besseli(dim / 2, kappa) / mpmath.besseli(dim / 2 - 1, kappa)
    for w in (-0.7, 0.2, 0.96):
        angle = mpmath.acos(w)

        def density(a, w=w, angle=angle):
            sine = (mpmath.sin(a) / mpmath.sin(angle)) ** (dim - 2)
            return (mpmath.cos(a) - mean) * sine * mpmath.exp(kappa * (mpmath.cos(a) - w))

        exact = mpmath.sin(angle) * mpmath.quad(density, mpmath.linspace(0, angle, 9))
        ours = reference.vmf_pathwise_derivative(
            torch.tensor(w, dtype=torch.float64), torch.tensor(kappa, dtype=torch.float64), dim
        )
        assert ours.item() == pytest.approx(float(exact), rel=1e-12)


def test_pathwise_derivative_on_s2_is_closed_form():
    w = torch.linspace(-1, 1, 41, dtype=torch.float64)
    k = torch.tensor(2.5, dtype=torch.float64)
    closed = (1 / k.tanh() - w - torch.exp(-k * w) / k.sinh()) / k
    torch.testing.assert_close(
        reference.vmf_pathwise_derivative(w, k, 3), closed, atol=1e-14, rtol=1e-12
    )
    w = w[1:-1].requires_grad_()
    kappa = torch.full_like(w, 2.5, requires_grad=True)
    assert torch.autograd.gradcheck(reference.vmf_pathwise_derivative, (w, kappa, 6))


def test_householder():
    x, loc = directions(7, 5, seed=1), directions(7, 5, seed=2)
    e1 = torch.eye(5, dtype=torch.float64)[0]
    torch.testing.assert_close(reference.householder(e1.expand(7, 5), loc), loc)
    torch.testing.assert_close(reference.householder(reference.householder(x, loc), loc), x)
    assert torch.equal(reference.householder(x[0], e1), x[0])
    x.requires_grad_()
    loc.requires_grad_()
    assert torch.autograd.gradcheck(reference.householder, (x, loc))


@pytest.mark.parametrize("d", TABLE5)
def test_expected_number_of_proposals(d):
    """Against the exact acceptance rate, and the paper's table within its 1000-draw Monte Carlo
    error."""
    dim, nu = d + 1, d / 2
    beta = scipy.stats.beta(nu, nu)
    for kappa, published in zip(TABLE5_KAPPAS, TABLE5[d], strict=True):
        s = math.sqrt(nu**2 + kappa**2)
        b, w0 = nu / (s + kappa), kappa / (nu + s)

        def accept(e, b=b, w0=w0, kappa=kappa):
            x = kappa * ((1 - (1 + b) * e) / (1 - (1 - b) * e) - w0) / (2 * nu)
            return math.exp(2 * nu * (x + math.log1p(-x))) * beta.pdf(e)

        rate, _ = scipy.integrate.quad(accept, 0, 1, points=[0.9, 0.99, 0.999], limit=200)
        exact, deviation = 1 / rate, math.sqrt(1 - rate) / rate
        generator = torch.Generator().manual_seed(kappa)
        ours = reference.expected_proposals(kappa, dim, 20000, generator)
        assert abs(ours - exact) < 5 * deviation / math.sqrt(20000) + 1e-9
        assert abs(published - exact) < 5 * deviation / math.sqrt(1000) + 1e-3


def test_generator_reproduces_and_types_are_kept():
    loc, kappa = directions(4, 6).float(), torch.tensor([0.0, 1.0, 10.0, 1e5])
    draws = [
        reference.vmf_rsample(loc, kappa, (3,), generator=torch.Generator().manual_seed(8))
        for _ in range(2)
    ]
    assert torch.equal(*draws)
    assert draws[0].dtype == torch.float32
    assert draws[0].shape == (3, 4, 6)
    z, kl = reference.vmf_rsample_kl(loc, kappa, (3,))
    assert z.shape == (3, 4, 6)
    assert kl.shape == (4,)


def test_bad_rows_are_nan_and_failures_are_named():
    loc = directions(4, 5)
    kappa = torch.tensor([1.0, math.nan, -2.0, math.inf], dtype=torch.float64)
    z = reference.vmf_rsample(loc, kappa)
    assert z.isnan().all(-1).tolist() == [False, True, True, True]
    with pytest.raises(RuntimeError, match="cancelled"):
        reference.vmf_rsample(loc, torch.tensor(1e12, dtype=torch.float64))
    with pytest.raises(ValueError, match="gradient"):
        reference.vmf_rsample(loc, kappa, gradient="none")
