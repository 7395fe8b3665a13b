# SPDX-License-Identifier: MIT
"""The flow on the sphere: maps and inverses, area factors against the Jacobian by autograd, the
density by quadrature, samples against the density."""

import math

import numpy as np
import pytest
import torch
from helpers.exact import directions

from svmf._sphere_maps import backward_maps, forward_maps, inverse_stretch, moebius, stretch
from svmf.distributions import SphereFlow, VonMisesFisher

M = [2, 3, 5, 20]


def layers_of(m, count=3, batch=(), seed=1):
    draw = torch.Generator().manual_seed(seed)
    centres = directions(*batch, count, m, seed=seed + 1) * 0.6
    stretches = torch.randn(*batch, count, m, generator=draw, dtype=torch.float64)
    return centres, stretches


def flow_of(m, kappa=5.0, count=3, seed=1, share=1.0):
    centres, stretches = layers_of(m, count, seed=seed)
    return SphereFlow(
        directions(m, seed=9), torch.tensor(kappa).double(), share * centres, share * stretches
    )


@pytest.mark.parametrize("m", M)
def test_maps_stay_on_the_sphere_and_have_inverses(m):
    z, w, v = directions(50, m), directions(m, seed=1) * 0.9, directions(m, seed=2) * 3
    y, _ = moebius(z, w)
    torch.testing.assert_close(y.norm(dim=-1), torch.ones(50).double())
    torch.testing.assert_close(moebius(y, -w)[0], z)
    y, _ = stretch(z, v)
    torch.testing.assert_close(y.norm(dim=-1), torch.ones(50).double())
    torch.testing.assert_close(inverse_stretch(y, v), z)


@pytest.mark.parametrize("m", M)
def test_zero_does_nothing(m):
    z, zero = directions(50, m), torch.zeros(m).double()
    for step in (moebius, stretch):
        y, log_area = step(z, zero)
        torch.testing.assert_close(y, z)
        torch.testing.assert_close(log_area, torch.zeros(50).double())


def tangent(z):
    """An orthonormal basis [m, m-1] of the tangent space at z [m]."""
    return torch.linalg.svd(z.unsqueeze(0))[2][1:].T


@pytest.mark.parametrize("m", M)
def test_area_factor_is_that_of_the_jacobian(m):
    """The derivative from one tangent space to the other, by autograd, in any m."""
    centres, stretches = layers_of(m)
    steps = {
        "moebius": lambda z: moebius(z, centres[0]),
        "stretch": lambda z: stretch(z, stretches[0]),
        "all": lambda z: forward_maps(z, centres, stretches),
    }
    for name, step in steps.items():
        for z in directions(4, m, seed=3):
            y, log_area = step(z)
            jacobian = torch.autograd.functional.jacobian(lambda x, step=step: step(x)[0], z)
            within = tangent(y).T @ jacobian @ tangent(z)
            expected = torch.linalg.slogdet(within).logabsdet
            torch.testing.assert_close(log_area, expected, msg=name)


@pytest.mark.parametrize("m", M)
def test_backward_undoes_forward(m):
    layers = layers_of(m, batch=(7,))
    z = directions(4, 7, m)
    y, log_area = forward_maps(z, *layers)
    back, again = backward_maps(y, *layers)
    torch.testing.assert_close(back, z)
    torch.testing.assert_close(again, log_area)


def test_moebius_maps_alone_are_one_moebius_map_and_a_rotation():
    """Why a layer has a stretch as well: a conformal map of a uniform law is a spherical Cauchy law
    whatever the number of layers, so the area factor of two has the form of one."""
    z, (w1, w2) = directions(200, 4), layers_of(4)[0][:2]
    y, first = moebius(z, w1)
    _, second = moebius(y, w2)
    # 1 / ratio is affine in z for one Moebius map: |z - w|^2 / (1 - |w|^2)
    inverse = (-(first + second) / 3).exp()
    features = torch.cat([torch.ones(200, 1).double(), z], -1)
    solution = torch.linalg.lstsq(features, inverse.unsqueeze(-1)).solution
    torch.testing.assert_close((features @ solution).squeeze(-1), inverse)


def test_density_integrates_to_one_on_the_circle():
    angle = (torch.arange(20_000).double() + 0.5) * (2 * math.pi / 20_000)
    z = torch.stack([angle.cos(), angle.sin()], -1)
    for seed in range(3):
        total = flow_of(2, seed=seed).log_prob(z).exp().mean() * 2 * math.pi
        assert float(total) == pytest.approx(1, abs=1e-9)


def test_density_integrates_to_one_on_the_sphere():
    """Gauss-Legendre in the height, equal steps in the angle; for peaks that so many nodes resolve
    (a density of 8,000, as seed 0 has with its whole layers, needs more)."""
    nodes, weights = map(torch.from_numpy, np.polynomial.legendre.leggauss(400))
    angle = torch.arange(800).double() * (2 * math.pi / 800)
    radius = (1 - nodes.square()).sqrt()
    x, y = radius[:, None] * angle.cos(), radius[:, None] * angle.sin()
    z = torch.stack([x, y, nodes[:, None].expand_as(x)], -1)
    for seed, share in ((0, 0.5), (1, 0.5), (1, 1.0), (2, 1.0)):
        density = flow_of(3, seed=seed, share=share).log_prob(z).exp()
        total = (density.sum(1) * weights).sum() * (2 * math.pi / 800)
        assert float(total) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("m", M)
