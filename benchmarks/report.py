# SPDX-License-Identifier: MIT
"""What the laboratory has found: its tables as text, its plots, its JSON document."""

from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.environment import environment
from benchmarks.first_call import first_call_table
from benchmarks.goal_lines import GoalLine, goals_table
from benchmarks.goals import class_goals, graph_goals, special_goals, training_goals
from benchmarks.graph_epochs import GraphRun
from benchmarks.growth import Growth, growth, growth_table
from benchmarks.memory import memory_table
from benchmarks.sampler_goals import Cell, cells_table, sampler_goals
from benchmarks.special import KL, LOG_IV, SpecialTiming, special_table
from benchmarks.training_step import training_table
from svmf.benchmarking.report import Report
from svmf.benchmarking.timing import Timing

SECTION_TITLES = {
    "sample": "Sample, forward",
    "step": "Sample + KL + backward",
    "growth": "How cost grows",
    "special": "Functions without randomness",
    "training": "A whole training step",
    "memory": "Peak memory",
    "first-call": "First call",
    "cells": "The sampler's goals, shape by shape",
    "goals": "Goals",
}


@dataclass
class LaboratoryReport(Report):
    """Filled section by section; complete at any moment."""

    statistic: str = "median"
    busy: str | None = None  # why the figures should not be believed
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

    def environment(self) -> dict[str, str]:
        return environment(self.device)

    def statistic_text(self) -> str:
        return "minima" if self.statistic == "smallest" else super().statistic_text()

    def tables(self) -> dict[str, str]:
        """Markdown of every part that has been measured, by its name in SECTION_TITLES."""
        found = super().tables()
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
            found["cells"] = cells_table(self.cells)
            found["goals"] = goals_table(self.goals)
        return found

    def as_json(self) -> dict[str, object]:
        return {
            **super().as_json(),
            "statistic": self.statistic,
            "busy": self.busy,
            "growth": [line.as_json() for line in self.growth],
            "special": [timing.as_json() for timing in self.special],
            "training": {name: asdict(timing) for name, timing in self.training.items()},
            "epoch_overhead": self.epoch_overhead,
            "memory": self.memory,
            "first_call": self.first_call,
            "goal_cells": [cell.as_json() for cell in self.cells],
            "goals": [line.as_json() for line in self.goals] if self.cells else [],
        }

    def plots(self, folder: Path) -> list[Path]:
        from benchmarks import plots

        drawn = super().plots(folder)
        if self.growth:
            drawn.append(plots.growth_figure(self.growth, folder / "bench-growth.png"))
        if any(timing.op in (KL.name, LOG_IV.name) for timing in self.special):
            drawn.append(plots.special_figure(self.special, folder / "bench-special.png"))
        return drawn
