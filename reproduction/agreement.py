# SPDX-License-Identifier: MIT
"""Are the paper's figures those of a set of runs? A chi-square over the cells of a table.

A cell compares the mean of our n runs with the published mean of R runs, by Student's t with one
spread for both (so that a single run of ours can be compared too), and turns t into the normal
deviate of the same tail. The squares of these deviates are summed over the cells.

Assumed: runs are independent and normal, the published spreads are standard deviations over R runs,
and cells are independent. Every run of ours is tested on one binarisation of the images, and so
perhaps were the paper's: `shared` is the standard deviation of that, once for either side. It is
common to all cells of a column, which makes large sums somewhat likelier than the p-value says.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

PAPER_RUNS = 10


@dataclass(frozen=True)
class Cell:
    ours: Sequence[float]
    paper: tuple[float, float]  # mean and standard deviation
    shared: float = 0.0

    @property
    def standard_error(self) -> float:
        n = len(self.ours)
        own = statistics.variance(self.ours) if n > 1 else 0.0
        pooled = ((n - 1) * own + (PAPER_RUNS - 1) * self.paper[1] ** 2) / (n + PAPER_RUNS - 2)
        return math.sqrt(pooled * (1 / n + 1 / PAPER_RUNS) + 2 * self.shared**2)

    @property
    def t(self) -> float:
        return (statistics.fmean(self.ours) - self.paper[0]) / self.standard_error

    @property
    def deviate(self) -> float:
        """The normal deviate with the tail of t."""
        from scipy.stats import norm  # type: ignore[import-untyped]
        from scipy.stats import t as student

        tail = student.logsf(abs(self.t), len(self.ours) + PAPER_RUNS - 2)
        return float(math.copysign(norm.isf(math.exp(max(tail, -700.0))), self.t))


@dataclass(frozen=True)
class Agreement:
    cells: int
    runs: int
    near: int  # cells within two standard errors
    chi_square: float
    p: float

    def __str__(self) -> str:
        if not self.cells:
            return "–"
        p = f"{self.p:.2f}" if self.p >= 0.01 else f"{self.p:.0e}"
        return f"{self.chi_square:.1f}, p = {p}; {self.near} of {self.cells}"


def agreement(cells: Sequence[Cell]) -> Agreement:
    """Over the cells that have runs."""
    from scipy.stats import chi2  # type: ignore[import-untyped]

    filled = [cell for cell in cells if cell.ours]
    total = sum(cell.deviate**2 for cell in filled)
    return Agreement(
        len(filled),
        sum(len(cell.ours) for cell in filled),
        sum(abs(cell.t) <= 2 for cell in filled),
        total,
        float(chi2.sf(total, len(filled))) if filled else math.nan,
    )
