# SPDX-License-Identifier: MIT
"""What an outcome must be: the relations between calls, and the form of an error."""

import re

import torch
from torch import Tensor

OUR_ERRORS = (RuntimeError, ValueError, TypeError)


class Finding(AssertionError):  # noqa: N818  (not an error of the harness)
    """An outcome that the documentation does not allow."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Finding(what)


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Equal, nan with nan."""
    return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())


def require_same(first: list[Tensor], second: list[Tensor], what: str) -> None:
    """Equal bits."""
    require(len(first) == len(second), f"{what}: numbers of results differ")
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if same_bits(a, b):
            continue
        count = int((~((a == b) | (a.isnan() & b.isnan()))).sum()) if a.shape == b.shape else -1
        raise Finding(f"{what}: result {i} differs in {count} of {a.numel()} elements")


def require_documented(error: BaseException, *names: str) -> None:
    """An error of ours is of three classes and begins with the op or class it comes from."""
    text = str(error)
    # Two texts come from elsewhere: torch's, for arguments that do not fit the op's schema and
    # for kinds of tensors that no op knows, and ours for memory that is not there.
    begins = any(
        re.match(rf"{re.escape(name)}\b", text) or f"svmf::{name}" in text for name in names
    ) or text.startswith("svmf: no memory")
    if not isinstance(error, OUR_ERRORS) or not begins:
        raise Finding(
            f"expected an error that begins with {' or '.join(names)}, "
            f"got {type(error).__name__}: {text[:300]}"
        ) from error


def rows_first(result: Tensor, batch: int, front: int = 1) -> Tensor:
    """[front, batch, ...] as [batch, everything else]."""
    return result.reshape(front, batch, -1).transpose(0, 1).reshape(batch, -1)


def eps(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).eps
