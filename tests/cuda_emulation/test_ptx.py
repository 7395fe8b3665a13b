# SPDX-License-Identifier: MIT
"""What nvcc made of the sampler's kernels: its PTX, run by the interpreter of tools/ptx.py, against
the CPU op. The emulation, which compiles the same sources with g++, cannot see nvcc's mistakes and
ours about it (inline PTX, pointers that nvcc must not see through)."""

import itertools
import sys

import cases
import numpy as np
import pytest
from helpers.nvcc import needs_nvcc
from helpers.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))

import cuda_counts

pytestmark = [needs_nvcc, pytest.mark.timeout(900)]
# Runs of one row and of many, a warp and a block per row, the circle and the sphere.
DIMS = (2, 3, 5, 10, 128, 200, 600)
FAMILIES = {"vmf_sample": cases.sample_cases, "vmf_sample_backward": cases.backward_cases}


@pytest.mark.parametrize("unit", FAMILIES)
def test_ptx_agrees_with_the_cpu(unit, compiler):
    kernels = cuda_counts.compile_ptx(unit)
    rng = np.random.default_rng(11)
    comparisons = [c for c in FAMILIES[unit](rng, DIMS) if c.case.dtype == "float32"]
    launches = cuda_counts.describe([c.case for c in comparisons])
    seen = set()
    for comparison, launch in zip(comparisons, launches, strict=True):
        cuda_counts.launch(comparison.case, launch, kernels)
        comparison.check()
        seen.add(launch.kernel)
    assert len(seen) >= 3  # RunTeam, WarpTeam, BlockTeam


def test_sectors_are_close_to_the_least(compiler):
    """Short rows are moved as runs: no more than 1.5 times the sectors that must be touched."""
    kernels = {}
    for unit in FAMILIES:
        kernels |= cuda_counts.compile_ptx(unit)
    for m, dtype in itertools.product((10, 128), ("float32", "float16")):
        pair = list(cuda_counts.sampler_cases(1024, m, dtype))
        for case, launch in zip(pair, cuda_counts.describe(pair), strict=True):
            machine = cuda_counts.launch(case, launch, kernels)
            least = cuda_counts.least_sectors(case, m)
            assert machine.sectors / 1024 <= 1.5 * least, (case.op, case.dtype, m)
