# SPDX-License-Identifier: MIT
"""The derivative of Wood's log ratio (csrc/math/wood_gradients.h) against mpmath."""

import mpmath as mp
import numpy
import pytest

EPS = {"f32": 2.0**-23, "f64": 2.0**-52}
TYPES = {"f32": numpy.float32, "f64": numpy.float64}
BOUND = 5  # eps of the sum of the terms' sizes, as csrc/math/wood_gradients.h states


def log_ratio_derivative(dim: int, kappa: float, below: float, above: float) -> tuple:
    """(w0 - A) - kappa (w - w0)^2/(2s) and the size of its terms."""
    k, nu = mp.mpf(kappa), mp.mpf(dim - 1) / 2
    s = mp.sqrt(nu * nu + k * k)
    A = mp.besseli(mp.mpf(dim) / 2, k) / mp.besseli(mp.mpf(dim) / 2 - 1, k)
    b = nu / (s + k)
    w0 = (1 - b) / (1 + b)
    w = 1 - mp.mpf(below) if below < above else mp.mpf(above) - 1
    first, second = w0 - A, k * (w - w0) ** 2 / (2 * s)
    # w - w0 = (b (1+w) - (1-w))/(1+b) cancels near w0: its terms count.
    terms = (b * (1 + w) + (1 - w)) / (1 + b)
    return first - second, first + second + k * abs(w - w0) * terms / s


@pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [2, 4, 5, 20, 64, 65, 500])
def test_log_ratio_derivative(svmf_math, dim: int, dtype: str, vector: bool) -> None:
    kind = TYPES[dtype]
    rng = numpy.random.default_rng(dim)
    arguments, true, scale = [], [], []
    with mp.workdps(60):
        for kappa in (1e-3, 0.7, 5, 37, 400, 1e6):
            kappa = float(kind(kappa))
            nu = (dim - 1) / 2
            b = nu / (numpy.hypot(nu, kappa) + kappa)
            for eps in (0.5, *rng.beta(nu, nu, 6)):
                below = float(kind(2 * b * eps / (1 - eps + b * eps)))
                arguments.append((kappa, below, float(kind(2 - below))))
                derivative, size = log_ratio_derivative(dim, *arguments[-1])
                true.append(float(derivative))
                scale.append(float(size))
    kappa, below, above = numpy.array(arguments, dtype=kind).T.copy()
    value = getattr(svmf_math, f"log_ratio_derivative_{dtype}")(below, above, kappa, dim, vector)
    error = numpy.abs(value.astype(numpy.float64) - true) / (numpy.array(scale) * EPS[dtype])
    worst = error.argmax()
    assert error[worst] <= BOUND, arguments[worst]


@pytest.mark.parametrize("dtype", TYPES)
def test_ends_of_kappa(svmf_math, dtype: str) -> None:
    kappa = numpy.array([0, -1, numpy.nan, 3], dtype=TYPES[dtype])
    half = numpy.full_like(kappa, 0.5)
    value = getattr(svmf_math, f"log_ratio_derivative_{dtype}")(half, 2 - half, kappa, 5)
    assert value[0] == 0
    assert numpy.isnan(value).tolist() == [False, True, True, False]
