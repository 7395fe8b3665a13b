# SPDX-License-Identifier: MIT
"""Checks of op arguments for fake tensors: twins of csrc/common/check.h, with the same names and
the same texts.

tests/ops/test_bad_input.py runs one table of mistakes against both.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

_FLOATING = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def _shape(t: Tensor) -> str:
    return "[" + ", ".join(str(size) for size in t.shape) + "]"


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RuntimeError(message)


def check_floating(op: str, name: str, t: Tensor) -> None:
    _require(
        t.dtype in _FLOATING,
        f"{op}: expected `{name}` of dtype torch.float32, torch.float64, torch.bfloat16 or "
        f"torch.float16, got {t.dtype}",
    )


def check_same_dtype(op: str, name: str, t: Tensor, other_name: str, other: Tensor) -> None:
    _require(
        t.dtype == other.dtype,
        f"{op}: expected `{name}` of the dtype of `{other_name}` ({other.dtype}), got {t.dtype}",
    )


def check_same_device(op: str, name: str, t: Tensor, other_name: str, other: Tensor) -> None:
    _require(
        t.device == other.device,
        f"{op}: expected `{name}` on the device of `{other_name}` ({other.device}), got {t.device}",
    )


def check_same_shape(op: str, name: str, t: Tensor, other_name: str, other: Tensor) -> None:
    _require(
        t.shape == other.shape,
        f"{op}: expected `{name}` of the shape of `{other_name}` {_shape(other)}, got {_shape(t)}",
    )


def check_row_shape(op: str, name: str, t: Tensor, rows_name: str, rows: Tensor) -> None:
    _require(
        t.shape == rows.shape[:-1],
        f"{op}: expected `{name}` with one value per row of `{rows_name}` {_shape(rows)}, "
        f"got shape {_shape(t)}",
    )


def check_dim(op: str, dim: int) -> None:
    _require(dim >= 2, f"{op}: expected `dim` to be at least 2, got {dim}")


def check_vectors(op: str, name: str, t: Tensor) -> None:
    _require(
        t.dim() >= 1 and t.shape[-1] >= 2,
        f"{op}: expected `{name}` of shape [..., m] with m at least 2, got {_shape(t)}",
    )


def check_seed(op: str, seed: Tensor, loc: Tensor, loc_name: str = "loc") -> None:
    _require(
        seed.dtype == torch.int64 and seed.numel() == 1,
        f"{op}: expected `seed` with one element of dtype torch.int64, got shape {_shape(seed)} "
        f"of dtype {seed.dtype}",
    )
    check_same_device(op, "seed", seed, loc_name, loc)


def check_sample_shape(op: str, sample_shape: Sequence[int]) -> None:
    """Sizes that are known only when the program runs are checked there."""
    sizes = ", ".join(str(size) for size in sample_shape)
    _require(
        not any(isinstance(size, int) and size < 0 for size in sample_shape),
        f"{op}: expected `sample_shape` without negative sizes, got [{sizes}]",
    )


def check_offset(op: str, offset: float) -> None:
    _require(offset >= 0, f"{op}: expected `offset` to be at least 0, got {offset:g}")


def check_order(op: str, order: float) -> None:
    _require(order >= 0, f"{op}: expected `order` to be at least 0, got {order:g}")


def check_pair(op: str, name: str, t: Tensor, other_name: str, other: Tensor) -> None:
    """Two tensors of one dtype on one device."""
    check_same_dtype(op, name, t, other_name, other)
    check_same_device(op, name, t, other_name, other)
