# SPDX-License-Identifier: MIT
"""The registered divergences against mpmath, quadrature and the closed form on S^2."""

import copy
import math
import pickle

import mpmath
import pytest
import torch
from torch.distributions import kl_divergence

from svmf.distributions import (
    HypersphericalUniform,
    PowerSpherical,
    SphericalCauchy,
    VonMisesFisher,
    kl_monte_carlo,
)


@pytest.mark.parametrize("dim", [2, 3, 10, 100])
@pytest.mark.parametrize("kappa", [0.4, 8.0, 500.0])
def test_to_and_from_uniform(exact, dim, kappa):
    q = VonMisesFisher(exact.directions(dim), kappa)
    p = HypersphericalUniform(dim)
    with mpmath.workdps(40):
        half = mpmath.mpf(dim) / 2
        mean = float(mpmath.besseli(half, kappa) / mpmath.besseli(half - 1, kappa))
    log_ratio = exact.vmf_log_norm(kappa, dim) + exact.log_area(dim)
    approx = {"rel": 1e-10, "abs": 1e-12}
    assert kl_divergence(q, p).item() == pytest.approx(kappa * mean + log_ratio, **approx)
    assert kl_divergence(p, q).item() == pytest.approx(-log_ratio, **approx)


def test_zero_and_tiny_concentration(exact):
    loc = exact.directions(3, 7)
    kappa = torch.tensor([0.0, 1e-6, 1e-3], dtype=torch.float64)
    expected = kappa**2 / 14  # both directions start as kappa^2 / (2m)
    q, p = VonMisesFisher(loc, kappa), HypersphericalUniform(7)
    torch.testing.assert_close(kl_divergence(q, p), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(kl_divergence(p, q), expected, rtol=1e-6, atol=0)


def test_between_two_on_the_circle(exact):
    mean1, mean2, k1, k2 = 0.4, 1.9, 2.2, 5.1
    c1, c2 = exact.vmf_log_norm(k1, 2), exact.vmf_log_norm(k2, 2)

    def integrand(t):
        log1, log2 = c1 + k1 * mpmath.cos(t - mean1), c2 + k2 * mpmath.cos(t - mean2)
        return mpmath.exp(log1) * (log1 - log2)

    expected = float(mpmath.quad(integrand, mpmath.linspace(-mpmath.pi, mpmath.pi, 9)))
    loc = torch.tensor([[math.cos(a), math.sin(a)] for a in (mean1, mean2)], dtype=torch.float64)
    q = VonMisesFisher(loc, torch.tensor([k1, k2], dtype=torch.float64))
    assert kl_divergence(q[0], q[1]).item() == pytest.approx(expected, rel=1e-10)
    assert abs(kl_divergence(q[0], q[0]).item()) < 1e-15


@pytest.mark.parametrize("kappa", [0.0, 0.02, 3.0, 1e4])
def test_power_spherical_on_s2(kappa, exact):
    """On S^2, (1+w)/2 is Beta(1+kappa, 1): KL = log(1+kappa) - kappa / (1+kappa)."""
    expected = math.log1p(kappa) - kappa / (1 + kappa)
    p = PowerSpherical(exact.directions(3), kappa)
    kl = kl_divergence(p, HypersphericalUniform(3))
    assert kl.item() == pytest.approx(expected, rel=1e-11)


def test_shapes_and_mismatches(exact):
    q = VonMisesFisher(exact.directions(4, 3), 1.0)
    r = VonMisesFisher(exact.directions(2, 1, 3), torch.ones(2, 1, dtype=torch.float64))
    assert kl_divergence(q, r).shape == (2, 4)
    assert kl_divergence(q, HypersphericalUniform(3)).shape == (4,)
    assert kl_divergence(q, HypersphericalUniform(3, (5, 1))).shape == (5, 4)
    assert kl_divergence(HypersphericalUniform(3, (5, 1)), q).shape == (5, 4)
    uniforms = kl_divergence(HypersphericalUniform(3, (5, 1)), HypersphericalUniform(3, (4,)))
    assert uniforms.shape == (5, 4)
    assert not uniforms.any()
    power = PowerSpherical(exact.directions(4, 3), 1.0)
    assert kl_divergence(power, HypersphericalUniform(3)).shape == (4,)
    for first, second in [
        (q, HypersphericalUniform(4)),
        (HypersphericalUniform(4), q),
        (q, VonMisesFisher(exact.directions(5), 1.0)),
        (power, HypersphericalUniform(4)),
        (HypersphericalUniform(2), HypersphericalUniform(3)),
    ]:
        with pytest.raises(ValueError, match="same sphere"):
            kl_divergence(first, second)


def test_gradients(exact):
    loc = exact.directions(2, 4)
    kappa = torch.tensor([0.6, 12.0], dtype=torch.float64, requires_grad=True)
    uniform = HypersphericalUniform(4)
    for divergence in (
        lambda k: kl_divergence(VonMisesFisher(loc, k), uniform),
        lambda k: kl_divergence(uniform, VonMisesFisher(loc, k)),
        lambda k: kl_divergence(PowerSpherical(loc, k), uniform),
        lambda k: kl_divergence(VonMisesFisher(loc, k), VonMisesFisher(loc.flip(0), k.flip(0))),
    ):
        assert torch.autograd.gradcheck(divergence, kappa)


@pytest.mark.parametrize("rows", [3, 2000])
def test_kl_after_a_sample(exact, rows):
    """A sample leaves nothing in the distribution: the KL is the same before and after."""
    uniform = HypersphericalUniform(4)

    def fresh():
        loc = exact.directions(rows, 4).requires_grad_()
        kappa = torch.linspace(0.5, 30, rows, dtype=torch.float64).requires_grad_()
        return VonMisesFisher(loc, kappa), kappa

    q, kappa = fresh()
    expected = kl_divergence(q, uniform)
    (slope,) = torch.autograd.grad(expected.sum(), kappa, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), kappa)

    q, kappa = fresh()
    before = dict(q.__dict__)
    z = q.rsample()
    assert q.__dict__ == before
    kl = kl_divergence(q, uniform)
    assert torch.equal(kl, expected)
    z.sum().backward()  # one after the other, without retain_graph
    kappa.grad = None
    kl.sum().backward()
    torch.testing.assert_close(kappa.grad, slope)

    q, kappa = fresh()
    q.rsample()
    (first,) = torch.autograd.grad(kl_divergence(q, uniform).sum(), kappa, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), kappa)  # the KL is differentiable twice
    torch.testing.assert_close(second, curvature)

    q, kappa = fresh()
    q.rsample()
    with torch.no_grad():
        assert not kl_divergence(q, uniform).requires_grad
        q.rsample()
        kappa.mul_(2)  # a step of an optimiser
    torch.testing.assert_close(
        kl_divergence(q, uniform), kl_divergence(VonMisesFisher(q.loc, kappa), uniform)
    )
    q.rsample()
    assert torch.equal(copy.deepcopy(q).concentration, kappa)
    assert torch.equal(pickle.loads(pickle.dumps(q)).concentration, kappa)


