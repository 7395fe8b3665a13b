# SPDX-License-Identifier: MIT
"""What a run changes in its process, put back afterwards: threads, process group, subnormals."""

import contextlib
import os
from collections.abc import Iterator

import torch

from svmf.training.config import RunConfig
from svmf.training.processes import Processes


@contextlib.contextmanager
def run_environment(config: RunConfig) -> Iterator[Processes]:
    """Around everything that trains or evaluates a configuration.

    Subnormal numbers are flushed to zero inside. Adam's moments of a weight whose gradient has
    become zero (a dead ReLU, a pixel that is never lit) decay into the subnormal range within a
    few epochs and, by rounding, never leave it. Arithmetic on them is slow: an optimiser step came
    to take four times as long. Worker threads take the setting over from the thread that starts
    them, so it comes before the first parallel loop.
    """
    processes = Processes(config.device)  # may refuse: nothing is changed before
    flushing, threads = flushes_subnormals(), torch.get_num_threads()
    torch.set_flush_denormal(True)
    if config.threads is not None:
        torch.set_num_threads(min(config.threads, most_threads()))
    try:
        yield processes
    finally:
        processes.close()
        torch.set_num_threads(threads)
        torch.set_flush_denormal(flushing)


def most_threads() -> int:
    """A configuration, which may be a stranger's, gets no more: beyond the processors threads gain
    nothing, and the stacks of a thousand take 8 GB of addresses."""
    return max(os.cpu_count() or 1, 64)


def flushes_subnormals() -> bool:
    """Whether this thread's arithmetic takes subnormal numbers for zero."""
    smallest = torch.tensor([torch.finfo(torch.float32).smallest_normal])
    return float(smallest / 2) == 0.0
