# SPDX-License-Identifier: MIT
"""The pathwise derivative at every switch between two methods, pieces or numbers of terms, in the
bulk and in the tails, against the elementary closed form for odd m; and E[dw/dkappa] = A'(kappa)
for all m. Both lane types, with 1-w and 1+w given apart."""

import math
from functools import cache

import mpmath as mp
import numpy
import pytest

EPS = {"f32": 2.0**-23, "f64": 2.0**-52}
TYPES = {"f32": numpy.float32, "f64": numpy.float64}
BOUND = 3  # eps, as csrc/math/vmf_pathwise.h states
# float64: s = sqrt(nu^2 + kappa^2) of the expansion's beginning and of its numbers of terms
# (csrc/math/pathwise_asymptotic.h), and the kappa of the shorter set of nodes.
SWITCHES_S = (45, 72, 90, 130, 260, 1000, 3000, 20000)
SWITCH_KAPPA = 4
# float32: eighths of 2 kappa/(c + 2 kappa), c = nu + 14 (csrc/math/pathwise_fit.h).
FIT_SHIFT = 14
LEGENDRE = numpy.polynomial.legendre.leggauss(200)


def integrals(nu: int, k: mp.mpf, t: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """int p e^(kt) dt and int t p e^(kt) dt, over e^(kt), with p = (1-t^2)^(nu-1).

    int p e^(kt) = e^(kt) sum_j (-1)^j p^(j)/k^(j+1), and (t p)^(j) = t p^(j) + j p^(j-1).
    """
    p = [mp.mpf(0)] * (2 * nu - 1)  # highest power first
    for j in range(nu):
        p[-1 - 2 * j] = mp.mpf((-1) ** j * math.comb(nu - 1, j))
    # Taylor coefficients at t by repeated division: p[-1-j] becomes p^(j)(t)/j!.
    for end in range(len(p), 1, -1):
        for i in range(1, end):
            p[i] += t * p[i - 1]
    terms, factor = [], 1 / k
    for j, coefficient in enumerate(reversed(p)):
        terms.append(factor * coefficient)
        factor *= -(j + 1) / k
    total = mp.fsum(terms)
    return total, t * total - mp.fsum((j + 1) * x for j, x in enumerate(terms)) / k


@cache
def integrals_at_poles(nu: int, kappa: float) -> tuple:
    return tuple(integrals(nu, mp.mpf(kappa), mp.mpf(t)) for t in (1, -1))


def odd_dimension(dim: int, kappa: float, below: float, above: float) -> mp.mpf:
    """dw/dkappa = int_w^1 (t - A) g(t) dt / g(w). The smaller of 1-w and 1+w defines w."""
    nu = (dim - 1) // 2
    with mp.workdps(60 + 4 * nu):
        k = mp.mpf(kappa)
        w = 1 - mp.mpf(below) if below < above else mp.mpf(above) - 1
        middle = integrals(nu, k, w)
        # Relative to e^(kw).
        top, bottom = (
            [mp.exp(k * (t - w)) * x for x in pole]
            for t, pole in zip((1, -1), integrals_at_poles(nu, kappa), strict=True)
        )
        mean = (top[1] - bottom[1]) / (top[0] - bottom[0])
        upper = (top[1] - middle[1]) - mean * (top[0] - middle[0])
        return upper / (1 - w * w) ** (nu - 1)


def cosines(dim: int, kappa: float, rng, count: int, kind) -> list[tuple[float, float]]:
    """1-w and 1+w in the type, down to e^-40 of the mode of (1-w^2)^nu e^(kappa w)."""
    nu = (dim - 1) / 2
    s = math.hypot(nu, kappa)
    b = nu / (s + kappa)

    def log_density(near: float, left: bool) -> float:
        # In the coordinate of csrc/math/wood.h, whose mode is 1/2.
        eps, rest = (1 - near, near) if left else (near, 1 - near)
        x = kappa * (rest - eps) / ((s + kappa + nu) * (rest + b * eps))
        return nu * math.log(4 * eps * rest) + 2 * nu * (x + math.log1p(-x))

    pairs = []
    for i in range(count):
        left = i % 2 == 1
        depth = -40 * rng.random()
        low, high = math.log(1e-12), math.log(0.5)
        for _ in range(60):
            middle = (low + high) / 2
            if log_density(math.exp(middle), left) > depth:
                high = middle
            else:
                low = middle
        near = math.exp(high)
        eps, rest = (1 - near, near) if left else (near, 1 - near)
        below, above = (x / (rest + b * eps) for x in (2 * b * eps, 2 * rest))
        # The smaller is given in the type, the other follows by rounding.
        smaller = float(kind(min(below, above)))
        larger = float(kind(2 - smaller))
        pairs.append((smaller, larger) if below < above else (larger, smaller))
    return pairs


def switch_kappas(dim: int, dtype: str) -> list[float]:
    """kappa on both sides of every switch, next to it."""
    nu = (dim - 1) / 2
    if dtype == "f32":
        edges = [(nu + FIT_SHIFT) * i / (2 * (8 - i)) for i in range(1, 8)]
    else:
        edges = [math.sqrt(s * s - nu * nu) for s in SWITCHES_S if s > nu] + [SWITCH_KAPPA]
    kind = TYPES[dtype]
    return [float(kind(edge * (1 + sign * EPS[dtype]))) for edge in edges for sign in (-1, 1)]


@cache
def truths(dim: int, dtype: str) -> tuple:
    """kappa, 1-w, 1+w, and the truth in two parts."""
    rng = numpy.random.default_rng(dim)
    arguments = [
        (kappa, *pair)
        for kappa in switch_kappas(dim, dtype)
        for pair in cosines(dim, kappa, rng, 4, TYPES[dtype])
    ]
    values = [odd_dimension(dim, *a) for a in arguments]
    high = numpy.array([float(v) for v in values])
    low = numpy.array([float(v - mp.mpf(h)) for v, h in zip(values, high, strict=True)])
    return (*numpy.array(arguments, dtype=TYPES[dtype]).T.copy(), high, low)


@pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [3, 5, 9, 21, 41, 81])
def test_error_at_the_switches(svmf_math, dim: int, dtype: str, vector: bool) -> None:
    kappa, below, above, high, low = truths(dim, dtype)
    value = getattr(svmf_math, f"pathwise_{dtype}")(below, above, kappa, dim, vector)
    error = numpy.abs((value.astype(numpy.float64) - high) - low) / (numpy.abs(high) * EPS[dtype])
    worst = error.argmax()
    assert error[worst] <= BOUND, (kappa[worst], below[worst], above[worst])


