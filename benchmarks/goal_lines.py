# SPDX-License-Identifier: MIT
"""A goal, the figures that were measured for it and the limit, as one line of a table."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from svmf.benchmarking.report import ratio_text, table


@dataclass
class GoalLine:
    """`values` are ratios svmf/other, or figures with a unit, that should be at most `goal`;
    `limits` what they would be if svmf did no more than move its numbers."""

    what: str
    against: str
    scope: str
    goal: float
    unit: str = ""
    values: list[float] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def add(self, value: float, place: str = "", limit: float | None = None) -> None:
        self.values.append(value)
        self.places.append(place)
        if limit is not None:
            self.limits.append(limit)

    @property
    def met(self) -> int:
        return sum(value <= self.goal for value in self.values)

    def text(self, value: float) -> str:
        if self.unit == "%":
            return f"{value:.1%}"
        return f"{value:.3g} {self.unit}" if self.unit else ratio_text(value)

    def cells(self) -> list[str]:
        worst, place = max(zip(self.values, self.places, strict=True))
        return [
            self.what,
            self.against,
            self.scope,
            self.text(self.goal),
            self.text(statistics.median(self.values)),
            self.text(worst) + (f" ({place})" if place else ""),
            f"{self.met} of {len(self.values)}",
            self.text(statistics.median(self.limits)) if self.limits else "-",
        ]

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "met": self.met}


def goals_table(lines: Sequence[GoalLine]) -> str:
    headers = ["what", "against", "where", "goal", "figure", "worst", "met", "limit"]
    return table(headers, [line.cells() for line in lines], text_columns=3)
