# SPDX-License-Identifier: MIT
"""Products of latents against their factors one by one; one op call for equal ones; the radius."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from svmf.models import (
    VAE,
    Bernoulli,
    GaussianLatent,
    PointLatent,
    PowerSphericalLatent,
    ProductLatent,
    SemiSupervisedVAE,
    SphericalLatent,
    log_likelihood,
    nearest_labels,
)

FACTORS = [
    SphericalLatent(3),
    SphericalLatent(3),
    GaussianLatent(2),
    PowerSphericalLatent(4),
    SphericalLatent(1),
]


def raw_for(latent, rows=6, dtype=torch.float64):
    draw = torch.Generator().manual_seed(0)
    return torch.randn(rows, sum(latent.head_sizes), generator=draw, dtype=dtype)


def one_by_one(raw):
    """Every factor with its own share of the raw output, as if it were alone."""
    sizes = [sum(factor.head_sizes) for factor in FACTORS]
    return [
        (factor, factor.posterior(part))
        for factor, part in zip(FACTORS, raw.split(sizes, -1), strict=True)
    ]


def test_sizes():
    latent = ProductLatent(FACTORS)
    assert (latent.dim, latent.coordinates) == (13, 17)
    assert sum(latent.head_sizes) == 5 + 5 + 4 + 6 + 3
    assert not latent.bounded
    assert ProductLatent([SphericalLatent(2)] * 3).bounded
    assert ProductLatent([SphericalLatent(2)] * 3).spread_name == "kappa"
    assert latent.spread_name == "spread"


def test_terms_are_the_sums_of_the_factors():
    latent = ProductLatent(FACTORS)
    raw = raw_for(latent)
    posterior, factors = latent.posterior(raw), one_by_one(raw)
    z, kl, log_ratio = latent.draw(posterior)
    assert log_ratio is None
    parts = z.split([factor.coordinates for factor in FACTORS], -1)
    torch.testing.assert_close(kl, sum(factor.draw(own).kl for factor, own in factors))
    torch.testing.assert_close(
        latent.log_prob(posterior, z),
        sum(f.log_prob(own, part) for (f, own), part in zip(factors, parts, strict=True)),
    )
    torch.testing.assert_close(
        latent.entropy(posterior), sum(factor.entropy(own) for factor, own in factors)
    )
    torch.testing.assert_close(
        latent.prior_log_prob(z),
        sum(f.prior_log_prob(part) for f, part in zip(FACTORS, parts, strict=True)),
    )
    torch.testing.assert_close(
        latent.mean(posterior), torch.cat([factor.mean(own) for factor, own in factors], -1)
    )
    torch.testing.assert_close(
        latent.spread(posterior), sum(factor.spread(own) for factor, own in factors) / 5
    )
    for (factor, _), part in zip(factors, parts, strict=True):
        if factor.on_sphere:
            torch.testing.assert_close(part.norm(dim=-1), torch.ones(6).double())


def test_distances_are_those_of_the_product_space():
    latent = ProductLatent([SphericalLatent(2), SphericalLatent(2), GaussianLatent(1)])
    a, b = latent.prior_sample(4).double(), latent.prior_sample(5).double()
    squares = sum(
        torch.arccos(a[:, part] @ b[:, part].t()) ** 2 for part in (slice(0, 3), slice(3, 6))
    )
    expected = (squares + (a[:, 6:] - b[:, 6].unsqueeze(0)) ** 2).sqrt()
    torch.testing.assert_close(latent.distances(a, b), expected)
    one = ProductLatent([SphericalLatent(2)])
    torch.testing.assert_close(
        one.distances(a[:, :3], b[:, :3]), SphericalLatent(2).distances(a[:, :3], b[:, :3])
    )
    labels = torch.arange(5) % 2
    found = nearest_labels(b, labels, b, k=1, distance=latent.distances)
    assert torch.equal(found, labels)


def test_shapes_of_samples():
    latent = ProductLatent(FACTORS)
    posterior = latent.posterior(raw_for(latent))
    assert latent.sample(posterior, 7).shape == (7, 6, 17)
    assert latent.log_prob(posterior, latent.sample(posterior, 7)).shape == (7, 6)
    assert latent.prior_sample(3).shape == (3, 17)
    q = latent.distribution(posterior)
    assert (q.batch_shape, q.event_shape) == ((6,), (17,))
    assert q.rsample((2,)).shape == (2, 6, 17)
    assert q.mean.shape == (6, 17)


def test_density_integrates_to_one():
    """The mean of q/p over the prior is one; 5 standard errors, false alarm 6e-7."""
    latent = ProductLatent([SphericalLatent(1), SphericalLatent(1), GaussianLatent(1)])
    posterior = latent.posterior(raw_for(latent, rows=1) * 0.3)
    z = latent.prior_sample(200_000, torch.Generator().manual_seed(1)).double()
    ratio = (latent.log_prob(posterior, z) - latent.prior_log_prob(z)).exp()
    assert abs(float(ratio.mean()) - 1) < 5 * float(ratio.std()) / math.sqrt(len(z))


@pytest.mark.parametrize(
    "factors",
    [
        [SphericalLatent(1)],
        [GaussianLatent(1)],
        [SphericalLatent(2)],
        [GaussianLatent(2)],
        [SphericalLatent(1), SphericalLatent(1)],
        [SphericalLatent(1), GaussianLatent(1)],
    ],
)
def test_the_grid_has_the_mass_of_the_prior(factors):
    """The mass of all nodes is one, and a posterior's density integrates to one over them."""
    latent = ProductLatent(factors)
    z, log_mass = latent.grid(40_000)
    assert z.shape[1] == latent.coordinates
    assert len(z) == len(log_mass) == 40_000
    assert float(log_mass.double().exp().sum()) == pytest.approx(1, abs=1e-4)
    posterior = latent.posterior(raw_for(latent, rows=1, dtype=torch.float32) * 0.3)
    ratio = latent.log_prob(posterior, z) - latent.prior_log_prob(z)
    assert float((ratio + log_mass).double().exp().sum()) == pytest.approx(1, abs=1e-3)


