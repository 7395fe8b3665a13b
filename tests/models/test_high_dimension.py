# SPDX-License-Identifier: MIT
"""Latents in R^1024 and R^4096: a training step and a short run of every family are finite, and the
gradients in the concentration are those of quadrature over w = mu.z, from the densities' formulas.
"""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from svmf.distributions import (
    HypersphericalUniform,
    PowerSpherical,
    SphericalCauchy,
    VonMisesFisher,
)
from svmf.models import (
    LATENTS,
    VAE,
    Bernoulli,
    FlowLatent,
    GaussianLatent,
    ProductLatent,
    SphericalLatent,
)
from svmf.training import fit

MANY = [1024, 4096]  # m

FAMILIES = [name for name, family in LATENTS.items() if family(2).has_density]


def product(m):
    return ProductLatent([SphericalLatent(m // 4 - 1)] * 2 + [GaussianLatent(m // 2)])


@pytest.mark.parametrize("m", MANY)
@pytest.mark.parametrize("family", [*FAMILIES, "product"])
def test_a_training_step_is_finite(family, m):
    torch.manual_seed(0)
    latent = product(m) if family == "product" else LATENTS[family](m - 1)
    model = VAE(20, latent, Bernoulli(), (16,))
    x = (torch.rand(32, 20) < 0.5).float()
    loss, _ = model(x)
    loss.backward()
    assert math.isfinite(loss.item())
    for name, weight in model.named_parameters():
        assert bool(weight.grad.isfinite().all()), name
        assert bool(weight.grad.any()), name


def log_ratio(family, m, parameter, w):
    """Log of density / uniform density at w, up to the normaliser of vMF and power spherical."""
    if family is VonMisesFisher:
        return parameter * w
    if family is PowerSpherical:
        return parameter * np.log1p(w)
    return (m - 1) * np.log((1 - parameter**2) / (1 + parameter**2 - 2 * parameter * w))


def moments(family, m, parameter):
    """E[w] and KL to uniform: sums are enough, the integrands are smooth and zero at the ends."""
    w = np.linspace(-1, 1, 2_000_001)[1:-1]
    base = 0.5 * (m - 3) * np.log1p(-w * w)
    ratio = log_ratio(family, m, parameter, w)
    uniform = np.exp(base - base.max())
    top = (base + ratio).max()
    weights = np.exp(base + ratio - top)
    log_mean_ratio = math.log(weights.sum() / uniform.sum()) + top - base.max()
    weights /= weights.sum()
    return weights @ w, weights @ ratio - log_mean_ratio


@pytest.mark.parametrize("m", MANY)
@pytest.mark.parametrize(
    ("family", "share"),
    [(VonMisesFisher, 0.5), (VonMisesFisher, 20.0), (PowerSpherical, 0.5), (SphericalCauchy, 0.6)],
)
def test_gradients_in_the_concentration(family, share, m):
    """float32; the slope of E[w] over 4,000 draws within five standard errors (false alarm 6e-7),
    that of KL to 1e-4 of the difference quotient."""
    parameter = share if family is SphericalCauchy else share * m
    step = 1e-3 * parameter
    (low, low_kl), (high, high_kl) = (
        moments(family, m, parameter + sign * step) for sign in (-1, 1)
    )
    loc = torch.zeros(4000, m)
    loc[:, 7] = 1
    values = torch.full((4000,), parameter).requires_grad_()
    torch.manual_seed(0)
    q = family(loc, values)
    w = q.rsample()[:, 7]
    (slopes,) = torch.autograd.grad(w.sum(), values)
    error = float(slopes.std()) / math.sqrt(4000)
    assert abs(float(slopes.double().mean()) - (high - low) / (2 * step)) < 5 * error
    kl = torch.distributions.kl_divergence(q, HypersphericalUniform(m))
    (slope,) = torch.autograd.grad(kl[0], values)
    assert float(slope[0]) == pytest.approx((high_kl - low_kl) / (2 * step), rel=1e-4)


def test_the_quadrature_itself():
    """Against scipy's at a size where that one finds the peak."""
    for family, parameter in ((VonMisesFisher, 7.0), (SphericalCauchy, 0.4)):

        def weight(w, family=family, parameter=parameter):
            return math.exp(float(log_ratio(family, 9, parameter, w))) * (1 - w * w) ** 3

        expected = quad(lambda w: w * weight(w), -1, 1)[0] / quad(weight, -1, 1)[0]
        assert moments(family, 9, parameter)[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("m", MANY)
@pytest.mark.parametrize("family", [*FAMILIES, "product"])
def test_a_short_run_gains(family, m):
    torch.manual_seed(0)
    rows = (torch.rand(200, 20) < torch.rand(20)).float()
    latent = product(m) if family == "product" else LATENTS[family](m - 1)
    if family == "flow":
        latent = FlowLatent(m - 1, layers=1)
    model = VAE(20, latent, Bernoulli(), (16,))
    trained = fit(model, rows, epochs=8, warm_up=0, batch_size=20, progress=False, seed=0)
    scores = [record["validation"]["elbo"] for record in trained.history]
    assert all(math.isfinite(score) for score in scores)
    assert scores[-1] > scores[0]
