# SPDX-License-Identifier: MIT
"""Writes csrc/math/elementary_coefficients.h: polynomials for exp, log, sine and cosine.

Each is a Chebyshev interpolant of a smooth even or reduced function, made with 60 digits and
rounded once: the same bits come out on every machine.

    python tools/make_elementary.py [--check]
"""

import struct
import sys
from pathlib import Path

import generated
import mpmath as mp

mp.mp.dps = 60
HEADER = Path(__file__).resolve().parents[1] / "csrc" / "math" / "elementary_coefficients.h"


def chebyshev_monomials(f, low, high, count):
    """Coefficients (lowest first) of the interpolant at the Chebyshev points of an interval."""
    mid, half = (low + high) / 2, (high - low) / 2
    nodes = [mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    values = mp.matrix([f(mid + half * t) for t in nodes])
    vandermonde = mp.matrix(count, count)
    for i, t in enumerate(nodes):
        for j in range(count):
            vandermonde[i, j] = (mid + half * t) ** j
    return list(mp.lu_solve(vandermonde, values))


def rest_of_exp(r):
    """(exp(r) - 1 - r) / r^2."""
    if abs(r) < mp.mpf(10) ** -15:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r**2


def rest_of_log(z):
    """(log((1+s)/(1-s)) - 2s) / s^3 as a function of z = s^2."""
    if z < mp.mpf(10) ** -20:
        return mp.mpf(2) / 3 + 2 * z / 5
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / s**3


def tail_of_log(f):
    """(log(1+f) - f + f^2/2) / f^3."""
    if abs(f) < mp.mpf(10) ** -15:
        return mp.mpf(1) / 3 - f / 4
    return (mp.log1p(f) - f + f**2 / 2) / f**3


def sine_turns(z):
    """sin(2 pi x) / x as a function of z = x^2."""
    x = mp.sqrt(z) if z > mp.mpf(10) ** -40 else mp.mpf(10) ** -20
    return mp.sin(2 * mp.pi * x) / x


def rest_of_cosine_turns(z):
    """(cos(2 pi x) - 1) / x^2 as a function of z = x^2."""
    x = mp.sqrt(z) if z > mp.mpf(10) ** -40 else mp.mpf(10) ** -20
    return (mp.cos(2 * mp.pi * x) - 1) / x**2


# name, function, interval, coefficients in float32 and in float64
HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0001")
LOG_S2 = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.0001")
POLYNOMIALS = [
    ("Exp", rest_of_exp, -HALF_LN2, HALF_LN2, 5, 11),
    ("Log", rest_of_log, mp.mpf(0), LOG_S2, 3, 8),
    ("LogTail", tail_of_log, mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1, 7, None),
    ("SineTurns", sine_turns, mp.mpf(0), mp.mpf(1) / 64, 4, 8),
    ("CosineTurns", rest_of_cosine_turns, mp.mpf(0), mp.mpf(1) / 64, 4, 7),
]


def hex_literal(x, single):
    if single:
        (value,) = struct.unpack("f", struct.pack("f", float(x)))
        return value.hex() + "f"
    return float(x).hex()


def table(name, coefficients, single):
    """A struct with the numbers inside a function, which is the form that device code can read
    too.
    """
    kind = "float" if single else "double"
    body = ",\n        ".join(hex_literal(c, single) for c in coefficients)
    return (
        f"template <>\nstruct {name}<{kind}> {{\n"
        f"  static constexpr int kCount = {len(coefficients)};\n"
        f"  SVMF_HOST_DEVICE static constexpr {kind} at(int i) {{\n"
        f"    constexpr {kind} c[] = {{\n        {body}}};\n"
        "    return c[i];\n  }\n};\n"
    )


def render():
    parts = [
        "// SPDX-License-Identifier: MIT\n"
        "// Polynomials of csrc/math/elementary.h, lowest coefficient first.\n"
        "// Made by tools/make_elementary.py: do not edit.\n"
        '#pragma once\n\n#include "common/host_device.h"\n\n'
        "// clang-format off\n"
        "namespace svmf {\ninline namespace SVMF_ISA {\nnamespace elementary {\n\n"
    ]
    for name, f, low, high, n32, n64 in POLYNOMIALS:
        parts.append(f"template <class Scalar>\nstruct {name};\n")
        parts.append(table(name, chebyshev_monomials(f, low, high, n32), True))
        if n64:
            parts.append(table(name, chebyshev_monomials(f, low, high, n64), False))
        parts.append("\n")
    parts.append(
        "}  // namespace elementary\n}  // namespace SVMF_ISA\n}  // namespace svmf\n"
        "// clang-format on\n"
    )
    return "".join(parts)


def main() -> int:
    arguments = generated.options(__doc__)
    return generated.settle([(HEADER, render())], arguments.check)


if __name__ == "__main__":
    sys.exit(main())
