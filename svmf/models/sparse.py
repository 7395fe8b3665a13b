# SPDX-License-Identifier: MIT
"""Products of a constant sparse matrix with a dense one, forward and backward.

Both directions are `embedding_bag`: row r of A B is the sum of rows of B, picked by A's column
indices and weighted by its entries. On the CPU that is several times faster than torch's CSR
product, and the transposed structure, made once, serves the backward pass.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

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
        row_of = torch.repeat_interleave(torch.arange(matrix.rows), matrix.indptr.diff())
        order = matrix.indices.argsort(stable=True)
        counts = torch.bincount(matrix.indices, minlength=matrix.columns)
        for name, tensor in {
            "indptr": matrix.indptr,
            "indices": matrix.indices,
            "values": matrix.values,
            "transposed_indptr": F.pad(counts.cumsum(0), (1, 0)),
            "transposed_indices": row_of[order],
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
        return _bag_sum(dense, matrix.indices, matrix.indptr, values)

    @staticmethod
    def setup_context(
        ctx: Any, inputs: tuple[Tensor, Tensor, SparseMatrix], output: Tensor
    ) -> None:
        ctx.values, ctx.matrix = inputs[1:]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        matrix = ctx.matrix
        values = ctx.values[matrix.transposition]
        grad = grad.contiguous()
        return (
            _bag_sum(grad, matrix.transposed_indices, matrix.transposed_indptr, values),
            None,
            None,
        )


def _bag_sum(dense: Tensor, indices: Tensor, indptr: Tensor, values: Tensor) -> Tensor:
    return F.embedding_bag(
        indices,
        dense,
        indptr,
        mode="sum",
        per_sample_weights=values,
        include_last_offset=True,
    )


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
    indptr = F.pad(degree.cumsum(0), (1, 0))
    return SparseMatrix(SparseFeatures(indptr, columns, values, nodes, nodes))
