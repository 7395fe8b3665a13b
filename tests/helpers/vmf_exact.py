# SPDX-License-Identifier: MIT
"""Exact values about w = mu.z of a vMF distribution, by quadrature in float64 or by mpmath. Nothing
of svmf is used.

Everything is done in the angle a between z and mu: its density, proportional to exp(kappa (cos a -
1)) sin(a)^(m-2), is smooth for every m >= 2, and small angles keep their digits when kappa is huge.
"""

import functools
from collections.abc import Callable

import mpmath
import numpy
import scipy.interpolate
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

Array = NDArray[numpy.float64]

# The density is followed down to exp(-_DROP) of its mode; what lies beyond has a mass below 1e-25.
_DROP = 60.0
_PANELS = 2048
_NODES, _WEIGHTS = numpy.polynomial.legendre.leggauss(8)


def angle_of(below: ArrayLike, above: ArrayLike) -> Array:
    """The angle a from 1-w = 2 sin(a/2)^2 and 1+w = 2 cos(a/2)^2."""
    low, high = numpy.asarray(below, numpy.float64), numpy.asarray(above, numpy.float64)
    return 2 * numpy.arctan2(numpy.sqrt(low), numpy.sqrt(high))


class CosineDistribution:
    """The distribution of w = mu.z for z ~ vMF(mu, kappa) on S^(m-1); kappa = 0 is the uniform
    distribution."""

    def __init__(self, dim: int, kappa: float):
        self.dim, self.kappa = dim, kappa
        low, high = self.support = self._support()
        edges = numpy.linspace(low, high, _PANELS + 1)
        half = numpy.diff(edges)[:, None] / 2
        self._angle = (edges[:-1, None] + half) + half * _NODES  # [panel, node]
        density = numpy.exp(self._log_density(self._angle))
        mass = density * _WEIGHTS * half
        upto = numpy.concatenate([[0.0], numpy.cumsum(mass.sum(1))])
        self._mass = mass / upto[-1]
        slope = numpy.exp(self._log_density(edges)) / upto[-1]
        self._cdf_of_angle = scipy.interpolate.CubicHermiteSpline(edges, upto / upto[-1], slope)

    def _mode(self) -> float:
        """Where the density in the angle is largest: kappa sin^2 = (m-2) cos."""
        n = self.dim - 2
        # 1 - cos at the root of kappa (1 - c^2) = n c, in the form that does not cancel.
        root = numpy.hypot(2 * self.kappa, n)
        cosine = 2 * self.kappa / (n + root) if root > 0 else 1.0
        complement = 2 * n / (n + 2 * self.kappa + root) if root > 0 else 0.0
        return float(angle_of(complement, 1 + cosine))

    def _log_density(self, angle: ArrayLike) -> Array:
        """Log density in the angle, zero at the mode."""
        a, mode, n = numpy.asarray(angle, numpy.float64), self._mode(), self.dim - 2
        # cos a - cos mode = -2 sin((a+mode)/2) sin((a-mode)/2)
        value = -2 * self.kappa * numpy.sin((a + mode) / 2) * numpy.sin((a - mode) / 2)
        if n == 0:
            return value
        with numpy.errstate(divide="ignore"):
            # sin a / sin mode = 1 + (sin a - sin mode)/sin mode
            change = 2 * numpy.cos((a + mode) / 2) * numpy.sin((a - mode) / 2) / numpy.sin(mode)
            return value + n * numpy.log1p(numpy.maximum(change, -1.0))

    def _support(self) -> tuple[float, float]:
        mode, ends = self._mode(), [0.0, numpy.pi]
        for i, end in enumerate(ends):
            if self._log_density(end) < -_DROP:
                low, high = sorted((mode, end))
                ends[i] = scipy.optimize.brentq(
                    lambda a: max(self._log_density(a), -1e9) + _DROP, low, high, xtol=1e-14 * high
                )
        return ends[0], ends[1]

    def cdf(self, angle: ArrayLike) -> Array:
        """P(angle <= a), which is P(w >= cos a)."""
        a = numpy.clip(numpy.asarray(angle, numpy.float64), *self.support)
        return numpy.clip(self._cdf_of_angle(a), 0.0, 1.0)

    def expectation(self, f: Callable[[Array, Array], Array]) -> float:
        """E[f(1-w, w)]: f gets 1-w without cancellation beside w."""
        below = 2 * numpy.sin(self._angle / 2) ** 2
        return float((self._mass * f(below, numpy.cos(self._angle))).sum())

    def moments_of_below(self) -> tuple[float, float, float]:
        """Mean and variance of 1-w, and E[1-w^2]."""
        mean = self.expectation(lambda t, w: t)
        variance = self.expectation(lambda t, w: (t - mean) ** 2)
        return mean, variance, self.expectation(lambda t, w: t * (2 - t))

    def expectation_slope(self, f: Callable[[Array, Array], Array]) -> float:
        """d/dkappa E[f] = Cov(f, w)."""
        mean_f = self.expectation(f)
        mean_below = self.expectation(lambda t, w: t)
        return self.expectation(lambda t, w: (f(t, w) - mean_f) * (mean_below - t))


