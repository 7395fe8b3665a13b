# SPDX-License-Identifier: MIT
"""Writes csrc/math/bessel_order_coefficients.h: what log K_v and the derivatives in the order v are
computed from (csrc/math/log_bessel_k.h, bessel_order_derivative.h).

Far from the origin, with s = sqrt(v^2 + x^2), h = 1/s and q = (v/s)^2, Debye's expansion (DLMF
10.41.4) has the logarithm

    log K_v = -s + v asinh(v/x) - log(2 s/pi)/2 + P(-h, q),    P(h, q) = sum_(k>=1) d_k(q) h^k,

and log I_v has the same P at +h. Its derivatives follow from the operator T = h d/dh + 2q d/dq,
which multiplies h^k q^j by k+2j. The tables are polynomials in u = 2 kFar h - 1 and y = 2q - 1 of

    P/h, TP/h, T^2 P/h, (2 dP/dq - TP)/h at -h,    and the last at +h.

At small x, with z = mu^2 and |mu| <= 1/2, Temme's functions:

    root = sqrt(pi mu/sin(pi mu)),  root_slope = (log root)'/mu,
    shift = log(Gamma(1-mu)/Gamma(1+mu))/(2 mu),  shift_slope = shift'/mu.

Rationals and mpmath: the same bits come out on every machine.

    python tools/make_bessel_order_coefficients.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import generated
import mpmath as mp
from make_coefficients import F64
from minimax import chebyshev_points, chebyshev_series, to_monomials

mp.mp.prec = 300
HEADER = Path(__file__).resolve().parents[1] / "csrc" / "math" / "bessel_order_coefficients.h"
FAR = 20  # from this s on the expansion: what it leaves out is below e^(-2s)
ORDERS = 40
POINTS = 36  # Chebyshev points per direction
# The trapezoidal rule leaves out 2 |K_(v+iw)/K_v|, w = 2 pi/step. Steps are fine up to s = FAR,
# where this is largest at v = FAR, and coarse for v < 4 and s < 10.
FINE_STEP, FINE_NODES = Fraction(1, 8), 56
COARSE_STEP, COARSE_NODES = Fraction(1, 6), 40
TEMME_TERMS = 17
DIGAMMA_TERMS = 12

# Chebyshev coefficients below this are left out. P and its like are weighted with h <= 1/20 against
# values of 1/2 at least; the last two with h against 1.
VALUE_TOLERANCE, SLOPE_TOLERANCE = mp.mpf("5e-16"), mp.mpf("2e-15")

Rows = list[list[Fraction]]


def logarithm_of_debye_series() -> Rows:
    """d_k, k = 1 ... ORDERS, as polynomials in q."""
    u = [Fraction(1)]
    series = []
    for k in range(ORDERS + 1):
        series.append([u[k + 2 * j] for j in range(k + 1)])
        following = [Fraction(0)] * (len(u) + 3)
        for i, a in enumerate(u):
            following[i + 1] += a * i / 2 + a / (8 * (i + 1))
            following[i + 3] -= a * i / 2 + 5 * a / (8 * (i + 3))
        u = following
    d: Rows = [[]]
    for k in range(1, ORDERS + 1):
        rest = [a * k for a in series[k]]
        for i in range(1, k):
            for a, x in enumerate(d[i]):
                for b, y in enumerate(series[k - i]):
                    rest[a + b] -= i * x * y
        d.append([a / k for a in rest])
    return d[1:]


def weighted(d: Rows, power: int) -> Rows:
    """T^power P."""
    return [[a * (k + 2 * j) ** power for j, a in enumerate(row)] for k, row in enumerate(d, 1)]


def order_part(d: Rows) -> Rows:
    """2 dP/dq - TP."""
    return [
        [2 * (j + 1) * (row[j + 1] if j < k else 0) - a * (k + 2 * j) for j, a in enumerate(row)]
        for k, row in enumerate(d, 1)
    ]


def fit(rows: Rows, sign: int, tolerance: mp.mpf) -> list[list[mp.mpf]]:
    """Monomial coefficients [power of u][power of y] of sum_k rows[k] (sign h)^(k-1)."""
    numbers = [[mp.mpf(a.numerator) / a.denominator for a in reversed(row)] for row in rows]
    points = chebyshev_points(POINTS)
    by_y = []
    for y in points:
        in_h = [mp.polyval(row, (1 + y) / 2) for row in numbers]
        in_h.reverse()
        by_y.append(
            chebyshev_series([mp.polyval(in_h, sign * (1 + u) / (2 * FAR)) for u in points])
        )
    series = [chebyshev_series([column[i] for column in by_y]) for i in range(POINTS)]
    kept = [
        max((j + 1 for j, a in enumerate(row) if abs(a) > tolerance), default=0) for row in series
    ]
    while kept[-1] == 0:
        kept.pop()
    one = mp.mpf(1)
    in_y = [to_monomials(row[:count], one) for row, count in zip(series, kept, strict=False)]
    columns = max(kept)
    for row in in_y:
        row.extend([mp.mpf(0)] * (columns - len(row)))
    in_u = [to_monomials([row[j] for row in in_y], one) for j in range(columns)]
    result = [[in_u[j][i] for j in range(columns)] for i in range(len(in_y))]
    return result


def temme(function: Callable[[mp.mpf], mp.mpf]) -> list[mp.mpf]:
    """Coefficients in z on [0, 1/4]."""
    points = chebyshev_points(TEMME_TERMS)
    series = chebyshev_series([function(mp.sqrt((1 + t) / 8)) for t in points])
    centered = to_monomials(series, mp.mpf(1))  # in t = 8 z - 1
    result = [mp.mpf(0)] * TEMME_TERMS
    for i, a in enumerate(centered):
        for j in range(i + 1):
            result[j] += a * mp.binomial(i, j) * mp.mpf(8) ** j * (-1) ** (i - j)
    return result


def root(mu: mp.mpf) -> mp.mpf:
    return mp.sqrt(mp.pi * mu / mp.sin(mp.pi * mu))


def root_slope(mu: mp.mpf) -> mp.mpf:
    return (1 - mp.pi * mu * mp.cot(mp.pi * mu)) / (2 * mu * mu)


def shift(mu: mp.mpf) -> mp.mpf:
    return (mp.loggamma(1 - mu) - mp.loggamma(1 + mu)) / (2 * mu)


def shift_slope(mu: mp.mpf) -> mp.mpf:
    return (-(mp.digamma(1 - mu) + mp.digamma(1 + mu)) / 2 - shift(mu)) / (mu * mu)


Field = tuple[str, str, list[str]]  # type, name, values


def numbers(name: str, values: list[mp.mpf]) -> Field:
    return "double", name, [F64.literal(value) for value in values]


def polynomial(name: str, rows: list[list[mp.mpf]]) -> Field:
    """The coefficients of 1, u, u^2, ... side by side, for each power of y."""
    columns = [numbers("", list(column))[2] for column in zip(*rows, strict=True)]
    kind = f"{name}[{len(columns)}][{len(rows)}]"
    return "double", kind, [f"{{{', '.join(column)}}}" for column in columns]


def braces(values: list[str]) -> list[str]:
    lines = [f"    {', '.join(values[i : i + 4])}," for i in range(0, len(values), 4)]
    return ["    {", *lines, "    },"]


def header() -> str:
    d = logarithm_of_debye_series()
    grids = {}
    for name, step, count in (
        ("fine", FINE_STEP, FINE_NODES),
        ("coarse", COARSE_STEP, COARSE_NODES),
    ):
        nodes = [mp.mpf(i * step.numerator) / step.denominator for i in range(count)]
        grids[f"{name}_node"] = nodes
        grids[f"{name}_cosh"] = [2 * mp.sinh(t / 2) ** 2 for t in nodes]
    fields = [
        *(numbers(name, values) for name, values in grids.items()),
        numbers("root", temme(root)),
        numbers("root_slope", temme(root_slope)),
        numbers("shift", temme(shift)),
        numbers("shift_slope", temme(shift_slope)),
        numbers("digamma", [mp.bernoulli(2 * k) / (2 * k) for k in range(1, DIGAMMA_TERMS + 1)]),
        polynomial("far_value", fit(d, -1, VALUE_TOLERANCE)),
        polynomial("far_slope", fit(weighted(d, 1), -1, VALUE_TOLERANCE)),
        polynomial("far_bend", fit(weighted(d, 2), -1, SLOPE_TOLERANCE)),
        polynomial("far_order_k", fit(order_part(d), -1, SLOPE_TOLERANCE)),
        polynomial("far_order_i", fit(order_part(d), 1, SLOPE_TOLERANCE)),
    ]
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Tables of log_bessel_k.h and bessel_order_derivative.h; the script says what each is.",
        "// Made by tools/make_bessel_order_coefficients.py: do not edit.",
        "#pragma once",
        "",
        "// clang-format off",
        "namespace svmf {",
        "namespace coefficients {",
        "",
        f"inline constexpr double kFar = {FAR};",
        f"inline constexpr double kFineStep = {float(FINE_STEP)};",
        f"inline constexpr double kCoarseStep = {float(COARSE_STEP).hex()};",
        "",
        "struct BesselOrderTables {",
        *(
            f"  {kind} {name};" if "[" in name else f"  {kind} {name}[{len(values)}];"
            for kind, name, values in fields
        ),
        "};",
        "",
        "inline constexpr BesselOrderTables kBesselOrder = {",
        *(line for _, _, values in fields for line in braces(values)),
        "};",
        "",
        "}  // namespace coefficients",
        "}  // namespace svmf",
        "// clang-format on",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    arguments = generated.options(__doc__)
    return generated.settle([(HEADER, header())], arguments.check)


if __name__ == "__main__":
    sys.exit(main())
