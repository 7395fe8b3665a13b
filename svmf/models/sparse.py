# SPDX-License-Identifier: MIT
"""Products of a constant sparse matrix with a dense one. The transposed structure, made once,
serves the backward pass.
"""

from typing import Any

import torch
from torch import Tensor, nn

from svmf._sparse import starts, times, transposed
from svmf.data.graph import SparseFeatures


class SparseMatrix(nn.Module):
    """A constant [rows, columns] matrix whose tensors follow the model to its device. They are not
    part of its state: a checkpoint does not store the data."""

    def __init__(self, matrix: SparseFeatures) -> None:
        super().__init__()
        self.rows, self.columns = matrix.rows, matrix.columns
        self.indptr: Tensor
        self.indices: Tensor
        self.values: Tensor
        self.transposed_indptr: Tensor
        self.transposed_indices: Tensor
        self.transposition: Tensor
        start, row, order = transposed(matrix.indptr, matrix.indices, matrix.columns)
        for name, tensor in {
            "indptr": matrix.indptr,
            "indices": matrix.indices,
            "values": matrix.values,
            "transposed_indptr": start,
            "transposed_indices": row,
            "transposition": order,
        }.items():
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, dense: Tensor, values: Tensor | None = None) -> Tensor:
        """self @ dense, [rows, width]; `values` replace the entries, for dropout."""
        values = self.values if values is None else values
        return _SparseMatmul.apply(dense, values, self)  # type: ignore[no-any-return]


class _SparseMatmul(torch.autograd.Function):
    """Differentiable in the dense factor only."""

    @staticmethod
    def forward(dense: Tensor, values: Tensor, matrix: SparseMatrix) -> Tensor:
        return times(matrix.indptr, matrix.indices, values, dense)

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[Tensor, Tensor, SparseMatrix], output: Tensor
    ) -> None:
        ctx.values, ctx.matrix = inputs[1:]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        matrix = ctx.matrix
        values = ctx.values[matrix.transposition]
        start, row = matrix.transposed_indptr, matrix.transposed_indices
        return times(start, row, values, grad.contiguous()), None, None


def normalized_adjacency(edges: Tensor, nodes: int) -> SparseMatrix:
    """D^(-1/2) (A + I) D^(-1/2) of Kipf and Welling (2017); `edges` [2, E] has each edge once."""
    loops = torch.arange(nodes)
    rows = torch.cat([edges[0], edges[1], loops])
    columns = torch.cat([edges[1], edges[0], loops])
    order = (rows * nodes + columns).argsort()
    rows, columns = rows[order], columns[order]
    degree = torch.bincount(rows, minlength=nodes)
    scale = degree.double().rsqrt()
    values = (scale[rows] * scale[columns]).float()
    return SparseMatrix(SparseFeatures(starts(degree), columns, values, nodes, nodes))