def test_samples_have_the_density(m):
    """E_q[u(z) / q(z)] for a bounded u is its integral over the sphere, here that of the density of
    another distribution near q: 1. Five standard errors, false alarm 6e-7. Milder layers in higher
    m keep the variance of the ratio finite."""
    flow = flow_of(m, kappa=2.0, count=1, share=2 / m)
    centre = flow.sample((2000,), generator=torch.Generator().manual_seed(5)).mean(0)
    other = VonMisesFisher(centre / centre.norm(), torch.tensor(2.0).double())
    z = flow.sample((100_000,), generator=torch.Generator().manual_seed(6))
    ratio = (other.log_prob(z) - flow.log_prob(z)).exp()
    assert abs(float(ratio.mean()) - 1) < 5 * float(ratio.std()) / math.sqrt(len(z))


def test_samples_fill_cells_as_the_density_says():
    """Chi-square over 40 arcs of the circle, 50,000 samples, p > 1e-5; a flow without its area
    factor is found out."""
    flow = flow_of(2)
    angle = (torch.arange(40_000).double() + 0.5) * (2 * math.pi / 40_000) - math.pi
    grid = torch.stack([angle.cos(), angle.sin()], -1)
    z = flow.sample((50_000,), generator=torch.Generator().manual_seed(7))
    seen = torch.histc(torch.atan2(z[:, 1], z[:, 0]), 40, -math.pi, math.pi)

    def p_value(log_density):
        expected = log_density.exp().reshape(40, -1).sum(1)
        expected = expected / expected.sum() * len(z)
        kept = expected > 5
        statistic = ((seen - expected).square() / expected)[kept].sum()
        freedom = torch.tensor((int(kept.sum()) - 1) / 2).double()
        return float(torch.special.gammaincc(freedom, statistic / 2))

    assert p_value(flow.log_prob(grid)) > 1e-5
    back, _ = backward_maps(grid, flow.centres, flow.stretches)
    assert p_value(flow.base.log_prob(back)) < 1e-5


def test_sample_and_density_at_once():
    flow = flow_of(4)
    z, log_q = flow.rsample_log_prob((100,))
    torch.testing.assert_close(log_q, flow.log_prob(z))


def test_float32_density_by_the_inverse():
    """4 layers with centres up to 0.95 long, kappa 1000: what float32 loses on the way back."""
    draw = torch.Generator().manual_seed(0)
    centres = directions(64, 4, 3) * 0.95 * torch.rand(64, 4, 1, generator=draw).double()
    stretches = torch.randn(64, 4, 3, generator=draw)
    flow = SphereFlow(
        directions(64, 3, seed=4).float(), torch.full((64,), 1000.0), centres.float(), stretches
    )
    z, log_q = flow.rsample_log_prob((50,), generator=draw)
    error = (flow.log_prob(z) - log_q).abs()
    assert float(error.max()) < 0.03
    assert float(error.mean()) < 1e-3


def test_gradients_of_sample_and_density():
    centres, stretches = layers_of(3, 2)
    arguments = [directions(3, seed=9), torch.tensor(5.0).double(), centres, stretches]
    arguments = [argument.clone().requires_grad_() for argument in arguments]
    z = directions(4, 3, seed=8)

    def density(*parameters):
        return SphereFlow(*parameters, validate_args=False).log_prob(z)

    assert torch.autograd.gradcheck(density, arguments)
    base = z.clone().requires_grad_()
    assert torch.autograd.gradcheck(forward_maps, [base, *arguments[2:]])
    flow = SphereFlow(*arguments)
    flow.rsample((3,)).sum().backward()
    assert all(bool((argument.grad != 0).any()) for argument in arguments)


def test_shapes_and_expand():
    centres, stretches = layers_of(3, 2, batch=(4, 1))
    flow = SphereFlow(directions(5, 3), torch.tensor(2.0).double(), centres, stretches)
    assert (flow.batch_shape, flow.event_shape) == ((4, 5), (3,))
    assert flow.rsample((2,)).shape == (2, 4, 5, 3)
    assert flow.log_prob(directions(3)).shape == (4, 5)
    wider = flow.expand((6, 4, 5))
    z = directions(3)
    torch.testing.assert_close(wider.log_prob(z), flow.log_prob(z).expand(6, 4, 5))


@pytest.mark.parametrize(
    ("centres", "stretches", "message"),
    [
        (torch.zeros(3), torch.zeros(1, 3), r"`centres` of shape \[..., layers, 3\], got \[3\]"),
        (torch.zeros(1, 3), torch.zeros(1, 4), "`stretches` of shape"),
        (torch.zeros(1, 3), torch.zeros(2, 3), "as many `centres` as `stretches`, got 1 and 2"),
        (torch.ones(1, 3), torch.zeros(1, 3), "`centres` to hold points inside the unit ball"),
        (torch.zeros(1, 3), torch.full((1, 3), torch.inf), "`stretches` to hold finite values"),
    ],
)
def test_errors(centres, stretches, message):
    with pytest.raises(ValueError, match=message):
        SphereFlow(torch.eye(3)[0], 1.0, centres, stretches, validate_args=True)
