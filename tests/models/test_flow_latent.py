# SPDX-License-Identifier: MIT
"""The flow as a latent: its KL estimate, its likelihood, in products, compiled, in training."""

import math

import pytest
import torch

import svmf
from svmf.models import (
    VAE,
    Bernoulli,
    FlowLatent,
    ProductLatent,
    SphericalLatent,
    exact_log_likelihood_2d,
    log_likelihood,
)
from svmf.training import continue_run, evaluate_run, make_config, start_run


def raw_for(latent, rows=6, scale=1.0):
    draw = torch.Generator().manual_seed(0)
    raw = torch.randn(rows, sum(latent.head_sizes), generator=draw, dtype=torch.float64)
    return raw * scale


@pytest.mark.parametrize("dim", [1, 2, 9])
def test_kl_estimate_is_unbiased(dim):
    """Against the mean of log q - log p at samples of their own; five standard errors."""
    latent = FlowLatent(dim, layers=2)
    posterior = latent.posterior(raw_for(latent, rows=1))
    many = type(posterior)(*(value.expand(20_000, *value.shape[1:]) for value in posterior))
    estimates = latent.draw(many).kl
    z = latent.sample(posterior, 20_000)[:, 0]
    plain = latent.log_prob(many, z) - latent.prior_log_prob(z)
    error = math.sqrt(float(estimates.var() + plain.var()) / 20_000)
    assert abs(float(estimates.mean() - plain.mean())) < 5 * error
    entropy = latent.entropy(many)
    kl = -latent.prior_log_prob(z) - entropy
    assert float(kl.mean()) == pytest.approx(float(estimates.mean()), abs=5 * error)


def test_a_flow_that_does_nothing_is_the_base():
    flow, plain = FlowLatent(4), SphericalLatent(4)
    raw = raw_for(flow)
    raw[:, 6:] = 0
    posterior, base = flow.posterior(raw), plain.posterior(raw[:, :6])
    torch.manual_seed(0)
    ours = flow.draw(posterior)
    torch.manual_seed(0)
    theirs = plain.draw(base)
    torch.testing.assert_close(ours.z, theirs.z)
    torch.testing.assert_close(ours.kl, theirs.kl)
    torch.testing.assert_close(flow.mean(posterior), base.loc)
    z = plain.prior_sample(6).double()
    torch.testing.assert_close(flow.log_prob(posterior, z), plain.log_prob(base, z))


def test_importance_sampling_finds_the_exact_likelihood():
    torch.manual_seed(0)
    model = VAE(16, FlowLatent(2), Bernoulli(), (16,))
    with torch.no_grad():  # milder layers: the posterior of a model without training is wide
        model.encoder[-1].weight *= 0.3
    x = (torch.rand(5, 16) < 0.3).float()
    sampled = log_likelihood(model, x, 20_000)
    torch.testing.assert_close(sampled, exact_log_likelihood_2d(model, x), atol=0.03, rtol=0)


def test_gradient_of_the_bound():
    """d/d raw of E[f(z) - kl] by the estimator, against finite differences of quadrature on the
    circle; five standard errors, false alarm 6e-7 each of 12."""
    latent = FlowLatent(1, layers=2)
    start = raw_for(latent, rows=1)
    angle = (torch.arange(4000).double() + 0.5) * (2 * math.pi / 4000)
    nodes = torch.stack([angle.cos(), angle.sin()], -1)

    def value(z):
        return 3 * z[..., 0] + z[..., 1].square()

    def bound(raw):
        log_q = latent.log_prob(latent.posterior(raw), nodes)
        inside = value(nodes) - log_q + latent.prior_log_prob(nodes)
        return (log_q.exp() * inside).sum() * (2 * math.pi / 4000)

    exact = torch.autograd.functional.jacobian(bound, start)[0]
    raw = start.repeat(200_000, 1).requires_grad_()
    z, kl, _ = latent.draw(latent.posterior(raw))
    (slopes,) = torch.autograd.grad((value(z) - kl).sum(), raw)
    errors = slopes.std(0) / math.sqrt(len(slopes))
    assert bool(((slopes.mean(0) - exact).abs() < 5 * errors + 1e-9).all())


def test_in_a_product():
    latent = ProductLatent([FlowLatent(2), FlowLatent(2), FlowLatent(2, layers=1)])
    posterior = latent.posterior(raw_for(latent))
    z, kl, _ = latent.draw(posterior)
    assert (z.shape, kl.shape) == ((6, 9), (6,))
    assert not latent.exact_kl
    assert latent.log_prob(posterior, z).shape == (6,)
    q = latent.distribution(posterior)
    torch.testing.assert_close(q.log_prob(z), latent.log_prob(posterior, z))


def test_layers_are_at_least_one():
    with pytest.raises(ValueError, match="FlowLatent: expected `layers` of at least 1, got 0"):
        FlowLatent(2, layers=0)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_compiled_equals_eager():
    torch.manual_seed(0)
    model = VAE(16, FlowLatent(3, layers=2), Bernoulli(), (8,))
    x = (torch.rand(12, 16) < 0.5).float()
    results = []
    for step in (model, torch.compile(model, fullgraph=True)):
        model.zero_grad()
        torch.manual_seed(1)
        loss, _ = step(x)
        loss.backward()
        results.append([loss.detach(), *(p.grad.clone() for p in model.parameters())])
    for eager, compiled in zip(*results, strict=True):
        torch.testing.assert_close(eager, compiled, atol=1e-4, rtol=1e-3)


def test_trains_continues_and_evaluates(tmp_path):
    config = make_config(
        "svae", data="digits", latent="f2", epochs=1, hidden=(16,), warm_up=0, radius="sqrt"
    )
    start_run(config, tmp_path / "run")
    assert continue_run(tmp_path / "run", {"epochs": 2}).epoch == 2
    figures = evaluate_run(tmp_path / "run", samples=20, limit=20, label_draws=1)
    assert math.isfinite(figures["ll"])
    assert figures["ll"] == pytest.approx(figures["ll_exact"], abs=1.5)
    loaded = svmf.load_model(tmp_path / "run")
    assert isinstance(loaded.latent.factors[0], FlowLatent)


@pytest.mark.parametrize("size", [1e10, 1e20, 1e30, 1e38])
def test_huge_features_shorten_to_the_longest_layers(size):
    """Squares that overflow in float32 once made nothing of the longest centres."""
    latent = FlowLatent(3)
    raw = torch.full((2, sum(latent.head_sizes)), size, requires_grad=True)
    _, _, centres, stretches = latent.posterior(raw)
    lengths = torch.linalg.vector_norm(centres[:, : latent.layers].double(), dim=-1)
    torch.testing.assert_close(lengths, torch.full_like(lengths, 0.95), atol=1e-6, rtol=0)
    assert torch.linalg.vector_norm(stretches[:, : latent.layers], dim=-1).min() > 1e3
    gradient = torch.autograd.grad(centres.sum() + stretches.sum(), raw)[0]
    assert gradient.isfinite().all()
