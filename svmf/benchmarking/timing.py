# SPDX-License-Identifier: MIT
"""Interleaved timing.

Candidates run by turns in changing order, a short block of calls each, many times over: what a busy
machine does to one it then does to all. The figure of a candidate is the median over its blocks,
its spread the quartiles; the first call, which pays for what is built once, is kept apart.
"""

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch

Call = Callable[[], object]
_MOST_CALLS = 1000


@dataclass(frozen=True)
class Timing:
    """Seconds per call: the median over the blocks, the quartiles, the smallest; and of the very
    first call."""

    median: float
    low_quartile: float
    high_quartile: float
    smallest: float
    blocks: int
    first: float

    @property
    def spread(self) -> float:
        """Distance of the quartiles relative to the median."""
        return (self.high_quartile - self.low_quartile) / self.median


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Runs with `count` threads inside torch's operations."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def choose_clock(cpu_time: bool, count: int = 1, device: str = "cpu") -> Callable[[], float]:
    """The wall clock; or, if asked for and on one thread of the CPU, the time that the process
    itself has run, which other work on the machine hardly touches."""
    own = cpu_time and count == 1 and device == "cpu"
    return time.process_time if own else time.perf_counter


class _Series:
    """The blocks of one call. The first call stands apart; the size of a block is found twice,
    because the second call is often slower than those that follow."""

    def __init__(
        self, call: Call, block_seconds: float, device: str, clock: Callable[[], float]
    ) -> None:
        self._call, self._clock, self._size = call, clock, 1
        self._device = device if device.startswith("cuda") else None
        self.blocks: list[float] = []
        self.spent = 0.0
        self.first = self._run()
        for _ in range(2):
            self._size = max(1, min(_MOST_CALLS, int(block_seconds / max(self._run(), 1e-7))))
            if self._size == 1:
                break

    def _run(self) -> float:
        """Seconds per call of one block, which on a GPU ends when the GPU has finished."""
        if self._device:
            torch.cuda.synchronize(self._device)
        start = self._clock()
        for _ in range(self._size):
            self._call()
        if self._device:
            torch.cuda.synchronize(self._device)
        return (self._clock() - start) / self._size

    def run_block(self) -> None:
        self.blocks.append(self._run())
        self.spent += self.blocks[-1] * self._size

    def timing(self) -> Timing:
        low, median, high = statistics.quantiles(self.blocks, n=4, method="inclusive")
        return Timing(median, low, high, min(self.blocks), len(self.blocks), self.first)


def time_interleaved(
    calls: Mapping[str, Call],
    *,
    seconds: float = 0.5,
    block_seconds: float = 1e-3,
    least_blocks: int = 5,
    device: str = "cpu",
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Times the calls by turns for about `seconds` in all, each at least `least_blocks` blocks. One
    that has had its share of the time sits out. `clock`: see choose_clock."""
    running = {name: _Series(call, block_seconds, device, clock) for name, call in calls.items()}
    share = seconds / max(1, len(running))
    waiting, turns, enabled = list(running.values()), random.Random(0), gc.isenabled()
    gc.disable()
    try:
        while waiting:
            turns.shuffle(waiting)  # nobody always follows one that has emptied the caches
            for series in waiting:
                series.run_block()
            waiting = [s for s in waiting if s.spent < share or len(s.blocks) < least_blocks]
    finally:
        if enabled:
            gc.enable()
    return {name: series.timing() for name, series in running.items()}
