# SPDX-License-Identifier: MIT
"""How many proposals a sample takes: the paper's table, the exact acceptance probability, and its
smallest value.

The paper's entries are means of 1000 draws; ours are compared at 4.5 standard errors of both (a
false alarm in 45 entries: 3e-4 at a new seed; the seed is fixed). Against the exact probability the
suite's rate of helpers/gof.py holds.
"""

import itertools
import math

import numpy
import pytest
import scipy.stats
from helpers import gof
from helpers.vmf_exact import acceptance_probability, angle_of, cosine_distribution

from reproduction.paper import TABLE5, TABLE5_KAPPAS

PAPER_DRAWS = 1000
DRAWS = 200_000


def proposals(math_module, suffix: str, seed: int, kappa: float, m: int, n: int):
    return getattr(math_module, f"wood_proposals_{suffix}")(seed, kappa, m, n)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize("d", TABLE5)
def test_expected_number_of_proposals(svmf_math, d, suffix):
    for kappa, published in zip(TABLE5_KAPPAS, TABLE5[d], strict=True):
        _, _, accepted = proposals(svmf_math, suffix, 50_000 + kappa, kappa, d + 1, DRAWS)
        rate = acceptance_probability(d + 1, kappa)
        p_value = scipy.stats.binomtest(int(accepted.sum()), DRAWS, rate).pvalue
        gof.require(p_value, f"acceptance at d={d} kappa={kappa} {suffix}")
        # The number of proposals is geometric: mean 1/rate, variance (1 - rate)/rate^2.
        ours = 1 / accepted.mean()
        error = math.sqrt((1 - rate) * (1 / PAPER_DRAWS + 1 / DRAWS)) / rate
        rounding = 5e-4
        assert abs(ours - published) <= 4.5 * error + rounding, (d, kappa)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize(("m", "kappa"), [(2, 1e6), (4, 3.0), (10, 12.0), (500, 100.0)])
def test_accepted_proposals_follow_the_distribution(svmf_math, m, kappa, suffix):
    below, above, accepted = proposals(svmf_math, suffix, 60_000, kappa, m, DRAWS)
    uniform = cosine_distribution(m, kappa).cdf(angle_of(below, above)[accepted])
    gof.require(gof.kolmogorov_smirnov(uniform), f"accepted w at m={m} kappa={kappa} {suffix}")


def test_smallest_acceptance_probability():
    """csrc/math/wood.h: the probability falls with kappa, and its smallest limit, sqrt(e/(2 pi)),
    is that of m = 2."""
    kappas = [0.0, *numpy.logspace(-3, 12, 61)]
    smallest = math.sqrt(math.e / (2 * math.pi))
    for m in (2, 3, 4, 5, 6, 8, 10, 17, 33, 64, 100, 1000, 10_000, 1_000_000):
        rates = [acceptance_probability(m, kappa) for kappa in kappas]
        assert all(after <= before + 1e-12 for before, after in itertools.pairwise(rates))
        assert min(rates) >= smallest * (1 - 1e-12)
    assert acceptance_probability(2, 1e12) == pytest.approx(smallest, rel=1e-9)
