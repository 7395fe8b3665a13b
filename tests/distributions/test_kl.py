# SPDX-License-Identifier: MIT
"""The registered divergences against mpmath, quadrature and the closed form on S^2."""

import copy
import math
import pickle

import mpmath
import pytest
import torch
from torch.distributions import kl_divergence

from svmf.distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher


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
