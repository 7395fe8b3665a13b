# SPDX-License-Identifier: MIT
"""`vmf_rsample_with_correction` with its backward pass against the reference: the paper's
estimator, forward and backward, without the KL."""

from types import ModuleType

import pytest
import torch
from op_benchmarks import SHAPES

import svmf.functional
import svmf.reference
from svmf.benchmarking.candidates import SLOW_ELEMENTS
from svmf.benchmarking.latent import concentration, direction, incoming
from svmf.benchmarking.shapes import Case, Shape


@pytest.mark.parametrize("library", [svmf.functional, svmf.reference], ids=["svmf", "reference"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_vmf_rsample_with_correction(benchmark, shape: Shape, library: ModuleType) -> None:
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
