# SPDX-License-Identifier: MIT
"""High-precision values of the special functions: truth for the tests, by methods of its own.

Power series up to x = 200, Debye's uniform expansion with 72 exact terms beyond (relative error
below 1e-70 there), and tanh-sinh quadrature for the pathwise derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import mpmath as mp

BITS = 420
QUADRATURE_BITS = 240
SERIES_LIMIT = 200
DEBYE_TERMS = 72
TINY_KAPPA = mp.mpf("1e-12")


@cache
def debye_polynomials() -> list[list[int]]:
    """q_j with U_j(p) = p^j q_j(p^2) (DLMF 10.41.9), lowest power first, in units of 2^-BITS."""
    u = [Fraction(1)]
    result = []
    for j in range(DEBYE_TERMS):
        result.append([(a.numerator << BITS) // a.denominator for a in u[j::2]])
        following = [Fraction(0)] * (len(u) + 3)
        for i, a in enumerate(u):
            following[i + 1] += a * i / 2 + a / (8 * (i + 1))
            following[i + 3] -= a * i / 2 + 5 * a / (8 * (i + 3))
        u = following
    return result


def log_iv_debye(v: mp.mpf, x: mp.mpf) -> mp.mpf:
    """log I_v(x) for x > 200 and v > -2; even in v up to exp(-2x)."""
    s = mp.sqrt(v * v + x * x)
    square, inverse = int(mp.ldexp((v / s) ** 2, BITS)), int(mp.ldexp(1 / s, BITS))
    total, power, term = 0, 1 << BITS, 0
    for q in debye_polynomials():
        value = 0
        for a in reversed(q):
            value = (value * square >> BITS) + a
        term = value * power >> BITS
        total += term
        power = power * inverse >> BITS
        if abs(term) < 4:
            break
    else:
        assert abs(term) < 1 << (BITS - 235), (v, x)
    return s + v * mp.log(x / (v + s)) - mp.log(2 * mp.pi * s) / 2 + mp.log(mp.ldexp(total, -BITS))


def log_partition_and_ratio(v: mp.mpf, x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """L = log(I_v(x) Gamma(v+1) (2/x)^v) and A = I_(v+1)(x)/I_v(x), v > -1, x > 0."""
    if x > SERIES_LIMIT:
        lower, upper = log_iv_debye(v, x), log_iv_debye(v + 1, x)
        return lower - v * mp.log(x / 2) + mp.loggamma(v + 1), mp.exp(upper - lower)
    square, first = int(mp.ldexp(x * x / 4, BITS)), int(mp.ldexp(v + 1, BITS))
    term, rest, numerator, n = 1 << BITS, 0, 1 << BITS, 0
    while term:
        term = term * square // ((n + 1) * (first + (n << BITS)))
        n += 1
        rest += term
        numerator += term * first // (first + (n << BITS))
    value = mp.ldexp(rest, -BITS)
    return mp.log1p(value), x / (2 * (v + 1)) * mp.ldexp(numerator, -BITS) / (1 + value)


@mp.workprec(BITS)
def vmf_values(dim: int, kappa: float) -> dict[str, mp.mpf]:
    """The functions of kappa that belong to the vMF distribution in R^dim."""
    m, k = mp.mpf(dim), mp.mpf(kappa)
    log_surface = mp.log(2) + m / 2 * mp.log(mp.pi) - mp.loggamma(m / 2)
    if k < TINY_KAPPA:
        # Taylor series; what is left out is below k^6 < 1e-70 of each value.
        a1, a3, a5 = 1 / m, -1 / (m**2 * (m + 2)), 2 / (m**3 * (m + 2) * (m + 4))
        A = k * (a1 + k**2 * (a3 + k**2 * a5))
        dA = a1 + k**2 * (3 * a3 + 5 * k**2 * a5)
        d2A = k * (6 * a3 + 20 * k**2 * a5)
        L = k**2 * (a1 / 2 + k**2 * (a3 / 4 + k**2 * a5 / 6))
    else:
        L, A = log_partition_and_ratio(m / 2 - 1, k)
        dA = 1 - A * A - (m - 1) * A / k
        d2A = -2 * A * dA - (m - 1) * (dA / k - A / k**2)
    KL = k * A - L
    return {
        "A": A,
        "one_minus_A": 1 - A,
        "dA": dA,
        "d2A": d2A,
        "KL": KL,
        "dKL": k * dA,
        "d2KL": dA + k * d2A,
        "L": L,
        "logC": -log_surface - L,
        "entropy": log_surface - KL,
    }


@mp.workprec(BITS)
def bessel_values(order: float, argument: float) -> dict[str, mp.mpf]:
    """log I_v, log(e^-x I_v), I_v/I_(v-1) and x d/dx log I_v."""
    v, x = mp.mpf(order), mp.mpf(argument)
    L, A = log_partition_and_ratio(v, x)
    log_iv = L + v * mp.log(x / 2) - mp.loggamma(v + 1)
    # I_(-1) = I_1.
    ratio = 1 / A if v == 0 else log_partition_and_ratio(v - 1, x)[1]
    return {"log_iv": log_iv, "log_ive": log_iv - x, "iv_ratio": ratio, "slope": v + x * A}


# Of e^(-x cosh t + v t), relative to the largest: what is below e^-110 does not count.
LOG_CUT = 110


def _reach(log_weight: Callable[[mp.mpf], mp.mpf], direction: int) -> mp.mpf:
    """Where a weight that falls from 0 on has become negligible."""
    high = mp.mpf("1e-9")
    while log_weight(direction * high) > -LOG_CUT:
        high *= 2
    low = high / 2
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if log_weight(direction * middle) > -LOG_CUT else (low, middle)
    return high


@mp.workprec(QUADRATURE_BITS)
def bessel_k_values(order: float, argument: float) -> dict[str, mp.mpf]:
    """log K_v, log(e^x K_v), its derivatives in x, and d/dv of log K_v and of log I_v.

    2 K_v = int e^(-x cosh t + v t) dt by the trapezoidal rule about the largest weight, t =
    asinh(v/x) + u; the derivatives are mean and variance of cosh t and mean of t.
    """
    v, x = mp.mpf(order), mp.mpf(argument)
    s, peak = mp.sqrt(v * v + x * x), mp.asinh(v / x)

    def log_weight(u: mp.mpf) -> mp.mpf:
        return -2 * s * mp.sinh(u / 2) ** 2 - v * (mp.sinh(u) - u)

    step = mp.mpf(min(0.06, 0.3 / math.sqrt(s)))
    first = -int(_reach(log_weight, -1) / step) - 1
    last = int(_reach(log_weight, 1) / step) + 1
    total = C1 = C2 = order_sum = mp.mpf(0)
    for i in range(first, last + 1):
        u = i * step
        weight, t = mp.exp(log_weight(u)), peak + u
        C = 2 * mp.sinh(t / 2) ** 2
        total += weight
        C1 += weight * C
        C2 += weight * C * C
        order_sum += weight * t
    log_kv = -s + v * peak + mp.log(total * step / 2)
    return {
        "log_kv": log_kv,
        "log_kve": log_kv + x,
        "slope": -C1 / total,
        "bend": C2 / total - (C1 / total) ** 2,
        "kv_order": order_sum / total if v else mp.mpf(0),
        "iv_order": _log_iv_order_derivative(order, argument),
    }


@mp.workprec(BITS)
def _log_iv_order_derivative(order: float, argument: float) -> mp.mpf:
    """By a central difference, whose error is below 1e-40 of the value or of 1."""
    v, x = mp.mpf(order), mp.mpf(argument)
    step = mp.mpf("1e-24") * max(1, v)

    def log_iv(v: mp.mpf) -> mp.mpf:
        return log_partition_and_ratio(v, x)[0] + v * mp.log(x / 2) - mp.loggamma(v + 1)

    return (log_iv(v + step) - log_iv(v - step)) / (2 * step)


@cache
@mp.workprec(QUADRATURE_BITS)
def tanh_sinh_nodes(level: int) -> list[tuple[mp.mpf, mp.mpf, mp.mpf]]:
    """(log z, 1-z, weight) on (0, 1) with step 2^-level; level > 3 holds only the new nodes."""
    step = mp.mpf(1) / 2**level
    count = 5 * 2**level
    skip = 1 if level == 3 else 2
    nodes = []
    for i in range(-count + skip - 1, count + 1, skip):
        u = mp.pi * mp.sinh(i * step)
        z, complement = 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))
        weight = step * mp.pi * mp.cosh(i * step) * z * complement
        nodes.append((mp.log(z), complement, weight))
    return nodes


@mp.workprec(QUADRATURE_BITS)
def pathwise_derivative(dim: int, kappa: float, below: mp.mpf, above: mp.mpf) -> mp.mpf:
    """D = dw/dkappa at fixed CDF = (1/g(w)) int_w^1 (t - A) g dt, below = 1-w, above = 1+w.

    The integral runs from w to the end on w's side of A, so that the integrand has one sign.
    With t = 1 - (1-w) z the right one is (1-w) int_0^1 (1-A-(1-w)z) g(t)/g(w) dz; the left one is
    its mirror image (kappa -> -kappa, A -> -A).
    """
    m, k = mp.mpf(dim), mp.mpf(kappa)
    A = log_partition_and_ratio(m / 2 - 1, k)[1] if k > 0 else mp.mpf(0)
    right = 1 - below >= A
    if right:
        reach, other, gap, rate = below, above, 1 - A, k * below
    else:
        reach, other, gap, rate = above, below, 1 + A, -k * above
    power = (m - 3) / 2
    total, previous = mp.mpf(0), None
    for level in range(3, 10):
        new = mp.mpf(0)
        for log_z, complement, weight in tanh_sinh_nodes(level):
            z_reach = reach * (1 - complement)
            log_ratio = power * (log_z + mp.log1p(reach * complement / other))
            new += weight * (gap - z_reach) * mp.exp(log_ratio + rate * complement)
        total = new if previous is None else total / 2 + new
        if previous is not None and abs(total - previous) < abs(total) * mp.mpf(10) ** -18:
            # The error squares with each halving of the step.
            return reach * total
        previous = total
    raise ArithmeticError(f"no convergence at m={dim}, kappa={kappa}, 1-w={mp.nstr(below, 17)}")
