# SPDX-License-Identifier: MIT
"""Elementary functions of csrc/math/elementary.h in both lane types, against 80-bit arithmetic.

The bounds are those that the comments in the header state, in units in the last place of the result
(for sine and cosine: of 1).
"""

import numpy
import pytest
from numpy import longdouble as wide

pytestmark = pytest.mark.skipif(
    numpy.finfo(wide).nmant < 63, reason="needs an extended long double as the truth"
)

COUNT = 60_000
TWO_PI = 2 * wide("3.14159265358979323846264338327950288")


def log1p_minus_argument(f):
    series = numpy.zeros_like(f)
    for n in range(70, 1, -1):
        series = series * f + wide((-1) ** (n + 1)) / n
    return numpy.where(numpy.abs(f) < 0.25, series * f * f, numpy.log1p(f) - f)


def sine_cosine(turns):
    quarter = numpy.rint(4 * turns)
    rest = TWO_PI * (turns - quarter / 4)
    sine, cosine = numpy.sin(rest), numpy.cos(rest)
    index = quarter.astype(int) % 4
    return (
        numpy.choose(index, [sine, cosine, -sine, -cosine]),
        numpy.choose(index, [cosine, -sine, -cosine, sine]),
    )


def arguments(name: str, dtype: type) -> numpy.ndarray:
    random = numpy.random.default_rng(7)
    u, v = random.random(COUNT), random.random(COUNT)
    info = numpy.finfo(dtype)
    most = float(numpy.log(float(info.max))) - 1
    smallest = float(numpy.log(float(info.tiny)))
    whole_range = numpy.exp(smallest - 2 * smallest * u)
    parts = {
        "exp": [(2 * u - 1) * (most - 1), 2 * u - 1, (2 * u - 1) * 10.0 ** (-10 * v)],
        "exp_of_pair": [-u * (most - 2), -3 * u, -numpy.exp(-30 * u)],
        "expm1_of_pair": [-u * (most - 2), -3 * u, -numpy.exp(-30 * u)],
        "log": [whole_range, 0.5 + u, 1 + (u - 0.5) * numpy.exp(-12 * v), v * float(info.tiny)],
        "log1p_positive": [whole_range, u, 4 * u, -0.4999 * u, 1e-3 * u],
        "log1p_minus_argument": [0.41 * u, -0.29 * u, (2 * u - 1) * 0.29 * numpy.exp(-15 * v)],
        "log1p_minus_argument_beyond": [-0.29 - 0.2099 * u, 0.41 + 10 * u, numpy.exp(20 * u)],
        "sin_turns": [u - 0.5, (u - 0.5) * numpy.exp(-10 * v)],
        "cos_turns": [u - 0.5, (u - 0.5) * numpy.exp(-10 * v)],
    }[name]
    x = numpy.concatenate(parts).astype(dtype)
    return x[numpy.isfinite(x)]


TRUTH = {
    "exp": numpy.exp,
    "exp_of_pair": numpy.exp,
    "expm1_of_pair": numpy.expm1,
    "log": numpy.log,
    "log1p_positive": numpy.log1p,
    "log1p_minus_argument": log1p_minus_argument,
    "log1p_minus_argument_beyond": log1p_minus_argument,
    "sin_turns": lambda x: sine_cosine(x)[0],
    "cos_turns": lambda x: sine_cosine(x)[1],
}
BOUNDS = {
    "exp": 1.1,
    "exp_of_pair": 1.3,
    "expm1_of_pair": 1.3,
    "log": 1.0,
    "log1p_positive": 1.5,
    "log1p_minus_argument": {"f64": 3.0, "f32": 13.0},
    "log1p_minus_argument_beyond": {"f64": 18.0, "f32": 24.0},
    "sin_turns": 1.0,
    "cos_turns": 1.0,
}


@pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize("name", BOUNDS)
def test_error_in_the_last_place(svmf_math, name: str, suffix: str, vector: bool) -> None:
    dtype = {"f32": numpy.float32, "f64": numpy.float64}[suffix]
    x = arguments(name, dtype)
    function = getattr(svmf_math, f"{name.removesuffix('_beyond')}_{suffix}")
    value = function(x, vector).astype(wide)
    true = TRUTH[name](x.astype(wide))
    if name.endswith("turns"):
        unit = numpy.finfo(dtype).eps
    else:
        unit = numpy.spacing(numpy.maximum(numpy.abs(true), numpy.finfo(dtype).tiny).astype(dtype))
    bound = BOUNDS[name]
    if isinstance(bound, dict):
        bound = bound[suffix]
    assert (numpy.abs(value - true) / unit).max() <= bound


@pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_special_values(svmf_math, suffix: str, vector: bool) -> None:
    dtype = {"f32": numpy.float32, "f64": numpy.float64}[suffix]
    inf, nan = numpy.inf, numpy.nan

    def check(name: str, given: list[float], expected: list[float]) -> None:
        value = getattr(svmf_math, f"{name}_{suffix}")(numpy.array(given, dtype), vector)
        numpy.testing.assert_array_equal(value, numpy.array(expected, dtype))

    check("exp", [0.0, -inf, inf, nan, -1e6, 1e6], [1.0, 0.0, inf, nan, 0.0, inf])
    check("log", [1.0, 0.0, -0.0, inf, -1.0, nan], [0.0, -inf, -inf, inf, nan, nan])
    check("log1p_positive", [0.0, inf, nan], [0.0, inf, nan])
    check("exp_of_pair", [0.0], [1.0])
    lowest = -87.0 if suffix == "f32" else -708.0
    for x in (-1e6, -inf):
        value = getattr(svmf_math, f"exp_of_pair_{suffix}")(numpy.array([x], dtype), vector)
        assert value[0] == pytest.approx(numpy.exp(lowest), rel=1e-6)
    check("expm1_of_pair", [0.0, -1e6, -inf], [0.0, -1.0, -1.0])
    check("log1p_minus_argument", [0.0], [0.0])
    check("sin_turns", [0.0, 0.25, -0.25, 0.5], [0.0, 1.0, -1.0, 0.0])
    check("cos_turns", [0.0, 0.25, -0.25, 0.5], [1.0, 0.0, 0.0, -1.0])
