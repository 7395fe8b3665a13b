# SPDX-License-Identifier: MIT
"""How cost grows with rows, m, samples and threads: a line fitted to each sweep.

Time of a call = fixed + slope * x, where x is the quantity itself, or 1/threads. Fitted by least
squares of relative deviations, so that a call of 20 us counts as much as one of 20 ms.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.texts import time_text
from svmf.benchmarking.cases import TITLES
from svmf.benchmarking.report import table
from svmf.benchmarking.sampler import Measurement

QUANTITIES = ("rows", "m", "samples", "threads")
CANDIDATES = ("svmf", "Normal'")


@dataclass(frozen=True)
class Growth:
    """One candidate's times along a sweep, and the line through them (seconds)."""

    op: str
    candidate: str
    quantity: str
    held: str
    x: list[float]
    seconds: list[float]
    fixed: float
    slope: float

    def fitted(self, x: float) -> float:
        return self.fixed + self.slope * _abscissa(self.quantity, x)

    @property
    def worst(self) -> float:
        """Largest deviation of a time from the line, relative to the line."""
        pairs = zip(self.x, self.seconds, strict=True)
        return max(abs(t / self.fitted(x) - 1) for x, t in pairs)

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "worst_deviation": self.worst}


def _abscissa(quantity: str, value: float) -> float:
    return 1 / value if quantity == "threads" else value


def fit_line(x: Sequence[float], t: Sequence[float]) -> tuple[float, float]:
    """(fixed, slope), neither negative, of t = fixed + slope x with weights 1/t^2."""
    a = [1 / time for time in t]
    b = [value / time for value, time in zip(x, t, strict=True)]
    aa, ab, bb = _dot(a, a), _dot(a, b), _dot(b, b)
    determinant = aa * bb - ab * ab
    if determinant > 1e-12 * aa * bb:
        fixed = (sum(a) * bb - sum(b) * ab) / determinant
        slope = (sum(b) * aa - sum(a) * ab) / determinant
        if fixed >= 0 and slope >= 0:
            return fixed, slope
    only_fixed, only_slope = sum(a) / aa, sum(b) / bb
    if _misfit(x, t, only_fixed, 0.0) < _misfit(x, t, 0.0, only_slope):
        return only_fixed, 0.0
    return 0.0, only_slope


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))


def _misfit(x: Sequence[float], t: Sequence[float], fixed: float, slope: float) -> float:
    return sum(((fixed + slope * v) / time - 1) ** 2 for v, time in zip(x, t, strict=True))


def _value(measurement: Measurement, quantity: str) -> float:
    case = measurement.case
    return {
        "rows": case.shape.batch,
        "m": case.shape.m,
        "samples": case.shape.samples,
        "threads": case.threads,
    }[quantity]


def _held(measurement: Measurement, quantity: str) -> str:
    shape = measurement.case.shape
    return {
        "rows": f"m = {shape.m}",
        "m": f"{shape.rows} rows",
        "samples": f"{shape.batch} x {shape.m}",
        "threads": str(shape),
    }[quantity]


def growth(measurements: Sequence[Measurement]) -> list[Growth]:
    """A line for every sweep with at least two values."""
    found = []
    for op in TITLES:
        for quantity in QUANTITIES:
            of_sweep = [m for m in measurements if m.case.op == op and m.sweep == quantity]
            for held in dict.fromkeys(_held(m, quantity) for m in of_sweep):
                chosen = [m for m in of_sweep if _held(m, quantity) == held]
                for name in CANDIDATES:
                    line = _line(op, name, quantity, held, chosen)
                    if line is not None:
                        found.append(line)
    return found


def _line(
    op: str, name: str, quantity: str, held: str, chosen: Sequence[Measurement]
) -> Growth | None:
    points = sorted(
        (_value(m, quantity), m.timings[name].median) for m in chosen if name in m.timings
    )
    if len(points) < 2:
        return None
    x, t = [float(p[0]) for p in points], [p[1] for p in points]
    fixed, slope = fit_line([_abscissa(quantity, value) for value in x], t)
    return Growth(op, name, quantity, held, x, t, fixed, slope)


def growth_table(lines: Sequence[Growth]) -> str:
    units = {"rows": "a row", "m": "a dimension", "samples": "a sample", "threads": "/ threads"}
    rows = [
        [
            TITLES[g.op],
            g.candidate,
            g.quantity,
            g.held,
            f"{g.x[0]:.0f} to {g.x[-1]:.0f}",
            time_text(g.fixed),
            f"{time_text(g.slope)} {units[g.quantity]}",
            f"{g.worst:.0%}",
        ]
        for g in lines
    ]
    headers = ["what", "candidate", "grows with", "at", "range", "fixed", "plus", "worst deviation"]
    return table(headers, rows, text_columns=4)
