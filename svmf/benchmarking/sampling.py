# SPDX-License-Identifier: MIT
"""Sampling and the latent part of a training step: measurements, their table and headlines."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from svmf.benchmarking.shapes import Case
from svmf.benchmarking.tables import count_text, number_text, ratio_of, ratio_text, table
from svmf.benchmarking.timing import Timing

TITLES = {"sample": "sample, forward", "step": "sample + KL + backward"}
_HEADLINE_AGAINST = ("Normal", "Normal'", "randn", "reference")


@dataclass(frozen=True)
class Measurement:
    """A case, the sweep it belongs to ("" for chosen values) and every candidate's timing."""

    case: Case
    sweep: str
    timings: dict[str, Timing]

    def ratio(self, theirs: str) -> float | None:
        """svmf's time over theirs."""
        return ratio_of(self.timings.get("svmf"), self.timings.get(theirs))

    def as_json(self) -> dict[str, object]:
        rows, elements = self.case.shape.rows, self.case.shape.elements
        return {
            "case": asdict(self.case),
            "sweep": self.sweep,
            "candidates": {
                name: {
                    **asdict(timing),
                    "samples_per_second": rows / timing.median,
                    "ns_per_element": timing.median / elements * 1e9,
                }
                for name, timing in self.timings.items()
            },
        }


def unique_cases(measurements: Sequence[Measurement]) -> list[Measurement]:
    """A case that stands in two sweeps is one line of the table."""
    found: dict[Case, Measurement] = {}
    for measurement in measurements:
        found.setdefault(measurement.case, measurement)
    return list(found.values())


def sampling_table(measurements: Sequence[Measurement], op: str) -> str:
    chosen = [m for m in unique_cases(measurements) if m.case.op == op]
    named = dict.fromkeys(name for measurement in chosen for name in measurement.timings)
    against = [name for name in named if name != "svmf"]
    headers = [
        "rows x m", "kappa", "type", "threads", "ns/el.", "spread", "samples/s",
        *(f"/ {name}" for name in against),
    ]  # fmt: skip
    rows = []
    for measurement in chosen:
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
                *(ratio_text(measurement.ratio(name)) for name in against),
            ]
        )
    return table(headers, rows)


def headlines(measurements: Sequence[Measurement], op: str) -> list[str]:
    """Ratios over all cases of an op, the cases where svmf is slower included."""
    lines = []
    chosen = [m for m in unique_cases(measurements) if m.case.op == op]
    for name in _HEADLINE_AGAINST:
        ratios = [(r, m.case) for m in chosen if (r := m.ratio(name)) is not None]
        if not ratios:
            continue
        values = [ratio for ratio, _ in ratios]
        slower = sum(value > 1 for value in values)
        worst = max(ratios, key=lambda pair: pair[0])[1]
        lines.append(
            f"{TITLES[op]} / {name}: {ratio_text(statistics.median(values))} in the median of "
            f"{len(values)} cases, {ratio_text(min(values))} to {ratio_text(max(values))}; slower "
            f"in {slower}" + (f" (most at {worst.shape}, {worst.dtype})" if slower else "")
        )
    return lines
