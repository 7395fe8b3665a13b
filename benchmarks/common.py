# SPDX-License-Identifier: MIT
"""What the benchmarks share: shapes, interleaved timing, a description of the machine, JSON.

Competitors are timed by turns, a short block of calls each, many times over; what a busy machine
does to one it then does to all. The figure of a competitor is the median over its blocks; ratios
are ratios of medians within one run.
"""

import gc
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import svmf

PROJECT = Path(__file__).resolve().parent.parent


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
class Timing:
    """Seconds per call: the median over the blocks, the quartiles, the smallest."""

    median: float
    low_quartile: float
    high_quartile: float
    smallest: float
    blocks: int


@contextmanager
def threads(count: int):
    """Runs with `count` threads inside torch's operations."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _block_size(call: Callable[[], object], seconds: float) -> int:
    """Calls that take about `seconds` together, after a warm-up."""
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    calls = max(1, min(1000, int(seconds / max(once, 1e-7))))
    if calls > 1:  # the second call is often slower than those that follow
        start = time.perf_counter()
        for _ in range(calls):
            call()
        once = (time.perf_counter() - start) / calls
        calls = max(1, min(1000, int(seconds / max(once, 1e-7))))
    return calls


def time_interleaved(
    candidates: Mapping[str, Callable[[], object]],
    *,
    seconds: float = 0.5,
    block_seconds: float = 1e-3,
    least_blocks: int = 5,
) -> dict[str, Timing]:
    """Times the candidates by turns for about `seconds` in all, each at least `least_blocks`
    blocks."""
    sizes = {name: _block_size(call, block_seconds) for name, call in candidates.items()}
    blocks: dict[str, list[float]] = {name: [] for name in candidates}
    enabled = gc.isenabled()
    gc.disable()
    try:
        begin = time.perf_counter()
        while True:
            for name, call in candidates.items():
                start = time.perf_counter()
                for _ in range(sizes[name]):
                    call()
                blocks[name].append((time.perf_counter() - start) / sizes[name])
            rounds = len(next(iter(blocks.values())))
            if rounds >= least_blocks and time.perf_counter() - begin > seconds:
                break
    finally:
        if enabled:
            gc.enable()
    return {name: _summary(times) for name, times in blocks.items()}


def _summary(times: list[float]) -> Timing:
    low, median, high = statistics.quantiles(times, n=4)
    return Timing(median, low, high, min(times), len(times))


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str:
    result = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout.strip() or "unknown"


def environment() -> dict[str, str]:
    """What a figure depends on besides the code."""
    info = svmf.build_info()
    return {
        "cpu": _cpu_name(),
        "cores": str(os.cpu_count()),
        "instruction set": info["cpu_isa"],
        "compiler": info["compiler"],
        "torch": info["torch"],
        "svmf": info["svmf"],
        "commit": _commit(),
        "python": platform.python_version(),
    }


def describe_environment() -> str:
    return ", ".join(f"{name} {value}" for name, value in environment().items())


def write_json(path: str | os.PathLike[str], results: Any) -> None:
    """Results with the environment they were measured in."""

    def plain(value: Any) -> Any:
        if isinstance(value, (Shape, Timing)):
            return asdict(value)
        raise TypeError(f"cannot write {type(value).__name__} as JSON")

    document = {"environment": environment(), "results": results}
    Path(path).write_text(json.dumps(document, indent=1, default=plain) + "\n")
