# SPDX-License-Identifier: MIT
"""What `svmf bench` was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from svmf.benchmarking.shapes import Shape
from svmf.benchmarking.special import SPECIAL_OPS

SECTIONS = ("sample", "step", "special", *SPECIAL_OPS, "training", "memory", "first-call")


@dataclass
class Plan:
    """Empty means everything: all sections, the sweeps."""

    sections: Sequence[str] = ()
    shapes: Sequence[Shape] = ()
    kappas: Sequence[float] = ()
    dtypes: Sequence[str] = ()
    threads: Sequence[int] = ()
    device: str = "cpu"
    quick: bool = False
    goals: bool = False
    statistic: str = "median"
    cpu_time: bool = False
    seconds: float = 0.4
    minutes: float = 4.5

    def wants(self, section: str) -> bool:
        return not self.sections or section in self.sections

    @property
    def chosen(self) -> bool:
        """Whether values were chosen, so that nothing is swept."""
        return bool(self.shapes or self.kappas or self.dtypes or self.threads)
