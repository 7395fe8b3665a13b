# SPDX-License-Identifier: MIT
"""What `python -m benchmarks` was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.special import SPECIAL_OPS
from svmf.benchmarking.cases import Case, Shape

SECTIONS = ("sample", "step", "special", *SPECIAL_OPS, "training", "memory", "first-call")


@dataclass
class Plan:
    """Empty means everything: all sections, the usual cases."""

    cases: Sequence[tuple[str, Case]]
    chosen: bool
    shapes: Sequence[Shape]
    kappas: Sequence[float]
    device: str
    quick: bool
    cpu_time: bool
    seconds: float
    sections: Sequence[str]
    goals: bool
    statistic: str
    minutes: float

    def wants(self, section: str) -> bool:
        return not self.sections or section in self.sections
