# SPDX-License-Identifier: MIT
"""What was measured: tables that read well on a terminal and are Markdown at the same time, a plot
of each operation, a JSON document."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import svmf
from svmf.benchmarking.cases import TITLES, Case
from svmf.benchmarking.sampler import Measurement
from svmf.benchmarking.timing import Timing

SCHEMA = 1
METHOD = (
    "ratios are svmf's time over the other's, candidates by turns in one run: below 1 svmf is "
    "faster"
)
_BUSY = (
    "one thread by the process's own time; more threads and whole commands by the clock, which on "
    "a busy machine shows its other work"
)
_HEADLINE_AGAINST = ("Normal", "Normal'", "randn", "reference")
_PANELS = {"m": "1024 rows, kappa 50", "rows": "m = 10, kappa 50", "kappa": "8192 x 10"}


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Columns padded to equal width; the first `text_columns` to the left, the others right."""
    widths = [max(3, *(len(row[i]) for row in (headers, *rows))) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if i < text_columns else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (width - (i >= text_columns)) for i, width in enumerate(widths)]
    rule = [dashes + ":" * (i >= text_columns) for i, dashes in enumerate(rule)]
    return "\n".join([line(headers), line(rule), *(line(row) for row in rows)])


def ratio_text(ratio: float | None) -> str:
    """Two digits that count."""
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.2g}"


def number_text(number: float) -> str:
    """Three digits that count, and no exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def count_text(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g} "


def ratio_of(ours: Timing | None, theirs: Timing | None, statistic: str = "median") -> float | None:
    if ours is None or theirs is None:
        return None
    return getattr(ours, statistic) / getattr(theirs, statistic)


def _ratio(measurement: Measurement, name: str) -> float | None:
    return ratio_of(measurement.timings.get("svmf"), measurement.timings.get(name))


def sampling_table(measurements: Sequence[Measurement]) -> str:
    named = dict.fromkeys(name for measurement in measurements for name in measurement.timings)
    against = [name for name in named if name != "svmf"]
    headers = ["rows x m", "kappa", "type", "threads", "ns/el.", "spread", "samples/s"]
    rows = []
    for measurement in measurements:
        case, ours = measurement.case, measurement.timings["svmf"]
        rows.append(
            [
                str(case.shape),
                f"{case.kappa:g}",
                case.dtype,
                str(case.threads),
                number_text(ours.median / case.shape.elements * 1e9),
                f"{ours.spread:.0%}",
                count_text(case.shape.rows / ours.median),
                *(ratio_text(_ratio(measurement, name)) for name in against),
            ]
        )
    return table([*headers, *(f"/ {name}" for name in against)], rows)


def headlines(measurements: Sequence[Measurement]) -> list[str]:
    """Ratios over all cases of an op, the cases where svmf is slower included."""
    lines = []
    for name in _HEADLINE_AGAINST:
        ratios = [(r, m.case) for m in measurements if (r := _ratio(m, name)) is not None]
        if ratios:
            values = [ratio for ratio, _ in ratios]
            slower = sum(value > 1 for value in values)
            worst = max(ratios, key=lambda pair: pair[0])[1]
            lines.append(
                f"{TITLES[worst.op]} / {name}: {ratio_text(statistics.median(values))} in the "
                f"median of {len(values)} cases, {ratio_text(min(values))} to "
                f"{ratio_text(max(values))}; slower in {slower}"
                + (f" (most at {worst.shape}, {worst.dtype})" if slower else "")
            )
    return lines


def environment(device: str = "cpu") -> dict[str, str]:
    """What a figure depends on besides the code."""
    info, listed = svmf.build_info(), Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    known = {
        "cpu": (models or [platform.processor() or platform.machine()])[0],
        "cores": str(os.cpu_count()),
        "instruction set": info["cpu_isa"],
        "compiler": info["compiler"],
        "torch": info["torch"],
        "svmf": info["svmf"],
        "python": platform.python_version(),
    }
    if device.startswith("cuda"):
        known["gpu"] = torch.cuda.get_device_name(device)
    return known


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
        lines = [known, f"{METHOD}; {self.statistic_text()}", *([_BUSY] * self.cpu_time)]
        return "\n".join(lines)

    def tables(self) -> dict[str, str]:
        """Markdown of every operation that has been measured; a case is one line of it."""
        found: dict[str, str] = {}
        for op in TITLES:
            of_op: dict[Case, Measurement] = {}
            for measurement in self.sampling:
                if measurement.case.op == op:
                    of_op.setdefault(measurement.case, measurement)
            if chosen := list(of_op.values()):
                lines = "\n".join(f"- {line}" for line in headlines(chosen))
                found[op] = f"{lines}\n\n{sampling_table(chosen)}"
        return found

    def as_json(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "environment": self.environment(),
            "device": self.device,
            "cpu_time": self.cpu_time,
            "interrupted": self.interrupted,
            "notes": self.notes,
            "sampling": [_as_json(measurement) for measurement in self.sampling],
            "markdown": {"environment": self.heading(), **self.tables()},
        }

    def plots(self, folder: Path) -> list[Path]:
        """Plots of what was swept; none of a single shape."""
        return [
            cost_figure(swept, op, folder / f"bench-{op}.png")
            for op in TITLES
            if (swept := [m for m in self.sampling if m.case.op == op and m.sweep in _PANELS])
        ]


def _as_json(measurement: Measurement) -> dict[str, object]:
    shape = measurement.case.shape
    candidates: dict[str, dict[str, float]] = {}
    for name, timing in measurement.timings.items():
        candidates[name] = {
            **asdict(timing),
            "samples_per_second": shape.rows / timing.median,
            "ns_per_element": timing.median / shape.elements * 1e9,
        }
    case = asdict(measurement.case)
    return {"case": case, "sweep": measurement.sweep, "candidates": candidates}


def cost_figure(measurements: Sequence[Measurement], op: str, path: Path) -> Path:
    """ns per element of every candidate over m, rows and kappa: median and quartiles."""
    from svmf.plots import new_figure, save_figure

    figure, shared, entries = new_figure(3.6 * len(_PANELS), 3.9), None, dict[str, Any]()
    names = list(dict.fromkeys(name for m in measurements for name in m.timings))
    for position, (quantity, held) in enumerate(_PANELS.items()):
        shared = axes = figure.add_subplot(1, len(_PANELS), position + 1, sharey=shared)
        for index, name in enumerate(names):
            points = sorted(
                _point(m, quantity, m.timings[name])
                for m in measurements
                if m.sweep == quantity and name in m.timings
            )
            if points:
                x, y, low, high = zip(*points, strict=True)
                entries[name] = axes.errorbar(
                    x, y, yerr=(low, high), marker=".", label=name, color=f"C{index % 10}",
                    linewidth=2.2 if name == "svmf" else 1.0,
                )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel=f"{quantity}   ({held})")
        axes.xaxis.set_minor_formatter("")
        axes.grid(True, alpha=0.3)
    figure.axes[0].set_ylabel("ns per element")
    figure.suptitle(f"{TITLES[op]}: float32, one thread; median and quartiles")
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=6, fontsize=8)
    return save_figure(figure, path)


def _point(measurement: Measurement, quantity: str, timing: Timing) -> tuple[float, ...]:
    """The quantity; median, and the distances of the quartiles from it, in ns per element."""
    case, middle = measurement.case, timing.median
    x = {"m": case.shape.m, "rows": case.shape.batch, "kappa": case.kappa}[quantity]
    times = (middle, middle - timing.low_quartile, timing.high_quartile - middle)
    return (x, *(1e9 * time / case.shape.elements for time in times))
