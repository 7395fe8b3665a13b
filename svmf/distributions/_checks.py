# SPDX-License-Identifier: MIT
"""Checks of values that the distributions share: when they are possible, and what they say."""

import torch
from torch import Size, Tensor

from svmf.constraints import UNIT_TOLERANCES


def read(*scalars: Tensor) -> list[float]:
    """The values of a few scalars; one copy if they lie on a device."""
    if scalars[0].is_cpu:
        return [scalar.item() for scalar in scalars]
    return torch.stack(scalars).tolist()


def invalid(
    name: str, argument: str, expected: str, what: str, value: Tensor, valid: Tensor
) -> str:
    """The message for an argument with wrong values: the first of them, and how many there are."""
    wrong = (~valid).nonzero()
    first = tuple(wrong[0].tolist())
    where = f" at {list(first)}" if first else ""
    return (
        f"{name}: expected `{argument}` to hold {expected}, got {what} "
        f"{value[first].item():g}{where} ({len(wrong)} of {valid.numel()} wrong)"
    )


def are_unit(low: float, high: float, dtype: torch.dtype) -> bool:
    """Whether vectors of this type with norms from `low` to `high` are unit vectors; nan is not."""
    tolerance = UNIT_TOLERANCES[dtype]
    return low >= 1 - tolerance and high <= 1 + tolerance


def refuse_norms(name: str, argument: str, norm: Tensor, hint: str = "") -> None:
    """Raises if a norm is not that of a unit vector: two roundings at the very edge may disagree
    with `are_unit`."""
    tolerance = UNIT_TOLERANCES[norm.dtype]
    valid = (norm - 1).abs() <= tolerance
    if not bool(valid.all()):
        expected = f"unit vectors in its last dimension (norm within {tolerance:g} of 1)"
        raise ValueError(invalid(name, argument, expected, "norm", norm, valid) + hint)


def common_batch(name: str, first: Size, second: Size) -> Size:
    """Both batch shapes broadcast, for the function `name`."""
    if first == second:
        return first
    try:
        return torch.broadcast_shapes(first, second)
    except RuntimeError:
        raise ValueError(
            f"{name}: expected batch shapes that broadcast, got {list(first)} and {list(second)}"
        ) from None
