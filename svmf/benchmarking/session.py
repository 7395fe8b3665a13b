# SPDX-License-Identifier: MIT
"""Measures the cases that were asked for, one after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from svmf.benchmarking import sweeps
from svmf.benchmarking.candidates import Candidate, measure
from svmf.benchmarking.sampling import Measurement
from svmf.benchmarking.shapes import Case, Shape
from svmf.benchmarking.timing import Timing


@dataclass
class Request:
    """Empty means the usual sweeps; otherwise all combinations of what was chosen."""

    ops: Sequence[str] = sweeps.OPS
    shapes: Sequence[Shape] = ()
    kappas: Sequence[float] = ()
    dtypes: Sequence[str] = ()
    threads: Sequence[int] = ()
    device: str = "cpu"
    quick: bool = False
    cpu_time: bool = False
    seconds: float = 0.4

    @property
    def chosen(self) -> bool:
        """Whether values were chosen, so that nothing is swept."""
        return bool(self.shapes or self.kappas or self.dtypes or self.threads)

    def cases(self) -> list[tuple[str, Case]]:
        """(sweep, case), the ops of a case one after the other."""
        if self.chosen:
            cases = sweeps.product(
                self.ops,
                self.shapes or [Shape(1, 8192, 10)],
                self.kappas or [50.0],
                self.dtypes or ["float32"],
                self.threads or [1],
                self.device,
            )
            return [("", case) for case in cases]
        found = []
        for sweep in sweeps.sweeps(self.device):
            by_op = [
                sweeps.sweep_cases(sweep, op, quick=self.quick, device=self.device)
                for op in self.ops
            ]
            found += [(sweep.quantity, case) for row in zip(*by_op, strict=True) for case in row]
        return found


def measure_cases(
    request: Request,
    candidates: Sequence[Candidate],
    *,
    tell: Callable[[float, str], None],
    note: Callable[[str], None],
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Measurement]:
    """`tell` (share, case) hears of the progress, `note` what was left out; a case that comes up
    when `go_on` says no is not measured."""
    failures: dict[str, str] = {}
    measured: dict[tuple[Case, bool], dict[str, Timing]] = {}
    cases = request.cases()
    left_out = 0
    try:
        for index, (sweep, case) in enumerate(cases):
            if not go_on():
                left_out += 1
                continue
            tell(index / len(cases), str(case))
            # numbers of threads can be compared by the wall clock alone
            key = (case, request.cpu_time and sweep != "threads")
            if key not in measured:
                measured[key] = measure(
                    case, candidates, seconds=request.seconds, failures=failures, cpu_time=key[1]
                )
            yield Measurement(case, sweep, measured[key])
    finally:
        for name, failure in failures.items():
            note(f"{name}: left out where it fails, first at {failure}")
        if left_out:
            note(f"time is short: {left_out} of {len(cases)} cases were not measured (--minutes)")