@functools.lru_cache(maxsize=256)
def cosine_distribution(dim: int, kappa: float) -> CosineDistribution:
    return CosineDistribution(dim, kappa)


@mpmath.workdps(40)
def mean_length(dim: int, kappa: float) -> mpmath.mpf:
    """A_m(kappa) = I_(m/2)/I_(m/2-1)."""
    if kappa == 0:
        return mpmath.mpf(0)
    half = mpmath.mpf(dim) / 2
    return mpmath.besseli(half, kappa) / mpmath.besseli(half - 1, kappa)


@mpmath.workdps(40)
def mean_length_slope(dim: int, kappa: float) -> float:
    """A'_m(kappa) = 1 - A^2 - (m-1) A/kappa."""
    if kappa == 0:
        return 1 / dim
    a = mean_length(dim, kappa)
    return float(1 - a * a - (dim - 1) * a / mpmath.mpf(kappa))


@mpmath.workdps(40)
def exponential_mean_slope(dim: int, kappa: float, along: float, across: float) -> float:
    """d/dkappa E[exp(c.z)] for c with the component `along` mu and the length `across` in the
    tangent plane.

    E[exp(c.z)] = C_m(kappa)/C_m(|kappa mu + c|), the ratio of the normalisers of the density.
    """
    order = mpmath.mpf(dim) / 2 - 1

    def log_c(r: mpmath.mpf) -> mpmath.mpf:
        return order * mpmath.log(r) - mpmath.log(mpmath.besseli(order, r))

    k = mpmath.mpf(kappa)
    r = mpmath.sqrt((k + along) ** 2 + mpmath.mpf(across) ** 2)
    slope = mean_length(dim, r) * (k + along) / r - mean_length(dim, k)
    return float(mpmath.exp(log_c(k) - log_c(r)) * slope)


def acceptance_probability(dim: int, kappa: float) -> float:
    """Probability that a proposal of Wood's sampler is accepted, by quadrature over eps = sin(t)^2.

    eps ~ Beta(nu, nu) has the density proportional to (sin t cos t)^(2 nu - 1) in t, and a proposal
    is accepted with probability exp(2 nu (x + log(1-x))), x = kappa (1 - 2 eps)/((s + kappa + nu)
    D), D = (1-eps) + b eps.
    """
    nu = (dim - 1) / 2
    s = numpy.hypot(nu, kappa)
    b = nu / (s + kappa)
    # The Beta density is negligible farther than this from eps = 1/2.
    reach = min(numpy.pi / 4, 8 / numpy.sqrt(2 * nu))
    edges = numpy.pi / 4 + reach * numpy.linspace(-1, 1, 401)
    half = numpy.diff(edges)[:, None] / 2
    t = (edges[:-1, None] + half) + half * _NODES
    low, high = numpy.sin(t) ** 2, numpy.cos(t) ** 2
    x = kappa * (high - low) / ((s + kappa + nu) * (high + b * low))
    weight = _WEIGHTS * half * numpy.exp((2 * nu - 1) * numpy.log(numpy.sin(2 * t)))
    accepted = numpy.exp(2 * nu * (x + numpy.log1p(-x)))
    return float((weight * accepted).sum() / weight.sum())
