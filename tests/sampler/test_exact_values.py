# SPDX-License-Identifier: MIT
"""The quadrature that the sampler is judged by, judged itself by mpmath and by closed forms."""

import math

import mpmath
import numpy
import pytest
from helpers.vmf_exact import (
    CosineDistribution,
    acceptance_probability,
    angle_of,
    exponential_mean_slope,
    mean_length,
    mean_length_slope,
)


@pytest.mark.parametrize(
    ("m", "kappa"),
    [
        (2, 0.0),
        (2, 5.0),
        (2, 1e8),
        (3, 2.0),
        (5, 0.0),
        (10, 3.0),
        (10, 1e6),
        (500, 1e3),
        (100_000, 1e8),
    ],
)
def test_distribution_function_equals_mpmath(m, kappa):
    exact = CosineDistribution(m, kappa)
    low, high = exact.support
    mode = (low + high) / 2
    with mpmath.workdps(30):

        def density(a):
            sine = (mpmath.sin(a) / mpmath.sin(mode)) ** (m - 2)
            return sine * mpmath.exp(kappa * (mpmath.cos(a) - mpmath.cos(mode)))

        edges = numpy.linspace(low, high, 21)
        parts = [mpmath.quad(density, edges[i : i + 2].tolist()) for i in range(20)]
        expected = numpy.cumsum([float(part / sum(parts)) for part in parts])
    numpy.testing.assert_allclose(exact.cdf(edges[1:]), expected, atol=1e-10)


@pytest.mark.parametrize("kappa", [1e-3, 1.0, 30.0, 1e5])
def test_distribution_function_on_the_sphere_is_closed_form(kappa):
    t = numpy.linspace(0, 2, 101)
    closed = numpy.expm1(-kappa * t) / math.expm1(-2 * kappa)
    ours = CosineDistribution(3, kappa).cdf(angle_of(t, 2 - t))
    numpy.testing.assert_allclose(ours, closed, atol=1e-10)


@pytest.mark.parametrize(("m", "kappa"), [(2, 0.5), (3, 7.0), (10, 200.0), (500, 100.0), (50, 1e6)])
def test_moments_equal_bessel_ratios(m, kappa):
    exact = CosineDistribution(m, kappa)
    mean, variance, square = exact.moments_of_below()
    with mpmath.workdps(40):
        a = mean_length(m, kappa)
        assert mean == pytest.approx(float(1 - a), rel=1e-12)
        assert square == pytest.approx(float((m - 1) * a / kappa), rel=1e-12)
    assert variance == pytest.approx(mean_length_slope(m, kappa), rel=1e-10)
    assert exact.expectation_slope(lambda t, w: w) == pytest.approx(variance, rel=1e-10)


def test_exponential_mean_slope_along_mu_is_a_quadrature():
    slope = CosineDistribution(7, 4.0).expectation_slope(lambda t, w: numpy.exp(1.5 * w))
    assert exponential_mean_slope(7, 4.0, 1.5, 0.0) == pytest.approx(slope, rel=1e-10)


@pytest.mark.parametrize("m", [2, 3, 5, 50, 1001])
def test_acceptance_probability_has_its_limits(m):
    """1 at kappa = 0; at infinity e^nu Gamma(2 nu)/((4 nu)^nu Gamma(nu)), nu = (m-1)/2."""
    nu = (m - 1) / 2
    limit = math.exp(nu + math.lgamma(2 * nu) - math.lgamma(nu) - nu * math.log(4 * nu))
    assert acceptance_probability(m, 0.0) == pytest.approx(1, rel=1e-12)
    assert acceptance_probability(m, 1e13) == pytest.approx(limit, rel=1e-9)
