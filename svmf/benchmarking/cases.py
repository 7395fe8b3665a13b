# SPDX-License-Identifier: MIT
"""What is measured: a case, and the usual cases, of which one quantity at a time varies around a
common one, so that a minute shows how cost depends on each."""

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from svmf.errors import ConfigError

TITLES = {"sample": "sample, forward", "step": "sample + KL + backward"}


@dataclass(frozen=True)
class Shape:
    """Samples [samples, batch, m]; samples = 1 stands for no sample dimension."""

    samples: int
    batch: int
    m: int

    @property
    def rows(self) -> int:
        return self.samples * self.batch

    @property
    def elements(self) -> int:
        return self.rows * self.m

    @property
    def sample_shape(self) -> tuple[int, ...]:
        return () if self.samples == 1 else (self.samples,)

    def __str__(self) -> str:
        front = f"{self.samples} x " if self.samples > 1 else ""
        return f"{front}{self.batch} x {self.m}"


def parse_shape(text: str) -> Shape:
    """A shape from ROWSxM or SAMPLESxROWSxM."""
    parts = text.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.strip().isdecimal() for part in parts):
        raise ConfigError(
            f"--shape: expected ROWSxM or SAMPLESxROWSxM, such as 8192x64 or 500x64x10, "
            f"got {text!r}"
        )
    shape = Shape(*[1, *map(int, parts)][-3:])
    if shape.rows < 1 or shape.m < 2:
        raise ConfigError(f"--shape: expected at least one row and m of at least 2, got {text!r}")
    return shape


@dataclass(frozen=True)
class Case:
    """One line of a table. `op` is "sample" (forward alone) or "step" (sample + KL + backward)."""

    op: str
    shape: Shape
    kappa: float = 50.0
    dtype: str = "float32"
    threads: int = 1
    device: str = "cpu"

    @property
    def like(self) -> dict[str, Any]:
        """What the tensors of the case are made with."""
        return {"dtype": getattr(torch, self.dtype), "device": self.device}

    def __str__(self) -> str:
        return f"{self.op} {self.shape}, kappa {self.kappa:g}, {self.dtype}, {self.threads} thread"


def thread_counts(most: int | None = None) -> list[int]:
    """1, 2, 4, ... and all cores."""
    most = most or os.cpu_count() or 1
    return [*(2**i for i in range(most.bit_length()) if 2**i < most), most]


def sweeps(quick: bool) -> list[tuple[str, list[str], list[Any]]]:
    """(quantity, shapes, values), most telling first: the last are left out when time is short."""
    threads, doubles = thread_counts(), ["64x10", "8192x2", "8192x10", "1024x64"]
    found: list[tuple[str, list[str], list[Any], list[Any]]] = [
        ("m", ["1024x10"], [2, 10, 64], [2, 3, 5, 10, 20, 64, 128, 512, 4096]),
        ("rows", ["64x10"], [64, 8192], [1, 64, 1024, 8192, 65536, 1_000_000]),
        ("samples", ["64x10"], [1, 64], [1, 8, 64, 500]),
        ("threads", ["8192x64", "64x10"], threads, threads),
        ("kappa", ["8192x10"], [1.0, 1e4], [0.1, 1.0, 50.0, 1e3, 1e4, 1e6]),
        ("dtype", doubles, ["float64"], ["float64"]),
    ]
    return [(name, at[:1], few) if quick else (name, at, all_) for name, at, few, all_ in found]


def usual_cases(ops: Iterable[str], quick: bool, device: str) -> list[tuple[str, Case]]:
    """(the quantity that varies, case), the ops of a case one after the other."""
    found = []
    for quantity, shapes, values in sweeps(quick):
        field = {"rows": "batch"}.get(quantity, quantity)
        for text, value, op in itertools.product(shapes, values, ops):
            case = Case(op, parse_shape(text), device=device)
            if hasattr(case.shape, field):
                case = replace(case, shape=replace(case.shape, **{field: value}))
            else:
                case = replace(case, **{field: value})
            if device == "cpu" or quantity != "threads":
                found.append((quantity, case))
    return found
