# SPDX-License-Identifier: MIT
"""Every op under pytest-benchmark, one group per case.

pytest benchmarks/bench_ops.py --benchmark-only                  all
pytest benchmarks/bench_ops.py --benchmark-only -k vmf_rsample   one op
"""

from types import ModuleType

import pytest
import torch

import svmf.functional
import svmf.reference
from benchmarks.peers import BY_NAME
from benchmarks.special import SPECIAL_OPS, special_calls
from benchmarks.training_models import make_steps
from svmf.benchmarking.cases import Case, Shape
from svmf.benchmarking.sampler import SLOW_ELEMENTS, concentration, direction, incoming

SHAPES = (Shape(1, 64, 10), Shape(1, 8192, 10), Shape(1, 1024, 64), Shape(1, 8192, 512))
VALUES = 20_000  # numbers that a function without randomness is given
SAMPLERS = {
    "vmf_rsample": ("sample", ("svmf", "class", "Normal", "Normal'", "randn", "copy", "reference")),
    "vmf_rsample_kl": (
        "step", ("svmf", "class", "Normal", "Normal'", "copy", "reference", "published"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("op", "name"),
    [pytest.param(op, n, id=f"{key}-{n}") for key, (op, names) in SAMPLERS.items() for n in names],
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sampler(benchmark, shape: Shape, op: str, name: str) -> None:
    """float32, kappa 50; vmf_rsample_kl with its backward pass, as in a training step."""
    case, candidate = Case(op, shape), BY_NAME[name]
    if not candidate.applies(case):
        pytest.skip(f"{name} is measured up to {SLOW_ELEMENTS} elements")
    benchmark.group = str(case)
    benchmark(candidate.calls[op](case))


@pytest.mark.parametrize("library", [svmf.functional, svmf.reference], ids=["svmf", "reference"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_vmf_rsample_with_correction(benchmark, shape: Shape, library: ModuleType) -> None:
    """The paper's estimator, forward and backward, without the KL."""
    if library is svmf.reference and shape.elements > SLOW_ELEMENTS:
        pytest.skip(f"the reference is measured up to {SLOW_ELEMENTS} elements")
    case = Case("step", shape)
    loc, kappa, gradients = direction(case), concentration(case), incoming(case)
    benchmark.group = f"corrected estimator {shape}"
    benchmark(
        lambda: torch.autograd.grad(
            library.vmf_rsample_with_correction(loc, kappa), (loc, kappa), gradients
        )
    )


def _functions() -> list:
    """Each function at three values of its parameter: svmf in both types, svmf.reference on fewer
    numbers, and SciPy where it has the function."""
    return [
        pytest.param(name, value, side, id=f"{name}-{value:g}-{side}")
        for name, op in SPECIAL_OPS.items()
        for value in (op.values[0], op.values[len(op.values) // 2], op.values[-1])
        for side in ("float64", "float32", "few", "reference", *(["SciPy"] * bool(op.by_scipy)))
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # ive underflows in SciPy's formulas
@pytest.mark.parametrize(("name", "value", "side"), _functions())
def test_function(benchmark, name: str, value: float, side: str) -> None:
    op = SPECIAL_OPS[name]
    few = ", few numbers" if side in ("few", "reference") else ""
    benchmark.group = f"{name} at {op.parameter} = {value:g}{few}"
    benchmark(special_calls(op, value, VALUES)[side])


@pytest.mark.parametrize("name", list(make_steps()))
def test_vae_step(benchmark, name: str) -> None:
    benchmark.group = "VAE step"
    benchmark(make_steps()[name])
