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
from svmf.mixture.rows import DenseRows, Rows

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
        first = 0
        for chunk in self._rows.chunks():
            last = first + chunk.shape[0]
            torch.max(
                model.scores(chunk), -1, out=(self._best[first:last], self._label[first:last])
            )
            first = last

    def _relabel(self, model: Model, label: Tensor) -> None:
        if self._rounded is None or model.sharp is not None:
            before = label.clone()
            self._label_all(model)
            changed = (before != label).nonzero().squeeze(-1)
            before = before[changed]
        else:
            open_rows = self._rounded.unsettled(model, label, self._best)
            if open_rows.numel() > label.numel() // 2:
                self._rounded = None  # clusters too close for the shorter type: it costs more
            before = label[open_rows]
            for index in open_rows.split(_ROWS) if open_rows.numel() else ():
                self._best[index], label[index] = model.scores(self._rows.select(index)).max(-1)
            moved = before != label[open_rows]
            changed, before = open_rows[moved], before[moved]
        if changed.numel():
            rows = self._rows.select(changed)
            weight = None if self._weight is None else self._weight[changed]
            self._add(rows, before, weight, -1)
            self._add(rows, label[changed], weight, 1)
            # What rounding leaves of a component that lost its rows is no direction.
            empty = torch.bincount(label, minlength=self._k) == 0
            self._count[empty], self._resultant[empty] = 0, 0

    def _add(self, rows: Rows, label: Tensor, weight: Tensor | None, sign: int) -> None:
        ones = torch.ones_like(label, dtype=torch.float64) if weight is None else weight
        self._count.index_add_(0, label, ones, alpha=sign)
        first = 0
        for chunk in rows.chunks():
            last = first + chunk.shape[0]
            share = None if weight is None else weight[first:last]
            sums = chunk.double().sums_by_label(label[first:last], share, self._k)
            self._resultant.add_(sums, alpha=sign)
            first = last


class RoundedRows:
    """Dense rows in a shorter type, with the length of what each row lost."""

    def __init__(self, rows: DenseRows, dtype: torch.dtype) -> None:
        self.data = rows.data.to(dtype)
        parts = zip(rows.data.split(_ROWS), self.data.split(_ROWS), strict=True)
        lost = [torch.linalg.vector_norm(a - b.to(a.dtype), dim=-1) for a, b in parts]
        self.lost = torch.cat(lost).float()

    def unsettled(self, model: Model, label: Tensor, best: Tensor) -> Tensor:
        """Indices of the rows whose component may not be `label`; fills `best` of the others."""
        locs, scale, base = model.linear()
        rounded = locs.to(self.data.dtype)
        wide, m = scale[:, None] * locs.double(), locs.shape[1]
        apart = torch.cdist(wide, wide).max().item()
        kept = scale[:, None] * rounded.double()
        lost = torch.linalg.vector_norm(wide - kept, dim=-1).max().item()
        factor, spread = scale.max().item(), (base.max() - base.min()).item()
        # What float32 adds in sums of m terms, and in scaling and shifting: twice the usual bound.
        float32 = torch.finfo(torch.float32).eps
        fixed = 1.01 * lost + factor * m * float32 + 4 * float32 * (factor + spread)
        peak = base.max()
        shift, factors = (base - peak).float()[:, None], scale.float()[:, None]
        found = []
        first = 0
        for data in self.data.split(_ROWS):
            last = first + data.shape[0]
            product = (rounded @ data.T).float()  # [k, rows]: maxima run along memory
            low, high = torch.aminmax(product)
            output = torch.finfo(data.dtype).eps / 2 * max(-low.item(), high.item())
            scores = product.mul_(factors).add_(shift)
            own = label[None, first:last]
            mine = scores.gather(0, own)[0]
            other = scores.scatter_(0, own, -torch.inf).amax(0)
            margin = self.lost[first:last] * (1.01 * apart) + 2 * (fixed + factor * output)
            best[first:last] = mine + peak
            found.append((mine - other <= margin).nonzero().squeeze(-1).add_(first))
            first = last
        return torch.cat(found)


def rounded(rows: Rows) -> RoundedRows | None:
    """The rows in a type whose products take half the time on this machine, if there is one."""
    if not isinstance(rows, DenseRows) or rows.device.type != "cpu":
        return None
    if has_fast_bfloat16():
        return RoundedRows(rows, torch.bfloat16)
    return RoundedRows(rows, torch.float32) if rows.dtype == torch.float64 else None
