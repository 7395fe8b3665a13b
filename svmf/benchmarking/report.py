# SPDX-License-Identifier: MIT
"""What a run of `svmf bench` has found: its tables as text, its plots, its JSON document."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from svmf.benchmarking.environment import describe_environment, environment
from svmf.benchmarking.first_call import first_call_table
from svmf.benchmarking.goal_lines import GoalLine, goals_table
from svmf.benchmarking.goals import class_goals, graph_goals, special_goals, training_goals
from svmf.benchmarking.graph_epochs import GraphRun
from svmf.benchmarking.growth import Growth, growth, growth_table
from svmf.benchmarking.memory import memory_table
from svmf.benchmarking.sampler_goals import Cell, sampler_goals
from svmf.benchmarking.sampling import TITLES, Measurement, headlines, sampling_table
from svmf.benchmarking.special import KL, LOG_IV, SpecialTiming, special_table
from svmf.benchmarking.timing import Timing
from svmf.benchmarking.training_step import training_table
from svmf.errors import RunError

SCHEMA = 1
METHOD = (
    "ratios are svmf's time over the other's, candidates by turns in one run: below 1 svmf is "
    "faster"
)

_BUSY = (
    "one thread by the process's own time; more threads and whole commands by the clock, which on "
    "a busy machine shows its other work"
)
SECTION_TITLES = {
    "sample": "Sample, forward",
    "step": "Sample + KL + backward",
    "growth": "How cost grows",
    "special": "Functions without randomness",
    "training": "A whole training step",
    "memory": "Peak memory",
    "first-call": "First call",
    "goals": "Goals",
}


@dataclass
class Report:
    """Filled section by section; complete at any moment."""

    device: str = "cpu"
    statistic: str = "median"
    cpu_time: bool = False
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)
    sampling: list[Measurement] = field(default_factory=list)
    special: list[SpecialTiming] = field(default_factory=list)
    training: dict[str, Timing] = field(default_factory=dict)
    epoch_overhead: float | None = None
    memory: list[dict[str, object]] = field(default_factory=list)
    first_call: list[dict[str, object]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    class_step: dict[str, Timing] = field(default_factory=dict)
    graphs: list[GraphRun] = field(default_factory=list)

    @property
    def goals(self) -> list[GoalLine]:
        """The lines for which something was measured."""
        lines = sampler_goals(self.cells) + special_goals(self.special, self.statistic)
        if self.class_step:
            lines += class_goals(self.class_step, self.statistic)
        if self.training:
            lines += training_goals(self.training, self.epoch_overhead, self.statistic)
        return [line for line in lines + graph_goals(self.graphs) if line.values]

    @property
    def growth(self) -> list[Growth]:
        return growth(self.sampling)

    def heading(self) -> str:
        statistic = "minima" if self.statistic == "smallest" else "medians, spread by quartiles"
        lines = [describe_environment(self.device), f"{METHOD}; {statistic}"]
        if self.cpu_time:
            lines.append(_BUSY)
        return "\n".join(lines)

    def tables(self) -> dict[str, str]:
        """Markdown of every part that has been measured, by its name in SECTION_TITLES."""
        found: dict[str, str] = {}
        for op in TITLES:
            if any(measurement.case.op == op for measurement in self.sampling):
                lines = "\n".join(f"- {line}" for line in headlines(self.sampling, op))
                found[op] = f"{lines}\n\n{sampling_table(self.sampling, op)}"
        if self.growth:
            found["growth"] = growth_table(self.growth)
        if self.special:
            found["special"] = special_table(self.special)
        if self.training:
            found["training"] = training_table(self.training)
        if self.memory:
            found["memory"] = memory_table(self.memory)
        if self.first_call:
            found["first-call"] = first_call_table(self.first_call)
        if self.cells:
            found["goals"] = goals_table(self.goals)
        return found

    def as_json(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "environment": environment(self.device),
            "device": self.device,
            "statistic": self.statistic,
            "cpu_time": self.cpu_time,
            "interrupted": self.interrupted,
            "notes": self.notes,
            "sampling": [measurement.as_json() for measurement in self.sampling],
            "growth": [line.as_json() for line in self.growth],
            "special": [timing.as_json() for timing in self.special],
            "training": {name: asdict(timing) for name, timing in self.training.items()},
            "epoch_overhead": self.epoch_overhead,
            "memory": self.memory,
            "first_call": self.first_call,
            "goal_cells": [cell.as_json() for cell in self.cells],
            "goals": [line.as_json() for line in self.goals] if self.cells else [],
            "markdown": {"environment": self.heading(), **self.tables()},
        }


def write_json(report: Report, path: Path) -> None:
    _write(path, lambda: path.write_text(json.dumps(report.as_json(), indent=1) + "\n"))


def write_plots(report: Report, folder: Path) -> list[Path]:
    """Plots of what was swept; none of a single shape."""
    from svmf.benchmarking import plots

    drawn: list[Path] = []

    def draw() -> None:
        swept = [m for m in report.sampling if m.sweep in ("m", "rows", "kappa")]
        for op in TITLES:
            if any(m.case.op == op for m in swept):
                drawn.append(plots.cost_figure(swept, op, folder / f"bench-{op}.png"))
        if report.growth:
            drawn.append(plots.growth_figure(report.growth, folder / "bench-growth.png"))
        if any(timing.op in (KL.name, LOG_IV.name) for timing in report.special):
            drawn.append(plots.special_figure(report.special, folder / "bench-special.png"))

    _write(folder, draw)
    return drawn


def _write(path: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from error


def check_writable(path: Path) -> None:
    """Says so before the work, not after it."""
    _write(path, lambda: path.parent.mkdir(parents=True, exist_ok=True))
    if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
        raise RunError(f"{path}: cannot be written")
