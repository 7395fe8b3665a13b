# SPDX-License-Identifier: MIT
"""The functions of kappa of the power spherical distribution (csrc/math/power_spherical.h) and the
pathwise derivative of its cosine (csrc/math/power_spherical_pathwise.h) against mpmath."""

import functools

import mpmath as mp
import numpy
import pytest
import torch

import svmf.functional as F

ops = torch.ops.svmf
DTYPES = {"float64": torch.float64, "float32": torch.float32}
LARGEST = {"float64": 1e10, "float32": 1e6}
# eps of the value; KL'' relative to L''. docs/math.md states them.
BOUNDS = {
    "power_spherical_kl_uniform": 6,
    "_power_spherical_kl_uniform_grad": 5,
    "_power_spherical_kl_uniform_grad2": 6,
    "power_spherical_log_partition": 4,
    "_power_spherical_log_partition_grad": 4,
    "_power_spherical_log_partition_grad2": 5,
    "_power_spherical_log_partition_grad3": 6,
}
PATHWISE_BOUND = 8
LOG_PROB_BOUND = 6


@functools.cache
def exact(kappa: float, m: int) -> tuple[mp.mpf, ...]:
    with mp.workdps(80):
        nu, k = mp.mpf(m - 1) / 2, mp.mpf(kappa)
        a, b = nu + k, 2 * nu + k
        log_partition = mp.mpf(0)
        if kappa > 0:
            log_partition = mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(2 * nu) - mp.loggamma(nu)
        slopes = [mp.psi(i, a) - mp.psi(i, b) for i in range(3)]
        return (
            k * slopes[0] - log_partition,
            k * slopes[1],
            slopes[1] + k * slopes[2],
            log_partition,
            *slopes,
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 4, 5, 10, 12, 13, 40, 41, 100, 1001, 1_000_000])
def test_errors_are_within_the_stated_bounds(m: int, dtype: str) -> None:
    rng = numpy.random.default_rng(m)
    wide = 10 ** rng.uniform(-8, numpy.log10(LARGEST[dtype]), 25)
    kappa = numpy.array([0.0, *wide, *(m - 1) * 10 ** rng.uniform(-1, 1, 12)], dtype=dtype)
    eps = numpy.finfo(dtype).eps
    for i, (name, bound) in enumerate(BOUNDS.items()):
        values = getattr(ops, name)(torch.from_numpy(kappa), m).double().numpy()
        for k, value in zip(kappa.tolist(), values.tolist(), strict=True):
            truths = exact(k, m)
            size = abs(truths[i]) if i != 2 else max(abs(truths[2]), truths[5])
            error = abs(mp.mpf(value) - truths[i])
            assert error <= bound * eps * size, (name, k, float(error / (eps * size)))


def pathwise(below: torch.Tensor, above: torch.Tensor, kappa: torch.Tensor, m: int) -> torch.Tensor:
    """(dw/dkappa)/(1-w^2) as the backward op has it: the gradient in kappa of a sample whose
    incoming gradient along the meridian is one."""
    loc = torch.zeros(len(kappa), m, dtype=kappa.dtype)
    loc[:, 0] = 1
    state = torch.stack((below, above))
    backward = ops._power_spherical_rsample_backward
    return backward(loc, None, torch.zeros_like(loc), state, loc, kappa)[1]


def exact_pathwise(eps: mp.mpf, v: mp.mpf, kappa: float, m: int) -> mp.mpf:
    """Y/2 with Y = B(a, b) dI_eps(a, b)/db / (eps^a v^b): the derivative of the distribution
    function by central differences with 60 digits."""
    a = mp.mpf(m - 1) / 2
    b, step = a + mp.mpf(kappa), mp.mpf(10) ** -18
    if eps < 0.9:  # I_eps = eps^a v^b S/(a B), S = 2F1(a+b, 1; a+1; eps)

        def series(second: mp.mpf) -> mp.mpf:
            return mp.hyp2f1(a + second, 1, a + 1, eps)

        slope = (series(b + step) - series(b - step)) / (2 * step)
        return ((mp.log(v) - mp.digamma(b) + mp.digamma(a + b)) * series(b) + slope) / (2 * a)

    def upper(second: mp.mpf) -> mp.mpf:
        return mp.betainc(second, a, 0, v, regularized=True)

    slope = (upper(b - step) - upper(b + step)) / (2 * step)
    return slope * mp.beta(a, b) / (eps**a * v**b) / 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 4, 5, 7, 10, 20, 41, 100, 1001])