def test_changes_in_place_are_noticed(exact):
    q = VonMisesFisher(exact.directions(3, 4).requires_grad_(), torch.ones(3).double() * 2)
    q.concentration.requires_grad_()
    z = q.rsample()
    with torch.no_grad():
        z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def families(exact, dim, seed):
    loc = exact.directions(dim, seed=seed)
    return {
        "vmf": VonMisesFisher(loc, 4.0),
        "power": PowerSpherical(loc, 7.0),
        "cauchy": SphericalCauchy(loc, 0.4),
        "uniform": HypersphericalUniform(dim, dtype=torch.float64),
    }


# What has no closed form. The others are registered, and equal the mean over samples.
WITHOUT = {("vmf", "power"), ("vmf", "cauchy"), ("power", "power"), ("power", "cauchy"),
           ("cauchy", "power")}  # fmt: skip


@pytest.mark.parametrize("dim", [2, 3, 12])
@pytest.mark.parametrize("second", ["vmf", "power", "cauchy", "uniform"])
@pytest.mark.parametrize("first", ["vmf", "power", "cauchy", "uniform"])
def test_every_pair_has_a_closed_form_or_an_estimate(exact, first, second, dim):
    """48 pairs at 5.2 standard errors: a false alarm in 1e-5 runs at new seeds."""
    p, q = families(exact, dim, 0)[first], families(exact, dim, 1)[second]
    generator = torch.Generator().manual_seed(0)
    estimate = kl_monte_carlo(p, q, 40_000, generator=generator)
    assert estimate.value >= -5 * estimate.error
    if (first, second) in WITHOUT:
        with pytest.raises(NotImplementedError):
            kl_divergence(p, q)
        return
    room = 5.2 * estimate.error.item() + 1e-12
    assert kl_divergence(p, q).item() == pytest.approx(estimate.value.item(), abs=room)


