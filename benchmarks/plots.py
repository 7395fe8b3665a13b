# SPDX-License-Identifier: MIT
"""Plots beyond those of `svmf bench`: growth with its fitted lines; special functions against
SciPy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.growth import QUANTITIES, Growth
from benchmarks.special import KL, LOG_IV, SpecialTiming
from svmf.benchmarking.cases import TITLES
from svmf.plots import new_figure, save_figure


def growth_figure(lines: Sequence[Growth], path: Path) -> Path:
    """Time of a call over rows, m, samples and threads, with the fitted lines."""
    figure = new_figure(3.6 * len(QUANTITIES), 3.7)
    styles = {("sample", "svmf"): "C0", ("step", "svmf"): "C3", ("sample", "Normal'"): "C7",
              ("step", "Normal'"): "C8"}  # fmt: skip
    for position, quantity in enumerate(QUANTITIES):
        axes = figure.add_subplot(1, len(QUANTITIES), position + 1)
        of_quantity = [line for line in lines if line.quantity == quantity]
        held = of_quantity[0].held if of_quantity else ""
        for line in of_quantity:
            if line.held != held:
                continue
            colour = styles[line.op, line.candidate]
            axes.plot(line.x, [1e6 * t for t in line.seconds], "o", markersize=4, color=colour)
            label = f"{TITLES[line.op]}, {line.candidate}"
            dense = _between(line.x)
            fitted = [1e6 * line.fitted(x) for x in dense]
            axes.plot(dense, fitted, "-", linewidth=1, color=colour, label=label)
        axes.set_xlabel(f"{quantity}   ({held})")
        axes.set_yscale("log")
        axes.set_xscale("linear" if quantity == "threads" else "log")
        axes.xaxis.set_minor_formatter("")
        if quantity == "threads" and of_quantity:
            axes.set_xticks(of_quantity[0].x)
        axes.grid(True, alpha=0.3)
        if position == 0:
            axes.set_ylabel("microseconds per call")
    figure.suptitle(
        "How cost grows: dots are medians, lines are fixed + slope x (for threads fixed + slope/x)"
    )
    legend(figure)
    return save_figure(figure, path)


def legend(figure: Any) -> None:
    """One legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=6, fontsize=8)


def _between(x: Sequence[float], points: int = 50) -> list[float]:
    """Evenly spaced in the logarithm, for a line that is curved on logarithmic axes."""
    factor = (x[-1] / x[0]) ** (1 / points)
    return [x[0] * factor**i for i in range(points + 1)]


def special_figure(timings: Sequence[SpecialTiming], path: Path) -> Path:
    """ns per value of KL with its derivative over m, and of log I_v over v."""
    figure = new_figure(2 * 4.4, 3.7)
    panels = ((KL, "KL with its derivative"), (LOG_IV, "log I_v"))
    for position, (op, title) in enumerate(panels):
        axes = figure.add_subplot(1, 2, position + 1)
        chosen = sorted((t for t in timings if t.op == op.name), key=lambda t: t.value)
        for name, label in (("float64", "svmf, float64"), ("float32", "svmf, float32"),
                            ("SciPy", "scipy.special.ive")):  # fmt: skip
            points = [
                (t.value, t.timings[name].median / t.count * 1e9)
                for t in chosen
                if name in t.timings
            ]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, marker=".", label=label)
        axes.set_xscale("symlog" if op is LOG_IV else "log")
        axes.set_yscale("log")
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("order v" if op is LOG_IV else "m")
        axes.set_title(title, fontsize=10)
        axes.grid(True, alpha=0.3)
        if position == 0:
            axes.set_ylabel("ns per value")
    legend(figure)
    return save_figure(figure, path)
