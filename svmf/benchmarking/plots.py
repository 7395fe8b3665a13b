# SPDX-License-Identifier: MIT
"""The plot of `svmf bench`: cost per element over m, rows and kappa."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from svmf.benchmarking.sampling import TITLES, Measurement
from svmf.plots import new_figure, save_figure

PANEL_SIZE = 3.6
_PANELS = (("m", "m"), ("rows", "rows"), ("kappa", "kappa"))
_HELD = {"m": "1024 rows, kappa 50", "rows": "m = 10, kappa 50", "kappa": "8192 x 10"}


def _quantity(measurement: Measurement, quantity: str) -> float:
    case = measurement.case
    return {"m": case.shape.m, "rows": case.shape.batch, "kappa": case.kappa}[quantity]


def cost_figure(measurements: Sequence[Measurement], op: str, path: Path) -> Path:
    """ns per element of every candidate over m, rows and kappa."""
    figure = new_figure(PANEL_SIZE * len(_PANELS), 3.9)
    shared: Any = None
    names = list(dict.fromkeys(name for m in measurements for name in m.timings))
    for position, (quantity, label) in enumerate(_PANELS):
        axes = figure.add_subplot(1, len(_PANELS), position + 1, sharey=shared)
        shared = shared or axes
        chosen = [m for m in measurements if m.case.op == op and m.sweep == quantity]
        chosen.sort(key=lambda m: _quantity(m, quantity))
        for index, name in enumerate(names):
            points = [
                (_quantity(m, quantity), m.timings[name], m.case.shape.elements)
                for m in chosen
                if name in m.timings
            ]
            if points:
                x = [p[0] for p in points]
                y = [p[1].median / p[2] * 1e9 for p in points]
                low = [(p[1].median - p[1].low_quartile) / p[2] * 1e9 for p in points]
                high = [(p[1].high_quartile - p[1].median) / p[2] * 1e9 for p in points]
                axes.errorbar(
                    x, y, yerr=(low, high), marker=".", label=name, color=f"C{index % 10}",
                    linewidth=2.2 if name == "svmf" else 1.0,
                )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel(f"{label}   ({_HELD[quantity]})")
        axes.grid(True, alpha=0.3)
    shared.set_ylabel("ns per element")
    figure.suptitle(f"{TITLES[op]}: float32, one thread; median and quartiles")
    legend(figure)
    return save_figure(figure, path)


def legend(figure: Any) -> None:
    """One legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=6, fontsize=8)
