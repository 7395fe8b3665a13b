# SPDX-License-Identifier: MIT
"""The functions of rho of the spherical Cauchy distribution (csrc/math/spherical_cauchy.h) against
mpmath: sums of the hypergeometric series with 60 digits, which in turn are held to quadrature."""

import functools

import mpmath as mp
import numpy
import pytest
import torch

import svmf.functional as F

ops = torch.ops.svmf
DTYPES = {"float64": torch.float64, "float32": torch.float32}
# eps of the value; of the sum of its terms' sizes for the last. docs/math.md states them.
BOUNDS = {
    "spherical_cauchy_kl_uniform": 5,
    "_spherical_cauchy_kl_uniform_grad": 4,
    "_spherical_cauchy_kl_uniform_grad2": 5,
    "spherical_cauchy_mean_length": 4,
    "_spherical_cauchy_mean_length_grad": 8,
    "_spherical_cauchy_mean_length_grad2": 64,
}
LOG_PROB_BOUND = 6


def log_mean_distance(x: mp.mpf, q2: mp.mpf, h: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """KL/(m-1) and phi/q^2 by their series in q^2; by the recurrence from m = 2 or 3 near 1."""
    if q2 < 0.9 or h > 100:
        total, psi, n, term = mp.mpf(0), mp.mpf(0), 1, mp.mpf(1)
        while term > mp.mpf(10) ** -60:
            a = (n - mp.mpf(1) / 2) / (h + n)
            psi += term * a
            term *= a * q2
            total += term / n
            n += 1
        return mp.log((1 + x) / (1 - x)) - total / 2, psi
    even = h == int(h)
    order = mp.mpf(0) if even else mp.mpf(1) / 2
    q, tau2 = mp.sqrt(q2), 1 - q2
    phi = 1 / mp.sqrt(tau2) - 1 if even else mp.atanh(q) / q - 1
    kl = -mp.log(1 - x) if even else phi
    while order < h:
        phi = (mp.mpf(1) / 2 - (order + 1) * tau2 / q2 * phi) / (order + mp.mpf(1) / 2)
        order += 1
        kl += phi / (2 * order)
    return kl, phi / q2


@functools.cache
def exact(rho: float, m: int) -> tuple[tuple[mp.mpf, ...], mp.mpf]:
    """The six functions, and the size of the last one's terms."""
    with mp.workdps(100):
        r = mp.mpf(rho)
        x, h = r * r, mp.mpf(m) / 2 - 1
        q = 2 * r / (1 + x)
        q2, tau2 = q * q, ((1 - x) / (1 + x)) ** 2
        if rho == 0:
            zero, slope = mp.mpf(0), mp.mpf(2) * (m - 1) / m
            return (zero, zero, 2 * (m - 1) * slope, zero, slope, zero), mp.mpf(1)
        kl, psi = log_mean_distance(x, q2, h)
        # (1 - Q) Q f' = Q f/2 - h (f - 1)
        slope = ((q2 * (1 + q2 * psi) / 2 - h * q2 * psi) / tau2 / q2 - psi) / q2
        mean, across = q * (1 - tau2 * psi), tau2 * psi
        scale = 4 * (m - 1) * r / (1 + x) ** 3
        return (
            (m - 1) * kl,
            2 * (m - 1) * mean / (1 - x),
            4 * (m - 1) * ((m - 1) * across + r * mean) / (1 - x) ** 2,
            mean,
            2 * (m - 1) * across / (1 - x),
            scale * (4 * tau2 * slope - (3 - x) * psi),
        ), scale * (3 - x) * psi


def rhos(dtype: str, m: int) -> numpy.ndarray:
    rng = numpy.random.default_rng(m)
    near_one = 1 - 10.0 ** rng.uniform(-7 if dtype == "float32" or m > 200 else -15, -1, 8)
    values = [0.0, 1e-12, 1e-6, *rng.uniform(0, 1, 10), *rng.uniform(0.4, 0.7, 10), *near_one]
    return numpy.array(values, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7, 9, 10, 20, 41, 63, 64, 65, 100, 1001, 1_000_000])
def test_errors_are_within_the_stated_bounds(m: int, dtype: str) -> None:
    rho = rhos(dtype, m)
    eps = numpy.finfo(dtype).eps
    for i, (name, bound) in enumerate(BOUNDS.items()):
        values = getattr(ops, name)(torch.from_numpy(rho), m).double().numpy()
        for r, value in zip(rho.tolist(), values.tolist(), strict=True):
            truths, terms = exact(r, m)
            size = abs(truths[i]) if i < 5 else max(abs(truths[i]), terms)
            error = abs(mp.mpf(value) - truths[i])
            assert error <= bound * eps * size, (name, r, float(error / (eps * size)))


@pytest.mark.parametrize("m", [2, 3, 5, 10, 61])
@pytest.mark.parametrize("rho", [0.01, 0.5, 0.93])
def test_the_series_are_the_means_over_uniform_vectors(m: int, rho: float) -> None:
    """What `exact` sums, by quadrature over the angle of the uniform vector."""
    with mp.workdps(30):
        r = mp.mpf(rho)
        q = 2 * r / (1 + r * r)
        cuts = [0, 1, 1.4, 1.6, 1.8, 2.2, 2.7, mp.pi]
        total = mp.quad(lambda t: mp.sin(t) ** (m - 2), cuts)

        def mean(f):
            return mp.quad(lambda t: mp.sin(t) ** (m - 2) * f(mp.cos(t)), cuts) / total

        kl = (m - 1) * (mean(lambda c: mp.log(1 + r * r + 2 * r * c)) - mp.log(1 - r * r))
        w = mean(lambda c: (c + q) / (1 + q * c))
        across = mean(lambda c: 1 - ((c + q) / (1 + q * c)) ** 2)
        truths, _ = exact(rho, m)
        for ours, theirs in (
            (truths[0], kl),
            (truths[3], w),
            (truths[4] * (1 - r * r) / 2, across),
        ):
            assert abs(ours - theirs) < 1e-15 * abs(theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 10, 300])
def test_log_prob(m: int, dtype: str) -> None:
    """Relative to the largest of the value, m - 1 times the log of the largest ratio, and what the
    rounding of |z - mu|^2 costs."""
    generator = torch.Generator().manual_seed(m)
    loc = torch.nn.functional.normalize(
        torch.randn(40, m, generator=generator, dtype=torch.float64), dim=-1
    ).to(DTYPES[dtype])
    rho = torch.linspace(0, 0.9999, 40, dtype=DTYPES[dtype])
    value = F.spherical_cauchy_rsample(loc, rho, generator=generator)
    value[::5] = -loc[::5]
    value[1::5] = loc[1::5]
    ours = F.spherical_cauchy_log_prob(value, loc, rho).double()
    eps = numpy.finfo(dtype).eps
    for i in range(40):
        with mp.workdps(40):
            r = mp.mpf(rho[i].item())
            chord = mp.fsum(
                (mp.mpf(a) - mp.mpf(b)) ** 2
                for a, b in zip(value[i].tolist(), loc[i].tolist(), strict=True)
            )
            ratio = (1 - r * r) / ((1 - r) ** 2 + r * chord)
            area = mp.log(2) + mp.mpf(m) / 2 * mp.log(mp.pi) - mp.loggamma(mp.mpf(m) / 2)
            truth = (m - 1) * mp.log(ratio) - area
            size = abs((m - 1) * mp.log(ratio)) + abs(area) + (m - 1)
            assert abs(mp.mpf(ours[i].item()) - truth) <= LOG_PROB_BOUND * eps * size, (i, float(r))
