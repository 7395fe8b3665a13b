# SPDX-License-Identifier: MIT
"""Turns the cases and candidates of svmf.benchmarking into pytest-benchmark tests, one group per
case, so that a file per op is a line or two."""

from collections.abc import Callable, Iterable

import pytest

from svmf.benchmarking.candidates import BY_NAME
from svmf.benchmarking.shapes import Case, Shape
from svmf.benchmarking.special import SPECIAL_OPS, special_calls

SHAPES = (Shape(1, 64, 10), Shape(1, 8192, 10), Shape(1, 1024, 64), Shape(1, 8192, 512))
_VALUES = 20_000  # numbers that a function without randomness is given


def sampling_benchmark(
    op: str, names: Iterable[str], shapes: Iterable[Shape] = SHAPES
) -> Callable[..., None]:
    """Candidates on "sample" or "step", float32, kappa 50."""

    @pytest.mark.parametrize("name", names)
    @pytest.mark.parametrize("shape", shapes, ids=str)
    def test(benchmark, shape: Shape, name: str) -> None:
        case, candidate = Case(op, shape), BY_NAME[name]
        if not candidate.applies(case):
            pytest.skip(f"{name} is measured up to {candidate.most_elements} elements")
        benchmark.group = str(case)
        benchmark(candidate.calls[op](case))

    return test


def function_benchmark(name: str) -> Callable[..., None]:
    """svmf in both types, svmf.reference on fewer numbers, and SciPy where it has the function."""
    op = SPECIAL_OPS[name]
    sides = ["float64", "float32", "few", "reference"]
    if op.by_scipy is not None:
        sides.append("SciPy")

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")  # ive underflows in SciPy's formulas
    @pytest.mark.parametrize("side", sides)
    @pytest.mark.parametrize("value", [op.values[0], op.values[len(op.values) // 2], op.values[-1]])
    def test(benchmark, value: float, side: str) -> None:
        few = ", few numbers" if side in ("few", "reference") else ""
        benchmark.group = f"{name} at {op.parameter} = {value:g}{few}"
        benchmark(special_calls(op, value, _VALUES)[side])

    return test
