# SPDX-License-Identifier: MIT
"""What was measured: its tables as text, its plots, its JSON document."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from svmf.benchmarking.environment import environment
from svmf.benchmarking.sampling import TITLES, Measurement, headlines, sampling_table
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


@dataclass
class Report:
    """Filled case by case; complete at any moment."""

    device: str = "cpu"
    cpu_time: bool = False
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)
    sampling: list[Measurement] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        return environment(self.device)

    def statistic_text(self) -> str:
        return "medians, spread by quartiles"

    def heading(self) -> str:
        known = ", ".join(f"{name} {value}" for name, value in self.environment().items())
        lines = [known, f"{METHOD}; {self.statistic_text()}"]
        if self.cpu_time:
            lines.append(_BUSY)
        return "\n".join(lines)

    def tables(self) -> dict[str, str]:
        """Markdown of every operation that has been measured."""
        found: dict[str, str] = {}
        for op in TITLES:
            if any(measurement.case.op == op for measurement in self.sampling):
                lines = "\n".join(f"- {line}" for line in headlines(self.sampling, op))
                found[op] = f"{lines}\n\n{sampling_table(self.sampling, op)}"
        return found

    def as_json(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "environment": self.environment(),
            "device": self.device,
            "cpu_time": self.cpu_time,
            "interrupted": self.interrupted,
            "notes": self.notes,
            "sampling": [measurement.as_json() for measurement in self.sampling],
            "markdown": {"environment": self.heading(), **self.tables()},
        }

    def plots(self, folder: Path) -> list[Path]:
        """Plots of what was swept; none of a single shape."""
        from svmf.benchmarking.plots import cost_figure

        swept = [m for m in self.sampling if m.sweep in ("m", "rows", "kappa")]
        return [
            cost_figure(swept, op, folder / f"bench-{op}.png")
            for op in TITLES
            if any(m.case.op == op for m in swept)
        ]


def write_json(report: Report, path: Path) -> None:
    _write(path, lambda: path.write_text(json.dumps(report.as_json(), indent=1) + "\n"))


def write_plots(report: Report, folder: Path) -> list[Path]:
    drawn: list[Path] = []
    _write(folder, lambda: drawn.extend(report.plots(folder)))
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
