# SPDX-License-Identifier: MIT
"""Which cases are measured: one quantity varies at a time around a common case, so that a few
minutes show how cost depends on each. The whole range is --shape, --kappa, --dtype, --threads."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from svmf.benchmarking.shapes import Case, Shape

OPS = ("sample", "step")


@dataclass(frozen=True)
class Sweep:
    """Values of one quantity, and the shapes at which it varies."""

    quantity: str
    values: Sequence[float | str]
    quick: Sequence[float | str]
    shapes: Sequence[Shape]


def thread_counts(most: int | None = None) -> list[int]:
    """1, 2, 4, ... and all cores."""
    most = most or os.cpu_count() or 1
    return [*(2**i for i in range(most.bit_length()) if 2**i < most), most]


def sweeps(device: str = "cpu") -> list[Sweep]:
    """Most telling first: what comes last is left out when time is short."""
    found = [
        Sweep("m", (2, 3, 5, 10, 20, 64, 128, 512, 4096), (2, 10, 64), [Shape(1, 1024, 10)]),
        Sweep("rows", (1, 64, 1024, 8192, 65536, 1_000_000), (64, 8192), [Shape(1, 64, 10)]),
        Sweep("samples", (1, 8, 64, 500), (1, 64), [Shape(1, 64, 10)]),
        Sweep("kappa", (0.1, 1.0, 50.0, 1e3, 1e4, 1e6), (1.0, 1e4), [Shape(1, 8192, 10)]),
        Sweep(
            "dtype",
            ("float64",),
            ("float64",),
            [Shape(1, 64, 10), Shape(1, 8192, 2), Shape(1, 8192, 10), Shape(1, 1024, 64)],
        ),
    ]
    if device == "cpu":
        counts = thread_counts()
        shapes = [Shape(1, 8192, 64), Shape(1, 64, 10)]
        found.insert(3, Sweep("threads", counts, counts, shapes))
    return found


def sweep_cases(sweep: Sweep, op: str, *, quick: bool, device: str) -> list[Case]:
    """The cases of one sweep, in the order of its values."""
    shapes = sweep.shapes[:1] if quick else sweep.shapes
    base = [Case(op, shape, device=device) for shape in shapes]
    values = sweep.quick if quick else sweep.values
    return [_vary(case, sweep.quantity, value) for case in base for value in values]


def _vary(case: Case, quantity: str, value: Any) -> Case:
    fields = {"m": "m", "rows": "batch", "samples": "samples"}
    if quantity in fields:
        return replace(case, shape=replace(case.shape, **{fields[quantity]: value}))
    changes: dict[str, Any] = {quantity: value}
    return replace(case, **changes)


def product(
    ops: Iterable[str],
    shapes: Sequence[Shape],
    kappas: Sequence[float],
    dtypes: Sequence[str],
    counts: Sequence[int],
    device: str,
) -> list[Case]:
    """All combinations, for questions about chosen values."""
    return [
        Case(op, shape, kappa, dtype, count, device)
        for op in ops
        for shape in shapes
        for kappa in kappas
        for dtype in dtypes
        for count in counts
    ]
