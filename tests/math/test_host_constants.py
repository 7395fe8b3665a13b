# SPDX-License-Identifier: MIT
"""Constants that the host works out once with more digits than a double has (csrc/math/log_gamma.h,
csrc/math/gauss_jacobi.h), on every system: long double is a double on macOS and Windows.
"""

import mpmath
import numpy
import pytest
import svmf_math

EPS = numpy.finfo(float).eps


def test_log_gamma_is_rounded_once() -> None:
    """Within 0.51 ulp relative, also next to its zeros at orders 0 and 1."""
    random = numpy.random.default_rng(3)
    orders = numpy.r_[
        random.random(1500) * 32,
        numpy.exp(-700 * random.random(300)),
        1 + random.normal(size=300) * 1e-9,
    ]
    for order in orders:
        with mpmath.workdps(350 if order < 1e-15 else 50):
            true = mpmath.loggamma(mpmath.mpf(float(order)) + 1)
            value = svmf_math.log_gamma_one_plus(float(order))
            half_ulp = numpy.spacing(abs(float(true))) / 2
            assert abs(value - true) <= 1.02 * half_ulp, order


@pytest.mark.parametrize("two_doubles", [False, True])
@pytest.mark.parametrize("m", [2, 3, 10, 33, 89])
def test_nodes_integrate_every_power_that_they_should(m: int, two_doubles: bool) -> None:
    """int_0^1 u^nu xi^k du, xi = sqrt(u), is 2/(m+1+k) for k < 2n."""
    n = 38
    nodes, weights = svmf_math.gauss_jacobi(n, m, two_doubles)
    xi = numpy.sqrt(nodes)
    for k in range(2 * n):
        assert abs(numpy.dot(weights, xi**k) * (m + 1 + k) / 2 - 1) <= (8 + k) * EPS, k


def test_both_kinds_of_numbers_give_the_same_nodes() -> None:
    for m in range(2, 90):
        for one, other in zip(
            svmf_math.gauss_jacobi(30, m, False), svmf_math.gauss_jacobi(30, m, True), strict=True
        ):
            numpy.testing.assert_allclose(one, other, rtol=EPS, atol=0)
