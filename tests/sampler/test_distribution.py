# SPDX-License-Identifier: MIT
"""The fused sampler draws from the vMF distribution: 52 pairs (m, kappa), mean directions in
awkward places.

False-alarm rate, all checks of all files together: gof.FALSE_ALARM (1e-5). The quick tests draw 1e5
samples for a part of the pairs; `make test-statistics` draws 1e6 for all of them.
"""

import math
import os

import pytest
import torch
from helpers.sample_checks import examine, fused

PAIRS = [
    *((2, k) for k in (0.0, 1e-3, 0.5, 3.0, 30.0, 1e3, 1e6, 1e8)),
    *((3, k) for k in (0.0, 1e-3, 1.0, 10.0, 1e3, 1e6, 1e8)),
    *((4, k) for k in (0.3, 5.0, 100.0, 1e8)),
    *((5, k) for k in (0.0, 1.0, 12.0, 400.0, 1e5)),
    (7, 2.0),
    *((10, k) for k in (0.0, 3.0, 12.0, 200.0, 1e4, 1e8)),
    *((20, k) for k in (1.0, 25.0, 5e3)),
    (33, 17.3),
    *((50, k) for k in (20.0, 500.0, 1e6)),
    (65, 45.0),
    *((128, k) for k in (60.0, 1e4)),
    *((500, k) for k in (0.0, 100.0, 1e5)),
    *((1000, k) for k in (700.0, 1e8)),
    *((10_000, k) for k in (50.0, 1e4, 1e7)),
    *((100_000, k) for k in (0.0, 1e5, 1e8)),
]
QUICK_PAIRS = [
    (2, 0.0), (2, 3.0), (2, 1e8), (3, 0.0), (3, 10.0), (3, 1e8), (4, 5.0), (5, 12.0), (10, 0.0),
    (10, 12.0), (10, 1e8), (50, 20.0), (65, 45.0), (500, 1e5),
]  # fmt: skip
LOC_PAIRS = [(2, 3.0), (3, 10.0), (5, 12.0), (10, 200.0), (50, 20.0)]
TYPES = [torch.float32, torch.float64]

# Rounding of z itself, in eps: mu is unit to one eps, and z is a sum of two vectors.
NORM_LIMIT = 8.0
COSINE_LIMIT = 8.0


def mean_direction(kind: str, m: int, dtype: torch.dtype) -> torch.Tensor:
    """A mean direction in float64 whose entries `dtype` represents."""
    loc = torch.zeros(m, dtype=dtype)
    sign = -1.0 if kind.endswith("-e1") else 1.0
    if kind == "random":
        generator = torch.Generator().manual_seed(m)
        normal = torch.randn(m, generator=generator, dtype=torch.float64)
        return (normal / normal.square().sum().sqrt()).to(dtype).double()
    loc[0] = sign
    if kind.startswith("one ulp from"):
        loc[0] = torch.nextafter(loc[0], torch.zeros((), dtype=dtype))
        loc[1] = math.sqrt((1 - abs(loc[0].item())) * (1 + abs(loc[0].item())))
    elif kind.startswith("tilted"):
        loc[-1] = torch.finfo(dtype).eps
    return loc.double()


def verify(m: int, kappa: float, dtype: torch.dtype, kind: str, n: int, seed: int) -> None:
    report = examine(fused(dtype), mean_direction(kind, m, dtype), kappa, n, seed)
    report.require_all(f"m={m} kappa={kappa:g} {dtype} mu {kind}", NORM_LIMIT, COSINE_LIMIT)


KINDS = ["random", "e1", "-e1", "one ulp from e1", "one ulp from -e1", "tilted e1", "tilted -e1"]


@pytest.mark.parametrize("dtype", TYPES, ids=["float32", "float64"])
@pytest.mark.parametrize(("m", "kappa"), QUICK_PAIRS)
def test_quick(m, kappa, dtype):
    verify(m, kappa, dtype, "random", 100_000, seed=1000 + m)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize(("m", "kappa"), LOC_PAIRS)
def test_quick_mean_directions(m, kappa, kind):
    dtype = TYPES[(m + len(kind)) % 2]
    verify(m, kappa, dtype, kind, 40_000, seed=2000 + m)


@pytest.mark.statistics
@pytest.mark.parametrize("dtype", TYPES, ids=["float32", "float64"])
@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_full(m, kappa, dtype):
    if m == 100_000:
        if dtype == torch.float64 and kappa != 1e8:
            pytest.skip("1e11 float64 elements: one kappa at m = 100,000 is enough")
        torch.set_num_threads(os.cpu_count() or 1)
    verify(m, kappa, dtype, "random", 1_000_000, seed=30_000 + m)


@pytest.mark.statistics
@pytest.mark.parametrize("dtype", TYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize(("m", "kappa"), LOC_PAIRS)
def test_full_mean_directions(m, kappa, kind, dtype):
    verify(m, kappa, dtype, kind, 1_000_000, seed=40_000 + m)
