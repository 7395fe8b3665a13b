# SPDX-License-Identifier: MIT
"""d/dkappa E[f(z)]: the pathwise and the corrected estimator are unbiased, g_rep alone is not.

Agreement is asked within 4 standard errors: at a new seed one of the 108 means would be farther off
with a probability of 0.7 %. Seeds are fixed. `make test-statistics` draws 1e6 samples, the quick
tests 1e5.
"""

import pytest
import torch
from helpers.kappa_gradients import exact_slopes, per_sample_gradients, standard_errors_off
from helpers.vmf_exact import cosine_distribution

import svmf.functional
import svmf.reference

DIMENSIONS = [2, 3, 5, 10, 50, 500]
UNBIASED = ["pathwise", "corrected"]
ALLOWED = 4.0


def kappas(m: int) -> list[float]:
    """Spread out, about uniform; as wide as m; narrow."""
    return [0.5, float(m), 30.0 * m]


def verify(estimator: str, m: int, kappa: float, n: int, seed: int) -> None:
    gradients = per_sample_gradients(svmf.functional, estimator, m, kappa, n, seed)
    for name, exact in exact_slopes(m, kappa).items():
        off = standard_errors_off(gradients[name], exact)
        assert off < ALLOWED, (
            f"{estimator}, {name}, m={m}, kappa={kappa}: {off:.2f} standard errors"
        )


@pytest.mark.parametrize("estimator", UNBIASED)
@pytest.mark.parametrize("m", DIMENSIONS)
def test_unbiased_quick(m, estimator):
    for i, kappa in enumerate(kappas(m)):
        verify(estimator, m, kappa, 100_000 if m < 500 else 20_000, seed=70_000 + 10 * m + i)


@pytest.mark.statistics
@pytest.mark.parametrize("estimator", UNBIASED)
@pytest.mark.parametrize("m", DIMENSIONS)
def test_unbiased_full(m, estimator):
    for i, kappa in enumerate(kappas(m)):
        verify(estimator, m, kappa, 1_000_000, seed=80_000 + 10 * m + i)


@pytest.mark.parametrize("m", [2, 5, 10, 50])
def test_rejection_alone_is_biased(m):
    """Its expectation for f = mu.z is E[1-w^2]/(2 s), s^2 = ((m-1)/2)^2 + kappa^2, and not A'."""
    kappa = float(m)
    gradients = per_sample_gradients(svmf.functional, "rejection", m, kappa, 100_000, seed=90_000)
    _, _, square = cosine_distribution(m, kappa).moments_of_below()
    published = square / (2 * (((m - 1) / 2) ** 2 + kappa**2) ** 0.5)
    assert standard_errors_off(gradients["mu.z"], published) < ALLOWED
    for name, exact in exact_slopes(m, kappa).items():
        assert standard_errors_off(gradients[name], exact) > 1.5 * ALLOWED, f"{name}: no bias seen"


def test_nothing_is_rejected_on_the_sphere():
    """m = 3 is drawn in closed form: there is no g_cor to leave out, and every mode is pathwise."""
    loc = torch.nn.functional.normalize(torch.randn(50, 3, dtype=torch.float64), dim=-1)
    kappa = torch.linspace(0.1, 80, 50, dtype=torch.float64)
    weight = torch.randn(50, 3, dtype=torch.float64)
    slopes = []
    for gradient in ("pathwise", "rejection"):
        k = kappa.clone().requires_grad_()
        generator = torch.Generator().manual_seed(5)
        z = svmf.functional.vmf_rsample(loc, k, gradient=gradient, generator=generator)
        slopes.append(torch.autograd.grad((z * weight).sum(), k)[0])
    torch.testing.assert_close(*slopes, rtol=1e-12, atol=1e-14)
    k = kappa.clone().requires_grad_()
    _, log_ratio = svmf.functional.vmf_rsample_with_correction(loc, k)
    assert not torch.autograd.grad(log_ratio.sum(), k)[0].any()


@pytest.mark.parametrize("m", [2, 3, 5, 40])
def test_reference_estimators_agree(m):
    """The plain-torch sampler has the same expectations: one more witness, with fewer draws."""
    kappa = 2.0 * m
    for estimator in UNBIASED:
        gradients = per_sample_gradients(svmf.reference, estimator, m, kappa, 20_000, seed=7)
        for name, exact in exact_slopes(m, kappa).items():
            assert standard_errors_off(gradients[name], exact) < 4.5, (estimator, name)
