# SPDX-License-Identifier: MIT
"""The alternation behind both estimators: score the rows, add them up, move the components.

A `Model` gives each row a score for each component; with soft assignment the scores are joint log
densities. One pass over the rows takes scores, shares and sums chunk by chunk. Whole-data steps
are EM (Dempster, Laird and Rubin 1977), or classification EM with hard assignment (Celeux and
Govaert 1992). Mini-batches move running averages of the sums (stepwise EM, Cappe and Moulines
2009).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from svmf.mixture.labelling import Labelling
from svmf.mixture.model import Model, Sums
from svmf.mixture.rows import DenseRows, Rows, part_of, placed_chunks

# A running average forgets as (t + 2)^-0.7; any exponent in (1/2, 1] converges.
_FORGETTING = 0.7
# A score this far below the largest counts as this far: e^-60 is nothing in either type, and what
# is smaller may be subnormal, which costs a product several times its time.
_LEAST_SCORE = -60
# Mini-batch passes without a better objective before the fit counts as converged.
_PATIENCE = 3


@dataclass
class Outcome:
    model: Model
    history: list[float]
    converged: bool
    reseeded: int


# From sums and the rows to start again from to a model and the number of components that did.
Update = Callable[[Tensor, Tensor, Tensor], tuple[Model, int]]


@dataclass(frozen=True)
class Manner:
    """How the k components follow the rows, and when steps end."""

    update: Update
    hard: bool
    k: int
    max_iter: int
    tol: float
    progress: str | None  # a line to print after each step, of `iteration` and `value`

    def tell(self, history: list[float]) -> None:
        if self.progress is not None:
            line = self.progress.format(iteration=len(history) - 1, value=history[-1])
            print(line, file=sys.stderr)


def pass_over(rows: Rows, weight: Tensor | None, model: Model, *, hard: bool, k: int) -> Sums:
    """Scores all rows and adds up the shares of each component; `weight` has mean 1."""
    n, m = rows.shape
    count = torch.zeros(k, dtype=torch.float64, device=rows.device)
    resultant = torch.zeros(k, m, dtype=torch.float64, device=rows.device)
    by_row = torch.empty(n, dtype=rows.dtype, device=rows.device)
    for place, chunk in placed_chunks(rows):
        weights = part_of(weight, place)
        scores = model.scores(chunk)
        if hard:
            by_row[place], label = scores.max(-1)
            chunk = chunk if model.sharp is None else chunk.double()
            _add_labelled(chunk, label, weights, count, resultant)
        else:
            _add_soft(chunk, scores, weights, model, count, resultant, by_row[place])
    total = by_row.sum(dtype=torch.float64) if weight is None else by_row.double() @ weight
    return Sums(count, resultant, (total / n).item(), by_row)


def _add_soft(
    chunk: Rows,
    scores: Tensor,
    weight: Tensor | None,
    model: Model,
    count: Tensor,
    resultant: Tensor,
    by_row: Tensor,
) -> None:
    # In place: scores become shares of the components.
    largest = scores.amax(-1, keepdim=True)
    share = scores.sub_(largest).clamp_(min=_LEAST_SCORE).exp_()
    total = share.sum(-1, keepdim=True)
    by_row.copy_((largest + total.log()).squeeze(-1))
    if model.sharp is None and isinstance(chunk, DenseRows):
        # A row whose other shares round to nothing is added to its component: no product.
        decided = (total == 1).squeeze(-1)
        if int(decided.sum()) > chunk.shape[0] // 2:
            own = decided.nonzero().squeeze(-1)
            label = share.index_select(0, own).argmax(-1)
            _add_labelled(chunk.select(own), label, part_of(weight, own), count, resultant)
            rest = (~decided).nonzero().squeeze(-1)
            chunk, share, total = chunk.select(rest), share[rest], total[rest]
            weight = part_of(weight, rest)
    share.div_(total if weight is None else total / weight[:, None].to(total.dtype))
    count += share.sum(0, dtype=torch.float64)
    summed = chunk.sums(share).double()
    if model.sharp is not None:
        summed[model.sharp] = chunk.double().sums(share[:, model.sharp].double())
    resultant += summed


def _add_labelled(
    chunk: Rows, label: Tensor, weight: Tensor | None, count: Tensor, resultant: Tensor
) -> None:
    ones = torch.ones_like(label, dtype=torch.float64) if weight is None else weight
    count.index_add_(0, label, ones)
    share = None if weight is None else weight.to(chunk.dtype)
    resultant += chunk.sums_by_label(label, share, count.numel()).double()


def whole_data_steps(rows: Rows, weight: Tensor | None, model: Model, manner: Manner) -> Outcome:
    """Steps over all rows until the objective grows by less than `tol`."""
    history: list[float] = []
    reseeded, k = 0, manner.k
    labelling = Labelling(rows, weight, k) if manner.hard else None
    for _ in range(manner.max_iter):
        if labelling is not None:
            sums = labelling(model)
        else:
            sums = pass_over(rows, weight, model, hard=False, k=k)
        history.append(sums.objective)
        manner.tell(history)
        if len(history) > 1 and abs(history[-1] - history[-2]) < manner.tol:
            return Outcome(model, history, True, reseeded)
        # An empty component starts again at the rows that are explained worst.
        worst = rows.dense(sums.by_row.topk(k, largest=False).indices)
        model, more = manner.update(sums.count, sums.resultant, worst)
        reseeded += more
    return Outcome(model, history, False, reseeded)


class RunningSums:
    """The averages that mini-batches move: sums per row."""

    def __init__(self, sums: Sums) -> None:
        n = sums.by_row.numel()
        self.count, self.resultant = sums.count / n, sums.resultant / n
        self.steps = 0

    def move(self, sums: Sums) -> None:
        rate = (self.steps + 2) ** -_FORGETTING
        n = sums.by_row.numel()
        self.count.lerp_(sums.count / n, rate)
        self.resultant.lerp_(sums.resultant / n, rate)
        self.steps += 1


def batch_step(
    rows: Rows, weight: Tensor | None, model: Model, manner: Manner, running: RunningSums
) -> tuple[Model, float, int]:
    """One mini-batch: the moved model, the objective of the batch before, components re-seeded."""
    n, k = rows.shape[0], manner.k
    sums = pass_over(rows, weight, model, hard=manner.hard, k=k)
    running.move(sums)
    worst = rows.dense(sums.by_row.topk(min(k, n), largest=False).indices)
    worst = worst.repeat(-(-k // worst.shape[0]), 1)[:k]
    model, reseeded = manner.update(running.count * n, running.resultant * n, worst)
    return model, sums.objective, reseeded


def mini_batch_steps(
    rows: Rows,
    weight: Tensor | None,
    model: Model,
    manner: Manner,
    running: RunningSums,
    batch_size: int,
    generator: Generator,
) -> Outcome:
    """Passes over the rows in random batches until several in a row bring nothing."""
    history: list[float] = []
    reseeded, since_best = 0, 0
    n = rows.shape[0]
    for _ in range(manner.max_iter):
        objective = 0.0
        order = torch.randperm(n, generator=generator, device=rows.device)
        for index in order.split(batch_size):
            model, value, more = batch_step(
                rows.select(index), part_of(weight, index), model, manner, running
            )
            objective += value * index.numel() / n
            reseeded += more
        improved = not history or objective > max(history) + manner.tol
        since_best = 0 if improved else since_best + 1
        history.append(objective)
        manner.tell(history)
        if since_best >= _PATIENCE:
            return Outcome(model, history, True, reseeded)
    return Outcome(model, history, False, reseeded)