def mean_length_slope(dim: int, kappa: float) -> float:
    """A' = 1 - A^2 - (m-1) A/kappa, with digits to spare and A from its continued fraction."""
    with mp.workdps(60):
        # The start, at a larger order, is forgotten by a factor A^2 per step; kappa <= 16 m here.
        k, order = mp.mpf(kappa), mp.mpf(dim) / 2 + 1000
        A = k / (order + mp.sqrt(order * order + k * k))
        for j in range(999, -1, -1):
            A = k / (dim + 2 * j + k * A)
        return float(1 - A * A - (dim - 1) * A / k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [2, 3, 4, 5, 10, 64, 65, 90, 1000, 10**6])
def test_mean_is_the_derivative_of_the_mean(svmf_math, dim: int, dtype: str) -> None:
    """int D g dw = dA/dkappa: Gauss-Legendre in the angle whose squared sine is Wood's eps, where
    the integrand is smooth for every m."""
    nu = (dim - 1) / 2
    x, weight = LEGENDRE
    # Up to 12 standard deviations from the mode.
    spread = min(math.pi / 4, 12 / math.sqrt(8 * nu))
    angle = math.pi / 4 + spread * x
    eps, rest = numpy.sin(angle) ** 2, numpy.cos(angle) ** 2
    for ratio in (0.01, 0.25, 2, 32):
        kappa = float(numpy.float32(ratio * nu))
        s = math.hypot(nu, kappa)
        b = nu / (s + kappa)
        scale = rest + b * eps
        below, above = 2 * b * eps / scale, 2 * rest / scale
        y = kappa * (rest - eps) / ((s + kappa + nu) * scale)
        density = (4 * eps * rest) ** (nu - 0.5) * numpy.exp(2 * nu * (y + numpy.log1p(-y)))
        kind = TYPES[dtype]
        value = getattr(svmf_math, f"pathwise_{dtype}")(
            below.astype(kind), above.astype(kind), numpy.full(x.size, kappa, kind), dim
        )
        mean = (weight * density * value).sum() / (weight * density).sum()
        # The rounding of the terms averages out in part; for large nu the powers lose nu eps.
        tolerance = 2 * EPS[dtype] + (40 + nu) * EPS["f64"]
        assert abs(mean / mean_length_slope(dim, kappa) - 1) <= tolerance, kappa