def test_pathwise_derivative_where_samples_fall(m: int, dtype: str) -> None:
    """8 eps, up to kappa = 1e6 in float32 and 1e10 in float64."""
    rng = numpy.random.default_rng(m)
    kappa = numpy.concatenate(
        [
            [0.0, LARGEST[dtype]],
            10 ** rng.uniform(-4, numpy.log10(LARGEST[dtype]), 20),
            10 ** rng.uniform(-3, 1, 10),
            m * 10 ** rng.uniform(-1, 1, 8),
        ]
    ).astype(dtype)
    first = rng.gamma((m - 1) / 2, size=kappa.size)
    second = rng.gamma((m - 1) / 2 + kappa.astype(float))
    below, above = (2 * x / (first + second) for x in (first, second))
    below, above = below.astype(dtype), above.astype(dtype)
    ours = pathwise(*map(torch.from_numpy, (below, above, kappa)), m).double().tolist()
    unit = numpy.finfo(dtype).eps
    for i, k in enumerate(kappa.tolist()):
        with mp.workdps(60):
            near = below[i] < above[i]
            part = mp.mpf(float(below[i] if near else above[i])) / 2
            truth = exact_pathwise(*((part, 1 - part) if near else (1 - part, part)), k, m)
            error = abs(mp.mpf(ours[i]) - truth) / (unit * abs(truth))
        assert error <= PATHWISE_BOUND, (k, float(part), float(error))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pathwise_derivative_on_the_sphere_in_closed_form(dtype: str) -> None:
    """m = 3: 1-eps = u^(1/(1+kappa)), so d eps/dkappa = (1-eps) log(1-eps)/(1+kappa)."""
    kappa = torch.logspace(-3, numpy.log10(LARGEST[dtype]), 200, dtype=torch.float64)
    kappa = kappa.to(DTYPES[dtype])
    generator = torch.Generator().manual_seed(0)
    u = torch.rand(200, generator=generator, dtype=torch.float64)
    eps = -torch.expm1(u.log() / (1 + kappa.double()))
    below = (2 * eps).to(kappa.dtype)
    above = torch.where(below < 1, 2 - below.double(), 2 * (1 - eps)).to(kappa.dtype)
    eps = torch.where(below < above, below.double() / 2, 1 - above.double() / 2)
    exactly = -torch.log1p(-eps) / (2 * eps * (1 + kappa.double()))
    rtol = PATHWISE_BOUND * torch.finfo(kappa.dtype).eps + 1e-14
    torch.testing.assert_close(
        pathwise(below, above, kappa, 3).double(), exactly, rtol=rtol, atol=0
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 10, 300])
def test_log_prob(m: int, dtype: str) -> None:
    generator = torch.Generator().manual_seed(m)
    normal = torch.randn(40, m, generator=generator, dtype=torch.float64)
    loc = torch.nn.functional.normalize(normal, dim=-1).to(DTYPES[dtype])
    kappa = torch.logspace(-2, 5, 40, dtype=torch.float64).to(DTYPES[dtype])
    value = F.power_spherical_rsample(loc, kappa, generator=generator)
    value[1::5] = loc[1::5]
    ours = F.power_spherical_log_prob(value, loc, kappa).double()
    unit = numpy.finfo(dtype).eps
    for i in range(40):
        with mp.workdps(40):
            k = mp.mpf(kappa[i].item())
            pairs = list(zip(value[i].tolist(), loc[i].tolist(), strict=True))
            to_pole = mp.fsum((mp.mpf(a) - mp.mpf(b)) ** 2 for a, b in pairs)
            to_other = mp.fsum((mp.mpf(a) + mp.mpf(b)) ** 2 for a, b in pairs)
            half = 1 - to_pole / 4 if to_pole <= to_other else to_other / 4
            area = mp.log(2) + mp.mpf(m) / 2 * mp.log(mp.pi) - mp.loggamma(mp.mpf(m) / 2)
            log_partition = exact(kappa[i].item(), m)[3]
            truth = k * mp.log(half) - log_partition - area
            size = abs(k * mp.log(half)) + abs(log_partition) + abs(area)
            assert abs(mp.mpf(ours[i].item()) - truth) <= LOG_PROB_BOUND * unit * size, (i, k)
