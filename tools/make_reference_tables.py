# SPDX-License-Identifier: MIT
"""Writes tests/reference_tables/*.csv.gz: true values of the special functions at random
arguments, 25 digits.

    vmf_kappa.csv.gz     dtype, m, kappa -> A, 1-A, A', A'', KL, KL', KL'', L, log C, entropy
    bessel.csv.gz        dtype, order, x -> log I_v, log(e^-x I_v), I_v/I_(v-1), x d/dx log I_v
    bessel_k.csv.gz      dtype, order, x -> log K_v, log(e^x K_v), its derivatives in x, and d/dv of
                         log K_v and of log I_v
    vmf_pathwise.csv.gz  dtype, m, kappa, w or 1-w -> D = dw/dkappa at fixed CDF

Arguments are exact in the row's dtype (float32 or float64) and lie on both sides of every piece
edge of the coefficient tables, around every change of method, and at the ends of the domain; the
rest are drawn at random. The values come from tools/bessel_exact.py, which is checked against
mpmath.besseli and besselk here.

    python tools/make_reference_tables.py [--check]
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path

import bessel_exact
import generated
import make_coefficients
import mpmath as mp
from make_coefficients import F32, F64, Format

DATA = Path(__file__).resolve().parents[1] / "tests" / "reference_tables"
SEED = 20180408
DIGITS = 25
MAX_KAPPA = {F64: 1e10, F32: 1e6}
MAX_DIM = 1_000_000
DTYPE = {F64: "float64", F32: "float32"}


def rounded(fmt: Format, value: float) -> float:
    """The nearest value of the type."""
    return struct.unpack("f", struct.pack("f", value))[0] if fmt is F32 else float(value)


def portable(value: float) -> float:
    """Twelve digits: the last bits of the C library's functions differ between machines."""
    return float(f"{value:.12g}")


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return portable(math.exp(rng.uniform(math.log(low), math.log(high))))


def random_dim(rng: random.Random) -> int:
    return int(log_uniform(rng, 65, MAX_DIM))


def edge_kappas(fmt: Format, dim: int) -> list[float]:
    """kappa next to each edge between two pieces: x = 1 - c/s just below and just above."""
    small = dim in make_coefficients.SMALL_DIMS
    c = float(make_coefficients.small_center(dim)) if small else (dim - 1) / 2
    result = []
    for edge in (fmt.small_edges if small else fmt.large_edges)[1:-1]:
        x = float(edge)
        kappa = c * math.sqrt(x * (2 - x)) / (1 - x)
        result += [kappa * (1 - 4 * fmt.eps), kappa * (1 + 4 * fmt.eps)]
    return result


def random_kappas(rng: random.Random, fmt: Format, dim: int, count: int) -> list[float]:
    """A quarter over the whole domain, a quarter near 45 (where sampling changes methods), half
    around dim."""
    result = []
    for i in range(count):
        if i % 4 == 0:
            result.append(log_uniform(rng, 1e-8, MAX_KAPPA[fmt]))
        elif i % 4 == 1:
            result.append(log_uniform(rng, 20, 100))
        else:
            result.append(dim * log_uniform(rng, 1 / 30, 30))
    return [min(k, MAX_KAPPA[fmt]) for k in result]


def kappa_arguments() -> list[tuple[Format, int, float]]:
    rng = random.Random(SEED)
    rows = []
    ends = (2, 3, 4, 5, 10, 31, 64, 65, 66, 100, 1000, 65536, MAX_DIM)
    for fmt in (F64, F32):
        small, large = (12, 90) if fmt is F64 else (8, 70)
        tiny = (1e-150, 1e-30, 3e-9) if fmt is F64 else (1e-17, 2e-6)
        for dim in ends:
            rows += [(fmt, dim, k) for k in (0.0, *tiny, MAX_KAPPA[fmt])]
        for dim in (
            *make_coefficients.SMALL_DIMS,
            65,
            66,
            67,
            *(random_dim(rng) for _ in range(large)),
        ):
            kappas = edge_kappas(fmt, dim)
            if fmt is F32:
                kappas = rng.sample(kappas, 6)
            kappas += random_kappas(rng, fmt, dim, small)
            rows += [(fmt, dim, k) for k in kappas if k <= MAX_KAPPA[fmt]]
    return [(fmt, dim, rounded(fmt, k)) for fmt, dim, k in rows]


