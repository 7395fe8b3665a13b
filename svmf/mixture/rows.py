# SPDX-License-Identifier: MIT
"""The rows that an estimator is fitted to: dense, or sparse in CSR form and never made dense.

Work goes in chunks of rows that fit a cache, so that memory grows with the rows only by what the
caller keeps. A chunk knows two products: rows times columns of a small matrix, and weights times
rows.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from svmf._sparse import row_of_entries, starts, times, transposed
from svmf.distributions._data import as_tensor, unit_vectors

_DENSE_ROWS = 512
_SPARSE_ROWS = 16384


class DenseRows:
    """Rows of a tensor [n, m]."""

    def __init__(self, data: Tensor) -> None:
        self.data = data
        self.shape = data.shape
        self.dtype, self.device = data.dtype, data.device

    def chunks(self) -> Iterator["DenseRows"]:
        return (DenseRows(part) for part in self.data.split(_DENSE_ROWS))

    def select(self, index: Tensor) -> "DenseRows":
        return DenseRows(self.dense(index))

    def dense(self, index: Tensor) -> Tensor:
        """The rows `index` as a tensor [j, m]."""
        return self.data.index_select(0, index)  # whole rows: five times as fast as data[index]

    def double(self) -> "DenseRows":
        return DenseRows(self.data.double())

    def squared_norms(self) -> Tensor:
        return self.data.square().sum(-1)

    def product(self, matrix: Tensor, base: Tensor | None = None) -> Tensor:
        """rows @ matrix.T + base for a matrix [k, m]: [n, k].

        The rows of one component lie side by side in memory: what follows reduces over components,
        and goes along many rows at a time so.
        """
        if base is None:
            return (matrix @ self.data.T).T
        return torch.addmm(base[:, None], matrix, self.data.T).T

    def sums(self, share: Tensor) -> Tensor:
        """share.T @ rows for `share` [n, k]: [k, m]."""
        return share.T @ self.data

    def sums_by_label(self, label: Tensor, share: Tensor | None, n_labels: int) -> Tensor:
        """The rows of each label added up, [n_labels, m]."""
        rows = self.data if share is None else self.data * share[:, None]
        return self.data.new_zeros(n_labels, self.shape[1]).index_add_(0, label, rows)


class SparseRows:
    """Rows of a sparse matrix [n, m] in CSR form: where rows start, columns, values.

    The second product takes the transposed chunk, which is kept.
    """

    def __init__(self, start: Tensor, column: Tensor, value: Tensor, dim: int) -> None:
        self.start, self.column, self.value = start, column, value
        self.shape = torch.Size((start.numel() - 1, dim))
        self.dtype, self.device = value.dtype, value.device
        self._parts: list[SparseRows] | None = None
        self._flipped: tuple[Tensor, Tensor, Tensor] | None = None  # the transposed matrix

    def chunks(self) -> Iterator["SparseRows"]:
        if self._parts is None:
            n = self.shape[0]
            bounds = [(a, min(a + _SPARSE_ROWS, n)) for a in range(0, n, _SPARSE_ROWS)]
            self._parts = [self] if len(bounds) <= 1 else [self._between(a, b) for a, b in bounds]
        return iter(self._parts)

    def _between(self, first: int, last: int) -> "SparseRows":
        a, b = int(self.start[first]), int(self.start[last])
        start = self.start[first : last + 1] - a
        return SparseRows(start, self.column[a:b], self.value[a:b], self.shape[1])

    def select(self, index: Tensor) -> "SparseRows":
        length = self.start.diff()[index]
        start = starts(length)
        inside = torch.arange(int(start[-1]), device=self.device)
        inside += (self.start[index] - start[:-1]).repeat_interleave(length)
        return SparseRows(start, self.column[inside], self.value[inside], self.shape[1])

    def dense(self, index: Tensor) -> Tensor:
        """The rows `index` as a tensor [j, m]."""
        part = self.select(index)
        filled = part.value.new_zeros(part.shape)
        place = (row_of_entries(part.start), part.column)
        return filled.index_put_(place, part.value, accumulate=True)

    def double(self) -> "SparseRows":
        return SparseRows(self.start, self.column, self.value.double(), self.shape[1])

    def squared_norms(self) -> Tensor:
        return torch.segment_reduce(self.value.square(), "sum", offsets=self.start, initial=0)

    def product(self, matrix: Tensor, base: Tensor | None = None) -> Tensor:
        """rows @ matrix.T + base for a matrix [k, m]: [n, k]."""
        result = times(self.start, self.column, self.value, matrix.T.contiguous())
        return result if base is None else result.add_(base)

    def sums(self, share: Tensor) -> Tensor:
        """share.T @ rows for `share` [n, k]: [k, m]."""
        if self._flipped is None:
            start, row, order = transposed(self.start, self.column, self.shape[1])
            self._flipped = start, row, self.value[order]
        return times(*self._flipped, share.contiguous()).T

    def sums_by_label(self, label: Tensor, share: Tensor | None, n_labels: int) -> Tensor:
        """The rows of each label added up, [n_labels, m]."""
        dim = self.shape[1]
        position = label.repeat_interleave(self.start.diff()) * dim + self.column
        value = self.value
        if share is not None:
            value = value * share.repeat_interleave(self.start.diff())
        filled = value.new_zeros(n_labels * dim).index_add_(0, position, value)
        return filled.reshape(n_labels, dim)


Rows = DenseRows | SparseRows


def placed_chunks(rows: Rows) -> Iterator[tuple[slice, Rows]]:
    """The chunks, each with its place among the rows."""
    first = 0
    for chunk in rows.chunks():
        last = first + chunk.shape[0]
        yield slice(first, last), chunk
        first = last


def part_of(weight: Tensor | None, place: Tensor | slice) -> Tensor | None:
    """The weights of some rows; None, for equal weights, stays None."""
    return None if weight is None else weight[place]


def read_rows(X: Any, *, name: str, normalize: bool) -> Rows:
    """The unit vectors in `X` [n, m]: a tensor, an array, a data frame, a sparse matrix.

    Half types become float32: their rows are unit vectors that were rounded, so they are
    normalised again.
    """
    sparse = isinstance(X, torch.Tensor) and X.layout != torch.strided
    if sparse or hasattr(X, "tocsr"):
        return _read_sparse(X, name=name, normalize=normalize)
    data = as_tensor(X, name=name, argument="X")
    _check_shape(data.shape, name)
    data = unit_vectors(data.detach(), name=name, argument="X", normalize=normalize)
    if data.dtype not in (torch.float32, torch.float64):
        data = torch.nn.functional.normalize(data.float(), dim=-1)
    return DenseRows(data)


def _read_sparse(X: Any, *, name: str, normalize: bool) -> SparseRows:
    if isinstance(X, torch.Tensor):
        _check_shape(X.shape, name)
        X = X.detach()
        if X.layout == torch.sparse_csr:
            start, column, value = X.crow_indices(), X.col_indices(), X.values()
        else:
            X = X.to_sparse_coo().coalesce()
            row, column = X.indices()
            start, value = starts(torch.bincount(row, minlength=X.shape[0])), X.values()
    else:
        _check_shape(X.shape, name)
        csr = X.tocsr()
        start, column = torch.as_tensor(csr.indptr), torch.as_tensor(csr.indices)
        value = as_tensor(csr.data, name=name, argument="X")
    if not value.is_floating_point():
        raise TypeError(f"{name}: expected `X` of a floating type, got {value.dtype}")
    half = value.dtype not in (torch.float32, torch.float64)
    rows = SparseRows(start.long(), column.long(), value.float() if half else value, X.shape[1])
    count = rows.start.diff()
    if normalize:  # the largest entry first: its square may have no place in its type
        largest = torch.segment_reduce(rows.value.abs(), "max", offsets=rows.start, initial=0)
        unit_vectors(largest[:, None], name=name, argument="X", normalize=True)
        rows.value = rows.value / largest.repeat_interleave(count)
    norm = rows.squared_norms().sqrt()
    if not normalize:  # the norms, each as a vector of one entry, meet the check of dense rows
        unit_vectors(norm[:, None].to(value.dtype), name=name, argument="X")
    if normalize or half:
        rows.value = rows.value / norm.repeat_interleave(count)
    return rows


def _check_shape(shape: torch.Size | tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name}: expected `X` of shape [n, m], got {list(shape)}. Reshape your data"
        )
    if shape[1] < 2:
        raise ValueError(
            f"{name}: expected `X` of shape [n, m] with m >= 2, got {shape[1]} feature(s) "
            f"(shape={tuple(shape)}) while a minimum of 2 is required."
        )
    if shape[0] == 0:
        raise ValueError(
            f"{name}: expected rows in `X`, got 0 sample(s) (shape={tuple(shape)}) while a "
            "minimum of 1 is required."
        )
