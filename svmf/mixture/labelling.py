# SPDX-License-Identifier: MIT
"""Hard assignment of all rows, again and again: most rows keep their component, and that is cheap.

Two savings over a plain pass, neither of which changes a label:

- Sums are moved by the rows that changed their component, in float64.
- Rows are first scored in a shorter type. The error of such a score has a strict bound, so a row
  whose component stays ahead by more than the bound is settled. The others are scored in full.

For components a, b with vectors p and rounded x', p' a difference of scores is wrong by at most

    |x - x'| |p_a - p_b| + |x'| (|p_a - p_a'| + |p_b - p_b'|) + (rounding of two products).

These lengths are measured, not estimated.
"""

import torch
from torch import Tensor

from svmf._torch_private import has_fast_bfloat16
from svmf.mixture.model import Model, Sums
from svmf.mixture.rows import DenseRows, Rows, part_of, placed_chunks

_ROWS = 2048
# Shorter types pay from about this many products on; below, a pass is a matter of microseconds.
_LEAST_WORK = 1 << 24


class Labelling:
    """Passes over the same rows with hard assignment: from a model to `Sums`."""

    def __init__(self, rows: Rows, weight: Tensor | None, k: int) -> None:
        self._rows, self._weight, self._k = rows, weight, k
        n, m = rows.shape
        self._count = torch.zeros(k, dtype=torch.float64, device=rows.device)
        self._resultant = torch.zeros(k, m, dtype=torch.float64, device=rows.device)
        self._label: Tensor | None = None
        self._best = torch.empty(n, dtype=rows.dtype, device=rows.device)
        self._rounded = rounded(rows) if n * m * k >= _LEAST_WORK else None

    def __call__(self, model: Model) -> Sums:
        if self._label is None:
            self._label = torch.empty(
                self._rows.shape[0], dtype=torch.long, device=self._best.device
            )
            self._label_all(model)
            self._add(self._rows, self._label, self._weight, 1)
        else:
            self._relabel(model, self._label)
        n = self._rows.shape[0]
        if model.sharp is None:
            locs, factor, constant = model.linear()
            cosines = (locs.double() * self._resultant).sum(-1)
            total = constant @ self._count + factor @ cosines
        elif self._weight is None:
            total = self._best.sum(dtype=torch.float64)
        else:
            total = self._best.double() @ self._weight
        return Sums(self._count, self._resultant, (total / n).item(), self._best)

    def _label_all(self, model: Model) -> None:
        assert self._label is not None
        for place, chunk in placed_chunks(self._rows):
            torch.max(model.scores(chunk), -1, out=(self._best[place], self._label[place]))

    def _relabel(self, model: Model, label: Tensor) -> None:
        if self._rounded is None or model.sharp is not None:
            before = label.clone()
            self._label_all(model)
            changed = (before != label).nonzero().squeeze(-1)
            self._move(self._rows.select(changed), changed, before[changed])
        else:
            open_rows = self._rounded.unsettled(model, label, self._best)
            if open_rows.numel() > label.numel() // 2:
                self._rounded = None  # clusters too close for the shorter type: it costs more
            for index in open_rows.split(_ROWS):
                part, before = self._rows.select(index), label[index]
                self._best[index], label[index] = model.scores(part).max(-1)
                moved = (before != label[index]).nonzero().squeeze(-1)
                self._move(part.select(moved), index[moved], before[moved])
        # What rounding leaves of a component that lost its rows is no direction.
        empty = torch.bincount(label, minlength=self._k) == 0
        self._count[empty], self._resultant[empty] = 0, 0

    def _move(self, rows: Rows, index: Tensor, before: Tensor) -> None:
        """Takes `rows`, those of `index`, from the components `before` to those of now."""
        if index.numel():
            assert self._label is not None
            weight, wide = part_of(self._weight, index), rows.double()
            self._add(wide, before, weight, -1)
            self._add(wide, self._label[index], weight, 1)

    def _add(self, rows: Rows, label: Tensor, weight: Tensor | None, sign: int) -> None:
        ones = torch.ones_like(label, dtype=torch.float64) if weight is None else weight
        self._count.index_add_(0, label, ones, alpha=sign)
        for place, chunk in placed_chunks(rows):
            share = part_of(weight, place)
            sums = chunk.double().sums_by_label(label[place], share, self._k)
            self._resultant.add_(sums, alpha=sign)