def bessel_arguments() -> list[tuple[Format, float, float]]:
    rng = random.Random(SEED + 1)
    rows = []
    for fmt, count in ((F64, 1500), (F32, 700)):
        fixed = [0, 0.25, 0.49, 0.5, 0.51, 0.75, 1, 1.5, 2, 3.5, 30.5, 30.999, 31, 31.25, 31.5, 32]
        orders = [v for v in fixed for _ in range(6)]
        draws: tuple[Callable[[], float], ...] = (
            lambda: rng.uniform(0, 0.5),
            lambda: rng.uniform(0, 3),
            lambda: rng.uniform(0, 40),
            lambda: rng.randrange(0, 80) / 2,
            lambda: log_uniform(rng, 30, 1e6),
            lambda: float(int(log_uniform(rng, 30, 1e6))),
        )
        while len(orders) < count:
            orders.append(draws[len(orders) % len(draws)]())
        for i, order in enumerate(orders):
            if i % 3 == 0:
                x = log_uniform(rng, 1e-6, MAX_KAPPA[fmt])
            elif i % 3 == 1:
                x = log_uniform(rng, 0.05, 300)
            else:
                x = min((order + 0.5) * log_uniform(rng, 0.02, 50), MAX_KAPPA[fmt])
            rows.append((fmt, rounded(fmt, order), rounded(fmt, x)))
    return rows


# Where csrc/math/bessel_order_functions.h changes its method: x and sqrt(order^2 + x^2).
NEAR, FAR = 0.25, 20


def bessel_k_arguments() -> list[tuple[Format, float, float]]:
    rng = random.Random(SEED + 3)
    rows = []
    for fmt, count in ((F64, 1600), (F32, 600)):
        fixed = [0, 0.25, 0.499, 0.5, 0.501, 1, 1.5, 2, 7.5, 19, 19.9, 20, 20.1]
        orders = [v for v in fixed for _ in range(6)]
        draws: tuple[Callable[[], float], ...] = (
            lambda: rng.uniform(0, 0.5),
            lambda: rng.uniform(0, 3),
            lambda: rng.uniform(0, 25),
            lambda: rng.randrange(0, 50) / 2,
            lambda: log_uniform(rng, 10, 1e6),
            lambda: log_uniform(rng, 1e-6, 1),
        )
        while len(orders) < count:
            orders.append(draws[len(orders) % len(draws)]())
        for i, order in enumerate(orders):
            beside = rng.choice((1 - 1e-6, 1 + 1e-6))
            x = (
                log_uniform(rng, 1e-6, MAX_KAPPA[fmt]),
                log_uniform(rng, 0.05, 50),
                min((order + 0.1) * log_uniform(rng, 0.02, 50), MAX_KAPPA[fmt]),
                portable(math.sqrt(FAR**2 - order**2) * beside if order < FAR - 1 else order),
                NEAR * beside,
            )[i % 5]
            rows.append((fmt, rounded(fmt, order), rounded(fmt, x)))
    return rows


def draw_cosine(rng: random.Random, dim: int, kappa: float) -> float:
    """1 - w with the density g of w at w between 1 and exp(-38) of its mode.

    Half of the draws are in the bulk (within exp(-3)), the others anywhere down to exp(-38).
    """
    power = (dim - 3) / 2
    depth = rng.uniform(0, 3) if rng.random() < 0.5 else rng.uniform(3, 38)
    if power <= 0:
        # The mode is w = 1 (for m = 2 also the pole at -1 is left out).
        return min(depth / kappa if kappa > 0 else 2.0, 2.0) * rng.uniform(1e-3, 0.999)
    s = math.hypot(power, kappa)
    mode = 2 * power / (power + s + kappa) if kappa > 0 else 1.0  # 1 - w at the mode

    def log_density(t: float) -> float:
        return power * (math.log(t / mode) + math.log((2 - t) / (2 - mode))) - kappa * (t - mode)

    low, high = (mode, 2.0) if rng.random() < 0.5 else (mode, 0.0)
    for _ in range(200):
        middle = (low + high) / 2
        if 0 < middle < 2 and log_density(middle) > -depth:
            low = middle
        else:
            high = middle
    return portable(low)


def pathwise_arguments() -> list[tuple[Format, int, float, str, float]]:
    rng = random.Random(SEED + 2)
    rows = []
    # The limits of s = sqrt(nu^2 + kappa^2) at which the evaluation changes its method or terms.
    limits = (45, 64, 150, 600, 1000, 5000)
    dims = ((2, 3), (3, 4), (4, 5), (5, 21), (21, 65), (65, 400), (65, MAX_DIM), (1000, MAX_DIM))
    for fmt, count in ((F64, 2000), (F32, 1000)):
        for i in range(count):
            low, high = dims[i % len(dims)]
            dim = int(log_uniform(rng, low, high))
            nu = (dim - 1) / 2
            if i < 40:
                kappa = 0.0
            elif rng.random() < 0.3:
                s = rng.choice([z for z in limits if z > nu] or [2 * nu]) * rng.uniform(0.98, 1.02)
                kappa = portable(math.sqrt(max(s * s - nu * nu, 0.01)))
            else:
                kappa = random_kappas(rng, fmt, dim, 4)[rng.choice((0, 0, 1, 2, 3))]
            kappa = rounded(fmt, min(kappa, MAX_KAPPA[fmt]))
            below = draw_cosine(rng, dim, kappa)
            given = rounded(fmt, 1 - below)
            if below < 0.5 and (given == 1 or rng.random() < 0.4):
                rows.append((fmt, dim, kappa, "one_minus_w", rounded(fmt, below)))
            elif given > -1:
                rows.append((fmt, dim, kappa, "w", given))
    return rows


