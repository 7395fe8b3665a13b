# SPDX-License-Identifier: MIT
"""Writes csrc/math/coefficients_small.h and coefficients_large.h: the tables behind A, KL and L.

With nu = (m-1)/2, s = sqrt(c^2 + k^2) and x = 1 - c/s, the three smooth functions (docs/math.md)

    E = 2 e s/nu,   W = (KL - nu log1p(d/(2c)))/x,   V = (L - d + nu log1p(d/(2c)))/x,   d = s - c,

are piecewise polynomials in t = x - center of the piece. m = 2..64: one table per m, fitted to
high-precision values. nu >= 32: c = nu, and each coefficient is a polynomial in h = 1/nu, made from the
exact uniform expansion in 1/nu. Integers, rationals and mpmath only, so the same bits come out everywhere.

    python tools/make_coefficients.py [--check]
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from multiprocessing import Pool
from pathlib import Path

import mpmath as mp

PRECISION = 256  # bits: KL/x is 0/0 at x = 0, and 60 bits of it are lost at the node nearest to 0
mp.mp.prec = PRECISION
MATH = Path(__file__).resolve().parents[1] / "csrc" / "math"
FUNCTIONS = ("E", "W", "V")
SMALL_DIMS = range(2, 65)
LARGE_NU = 32
ORDERS_EXACT = 21  # terms of the expansion in 1/nu; the last is below 2e-21 at nu = 32

# Share of the rounding unit eps that approximation may add: to A', 1-A, KL and L (values), and to k e'
# (slope of E), which only second derivatives need.
VALUE_BUDGET = 0.15
SLOPE_BUDGET = 0.6


@dataclass(frozen=True)
class Format:
    """A floating-point type and the pieces of [0, 1] that its tables use."""

    name: str
    bits: int
    nodes: int  # Chebyshev points per piece from which a fit starts
    small_edges: tuple[Fraction, ...]
    large_edges: tuple[Fraction, ...]
    large_terms: tuple[int, int, int]
    large_orders: int

    @property
    def eps(self) -> float:
        return 2.0 ** (1 - self.bits)

    def round(self, value: mp.mpf) -> float:
        with mp.workprec(self.bits):
            return float(+mp.mpf(value))

    def literal(self, value: mp.mpf) -> str:
        """A C++ hexadecimal literal of the value rounded once."""
        rounded = self.round(value)
        if rounded == 0:
            return "0"
        mantissa, exponent = rounded.hex().split("p")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}p{int(exponent)}" + ("f" if self.bits == 24 else "")


def edges(denominator: int, *numerators: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(n, denominator) for n in (0, *numerators, denominator))


EIGHTHS = edges(8, *range(1, 8))
# The three inner edges of float64 are those that make m = 2 and m = 3, the hardest, need fewest terms.
F64 = Format("F64", 53, 36, edges(64, 24, 41, 52), edges(4, 1, 2, 3), (13, 11, 11), 10)
F32 = Format("F32", 24, 20, EIGHTHS, EIGHTHS, (5, 4, 4), 5)


# --- High-precision values -------------------------------------------------------------------------


def log_partition_and_ratio(m: int, k: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """L = log E[exp(k w)] and A = L' for integer m, in fixed-point arithmetic."""
    bits = PRECISION + 16
    if k <= 150:
        # 0F1(; m/2; k^2/4) = sum t_n (DLMF 10.25.2); the numerator of A has t_n m/(m+2n).
        square = int(mp.ldexp(k * k, bits))
        term, rest, numerator, n = 1 << bits, 0, 1 << bits, 0
        while term:
            term = (term * square >> bits) // (2 * (n + 1) * (m + 2 * n))
            n += 1
            rest += term
            numerator += term * m // (m + 2 * n)
        rest = mp.ldexp(rest, -bits)
        return mp.log1p(rest), k / m * mp.ldexp(numerator, -bits) / (1 + rest)
    # Hankel's expansion (DLMF 10.40.1). The neglected exp(-2k) is below 1e-130.
    inverse = int(mp.ldexp(1 / k, bits))

    def hankel(twice_order: int) -> mp.mpf:
        term, total, j = 1 << bits, 0, 1
        while term:
            total += term
            factor = (2 * j - 1) ** 2 - twice_order**2
            size = abs(term * inverse * factor) // (8 * j << bits)  # rounds toward 0, so it ends
            term = size if (term > 0) == (factor > 0) else -size
            j += 1
        return mp.ldexp(total, -bits)

    v = mp.mpf(m - 2) / 2
    value = hankel(m - 2)
    log_bessel = k - mp.log(2 * mp.pi * k) / 2 + mp.log(value)
    return log_bessel - v * mp.log(k / 2) + mp.loggamma(v + 1), hankel(m) / value


