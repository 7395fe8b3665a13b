# SPDX-License-Identifier: MIT
"""Chebyshev series in high precision, and weighted minimax fits of smooth functions.

A fit changes only the remainder that truncating the series leaves, which is small: doubles suffice
for it. They are added, multiplied and divided, never passed to the C library, so that the result is
the same on every machine.
"""

from __future__ import annotations

import math
from functools import cache

import mpmath as mp

GRID = 192  # points at which errors are looked at


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
    total = [mp.mpf(0)] * len(series)
    lower, upper = [1], [0, 1]  # T_j and T_(j+1)
    for a in series:
        for i, y in enumerate(lower):
            total[i] += a * y
        following = [0] + [2 * y for y in upper]
        for i, y in enumerate(lower):
            following[i] -= y
        lower, upper = upper, following
    return [x / half_width**j for j, x in enumerate(total)]


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
