# SPDX-License-Identifier: MIT
"""Goodness-of-fit checks with one false-alarm rate for the whole suite.

Every check ends in a p-value that is uniform (or larger) when the sampler is right. `require`
compares it with FALSE_ALARM / CHECKS, so a right sampler fails the suite, all checks together, with
a probability of at most FALSE_ALARM (Bonferroni) at a new set of seeds. Seeds are fixed, so that a
run that passed passes again.
"""

import math
from collections.abc import Callable

import numpy
import scipy.special
import scipy.stats
import torch
from numpy.typing import NDArray

Array = NDArray[numpy.float64]

FALSE_ALARM = 1e-5
# More checks than any run makes; tests/sampler/conftest.py counts them.
CHECKS = 4000
THRESHOLD = FALSE_ALARM / CHECKS


class Ledger:
    """How many checks a run has made."""

    count = 0


def require(p_value: float, what: str) -> None:
    """Fails if `p_value` is below the suite's threshold."""
    Ledger.count += 1
    assert p_value >= THRESHOLD, f"{what}: p-value {p_value:.2g} is below {THRESHOLD:.2g}"


def kolmogorov_smirnov(uniform: Array) -> float:
    """p-value that the numbers are independent and uniform on [0, 1], by their largest deviation
    from F(u) = u."""
    n = uniform.size
    ordered = numpy.sort(uniform)
    above = numpy.arange(1, n + 1) / n - ordered
    distance = max(above.max(), 1 / n - above.min())
    return float(scipy.stats.kstwo.sf(distance, n))


def tail_counts(uniform: Array, expected: float = 100.0) -> tuple[float, float]:
    """p-values of the numbers of values in the lowest and the highest `expected`/n of the
    distribution."""
    n = uniform.size
    share = expected / n
    counts = int((uniform < share).sum()), int((uniform > 1 - share).sum())
    low, high = (scipy.stats.binomtest(count, n, share).pvalue for count in counts)
    return float(low), float(high)


def mean(sample_mean: float, expected: float, variance: float, n: int) -> float:
    """Two-sided p-value of a mean of n independent values with this expectation and variance."""
    if variance == 0:
        return 1.0 if sample_mean == expected else 0.0
    return float(scipy.special.erfc(abs(sample_mean - expected) * math.sqrt(n / variance / 2)))


def uncorrelated(x: Array, y: Array) -> float:
    """p-value of the correlation of two samples that are independent under the hypothesis."""
    return float(scipy.special.erfc(abs(numpy.corrcoef(x, y)[0, 1]) * math.sqrt(x.size / 2)))


def chi_square(statistic: float, degrees: int) -> float:
    return float(scipy.stats.chi2.sf(statistic, degrees))


def fair_coin(heads: int, n: int) -> float:
    return float(scipy.stats.binomtest(heads, n, 0.5).pvalue)


def of_directions(
    z: torch.Tensor, loc: torch.Tensor, cdf_of_gap: Callable[[Array], Array]
) -> tuple[float, float]:
    """p-values of the cosine of samples z [n, m] with `loc`, by the distribution function of
    1 - mu.z, and of their direction across it, which is uniform."""
    dim = z.shape[-1]
    z, loc = z.double(), torch.nn.functional.normalize(loc.double(), dim=-1)
    gap = (z - loc).square().sum(-1) / 2
    along = scipy.stats.kstest(cdf_of_gap(gap.numpy()), "uniform").pvalue
    other = torch.nn.functional.one_hot(loc.abs().argmin(), dim).double()
    other = torch.nn.functional.normalize(other - (other @ loc) * loc, dim=-1)
    tangent = z - loc
    tangent = tangent - (tangent @ loc)[:, None] * loc
    cosine = (torch.nn.functional.normalize(tangent, dim=-1) @ other).clamp(-1, 1).numpy()
    if dim == 2:
        return along, fair_coin(int((cosine > 0).sum()), len(z))
    half = (dim - 2) / 2
    uniform = scipy.stats.beta.cdf((1 + cosine) / 2, half, half)
    return along, scipy.stats.kstest(uniform, "uniform").pvalue
