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
from functools import partial

import torch

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


class _Candidate:
    """A call, the number of calls in a block, and the blocks so far."""

    def __init__(
        self,
        call: Callable[[], object],
        block_seconds: float,
        wait: Callable[[], object],
        clock: Callable[[], float],
    ) -> None:
        self._call, self._wait, self._clock, self._size = call, wait, clock, 1
        self.blocks: list[float] = []
        self.spent = 0.0
        self.first = self._run()
        # a warm-up that also finds the size of a block; the second call is often slower than those
        # that follow, so the size is found twice
        for _ in range(2):
            self._size = max(1, min(_MOST_CALLS, int(block_seconds / max(self._run(), 1e-7))))
            if self._size == 1:
                break

    def _run(self) -> float:
        """Seconds per call of one block."""
        self._wait()
        start = self._clock()
        for _ in range(self._size):
            self._call()
        self._wait()
        return (self._clock() - start) / self._size

    def run_block(self) -> None:
        seconds = self._run()
        self.blocks.append(seconds)
        self.spent += seconds * self._size

    def timing(self) -> Timing:
        low, median, high = statistics.quantiles(self.blocks, n=4, method="inclusive")
        return Timing(median, low, high, min(self.blocks), len(self.blocks), self.first)


def time_interleaved(
    candidates: Mapping[str, Callable[[], object]],
    *,
    seconds: float = 0.5,
    block_seconds: float = 1e-3,
    least_blocks: int = 5,
    device: str = "cpu",
    clock: Callable[[], float] = time.perf_counter,
    on_error: Callable[[str, Exception], None] | None = None,
) -> dict[str, Timing]:
    """Times the candidates by turns for about `seconds` in all, each at least `least_blocks`
    blocks. A candidate that has had its share of the time sits out; one that raises in its first
    calls is left out if `on_error` (name, error) returns. `clock`: see choose_clock."""
    wait = partial(torch.cuda.synchronize, device) if device.startswith("cuda") else _nothing
    running: dict[str, _Candidate] = {}
    for name, call in candidates.items():
        try:
            running[name] = _Candidate(call, block_seconds, wait, clock)
        except Exception as error:
            if on_error is None:
                raise
            on_error(name, error)
    share = seconds / max(1, len(running))
    enabled = gc.isenabled()
    gc.disable()
    try:
        waiting = list(running.values())
        turns = random.Random(0)
        while waiting:
            turns.shuffle(waiting)  # nobody always follows one that has emptied the caches
            for candidate in waiting:
                candidate.run_block()
            waiting = [c for c in waiting if c.spent < share or len(c.blocks) < least_blocks]
    finally:
        if enabled:
            gc.enable()
    return {name: candidate.timing() for name, candidate in running.items()}


def _nothing() -> None:
    """The CPU has finished when a call returns."""
