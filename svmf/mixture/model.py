# SPDX-License-Identifier: MIT
"""What passes over rows ask of components, and what they leave."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from svmf.mixture.rows import Rows


class Model(Protocol):
    """Components that score rows."""

    sharp: Tensor | None  # indices of the components whose sums need float64

    def scores(self, chunk: Rows) -> Tensor:
        """[n, k] for the rows of a chunk; larger is closer."""
        ...

    def linear(self) -> tuple[Tensor, Tensor, Tensor]:
        """Directions [k, m], factors and constants [k] in float64: scores are b + f mu.x."""
        ...


@dataclass
class Sums:
    """What a pass over rows leaves, in float64."""

    count: Tensor  # [k] total share of each component
    resultant: Tensor  # [k, m] sum of its rows
    objective: float  # mean over the rows: log likelihood, or best score if hard
    by_row: Tensor  # [n] the objective of each row
