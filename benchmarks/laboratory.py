# SPDX-License-Identifier: MIT
"""The work of `python -m benchmarks`: measures section by section within a bound on time, prints
each section when it is complete, and what there is after Ctrl-C."""

import importlib.util
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks import memory, special
from benchmarks.first_call import measure_first_call
from benchmarks.measure_goals import measure_all_goals, measure_some_goals
from benchmarks.peers import CANDIDATES, Peer
from benchmarks.plan import Plan
from benchmarks.quiet import Watch, busy_text
from benchmarks.report import SECTION_TITLES, LaboratoryReport
from benchmarks.training_step import REFERENCE
from svmf.benchmarking.sampler import installed, measure_cases
from svmf.benchmarking.timing import choose_clock, threads, time_interleaved
from svmf.progress import ProgressLine

# Shares of the time after which a section stops, so that the later ones have theirs.
_SAMPLING_SHARE, _SPECIAL_SHARE = 0.6, 0.72


@dataclass
class Laboratory:
    plan: Plan
    show: Callable[[str], None]
    progress: ProgressLine
    report: LaboratoryReport = field(init=False)

    def __post_init__(self) -> None:
        self.report = LaboratoryReport(
            self.plan.device, self.plan.cpu_time, statistic=self.plan.statistic
        )
        self._start, self._watch = time.monotonic(), Watch()
        self.has_scipy = importlib.util.find_spec("scipy") is not None

    def run(self) -> LaboratoryReport:
        """Measures everything that the plan asks for; `interrupted` in the report after Ctrl-C."""
        self.show(self.report.heading())
        try:
            for measure_section, names in self._sections():
                try:
                    measure_section()
                finally:
                    self.progress.close()
                    tables = self.report.tables()
                    for name in names:
                        if name in tables:
                            self.show(f"\n## {SECTION_TITLES[name]}\n\n{tables[name]}")
        except KeyboardInterrupt:
            self.report.interrupted = True
        self._judge()
        return self.report

    def _judge(self) -> None:
        """Says last, where it is read, whether something else was running."""
        report = self.report
        report.busy = busy_text(self._watch.others(), report.sampling, os.cpu_count() or 1)
        if report.busy:
            self.note(f"\n{report.busy}")

    def _sections(self) -> list[tuple[Callable[[], None], Sequence[str]]]:
        """What is measured, and the tables that can be shown after it."""
        plan = self.plan
        if plan.goals:
            return [(lambda: measure_all_goals(self), ["cells", "goals"])]
        chosen: list[tuple[Callable[[], None], Sequence[str]]] = []
        if plan.wants("sample") or plan.wants("step"):
            chosen.append((self._sampling, ["sample", "step", "growth"]))
        if not plan.chosen or plan.sections:
            if self._special_ops():
                chosen.append((self._special, ["special"]))
            if plan.wants("training"):
                chosen.append((self.training, ["training"]))
            if plan.wants("memory"):
                chosen.append((self._memory, ["memory"]))
            if plan.wants("first-call") and plan.device == "cpu":
                chosen.append((self._first_call, ["first-call"]))
        if not plan.sections and not plan.chosen and plan.device == "cpu":
            chosen.append((lambda: measure_some_goals(self), ["goals"]))
        return chosen

    def time_left(self, share: float = 1.0) -> bool:
        """Whether this share of the time is not over yet."""
        return time.monotonic() - self._start < share * self.plan.minutes * 60

    def note(self, text: str) -> None:
        """A line for the reader and for the report."""
        self.report.notes.append(text)
        self.show(text)

    def tell(self, text: str) -> None:
        """What is being measured, for the progress line."""
        self.progress.update((time.monotonic() - self._start) / (self.plan.minutes * 60), text)

    def _sampling(self) -> None:
        plan, candidates = self.plan, installed(CANDIDATES, self.note)
        measured = measure_cases(
            plan.cases, candidates, lambda _, case: self.tell(case), plan.seconds, plan.cpu_time
        )
        try:
            for left in range(len(plan.cases), 0, -1):
                if not plan.chosen and not self.time_left(_SAMPLING_SHARE):
                    total = len(plan.cases)
                    self.note(
                        f"time is short: {left} of {total} cases were not measured (--minutes)"
                    )
                    break
                self.report.sampling.append(next(measured))
        finally:
            for peer in candidates:
                if isinstance(peer, Peer) and peer.failures:
                    self.note(f"{peer.name}: left out where it fails, first at {peer.failures[0]}")

    def _special_ops(self) -> list[special.SpecialOp]:
        plan = self.plan
        named = [op for name, op in special.SPECIAL_OPS.items() if name in plan.sections]
        if named:
            return named
        if not plan.wants("special"):
            return []
        few = plan.quick and not plan.sections
        return [special.KL, special.LOG_IV] if few else list(special.SPECIAL_OPS.values())

    def _special(self) -> None:
        if not self.has_scipy:
            self.note("SciPy: skipped for special functions, the package scipy is not installed")
        count = 10_000 if self.plan.quick else 20_000
        self.measure_special(self._special_ops(), count, self.plan.seconds / 4, _SPECIAL_SHARE)

    def measure_special(
        self, ops: Sequence[special.SpecialOp], count: int, seconds: float, share: float
    ) -> None:
        left_out = 0
        for op in ops:
            for value in op.values[::3] if self.plan.quick else op.values:
                if not self.time_left(share) and not self.plan.sections:
                    left_out += 1
                    continue
                self.tell(f"{op.name} at {op.parameter} = {value:g}")
                with warnings.catch_warnings():
                    # SciPy's formulas divide by zero where ive underflows
                    warnings.simplefilter("ignore", RuntimeWarning)
                    self.report.special.append(
                        special.measure_special(
                            op,
                            value,
                            count,
                            seconds=seconds,
                            device=self.plan.device,
                            scipy=self.has_scipy,
                            cpu_time=self.plan.cpu_time,
                        )
                    )
        if left_out:
            self.note(f"time is short: {left_out} special functions were not measured (--minutes)")

    def training(self) -> None:
        try:
            from benchmarks.training_models import make_steps
        except ModuleNotFoundError as error:
            self.note(f"training step: skipped, the package {error.name} is not installed")
            return
        self.tell("training step")
        steps = make_steps(self.plan.device)
        if not self.has_scipy:
            steps.pop(REFERENCE, None)
        with threads(1):
            self.report.training = time_interleaved(
                steps,
                seconds=self.plan.seconds * (6 if self.plan.quick else 30),
                block_seconds=0.02,
                least_blocks=3,
                device=self.plan.device,
                clock=choose_clock(self.plan.cpu_time, device=self.plan.device),
            )

    def _memory(self) -> None:
        self.tell("peak memory")
        shapes = self.plan.shapes or (memory.QUICK_SHAPES if self.plan.quick else memory.SHAPES)
        large = [shape for shape in shapes if shape.elements >= memory.LEAST_ELEMENTS]
        if not large:
            self.note(f"memory: skipped, needs {memory.LEAST_ELEMENTS} elements or more")
            return
        found = memory.measure_memory(large, self.plan.device)
        if isinstance(found, str):
            self.note(found)
        else:
            self.report.memory = found

    def _first_call(self) -> None:
        self.tell("first call")
        found = measure_first_call()
        if isinstance(found, str):
            self.note(found)
        else:
            self.report.first_call = found
