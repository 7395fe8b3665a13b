# SPDX-License-Identifier: MIT
"""What the estimators of this package share: a fit from several starts, in steps over all rows or
over mini-batches."""

from typing import Any

from torch import Tensor

from svmf.mixture.estimator import Estimator, number
from svmf.mixture.model import Model
from svmf.mixture.rows import Rows
from svmf.mixture.seeding import generator_from
from svmf.mixture.steps import Manner, Outcome, RunningSums, mini_batch_steps, whole_data_steps


class Alternation(Estimator):
    """An estimator whose fit alternates between rows and components."""

    _count_name: str  # the parameter with the number of components
    _objective_name: str
    _hard = True  # each row belongs to one component
    labels_: Any
    max_iter: int
    tol: float
    n_init: int
    random_state: Any
    batch_size: int | None
    progress: bool

    def _start(
        self, rows: Rows, weight: Tensor | None, generator: Any
    ) -> tuple[Any, RunningSums | None]:
        """The first components; with a batch size also the running sums to go on from."""
        raise NotImplementedError

    def _update(self, count: Tensor, resultant: Tensor, fallback: Tensor) -> tuple[Model, int]:
        """Components from sums, and how many were empty and moved to rows of `fallback`."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: None = None, sample_weight: Any = None) -> Any:
        """`fit`, then the component of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_  # type: ignore[attr-defined]

    def _check_parameters(self) -> None:
        for name in (self._count_name, "max_iter", "n_init"):
            self._expect_whole(name)
        if self.batch_size is not None:
            self._expect_whole("batch_size")
        self._expect(number(self.tol) >= 0, "tol", ">= 0")

    def _random_state(self) -> Any:
        return self.random_state

    @property
    def _k(self) -> int:
        return getattr(self, self._count_name)  # type: ignore[no-any-return]

    def _manner(self, start: int = 0) -> Manner:
        line = f"start {start + 1}/{self.n_init}, iteration "
        line += f"{{iteration}}: {self._objective_name} {{value:.6f}}"
        progress = line if self.progress else None
        return Manner(self._update, self._hard, self._k, self.max_iter, self.tol, progress)

    def _best_fit(self, X: Any, sample_weight: Any) -> tuple[Rows, Tensor | None, Outcome]:
        """The rows, their weights, and the start that ended with the largest objective."""
        self._check_parameters()
        rows = self._read(X, "fit", fitting=True)
        self._enough_rows(rows, self._k, self._count_name)
        weight = self._checked_weight(sample_weight, rows)
        generator = generator_from(self._random_state(), rows.device)
        outcomes = (self._run(rows, weight, generator, start) for start in range(self.n_init))
        return rows, weight, max(outcomes, key=lambda outcome: outcome.history[-1])

    def _run(self, rows: Rows, weight: Tensor | None, generator: Any, start: int) -> Outcome:
        """One start, then steps until they settle."""
        manner = self._manner(start)
        model, running = self._start(rows, weight, generator)
        if self.batch_size is None:
            return whole_data_steps(rows, weight, model, manner)
        assert running is not None
        return mini_batch_steps(rows, weight, model, manner, running, self.batch_size, generator)
