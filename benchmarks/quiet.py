# SPDX-License-Identifier: MIT
"""Whether the machine was quiet while something was measured. Other programs show in two ways: the
kernel counts their time, and the blocks of one candidate differ among themselves."""

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from svmf.benchmarking.sampler import Measurement

# Beyond these a run is said to be busy. An idle desktop takes a few hundredths of a core; on a
# quiet machine the quartiles of svmf's blocks are some 5 to 15 per cent apart.
MOST_OF_A_CORE = 0.25
MOST_SPREAD = 0.25

_STAT = Path("/proc/stat")


def _machine_seconds() -> float | None:
    """CPU time of everything on this machine since it started; None where nobody counts it."""
    try:
        fields = _STAT.read_text().splitlines()[0].split()
        user, nice, system, _, _, irq, soft, *_ = map(int, fields[1:])
    except (OSError, ValueError, IndexError):
        return None
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Looks on from its construction."""

    def __init__(self) -> None:
        self._clock, self._machine, self._own = time.monotonic(), _machine_seconds(), self._mine()

    @staticmethod
    def _mine() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def others(self) -> float | None:
        """How many cores other programs kept busy so far, on average."""
        now, elapsed = _machine_seconds(), time.monotonic() - self._clock
        if now is None or self._machine is None or elapsed < 1:
            return None
        return max(0.0, (now - self._machine) - (self._mine() - self._own)) / elapsed


def busy_text(others: float | None, sampling: Sequence[Measurement], cores: int) -> str | None:
    """Why the figures should not be believed, or None."""
    reasons = []
    if others is not None and others > MOST_OF_A_CORE:
        reasons.append(f"other programs kept {others:.1f} of {cores} cores busy")
    spreads = [measurement.timings["svmf"].spread for measurement in sampling]
    if spreads and statistics.median(spreads) > MOST_SPREAD:
        reasons.append(
            f"the quartiles of svmf's own blocks are {statistics.median(spreads):.0%} apart in the "
            "median"
        )
    if not reasons:
        return None
    return (
        f"this machine was busy: {', and '.join(reasons)}. Ratios on one thread may still hold, "
        "times and more threads do not; measure again when it is quiet"
    )