def test_no_grid_in_three_dimensions():
    with pytest.raises(ValueError, match="d of 1 or 2, got ProductLatent of d = 3"):
        ProductLatent([SphericalLatent(1)] * 3).grid(100)


class Calls(TorchDispatchMode):
    """Counts our ops."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace == "svmf":
            self.names.append(function.name())
        return function(*args, **(kwargs or {}))


def test_equal_spheres_are_one_op_call():
    one, four = SphericalLatent(10), ProductLatent([SphericalLatent(10)] * 4)
    calls = []
    for latent in (one, four):
        with Calls() as seen:
            latent.draw(latent.posterior(raw_for(latent, dtype=torch.float32)))
        calls.append(seen.names)
    assert calls[0] == calls[1]
    assert len(calls[0]) == 1


def test_the_correction_is_that_of_all_factors():
    """d/dkappa E[f(z)] for f that joins two spheres, against the pathwise estimator; the false
    alarm rate of 5 standard errors is 6e-7."""
    rows = 200_000
    slopes = {}
    for gradient in ("pathwise", "corrected"):
        latent = ProductLatent([SphericalLatent(3, gradient)] * 2)
        assert latent.gradient == gradient
        raw = torch.zeros(rows, 10, dtype=torch.float64)
        raw[:, 0] = raw[:, 5] = 1
        raw[:, 4] = raw[:, 9] = 2
        raw.requires_grad_()
        z, _, log_ratio = latent.draw(latent.posterior(raw))
        value = z[:, 0] * z[:, 4] + z[:, 0]
        if log_ratio is not None:
            value = value + value.detach() * log_ratio
        (slope,) = torch.autograd.grad(value.sum(), raw)
        slopes[gradient] = slope[:, 4]
    error = math.sqrt(sum(float(s.var()) / rows for s in slopes.values()))
    assert abs(float(slopes["pathwise"].mean() - slopes["corrected"].mean())) < 5 * error


def test_in_every_model_and_the_likelihood():
    latent = ProductLatent([SphericalLatent(2)] * 2 + [GaussianLatent(2)])
    x = (torch.rand(9, 12) < 0.5).float()
    model = VAE(12, latent, Bernoulli(), hidden=(8,))
    loss, _ = model(x)
    loss.backward()
    bound = model.elbo_terms(x)[:2].mean(1)
    assert float(log_likelihood(model, x, 200).mean()) > float(bound[0] - bound[1]) - 1
    assert model.q(x).log_prob(model.q(x).sample()).shape == (9,)
    semi = SemiSupervisedVAE(12, 3, latent, SphericalLatent(2), Bernoulli(), hidden=8)
    loss, _ = semi(x, x[:3], torch.tensor([0, 1, 2]))
    loss.backward()
    assert semi.classify(x).shape == (9,)


def test_compiled_equals_plain():
    latent = ProductLatent([SphericalLatent(2)] * 2 + [GaussianLatent(2)])
    model = VAE(12, latent, Bernoulli(), hidden=(8,), radius="learnable")
    x = (torch.rand(9, 12) < 0.5).float()
    losses = []
    for function in (model, torch.compile(model, backend="aot_eager")):
        torch.manual_seed(3)
        losses.append(function(x, torch.tensor(1.0))[0])
    torch.testing.assert_close(losses[0], losses[1])


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([], "at least one factor"),
        ([PointLatent(2)], "factors with a density that are no products, got PointLatent"),
        ([ProductLatent([SphericalLatent(2)])], "got ProductLatent"),
    ],
)
def test_mistakes(factors, message):
    with pytest.raises(ValueError, match=message):
        ProductLatent(factors)


@pytest.mark.parametrize("radius", ["1", "sqrt", "learnable"])
def test_the_radius_scales_spheres_and_nothing_else(radius):
    latent = ProductLatent([SphericalLatent(3), GaussianLatent(2), SphericalLatent(8)])
    model = VAE(12, latent, Bernoulli(), hidden=(8,), radius=radius)
    seen = []
    model.decoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    z = latent.prior_sample(5)
    model.decode(z)
    first, flat, second = seen[0].split([4, 2, 9], -1)
    wanted = (1.0, 1.0) if radius == "1" else (2.0, 3.0)
    torch.testing.assert_close(first.norm(dim=-1), torch.full((5,), wanted[0]))
    torch.testing.assert_close(second.norm(dim=-1), torch.full((5,), wanted[1]))
    torch.testing.assert_close(flat, z[:, 4:6])
    learned = [name for name, _ in model.named_parameters() if "radius" in name]
    assert learned == (["radius.log_radius"] if radius == "learnable" else [])


@pytest.mark.parametrize("radius", ["sqrt", "learnable"])
def test_the_bound_does_not_depend_on_the_radius(radius):
    """Posterior and prior move together: with a decoder that undoes the scaling, the KL, the
    reconstruction and the likelihood are those at radius one, and a learned radius gets the
    gradient that the reconstruction has in the scale of its input, none of the KL."""
    torch.manual_seed(0)
    one = VAE(12, SphericalLatent(3), Bernoulli(), hidden=(8,))
    scaled = VAE(12, SphericalLatent(3), Bernoulli(), hidden=(8,), radius=radius)
    scaled.load_state_dict(one.state_dict(), strict=False)
    assert scaled.radius is not None
    with torch.no_grad():
        if radius == "learnable":
            scaled.radius.log_radius.fill_(math.log(3.7))
        scaled.decoder[0].weight /= 3.7 if radius == "learnable" else 2  # sqrt(m) = 2
    x = (torch.rand(9, 12) < 0.5).float()
    for function in (lambda model: model.elbo_terms(x), lambda model: log_likelihood(model, x, 50)):
        values = []
        for model in (one, scaled):
            torch.manual_seed(1)
            values.append(function(model))
        torch.testing.assert_close(values[0], values[1])
    if radius == "learnable":
        slopes = []
        for beta in (1.0, 0.0):  # with and without the KL
            torch.manual_seed(1)
            loss, _ = scaled(x, beta)
            slopes.append(torch.autograd.grad(loss, scaled.radius.log_radius)[0])
        torch.testing.assert_close(*slopes)
        torch.manual_seed(1)
        loss, _ = scaled(x)
        weight = scaled.decoder[0].weight
        (slope,) = torch.autograd.grad(loss, weight)
        torch.testing.assert_close((slope * weight).sum().reshape(1), slopes[0])


def test_a_radius_needs_a_sphere():
    with pytest.raises(ValueError, match="GaussianLatent has no sphere"):
        VAE(12, GaussianLatent(2), Bernoulli(), radius="sqrt")
    with pytest.raises(ValueError, match="expected one of 1, sqrt, learnable"):
        VAE(12, SphericalLatent(2), Bernoulli(), radius="2")
