# SPDX-License-Identifier: MIT
"""Batching rules for torch.func.vmap.

Every deterministic op works on any number of leading dimensions, so one rule does: bring the mapped
dimension to the front of each tensor and call the op once. The samplers number their rows, and a
mapped call must draw what a loop over unmapped calls would: they are called in that loop.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def _in_front(t: Any, dim: int | None, size: int) -> Any:
    if not isinstance(t, Tensor):
        return t
    return t.expand(size, *t.shape) if dim is None else t.movedim(dim, 0)


def all_at_once(op: Callable) -> Callable:
    """The rule of a deterministic op."""

    def rule(info: Any, in_dims: tuple, *args: Any) -> tuple[Any, Any]:
        out = op(*(_in_front(t, d, info.batch_size) for t, d in zip(args, in_dims, strict=True)))
        return out, tuple(0 for _ in out) if isinstance(out, tuple) else 0

    return rule


def _slice(t: Any, dim: int | None, i: int) -> Any:
    return t.select(dim, i) if isinstance(t, Tensor) and dim is not None else t


def one_by_one(op: Callable) -> Callable:
    """The rule of a sampler, and of its backward pass."""

    def rule(info: Any, in_dims: tuple, *args: Any) -> tuple[Any, Any]:
        # A list argument (sample_shape) has a list of Nones for its dimensions.
        dims = [d if isinstance(d, int) else None for d in in_dims]
        if info.batch_size == 0:  # one call for the shapes of the results
            args = tuple(_one_zero(t, d) for t, d in zip(args, dims, strict=True))
        calls = [
            op(*(_slice(t, d, i) for t, d in zip(args, dims, strict=True)))
            for i in range(max(1, info.batch_size))
        ]
        stacked = (torch.stack(parts)[: info.batch_size] for parts in zip(*calls, strict=True))
        return tuple(stacked), (0,) * len(calls[0])

    return rule


def _one_zero(t: Any, dim: int | None) -> Any:
    """A tensor of the same shape, but with one element in the mapped dimension."""
    if dim is None or not isinstance(t, Tensor):
        return t
    return t.new_zeros([1 if i == dim else size for i, size in enumerate(t.shape)])
