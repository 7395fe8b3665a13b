# SPDX-License-Identifier: MIT
"""Sparse matrices in CSR form, without torch's sparse tensors: row r holds the entries start[r] to
start[r + 1].

Products with a dense matrix are `embedding_bag`: row r of A B is the sum of rows of B, picked by
A's columns and weighted by its entries. On the CPU that is several times faster than torch's CSR
product.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def starts(lengths: Tensor) -> Tensor:
    """Where rows of these lengths start, and where the last one ends."""
    return F.pad(lengths.cumsum(0), (1, 0))


def row_of_entries(start: Tensor) -> Tensor:
    return torch.arange(len(start) - 1, device=start.device).repeat_interleave(start.diff())


def transposed(start: Tensor, column: Tensor, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same entries by column: where columns start, the row of each entry, and which it was."""
    order = column.argsort(stable=True)
    count = torch.bincount(column, minlength=columns)
    return starts(count), row_of_entries(start)[order], order


def times(start: Tensor, column: Tensor, value: Tensor, dense: Tensor) -> Tensor:
    """The product with a dense matrix."""
    return F.embedding_bag(
        column, dense, start, mode="sum", per_sample_weights=value, include_last_offset=True
    )