def smooth_functions(m: int, c: mp.mpf, x: mp.mpf) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """E, W and V at x in (0, 1)."""
    nu = mp.mpf(m - 1) / 2
    s = c / (1 - x)
    k = c * mp.sqrt(x * (2 - x)) / (1 - x)
    L, A = log_partition_and_ratio(m, k)
    e = k * (1 - A) * (1 + A) / (2 * A) - nu
    d = s * x
    base = nu * mp.log1p(d / (2 * c))
    return 2 * e * s / nu, (k * A - L - base) / x, (L - d + base) / x


def small_center(m: int) -> mp.mpf:
    """c for small m: near the first zeros of I_v, so that the poles of E stay away from the pieces.

    A multiple of 1/64, so that c and c^2 are exact in float32 too.
    """
    if m == 2:
        return mp.mpf(2.875)
    nu = mp.mpf(m - 1) / 2
    return mp.nint(64 * (nu + mp.mpf("0.45") + mp.mpf("2.1") * mp.cbrt(nu))) / 64


# --- Chebyshev series ------------------------------------------------------------------------------


@cache
def chebyshev_points(n: int) -> list[mp.mpf]:
    return [mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]


@cache
def chebyshev_matrix(n: int) -> list[list[mp.mpf]]:
    """Takes values at chebyshev_points(n) to coefficients."""
    rows = [[2 * mp.cos(mp.pi * j * (2 * i + 1) / (2 * n)) / n for i in range(n)] for j in range(n)]
    rows[0] = [r / 2 for r in rows[0]]
    return rows


def chebyshev_series(values: list[mp.mpf]) -> list[mp.mpf]:
    return [mp.fdot(row, values) for row in chebyshev_matrix(len(values))]


def differentiate(series: list[mp.mpf]) -> list[mp.mpf]:
    """The derivative's Chebyshev coefficients (as many, the last zero)."""
    n = len(series)
    result = [mp.mpf(0)] * (n + 1)
    for j in range(n - 1, 0, -1):
        result[j - 1] = (result[j + 1] if j + 1 <= n else 0) + 2 * j * series[j]
    result[0] /= 2
    return result[:n]


def integrate(series: list[mp.mpf]) -> list[mp.mpf]:
    """The antiderivative's Chebyshev coefficients (one more), constant 0."""
    a = [2 * series[0], *series[1:], mp.mpf(0), mp.mpf(0)]
    return [mp.mpf(0)] + [(a[j - 1] - a[j + 1]) / (2 * j) for j in range(1, len(series) + 1)]


def to_monomials(series: list[mp.mpf], half_width: mp.mpf) -> list[mp.mpf]:
    """Coefficients in t = half_width * u of a Chebyshev series in u."""
    n = len(series)
    total = [mp.mpf(0)] * n
    previous, current = [0] * n, [1] + [0] * (n - 1)
    for j, a in enumerate(series):
        total = [x + a * y for x, y in zip(total, current, strict=True)]
        doubled = [0] + [2 * y for y in current[:-1]] if j else [0, 1] + [0] * (n - 2)
        following = [y - z for y, z in zip(doubled, previous, strict=False)][:n]
        previous, current = (current if j else [1] + [0] * (n - 1)), following
    return [x / half_width**j for j, x in enumerate(total)]


