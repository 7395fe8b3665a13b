# SPDX-License-Identifier: MIT
"""The reference's density, KL, entropy and fit against mpmath, SciPy and the paper's own
derivative."""

import math

import mpmath
import pytest
import scipy.stats
import torch

from svmf import reference

POINTS = [(m, k) for m in (2, 3, 5, 10, 64) for k in (0.2, 1.7, 13.0, 410.0)]


def exact_ratio(dim: int, kappa: float) -> mpmath.mpf:
    v = mpmath.mpf(dim) / 2
    return mpmath.besseli(v, kappa) / mpmath.besseli(v - 1, kappa)


def exact_log_norm(dim: int, kappa: float) -> mpmath.mpf:
    v = mpmath.mpf(dim) / 2 - 1
    log_bessel = mpmath.log(mpmath.besseli(v, kappa))
    return v * mpmath.log(kappa) - (v + 1) * mpmath.log(2 * mpmath.pi) - log_bessel


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


@pytest.fixture(autouse=True)
def _precision():
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize(("dim", "kappa"), POINTS)
def test_special_values_equal_mpmath(dim, kappa):
    area = mpmath.log(2 * mpmath.pi ** (mpmath.mpf(dim) / 2) / mpmath.gamma(mpmath.mpf(dim) / 2))
    ratio, log_norm = exact_ratio(dim, kappa), exact_log_norm(dim, kappa)
    k = scalar(kappa)
    approx = {"rel": 1e-12, "abs": 1e-12 * max(1.0, kappa)}
    assert reference.vmf_mean_length(k, dim).item() == pytest.approx(float(ratio), rel=1e-13)
    assert reference.vmf_log_norm(k, dim).item() == pytest.approx(float(log_norm), **approx)
    kl = float(kappa * ratio + log_norm + area)
    assert reference.vmf_kl_uniform(k, dim).item() == pytest.approx(kl, **approx)
    entropy = float(-log_norm - kappa * ratio)
    assert reference.vmf_entropy(k, dim).item() == pytest.approx(entropy, **approx)
    assert reference.vmf_concentration(scalar(float(ratio)), dim).item() == pytest.approx(
        kappa, rel=1e-15 * (kappa**2 + 100)
    )


@pytest.mark.parametrize(("dim", "kappa"), POINTS)
def test_kl_gradient_is_the_papers(dim, kappa):
    k = scalar(kappa).requires_grad_()
    (slope,) = torch.autograd.grad(reference.vmf_kl_uniform(k, dim), k)
    v = mpmath.mpf(dim) / 2
    i_minus2, i_minus1, i_0, i_plus1 = (mpmath.besseli(v + j, kappa) for j in (-2, -1, 0, 1))
    exact = kappa / 2 * (i_plus1 / i_minus1 - i_0 * (i_minus2 + i_0) / i_minus1**2 + 1)
    cancellation = (1 + kappa) ** 2 + (dim / kappa) ** 2
    assert slope.item() == pytest.approx(float(exact), rel=1e-14 * (10 + cancellation))


@pytest.mark.parametrize("order", [0, 0.5, 1, 7.25, 40])
def test_bessel_equals_mpmath(order):
    for x in (0.3, 4.0, 90.0):
        exact = mpmath.log(mpmath.besseli(order, x))
        assert reference.log_iv(order, scalar(x)).item() == pytest.approx(float(exact), rel=1e-12)
        scaled = reference.log_ive(torch.tensor(order), scalar(x)).item()
        assert scaled == pytest.approx(float(exact - x), rel=1e-12, abs=1e-12)
    assert torch.isnan(reference.log_iv(order, scalar(-1.0)))


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_zero_concentration_is_uniform(dim):
    k = scalar(0.0).requires_grad_()
    area = math.log(2 * math.pi ** (dim / 2) / math.gamma(dim / 2))
    assert reference.vmf_log_norm(k, dim).item() == pytest.approx(-area)
    assert reference.vmf_entropy(k, dim).item() == pytest.approx(area)
    kl = reference.vmf_kl_uniform(k, dim)
    (slope,) = torch.autograd.grad(kl, k, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, k)
    assert abs(kl.item()) < 1e-15
    assert slope.item() == 0
    assert curvature.item() == pytest.approx(1 / dim)


def test_log_prob_and_kl_equal_scipy_and_quadrature():
    generator = torch.Generator().manual_seed(5)
    loc = torch.nn.functional.normalize(
        torch.randn(2, 6, generator=generator, dtype=torch.float64), dim=-1
    )
    value = torch.nn.functional.normalize(
        torch.randn(40, 6, generator=generator, dtype=torch.float64), dim=-1
    )
    scipy_vmf = scipy.stats.vonmises_fisher(loc[0].numpy(), 3.5)
    ours = reference.vmf_log_prob(value, loc[0], scalar(3.5))
    torch.testing.assert_close(ours, torch.as_tensor(scipy_vmf.logpdf(value.numpy())))
    assert reference.vmf_entropy(scalar(3.5), 6).item() == pytest.approx(float(scipy_vmf.entropy()))

    # On the circle the KL is a one-dimensional integral.
    mean1, mean2, k1, k2 = 0.4, 1.9, 2.2, 5.1
    log_q1 = lambda t: exact_log_norm(2, k1) + k1 * mpmath.cos(t - mean1)  # noqa: E731
    log_q2 = lambda t: exact_log_norm(2, k2) + k2 * mpmath.cos(t - mean2)  # noqa: E731
    exact = mpmath.quad(
        lambda t: mpmath.exp(log_q1(t)) * (log_q1(t) - log_q2(t)),
        mpmath.linspace(-mpmath.pi, mpmath.pi, 9),
    )
    loc1, loc2 = (
        torch.tensor([math.cos(a), math.sin(a)], dtype=torch.float64) for a in (mean1, mean2)
    )
    kl = reference.vmf_kl(loc1, scalar(k1), loc2, scalar(k2))
    assert kl.item() == pytest.approx(float(exact), rel=1e-12)


def test_gradients_of_all_orders():
    kappa = torch.tensor([0.4, 6.0, 55.0], dtype=torch.float64, requires_grad=True)
    length = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64, requires_grad=True)
    for dim in (2, 5):
        for call in (reference.vmf_log_norm, reference.vmf_mean_length, reference.vmf_kl_uniform):
            assert torch.autograd.gradcheck(call, (kappa, dim))
            assert torch.autograd.gradgradcheck(call, (kappa, dim))
        assert torch.autograd.gradcheck(reference.vmf_concentration, (length, dim))


def test_underflow_and_bad_values_are_not_hidden():
    assert reference.log_ive(500, scalar(1.0)).item() == -math.inf
    assert torch.isnan(reference.iv_ratio(500, scalar(1.0)))
    bad = torch.tensor([1.0, math.nan, -1.0], dtype=torch.float64)
    kl = reference.vmf_kl_uniform(bad, 5)
    assert torch.isnan(kl).tolist() == [False, True, True]
    lengths = torch.tensor([0.0, 1.0, -0.1, 1.1, 0.3], dtype=torch.float64)
    fitted = reference.vmf_concentration(lengths, 4)
    assert fitted[0] == 0
    assert fitted[1] == math.inf
    assert torch.isnan(fitted).tolist() == [False, False, True, True, False]


def test_float32_is_rounded_once():
    kappa = torch.tensor([0.5, 30.0, 2000.0])
    for call in (reference.vmf_log_norm, reference.vmf_kl_uniform, reference.vmf_mean_length):
        assert torch.equal(call(kappa, 7), call(kappa.double(), 7).float())