@pytest.mark.parametrize("first", ["vmf", "cauchy", "power"])
def test_estimate_against_quadrature_on_the_circle(exact, first):
    """Its value within 5 of its own standard errors, which fall as stated; gradients reach both."""
    p, q = families(exact, 2, 0)[first], families(exact, 2, 1)["power"]
    angle = torch.arange(20_000, dtype=torch.float64) * (2 * math.pi / 20_000)
    circle = torch.stack((angle.cos(), angle.sin()), -1)
    density = p.log_prob(circle)
    truth = (density.exp() * (density - q.log_prob(circle))).sum() * (2 * math.pi / 20_000)
    few, many = (
        kl_monte_carlo(p, q, n, generator=torch.Generator().manual_seed(1)) for n in (4000, 64_000)
    )
    assert abs(many.value - truth) < 5 * many.error
    assert abs(few.value - truth) < 5 * few.error
    assert many.error.item() == pytest.approx(few.error.item() / 4, rel=0.3)
    kappa = torch.tensor([3.0, 7.0], dtype=torch.float64, requires_grad=True)
    kl_monte_carlo(p, PowerSpherical(q.loc, kappa), 100).value.sum().backward()
    assert kappa.grad.isfinite().all()


def test_estimate_refuses_what_it_cannot_do(exact):
    p = VonMisesFisher(exact.directions(3), 1.0)
    for wrong in (1, 0, 2.5, torch.inf, "many", None):
        with pytest.raises(ValueError, match=f"whole number `samples` of at least 2, got {wrong}"):
            kl_monte_carlo(p, p, wrong)
    with pytest.raises(ValueError, match="event shapes"):
        kl_monte_carlo(p, HypersphericalUniform(4))


@pytest.mark.parametrize("cls", [VonMisesFisher, PowerSpherical, SphericalCauchy])
def test_batches_that_do_not_broadcast_are_named(cls):
    p, q = cls(torch.eye(3), torch.full((3,), 0.5)), cls(torch.eye(3)[:2], torch.full((2,), 0.5))
    with pytest.raises(ValueError, match=r"^kl_monte_carlo: expected batch shapes that broadcast"):
        kl_monte_carlo(p, q, 10)
    vmf = VonMisesFisher(q.loc, q.concentration)
    broadcast = r"^(kl_divergence|vmf_kl): expected .*shapes that broadcast"
    with pytest.raises((ValueError, RuntimeError), match=broadcast):
        kl_divergence(p, vmf)
    if cls is SphericalCauchy:
        with pytest.raises(ValueError, match=r"^kl_divergence: expected batch shapes"):
            kl_divergence(p, q)


@pytest.mark.filterwarnings("error")
def test_monte_carlo_of_an_empty_batch():
    p = VonMisesFisher(torch.ones(0, 3), torch.ones(0))
    value, error = kl_monte_carlo(p, HypersphericalUniform(3), 5)
    assert value.shape == error.shape == (0,)
