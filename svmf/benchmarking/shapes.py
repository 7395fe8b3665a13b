# SPDX-License-Identifier: MIT
"""What is measured: the shape of the samples, and a case (operation, shape, concentration, type,
threads, device)."""

from dataclasses import dataclass

import torch

from svmf.errors import ConfigError


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
    def torch_dtype(self) -> torch.dtype:
        return getattr(torch, self.dtype)

    def __str__(self) -> str:
        return f"{self.op} {self.shape}, kappa {self.kappa:g}, {self.dtype}, {self.threads} thread"


def parse_shape(text: str) -> Shape:
    """A shape from ROWSxM or SAMPLESxROWSxM."""
    parts = text.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.strip().isdecimal() for part in parts):
        raise ConfigError(
            f"--shape: expected ROWSxM or SAMPLESxROWSxM, such as 8192x64 or 500x64x10, "
            f"got {text!r}"
        )
    sizes = [int(part) for part in parts]
    shape = Shape(*([1, *sizes] if len(sizes) == 2 else sizes))
    if shape.rows < 1 or shape.m < 2:
        raise ConfigError(f"--shape: expected at least one row and m of at least 2, got {text!r}")
    return shape
