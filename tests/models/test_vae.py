# SPDX-License-Identifier: MIT
"""The VAE's loss, its likelihoods, and the marginal likelihood against values known otherwise."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from svmf.models import (
    VAE,
    Bernoulli,
    Gaussian,
    GaussianLatent,
    PointLatent,
    SphericalLatent,
    bernoulli_log_prob,
    exact_log_likelihood_2d,
    log_likelihood,
    released_log_likelihood,
)
from svmf.models.networks import glorot_linear

ONE = torch.tensor(1.0)


def binary(rows, columns, seed=0):
    return (torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed)) < 0.3).float()


def test_bernoulli_against_torch():
    logits = (torch.randn(3, 4, 7, dtype=torch.float64) * 5).requires_grad_()
    x = binary(4, 7).double()
    expected = -F.binary_cross_entropy_with_logits(
        logits, x.expand_as(logits), reduction="none"
    ).sum(-1)
    torch.testing.assert_close(bernoulli_log_prob(logits, x), expected)
    weights = torch.randn(3, 4, dtype=torch.float64)
    ours = torch.autograd.grad((bernoulli_log_prob(logits, x) * weights).sum(), logits)
    theirs = torch.autograd.grad((expected * weights).sum(), logits)
    torch.testing.assert_close(ours, theirs)


def test_bernoulli_at_extreme_logits():
    logits = torch.tensor([[200.0, -200.0]])
    assert float(bernoulli_log_prob(logits, torch.tensor([[1.0, 0.0]]))) == 0
    assert float(bernoulli_log_prob(logits, torch.tensor([[0.0, 1.0]]))) == -400


def test_gaussian_against_torch():
    decoded, x = torch.randn(5, 3), torch.randn(5, 3)
    expected = torch.distributions.Normal(decoded, 0.7).log_prob(x).sum(-1)
    torch.testing.assert_close(Gaussian(0.7)(decoded, x), expected)


def test_glorot_blocks_are_their_own_layers():
    layer = glorot_linear(100, (300, 1))
    wide, narrow = layer.weight.detach().split([300, 1])
    assert float(wide.abs().max()) <= math.sqrt(6 / 400)
    assert float(narrow.abs().max()) > math.sqrt(6 / 400)
    assert float(narrow.abs().max()) <= math.sqrt(6 / 101)
    assert not layer.bias.any()


def test_architecture_is_the_papers():
    model = VAE(784, SphericalLatent(10), Bernoulli())
    widths = [m.out_features for m in [*model.encoder, *model.decoder] if isinstance(m, nn.Linear)]
    assert widths == [256, 128, 12, 128, 256, 784]
    assert isinstance(model.decoder[0], nn.Linear)
    assert model.decoder[0].in_features == 11


@pytest.mark.parametrize("latent", [PointLatent(2), GaussianLatent(2), SphericalLatent(2)])
def test_loss_is_minus_elbo_and_beta_scales_the_kl(latent):
    model = VAE(12, latent, Bernoulli(), hidden=(8,))
    x = binary(16, 12)
    losses = {}
    for beta in (0.0, 0.5, 1.0):
        torch.manual_seed(3)
        loss, terms = model(x, torch.tensor(beta))
        re, kl, _ = terms.tolist()
        assert float(loss.detach()) == pytest.approx(beta * kl - re, rel=1e-5)
        losses[beta] = float(loss.detach())
    assert losses[1.0] - losses[0.5] == pytest.approx(losses[0.5] - losses[0.0], abs=1e-4)


@pytest.mark.parametrize("gradient", ["pathwise", "corrected", "rejection"])
def test_every_estimator_trains(gradient):
    torch.manual_seed(0)
    model = VAE(20, SphericalLatent(3, gradient), Bernoulli(), hidden=(16,))
    x = binary(32, 20)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    first = None
    for _ in range(60):
        optimizer.zero_grad()
        loss, _ = model(x, ONE)
        loss.backward()
        optimizer.step()
        first = first or float(loss.detach())
    assert float(loss.detach()) < 0.9 * first


class LinearGaussian(VAE):
    """x = W z + noise, with a posterior that is not the true one: log p(x) is known exactly."""

    def __init__(self):
        super().__init__(3, GaussianLatent(2), Gaussian(0.5), hidden=(4,))
        with torch.no_grad():
            for parameter in self.encoder.parameters():
                parameter.mul_(0.3)
            self.encoder[-1].bias[2:] = 2.0  # wider than the prior: importance weights are bounded
        self.decoder = nn.Sequential(nn.Linear(2, 3, bias=False))

    def exact(self, x):
        weight = self.decoder[0].weight.detach().double()
        covariance = weight @ weight.t() + 0.25 * torch.eye(3).double()
        normal = torch.distributions.MultivariateNormal(torch.zeros(3).double(), covariance)
        return normal.log_prob(x.double())


def test_importance_sampling_finds_the_exact_likelihood():
    torch.manual_seed(1)
    model = LinearGaussian()
    x = torch.randn(6, 3)
    estimate = log_likelihood(model, x, samples=200_000, max_rows=50_000)
    torch.testing.assert_close(estimate, model.exact(x), atol=0.02, rtol=0)


def test_importance_sampling_is_a_lower_bound_that_tightens():
    torch.manual_seed(2)
    model = LinearGaussian()
    x = torch.randn(200, 3)
    exact = float(model.exact(x).mean())
    means = [float(log_likelihood(model, x, samples).mean()) for samples in (1, 10, 1000)]
    assert means[0] < means[1] < means[2]
    assert means[2] < exact + 0.01
    assert abs(means[2] - exact) < 0.05


@pytest.mark.parametrize("max_rows", [7, 100, 2000])
def test_chunks_bound_the_memory_and_do_not_change_the_meaning(max_rows):
    model = VAE(12, SphericalLatent(2), Bernoulli(), hidden=(8,))
    x = binary(9, 12)
    largest = []
    model.decoder.register_forward_hook(lambda _m, i, _o: largest.append(i[0][..., 0].numel()))
    values = log_likelihood(model, x, samples=2000, max_rows=max_rows)
    assert values.shape == (9,)
    assert max(largest) <= max(max_rows, 1)
    torch.testing.assert_close(
        values, exact_log_likelihood_2d(model, x, points=20_000), atol=0.15, rtol=0
    )


@pytest.mark.parametrize("estimate", [log_likelihood, released_log_likelihood])
@pytest.mark.parametrize("wrong", [0, -1])
@pytest.mark.parametrize("argument", ["samples", "max_rows"])
def test_numbers_of_samples_and_rows_are_checked(estimate, argument, wrong):
    """No rows at a time once gave -inf."""
    model = VAE(12, SphericalLatent(2), Bernoulli(), hidden=(8,))
    with pytest.raises(ValueError, match=f"`{argument}` of at least 1, got {wrong}"):
        estimate(model, binary(3, 12), **{argument: wrong})


@pytest.mark.parametrize("latent", [GaussianLatent(2), SphericalLatent(2)])
def test_quadrature_and_importance_sampling_agree(latent):
    torch.manual_seed(4)
    model = VAE(12, latent, Bernoulli(), hidden=(8,))
    with torch.no_grad():
        for weight in model.decoder.parameters():
            weight.mul_(3)
        # wide posteriors, so that importance sampling converges fast
        model.encoder[-1].weight.mul_(0.1)
        model.encoder[-1].bias[latent.coordinates :] = -2.0 if latent.on_sphere else 2
    x = binary(20, 12)
    sampled = log_likelihood(model, x, samples=100_000, max_rows=100_000)
    grid = exact_log_likelihood_2d(model, x, points=40_000)
    # the sampling error is 0.015 or less; six of them
    torch.testing.assert_close(sampled, grid, atol=0.09, rtol=0)


@pytest.mark.parametrize("latent", [GaussianLatent(3), SphericalLatent(3)])
@pytest.mark.parametrize("rows_at_once", [1, 3])
def test_released_likelihood_is_the_plain_loop(latent, rows_at_once):
    """One reconstruction, and other draws for the weights."""
    model = VAE(12, latent, Bernoulli(), hidden=(8,))
    x, samples = binary(3, 12), 500
    torch.manual_seed(5)
    found = released_log_likelihood(model, x, samples, rows_at_once * samples)
    assert found.dtype == torch.float64
    torch.manual_seed(5)
    expected = []
    for row in x.split(rows_at_once):
        posterior = model.posterior(row)
        z0 = latent.sample(posterior, 1)[0]
        z = latent.sample(posterior, samples)
        for i in range(len(row)):
            reconstruction = sum(
                math.log(p if pixel else 1 - p)
                for p, pixel in zip(model.decode(z0)[i].tolist(), row[i].tolist(), strict=True)
            )
            one = type(posterior)(*(part[i] for part in posterior))
            weights = [
                math.exp(a - b)
                for a, b in zip(
                    latent.prior_log_prob(z[:, i]).tolist(),
                    latent.log_prob(one, z[:, i]).tolist(),
                    strict=True,
                )
            ]
            expected.append(reconstruction + math.log(sum(weights) / samples))
    torch.testing.assert_close(
        found, torch.tensor(expected, dtype=torch.float64), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize(("dim", "excess"), [(2, 1.23), (5, 2.59), (10, 4.31), (20, 6.91)])
def test_released_likelihood_exceeds_the_elbo_whatever_the_decoder(dim, excess):
    """For a concentrated vMF, kappa (1 - w) is nearly Gamma(d/2, 1), so the excess over the ELBO
    is E[log mean_n exp(t)] - d/2 with t of that law: it is known without a decoder."""
    samples, rows = 500, 2000
    t = np.random.default_rng(0).gamma(dim / 2, size=(rows, samples))
    predicted = np.log(np.exp(t).mean(1)).mean() - dim / 2
    assert predicted == pytest.approx(excess, abs=0.1)
    model = VAE(6, SphericalLatent(dim), Bernoulli(), hidden=(4,))
    with torch.no_grad():
        model.encoder[-1].bias[-1] = 3000.0
        model.decoder[-1].bias.copy_(torch.linspace(-3, 3, 6))
        model.decoder[0].weight.zero_()
    x = binary(rows, 6)
    re, kl, _ = model.elbo_terms(x).double().mean(1).tolist()
    found = float(released_log_likelihood(model, x, samples).mean()) - (re - kl)
    # standard error of the mean of either: at most 0.04
    assert found == pytest.approx(predicted, abs=0.2)


def test_errors():
    with pytest.raises(ValueError, match="auto-encoder has no marginal likelihood"):
        log_likelihood(VAE(4, PointLatent(2), Bernoulli()), binary(1, 4))
    with pytest.raises(ValueError, match="expected `samples` of at least 1"):
        log_likelihood(VAE(4, GaussianLatent(2), Bernoulli()), binary(1, 4), samples=0)
    with pytest.raises(ValueError, match="expected `max_rows` of at least 1"):
        log_likelihood(VAE(4, GaussianLatent(2), Bernoulli()), binary(1, 4), max_rows=-1)
    with pytest.raises(ValueError, match="and d of 1 or 2, got SphericalLatent of d = 3"):
        exact_log_likelihood_2d(VAE(4, SphericalLatent(3), Bernoulli()), binary(1, 4))
