# SPDX-License-Identifier: MIT
"""What `python -m benchmarks` was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.special import SPECIAL_OPS
from svmf.benchmarking.session import Request

SECTIONS = ("sample", "step", "special", *SPECIAL_OPS, "training", "memory", "first-call")


@dataclass
class Plan(Request):
    """Empty means everything: all sections, the sweeps."""

    sections: Sequence[str] = ()
    goals: bool = False
    statistic: str = "median"
    minutes: float = 4.5

    def wants(self, section: str) -> bool:
        return not self.sections or section in self.sections