class RoundedRows:
    """Dense rows in a shorter type, with the length of what each row lost. Two more columns of ones
    take the constants of the components, so that one product makes the scores."""

    def __init__(self, rows: DenseRows, dtype: torch.dtype) -> None:
        n, m = rows.shape
        self.data = torch.empty(n, m + 2, dtype=dtype, device=rows.device)
        self.data[:, m:] = 1
        self.lost = torch.empty(n, device=rows.device)
        parts = (whole.split(_ROWS) for whole in (rows.data, self.data, self.lost))
        for given, kept, lost in zip(*parts, strict=True):
            kept[:, :m] = given
            lost.copy_(torch.linalg.vector_norm(given - kept[:, :m].to(given.dtype), dim=-1))

    def unsettled(self, model: Model, label: Tensor, best: Tensor) -> Tensor:
        """Indices of the rows whose component may not be `label`; fills `best` of the others."""
        locs, scale, base = model.linear()
        wide, peak = scale[:, None] * locs.double(), base.max()
        matrix, left = self._rounded(wide, base - peak)
        mine, other = self._scores(matrix, label)
        apart = torch.cdist(wide, wide).max().item()
        # What float32 adds in sums of m + 2 terms: twice the usual bound.
        float32, spread = torch.finfo(torch.float32).eps, (peak - base.min()).item()
        fixed = 1.01 * left + matrix.shape[1] * float32 * (scale.max().item() + spread)
        # Rounding the scores themselves keeps their order: it moves the two that are compared.
        unit = 1.01 * torch.finfo(matrix.dtype).eps / 2
        size = mine.abs() + other.abs().clamp(max=1e30)  # -inf of a single component
        margin = self.lost * (1.01 * apart) + 2 * fixed + unit * size
        best.copy_(mine + peak)
        return (mine - other <= margin).nonzero().squeeze(-1)

    def _rounded(self, wide: Tensor, shift: Tensor) -> tuple[Tensor, float]:
        """Components with their constants in two parts [k, m + 2], and what the worst one lost."""
        dtype = self.data.dtype
        high = shift.to(dtype)
        matrix = torch.cat((wide, high[:, None], (shift - high)[:, None]), 1).to(dtype)
        gone = torch.linalg.vector_norm(wide - matrix[:, :-2].double(), dim=-1)
        gone += (shift - matrix[:, -2:].double().sum(-1)).abs()
        return matrix, gone.max().item()

    def _scores(self, matrix: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Of each row the score of its own component, and the largest of the others."""
        mine, other = torch.empty_like(self.lost), torch.empty_like(self.lost)
        parts = (whole.split(_ROWS) for whole in (self.data, label, mine, other))
        for data, own, at, beside in zip(*parts, strict=True):
            scores = (matrix @ data.T).float()  # [k, rows]: maxima run along memory
            at.copy_(scores.gather(0, own[None])[0])
            torch.amax(scores.scatter_(0, own[None], -torch.inf), 0, out=beside)
        return mine, other


def rounded(rows: Rows) -> RoundedRows | None:
    """The rows in a type whose products take half the time on this machine, if there is one."""
    if not isinstance(rows, DenseRows) or rows.device.type != "cpu":
        return None
    if has_fast_bfloat16():
        return RoundedRows(rows, torch.bfloat16)
    return RoundedRows(rows, torch.float32) if rows.dtype == torch.float64 else None
