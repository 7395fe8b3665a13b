# SPDX-License-Identifier: MIT
"""Writes csrc/math/coefficients_small.h and coefficients_large.h: the tables behind A, KL and L.

With nu = (m-1)/2, s = sqrt(c^2 + k^2) and x = 1 - c/s, the three smooth functions (docs/math.md)

    E = 2 e s/nu,   W = (KL - nu log1p(d/(2c)))/x,   V = (L - d + nu log1p(d/(2c)))/x,   d = s - c,

are piecewise polynomials in t = x - center of the piece. m = 2..64: one table per m, fitted to
high-precision values. nu >= 32: c = nu, and each coefficient is a polynomial in h = 1/nu, made from
the exact expansion. Integers, rationals and mpmath: the same bits come out on every machine.

    python tools/make_coefficients.py [--check]
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from multiprocessing import Pool
from pathlib import Path

import generated
import mpmath as mp
from minimax import (
    GRID,
    chebyshev_points,
    chebyshev_series,
    differentiate,
    evaluate_on_grid,
    integrate,
    minimax,
    to_monomials,
)
from uniform_expansion import uniform_expansion

PRECISION = 256  # bits: KL/x is 0/0 at x = 0, and 60 bits of it are lost at the node nearest to 0
mp.mp.prec = PRECISION
MATH = Path(__file__).resolve().parents[1] / "csrc" / "math"
FUNCTIONS = ("E", "W", "V")
SMALL_DIMS = range(2, 65)
LARGE_NU = 32
ORDERS_EXACT = 21  # terms of the expansion in 1/nu; the last is below 2e-21 at nu = 32

# Share of the rounding unit eps that approximation may add: to A', 1-A, KL and L (values), and to
# k e' (slope of E), which only second derivatives need.
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
# The three inner edges of float64 make m = 2 and m = 3, the hardest, need the fewest terms. The
# terms and orders of large nu are the smallest within the budgets at nu = 32.
F64 = Format("F64", 53, 36, edges(64, 24, 41, 52), edges(4, 1, 2, 3), (13, 11, 11), 10)
F32 = Format("F32", 24, 20, EIGHTHS, EIGHTHS, (5, 4, 4), 5)


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
        errors = evaluate_on_grid(rest)
        shift = (max(errors) + min(errors)) / 2
        fitted[0] = self.series[0][0] + shift
        value_error = max(
            abs(e - shift) * w for e, w in zip(errors, self.value_weight[0], strict=True)
        )
        excess = max(slope_error / (SLOPE_BUDGET * eps), value_error / (VALUE_BUDGET * eps))
        return to_monomials(fitted, self.half), excess


def small_table(job: tuple[int, Format]) -> tuple[list[list[list[mp.mpf]]], float]:
    """[function][piece][term] with the fewest terms that keep the budget, and the share used."""
    m, fmt = job
    inner = fmt.small_edges
    pieces = [Piece(m, low, high, fmt.nodes) for low, high in pairwise(inner)]
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
        for low, high in pairwise(fmt.large_edges):
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
    centers = [(fraction_value(a) + fraction_value(b)) / 2 for a, b in pairwise(piece_edges)]
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
        ("kSmallLogSurfaceLow", [a - F64.round(a) for a in areas]),
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
            "[m][function][power of t][piece]; rows beyond kSmallCounts are zero.",
            "kSmallEdges are the inner ends of the pieces of [0, 1]. kSmallLogSurface is the log",
            "of the sphere's area and kSmallLogSurfaceLow what its rounding lost, kSmallLogGamma",
            "is log Gamma(m/2), and kSmallBesselConstant is nu log c - log Gamma(m/2) - c.",
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
        "Piecewise polynomials of E, W and V (docs/math.md) for nu >= 32, in t = x - center.",
        [
            "[function][power of t][piece][power of h = 1/nu]. The tables of both types are",
            "double: they are summed over the powers of h on the host and rounded once.",
        ],
        body,
    )


def main() -> int:
    arguments = generated.options(__doc__, processes=True)
    small = small_header(arguments.processes)
    files = (MATH / "coefficients_large.h", large_header()), (MATH / "coefficients_small.h", small)
    return generated.settle(files, arguments.check)


if __name__ == "__main__":
    sys.exit(main())