# --- Weighted minimax fits -------------------------------------------------------------------------
# A fit changes only the remainder that truncation leaves, which is small: doubles suffice for it. They
# are added and multiplied, never passed to the C library, so the result does not depend on the machine.

GRID = 192


@cache
def grid_values(terms: int) -> list[list[float]]:
    """T_j at GRID Chebyshev points: [point][j]."""
    points = chebyshev_points(GRID)
    return [[float(mp.chebyt(j, u)) for j in range(terms)] for u in points]


def evaluate_on_grid(series: list[float]) -> list[float]:
    return [
        math.fsum(a * b for a, b in zip(series, row, strict=False))
        for row in grid_values(len(series))
    ]


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination with row pivoting."""
    n = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            if factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    solution = [0.0] * n
    for i in range(n - 1, -1, -1):
        known = math.fsum(rows[i][j] * solution[j] for j in range(i + 1, n))
        solution[i] = (rows[i][n] - known) / rows[i][i]
    return solution


def alternating_extrema(error: list[float], count: int) -> list[int]:
    """Grid indices of `count` extrema of alternating sign, the largest such run."""
    runs: list[int] = []
    for i, value in enumerate(error):
        if runs and (value > 0) == (error[runs[-1]] > 0):
            if abs(value) > abs(error[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        drop = 0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1
        runs.pop(drop)
    return runs


def minimax(series: list[mp.mpf], terms: int, weight: list[float]) -> tuple[list[mp.mpf], float]:
    """`terms` Chebyshev coefficients whose error times `weight` (on the grid) is smallest (Remez).

    Returns them and that error.
    """
    scale = max(abs(a) for a in series[terms:])
    if scale == 0:
        return series[:terms], 0.0
    table = grid_values(len(series))
    tail = evaluate_on_grid([0.0] * terms + [float(a / scale) for a in series[terms:]])
    # The extrema of T_terms are where the truncated series errs most.
    reference = [round((GRID - 1) * i / terms) for i in range(terms + 1)]
    correction, best = [0.0] * terms, math.inf
    trial = correction
    for _ in range(12):
        error = [
            w * (r - math.fsum(a * b for a, b in zip(trial, row, strict=False)))
            for w, r, row in zip(weight, tail, table, strict=True)
        ]
        largest = max(abs(e) for e in error)
        if largest < best:
            correction, best = trial, largest
        if trial is not correction and largest > 4 * best:
            break
        extrema = alternating_extrema(error, terms + 1)
        if len(extrema) == terms + 1:
            if min(abs(error[i]) for i in extrema) > 0.97 * largest:
                break
            reference = extrema
        matrix = [[*table[i][:terms], (-1.0) ** n / weight[i]] for n, i in enumerate(reference)]
        trial = solve(matrix, [tail[i] for i in reference])[:terms]
    fitted = [a + scale * b for a, b in zip(series, correction, strict=False)]
    return fitted, best * float(scale)


# --- Small m ---------------------------------------------------------------------------------------


class Piece:
    """The three functions on one piece, as Chebyshev series, with the weights of their errors."""

    def __init__(self, m: int, low: Fraction, high: Fraction, nodes: int) -> None:
        self.half = mp.mpf((high - low).numerator) / (high - low).denominator / 2
        center = mp.mpf((high + low).numerator) / (high + low).denominator / 2
        c, nu = small_center(m), mp.mpf(m - 1) / 2
        values = [smooth_functions(m, c, center + self.half * u) for u in chebyshev_points(nodes)]
        self.series = [chebyshev_series([v[f] for v in values]) for f in range(3)]
        self.slope = [a / self.half for a in differentiate(self.series[0])]
        E, W, V, slope = (
            evaluate_on_grid([float(a) for a in series]) for series in (*self.series, self.slope)
        )
        x = [center + self.half * u for u in chebyshev_points(GRID)]
        with mp.workprec(64):
            rise = [z / (1 - z) for z in x]  # d/c
            log = [float(nu * mp.log1p(r / 2) / z) for r, z in zip(rise, x, strict=True)]
            rise_x = [float(c * r / z) for r, z in zip(rise, x, strict=True)]
        self.value_weight = [
            [1 / e for e in E],
            [1 / (b + w) for b, w in zip(log, W, strict=True)],
            [1 / (d - b + v) for d, b, v in zip(rise_x, log, V, strict=True)],
        ]
        # k e' is proportional to E - (1-x) dE/dx; the floor keeps the weight away from 0 at x = 1.
        p = [float(1 - z) for z in x]
        self.slope_weight = [(q + 0.005) / (e - q * g) for q, e, g in zip(p, E, slope, strict=True)]

    def fit(self, f: int, terms: int, eps: float) -> tuple[list[mp.mpf], float]:
        """Coefficients in t, and the error as a multiple of the budget."""
        if f > 0:
            fitted, error = minimax(self.series[f], terms, self.value_weight[f])
            return to_monomials(fitted, self.half), error / (VALUE_BUDGET * eps)
        slope, slope_error = minimax(self.slope, terms - 1, self.slope_weight)
        fitted = [a * self.half for a in integrate(slope)]
        rest = [float(a - b) for a, b in zip(self.series[0], fitted, strict=False)]
        rest += [float(a) for a in self.series[0][terms:]]
        rest[0] = 0.0
        error = evaluate_on_grid(rest)
        shift = (max(error) + min(error)) / 2
        fitted[0] = self.series[0][0] + shift
        value_error = max(
            abs(e - shift) * w for e, w in zip(error, self.value_weight[0], strict=True)
        )
        excess = max(slope_error / (SLOPE_BUDGET * eps), value_error / (VALUE_BUDGET * eps))
        return to_monomials(fitted, self.half), excess


def small_table(job: tuple[int, Format]) -> tuple[list[list[list[mp.mpf]]], float]:
    """[function][piece][term] with the fewest terms that keep the budget; the largest error used."""
    m, fmt = job
    inner = fmt.small_edges
    pieces = [Piece(m, low, high, fmt.nodes) for low, high in zip(inner, inner[1:], strict=False)]
    table, used = [], 0.0
    for f in range(3):
        terms = 3
        while True:
            fits = []
            for piece in pieces:
                fits.append(piece.fit(f, terms, fmt.eps))
                if fits[-1][1] > 1:
                    break
            worst = max(excess for _, excess in fits)
            if worst <= 1:
                break
            # An excess of more than 1000 never goes away with one more term.
            terms += 1 if worst < 1e3 else 1 + int(math.log10(worst) / 6)
        table.append([coefficients for coefficients, _ in fits])
        used = max(used, worst)
    return table, used


# --- Large m ---------------------------------------------------------------------------------------
# Polynomials in p = nu/s with rational coefficients, lowest power first.

Polynomial = list[Fraction]


def add(*terms: Polynomial) -> Polynomial:
    total = [Fraction(0)] * max(map(len, terms))
    for term in terms:
        for i, a in enumerate(term):
            total[i] += a
    return total


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    total = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                total[i + j] += x * y
    return total


def times(a: Polynomial, factor: Fraction | int) -> Polynomial:
    return [factor * x for x in a]


def divide_by_p(a: Polynomial) -> Polynomial:
    assert a[0] == 0
    return a[1:]


def divide_by_one_plus(a: Polynomial, sign: int) -> Polynomial:
    """a/(1 + sign p), which must be exact."""
    quotient, carry = [], Fraction(0)
    for x in a:
        carry = x - sign * carry
        quotient.append(carry)
    assert quotient.pop() == 0
    return quotient


def uniform_expansion(orders: int) -> dict[str, list[Polynomial]]:
    """The coefficients of h^j in E (j >= 0), W and V (j >= 1), as polynomials in p.

    From the Riccati equation of A for e = sum h^j e_j and sqrt(a^2 + k^2) - s = sigma:
    sigma_j = p e_j + (p/2) sum_{i+l=j-1} (e_i e_l - sigma_i sigma_l),
    e_{j+1} = (p/2) (e_j + p (1-p^2) e_j' - 2 sum_{i<=j} e_i sigma_{j-i}), e_0 = p/2.
    """
    half, zero = Fraction(1, 2), Fraction(0)
    e: list[Polynomial] = [[zero, half]]
    sigma: list[Polynomial] = []
    for j in range(orders):
        squares = [zero]
        for i in range(j):
            squares = add(
                squares,
                multiply(e[i], e[j - 1 - i]),
                times(multiply(sigma[i], sigma[j - 1 - i]), -1),
            )
        sigma.append(add(multiply([zero, Fraction(1)], e[j]), multiply([zero, half], squares)))
        derivative = [i * a for i, a in enumerate(e[j])][1:]
        following = add(e[j], multiply([zero, Fraction(1), zero, Fraction(-1)], derivative))
        for i in range(j + 1):
            following = add(following, times(multiply(e[i], sigma[j - i]), -2))
        e.append(multiply([zero, half], following))
    E = [times(divide_by_p(e[j]), 2) for j in range(orders)]
    W, V = [[zero]], [[zero]]
    for j in range(1, orders):
        # d(xW)/dp = -((1-p) 2 e_{j+1}/p + [2 e (sigma - e)]_j) / (p (1-p^2)), x W = 0 at p = 1.
        rate = multiply([Fraction(1), Fraction(-1)], times(divide_by_p(e[j + 1]), 2))
        for i in range(j + 1):
            gap = add(sigma[j - i], times(e[j - i], -1))
            rate = add(rate, times(multiply(e[i], gap), 2))
        rate = divide_by_one_plus(divide_by_one_plus(divide_by_p(rate), -1), 1)
        remainder = [zero] + [-a / (i + 1) for i, a in enumerate(rate)]
        remainder[0] = -sum(remainder)
        W.append(divide_by_one_plus(remainder, -1))
        # k A - d = sigma - e, hence x (W + V) = sigma - e.
        V.append(add(divide_by_one_plus(add(sigma[j], times(e[j], -1)), -1), times(W[j], -1)))
    return {"E": E, "W": W, "V": V}


def leading_function(name: str, x: mp.mpf) -> mp.mpf:
    """The limit h -> 0 of E, W, V: the only part that is not a polynomial."""
    if name == "E":
        return mp.mpf(1)
    V = mp.log1p(-x / 2) / (2 * x)
    return V if name == "V" else (x - 1) / 2 - V


def large_table(fmt: Format) -> list[list[list[list[mp.mpf]]]]:
    """[function][term][piece][order of h]."""
    expansion = uniform_expansion(ORDERS_EXACT)
    nodes = 72  # more than the degree 3 * ORDERS_EXACT + 1: the series are exact
    table = []
    for f, name in enumerate(FUNCTIONS):
        terms = fmt.large_terms[f]
        pieces = []
        for low, high in zip(fmt.large_edges, fmt.large_edges[1:], strict=False):
            half = mp.mpf((high - low).numerator) / (high - low).denominator / 2
            center = mp.mpf((high + low).numerator) / (high + low).denominator / 2
            x = [center + half * u for u in chebyshev_points(nodes)]
            orders = []
            for j in range(ORDERS_EXACT):
                if j == 0:
                    values = [leading_function(name, z) for z in x]
                else:
                    polynomial = [mp.mpf(a.numerator) / a.denominator for a in expansion[name][j]]
                    values = [mp.polyval(polynomial[::-1], 1 - z) for z in x]
                series = chebyshev_series(values)
                if name == "E":
                    # Truncating the slope keeps both slope and value small at the piece's ends.
                    fitted = integrate(differentiate(series)[: terms - 1])
                    fitted[0] = series[0]
                else:
                    fitted = series[:terms]
                orders.append(to_monomials(fitted, half))
            pieces.append(orders)
        table.append(
            [
                [economise([order[i] for order in piece], fmt.large_orders) for piece in pieces]
                for i in range(terms)
            ]
        )
    return table


def economise(coefficients: list[mp.mpf], count: int) -> list[mp.mpf]:
    """The same polynomial in h on [0, 1/32] to fewer terms, by truncating its Chebyshev series."""
    half = mp.mpf(1) / (2 * LARGE_NU)
    h = [half * (1 + u) for u in chebyshev_points(32)]
    series = chebyshev_series([mp.polyval(coefficients[::-1], z) for z in h])
    in_offset = to_monomials(series[:count], half)  # powers of h - half
    result = [mp.mpf(0)] * count
    for a in reversed(in_offset):
        result = [
            (result[i - 1] if i else 0) - half * result[i] + (a if i == 0 else 0)
            for i in range(count)
        ]
    return result


# --- Headers ---------------------------------------------------------------------------------------


def braces(items: list[str], indent: int = 0, per_line: int = 1) -> str:
    pad = " " * indent
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "{\n" + ",\n".join(pad + line for line in lines) + "}"


def literals(fmt: Format, values: list[mp.mpf]) -> str:
    return "{" + ", ".join(fmt.literal(v) for v in values) + "}"


def constant_array(kind: str, name: str, size: str, body: str) -> str:
    return f"inline constexpr {kind} {name}{size} = {body};\n"


def fraction_value(q: Fraction) -> mp.mpf:
    return mp.mpf(q.numerator) / q.denominator


def edge_arrays(family: str, fmt: Format, piece_edges: tuple[Fraction, ...]) -> str:
    kind = "double" if fmt is F64 else "float"
    inner = [fraction_value(q) for q in piece_edges[1:-1]]
    centers = [
        (fraction_value(a) + fraction_value(b)) / 2
        for a, b in zip(piece_edges, piece_edges[1:], strict=False)
    ]
    return constant_array(
        kind, f"k{family}Edges{fmt.name}", f"[{len(inner)}]", literals(fmt, inner)
    ) + constant_array(
        kind, f"k{family}Centers{fmt.name}", f"[{len(centers)}]", literals(fmt, centers)
    )


def header(first_line: str, comment: list[str], body: str) -> str:
    comments = "".join(f"// {line}\n" if line else "//\n" for line in comment)
    return (
        f"// SPDX-License-Identifier: MIT\n// {first_line}\n{comments}"
        "// Made by tools/make_coefficients.py; do not edit.\n#pragma once\n\n"
        "// clang-format off\nnamespace svmf {\nnamespace coefficients {\n\n"
        f"{body}\n}}  // namespace coefficients\n}}  // namespace svmf\n// clang-format on\n"
    )


def small_scalars() -> str:
    """Constants of each m: c, log of the sphere's area, lgamma(m/2), nu log c - lgamma(m/2) - c."""
    c = [small_center(m) for m in SMALL_DIMS]
    gammas = [mp.loggamma(mp.mpf(m) / 2) for m in SMALL_DIMS]
    areas = [
        mp.log(2) + mp.mpf(m) / 2 * mp.log(mp.pi) - g
        for m, g in zip(SMALL_DIMS, gammas, strict=True)
    ]
    bessel = [
        mp.mpf(m - 1) / 2 * mp.log(z) - g - z for m, z, g in zip(SMALL_DIMS, c, gammas, strict=True)
    ]
    text = ""
    for name, values in (
        ("kSmallC", c),
        ("kSmallLogSurface", areas),
        ("kSmallLogGamma", gammas),
        ("kSmallBesselConstant", bessel),
    ):
        items = [F64.literal(v) for v in values]
        text += constant_array("double", name, f"[{len(items)}]", braces(items, 2, 4))
    return text


def small_header(processes: int) -> str:
    body = (
        "inline constexpr int kSmallFirstDim = 2;\n"
        f"inline constexpr int kSmallDims = {len(SMALL_DIMS)};\n" + small_scalars()
    )
    for fmt in (F64, F32):
        tables = []
        with Pool(processes) as pool:
            jobs = [(m, fmt) for m in SMALL_DIMS]
            for m, (table, used) in zip(SMALL_DIMS, pool.imap(small_table, jobs), strict=True):
                counts = [len(table[f][0]) for f in range(3)]
                print(f"{fmt.name} m={m}: terms {counts}, {used:.2f} of the budget", flush=True)
                tables.append(table)
        most = [max(len(table[f][0]) for table in tables) for f in range(3)]
        pieces = len(fmt.small_edges) - 1
        kind = "double" if fmt is F64 else "float"
        body += f"\ninline constexpr int kSmallTerms{fmt.name} = {max(most)};\n"
        body += edge_arrays("Small", fmt, fmt.small_edges)
        counts_text = ["{" + ", ".join(str(len(t[f][0])) for f in range(3)) + "}" for t in tables]
        body += constant_array(
            "int", f"kSmallCounts{fmt.name}", "[kSmallDims][3]", braces(counts_text, 2, 8)
        )
        blocks = []
        for m, table in zip(SMALL_DIMS, tables, strict=True):
            functions = []
            for f in range(3):
                rows = [
                    literals(fmt, [piece[i] for piece in table[f]]) for i in range(len(table[f][0]))
                ]
                functions.append(braces(rows, 3))
            blocks.append(f"  // m = {m}\n  " + braces(functions, 2).lstrip())
        body += constant_array(
            kind,
            f"kSmall{fmt.name}",
            f"[kSmallDims][3][kSmallTerms{fmt.name}][{pieces}]",
            "{\n" + ",\n".join(blocks) + "}",
        )
    return header(
        "Piecewise polynomials of E, W and V (docs/math.md) for m = 2..64, in t = x - center.",
        [
            "[m][function][power of t][piece]; rows beyond kSmallCounts are zero. kSmallEdges are the inner",
            "ends of the pieces of [0, 1]. kSmallLogSurface is the log of the sphere's area, kSmallLogGamma",
            "lgamma(m/2), kSmallBesselConstant nu log c - lgamma(m/2) - c.",
        ],
        body,
    )


def large_header() -> str:
    body = f"inline constexpr double kLargeNu = {LARGE_NU};\n"
    for fmt in (F64, F32):
        print(f"{fmt.name} nu >= {LARGE_NU}", flush=True)
        table = large_table(fmt)
        pieces = len(fmt.large_edges) - 1
        terms = max(fmt.large_terms)
        body += f"\ninline constexpr int kLargeTerms{fmt.name} = {terms};\n"
        body += f"inline constexpr int kLargeOrders{fmt.name} = {fmt.large_orders};\n"
        body += edge_arrays("Large", fmt, fmt.large_edges)
        counts = "{" + ", ".join(map(str, fmt.large_terms)) + "}"
        body += constant_array("int", f"kLargeCounts{fmt.name}", "[3]", counts)
        functions = []
        for f in range(3):
            rows = [braces([literals(F64, orders) for orders in row], 4) for row in table[f]]
            functions.append(braces(rows, 3))
        body += constant_array(
            "double",
            f"kLarge{fmt.name}",
            f"[3][kLargeTerms{fmt.name}][{pieces}][kLargeOrders{fmt.name}]",
            braces(functions, 2),
        )
    return header(
        "Piecewise polynomials of E, W and V (docs/math.md) for nu = (m-1)/2 >= 32, in t = x - center.",
        [
            "[function][power of t][piece][power of h = 1/nu]. The tables of both types are double: they are",
            "summed over the powers of h on the host and rounded once.",
        ],
        body,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files in the tree")
    parser.add_argument("--processes", type=int, default=2, help="worker processes (default 2)")
    arguments = parser.parse_args()
    files = {
        MATH / "coefficients_large.h": large_header(),
        MATH / "coefficients_small.h": small_header(arguments.processes),
    }
    stale = 0
    for path, text in files.items():
        if not arguments.check:
            path.write_text(text)
            print(f"wrote {path.name}: {len(text) // 1024} kB")
        elif not path.exists() or path.read_text() != text:
            print(f"{path} differs from what the script makes")
            stale = 1
        else:
            print(f"{path.name} is up to date")
    return stale


if __name__ == "__main__":
    sys.exit(main())
