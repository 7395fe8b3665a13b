# SPDX-License-Identifier: MIT
"""Latents against torch.distributions and svmf.reference; their dimensions; their errors."""

import math

import pytest
import torch
from torch.distributions import Independent, Normal, kl_divergence

from svmf import reference
from svmf.models import GaussianLatent, PointLatent, SphericalLatent
from svmf.models.latents import LATENTS, Direction, with_correction

SPHERES = [family for family in LATENTS.values() if family.on_sphere]
DENSITIES = [family for family in LATENTS.values() if family.has_density]


def raw_for(latent, rows=5, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(rows, sum(latent.head_sizes), generator=draw, dtype=torch.float64)


@pytest.mark.parametrize("family", LATENTS.values())
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_shapes(family, dim):
    latent = family(dim)
    posterior = latent.posterior(raw_for(latent).float())
    draw = latent.draw(posterior)
    assert latent.coordinates == (dim + 1 if family in SPHERES else dim)
    assert draw.z.shape == (5, latent.coordinates)
    assert draw.kl.shape == (5,)
    assert latent.sample(posterior, 7).shape == (7, 5, latent.coordinates)
    assert latent.prior_sample(3).shape == (3, latent.coordinates)
    assert latent.mean(posterior).shape == (5, latent.coordinates)
    assert latent.spread(posterior).shape == (5,)
    if latent.has_density:
        assert latent.log_prob(posterior, draw.z).shape == (5,)
        assert latent.entropy(posterior).shape == (5,)


def test_gaussian_against_torch():
    latent = GaussianLatent(4)
    posterior = latent.posterior(raw_for(latent))
    expected = Independent(Normal(*posterior), 1)
    prior = Independent(Normal(torch.zeros(4).double(), torch.ones(4).double()), 1)
    z = latent.draw(posterior).z
    torch.testing.assert_close(latent.draw(posterior).kl, kl_divergence(expected, prior))
    torch.testing.assert_close(latent.log_prob(posterior, z), expected.log_prob(z))
    torch.testing.assert_close(latent.entropy(posterior), expected.entropy())
    torch.testing.assert_close(latent.prior_log_prob(z), prior.log_prob(z))


def test_spherical_against_reference():
    latent = SphericalLatent(4)
    posterior = latent.posterior(raw_for(latent) * 3)
    loc, kappa = posterior
    torch.testing.assert_close(loc.norm(dim=-1), torch.ones(5).double())
    assert float(kappa.min()) >= 1
    z, kl, log_ratio = latent.draw(posterior)
    assert log_ratio is None
    torch.testing.assert_close(kl, reference.vmf_kl_uniform(kappa, 5))
    torch.testing.assert_close(latent.log_prob(posterior, z), reference.vmf_log_prob(z, loc, kappa))
    torch.testing.assert_close(latent.entropy(posterior), reference.vmf_entropy(kappa, 5))
    area = 2 * math.pi**2.5 / math.gamma(2.5)
    torch.testing.assert_close(latent.prior_log_prob(z), torch.full((5,), -math.log(area)).double())


@pytest.mark.parametrize("family", [family for family in SPHERES if family.exact_kl])
def test_kl_is_entropy_difference(family):
    latent = family(3)
    posterior = latent.posterior(raw_for(latent))
    log_area = math.log(2 * math.pi**2)
    kl = latent.draw(posterior).kl
    torch.testing.assert_close(kl, log_area - latent.entropy(posterior))
    assert float(kl.min()) > 0


@pytest.mark.parametrize("family", DENSITIES)
def test_density_integrates_to_one(family):
    """The mean of q/p over the prior is one; 5 standard errors, false alarm 6e-7 each."""
    latent = family(2)
    posterior = latent.posterior(raw_for(latent, rows=1).float() * 0.3)
    z = latent.prior_sample(200_000, torch.Generator().manual_seed(1))
    ratio = (latent.log_prob(posterior, z) - latent.prior_log_prob(z)).double().exp()
    error = float(ratio.std()) / math.sqrt(len(z))
    assert abs(float(ratio.mean()) - 1) < 5 * error


@pytest.mark.parametrize("gradient", ["pathwise", "corrected", "rejection"])
def test_estimators_beside_the_exact_gradient(gradient):
    """d/dkappa E[mu.z] = A'(kappa): two estimators are unbiased, false alarm 6e-7 each, and
    rejection alone is visibly biased."""
    dim, kappa0, draws = 4, 3.0, 400_000
    latent = SphericalLatent(dim - 1, gradient)
    loc = torch.nn.functional.one_hot(torch.tensor(1), dim).double().expand(draws, dim)
    kappa = torch.full((draws,), kappa0, dtype=torch.float64, requires_grad=True)
    z, _, log_ratio = latent.draw(Direction(loc, kappa))
    value = with_correction((z * loc).sum(-1), log_ratio)
    (slopes,) = torch.autograd.grad(value.sum(), kappa)
    mean_length = float(reference.vmf_mean_length(torch.tensor(kappa0).double(), dim))
    exact = 1 - mean_length**2 - (dim - 1) / kappa0 * mean_length
    errors = abs(float(slopes.mean()) - exact) / (float(slopes.std()) / math.sqrt(draws))
    assert errors > 10 if gradient == "rejection" else errors < 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SphericalLatent(0), "expected `dim` of at least 1, got 0"),
        (lambda: SphericalLatent(3, "score"), "expected `gradient` among"),
        (lambda: GaussianLatent(3, "corrected"), "GaussianLatent: expected `gradient`"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_point_latent_has_no_density():
    latent = PointLatent(2)
    posterior = latent.posterior(torch.zeros(1, 2))
    with pytest.raises(NotImplementedError, match="no posterior density"):
        latent.log_prob(posterior, torch.zeros(1, 2))


@pytest.mark.parametrize("gradient", ["pathwise", "rejection", "corrected"])
def test_a_step_is_posterior_draw_and_spread(gradient):
    """SphericalLatent has an op for it; a subclass with ways of its own is asked for them."""

    class Sharper(SphericalLatent):
        def posterior(self, raw):
            loc, concentration = super().posterior(raw)
            return Direction(loc, 100 * concentration)

    raw, weights = torch.randn(50, 6, dtype=torch.float64), torch.randn(50, 5)
    raw[0] = 0
    for latent in (SphericalLatent(4, gradient), Sharper(4, gradient), GaussianLatent(3)):
        x = raw.clone().requires_grad_()
        torch.manual_seed(2)
        draw, spread = latent.step(x)
        torch.manual_seed(2)
        posterior = latent.posterior(x)
        expected = latent.draw(posterior)
        torch.testing.assert_close(spread, latent.spread(posterior).detach())
        for one, other in zip(draw, expected, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(one, other)
        losses = [(d.z * weights[:, : d.z.shape[-1]]).sum() + d.kl.sum() for d in (draw, expected)]
        slopes = [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in losses]
        torch.testing.assert_close(*slopes)
        assert not spread.requires_grad