def digits(value: mp.mpf) -> str:
    return mp.nstr(value, DIGITS, min_fixed=0, max_fixed=0) if value else "0"


def number(value: float) -> str:
    """The shortest decimal that reads back as the same value."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def row_of(values: Callable[..., dict[str, mp.mpf]], argument: tuple) -> str:
    """The type, the arguments of `values`, and what it gives."""
    fmt, *given = argument
    return ",".join([DTYPE[fmt], *map(number, given), *map(digits, values(*given).values())])


def pathwise_row(argument: tuple[Format, int, float, str, float]) -> str:
    fmt, dim, kappa, kind, given = argument
    below = 1 - mp.mpf(given) if kind == "w" else mp.mpf(given)
    value = bessel_exact.pathwise_derivative(dim, kappa, below, 2 - below)
    return ",".join([DTYPE[fmt], str(dim), number(kappa), kind, number(given), digits(value)])


@mp.workprec(bessel_exact.BITS)
def verify_against_mpmath() -> None:
    """The methods of bessel_exact against mpmath's own, on points where that is quick."""
    points = ((0.0, 0.3), (2.5, 199.0), (0.0, 201.0), (30.7, 260.5), (99.3, 250.0), (1000.5, 900.0))
    for order, x in points:
        with mp.extraprec(60):
            lower, upper = (mp.besseli(order + i, x, maxterms=10**6) for i in (0, 1))
            truth = mp.log(lower), upper / lower
        L, A = bessel_exact.log_partition_and_ratio(mp.mpf(order), mp.mpf(x))
        log_iv = L + order * mp.log(mp.mpf(x) / 2) - mp.loggamma(mp.mpf(order) + 1)
        for value, true in zip((log_iv, A), truth, strict=True):
            assert abs(value / true - 1) < mp.mpf(10) ** -60, (order, x)
    for order, x in ((0.0, 0.3), (2.5, 19.0), (7.25, 50.0), (99.25, 250.0), (0.25, 0.01)):
        step, values = mp.mpf(10) ** -25, bessel_exact.bessel_k_values(order, x)
        lower, at, upper = (mp.besselk(order + i * step, x) for i in (-1, 0, 1))
        slope = 1 - (mp.besselk(order - 1, x) + mp.besselk(order + 1, x)) / (2 * at)
        truths = (mp.log(at), slope, mp.log(upper / lower) / (2 * step))
        for name, true in zip(("log_kv", "slope", "kv_order"), truths, strict=True):
            assert abs(values[name] - true) < mp.mpf(10) ** -38, (name, order, x)


def table(header: str, row: Callable, arguments: list, pool: Pool) -> str:
    lines = [header]
    for line in pool.imap(row, arguments, chunksize=25):
        lines.append(line)
        if len(lines) % 500 == 0:
            print(f"{header[:20]}...: {len(lines)} of {len(arguments)}", flush=True)
    return "\n".join(lines) + "\n"


# The columns of the arguments, the arguments, and their values.
VALUES = {
    "vmf_kappa": ("m,kappa", kappa_arguments, bessel_exact.vmf_values),
    "bessel": ("order,x", bessel_arguments, bessel_exact.bessel_values),
    "bessel_k": ("order,x", bessel_k_arguments, bessel_exact.bessel_k_values),
}


def tables(processes: int) -> Iterable[tuple[str, str]]:
    with Pool(processes) as pool:
        for name, (given, arguments, values) in VALUES.items():
            header = ",".join(["dtype", given, *values(2, 1.0)])
            yield name, table(header, partial(row_of, values), arguments(), pool)
        header = "dtype,m,kappa,kind,given,D"
        yield "vmf_pathwise", table(header, pathwise_row, pathwise_arguments(), pool)


def main() -> int:
    arguments = generated.options(__doc__, processes=True)
    verify_against_mpmath()
    made = tables(arguments.processes)
    return generated.settle(
        ((DATA / f"{name}.csv.gz", text) for name, text in made), arguments.check
    )


if __name__ == "__main__":
    sys.exit(main())
