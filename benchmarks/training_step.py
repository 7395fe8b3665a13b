# SPDX-License-Identifier: MIT
"""A whole training step of the S-VAE (MNIST's shape: batch 64, 784 pixels, d = 10) against the
N-VAE written with torch.distributions and against the same S-VAE on the plain-Python sampler: what
is compared, and the table. The models are in training_models.py."""

from collections.abc import Mapping

from benchmarks.texts import time_text
from svmf.benchmarking.report import ratio_text, table
from svmf.benchmarking.timing import Timing

PIXELS, BATCH, DIM = 784, 64, 10
OURS, NORMAL, REFERENCE, LIMIT = (
    "S-VAE", "N-VAE, torch.distributions", "S-VAE, reference", "auto-encoder",
)  # fmt: skip


def training_table(timings: Mapping[str, Timing]) -> str:
    ours = timings[OURS]
    rows = [
        [name, time_text(t.median), f"{t.spread:.0%}", ratio_text(ours.median / t.median)]
        for name, t in timings.items()
    ]
    return table(["training step", "time", "spread", "S-VAE / this"], rows)
