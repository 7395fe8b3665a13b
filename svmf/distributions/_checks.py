# SPDX-License-Identifier: MIT
"""Checks of values that the distributions share: when they are possible, and what they say."""

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from svmf._torch_private import below_autograd, readable
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


def unit_vectors_expected(dtype: torch.dtype) -> str:
    """What `invalid` says about unit vectors of this type."""
    return f"unit vectors in its last dimension (norm within {UNIT_TOLERANCES[dtype]:g} of 1)"


def check_shape(distribution: Distribution, value: Tensor) -> None:
    """Raises unless `value`, the argument of `log_prob`, has vectors of the right m in a batch that
    broadcasts."""
    shape = distribution.batch_shape + distribution.event_shape
    if value.shape[-1:] != shape[-1:] or not _broadcasts(value.shape, shape):
        raise ValueError(
            f"{type(distribution).__name__}.log_prob: expected `value` to broadcast with shape "
            f"{list(shape)}, got {list(value.shape)}"
        )


def check_value(distribution: Distribution, value: Tensor) -> None:
    """Raises unless `value` also lies on the sphere."""
    name = f"{type(distribution).__name__}.log_prob"
    if not isinstance(value, Tensor) or not value.is_floating_point():
        got = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"{name}: expected `value` to be a tensor of a floating type, got {got}")
    check_shape(distribution, value)
    if value.numel() == 0 or not readable(value):
        return
    with below_autograd():
        norm = torch.linalg.vector_norm(value, dim=-1)
        low, high = read(*norm.aminmax())
    tolerance = UNIT_TOLERANCES[value.dtype]
    if not (low >= 1 - tolerance and high <= 1 + tolerance):
        valid = (norm - 1).abs() <= tolerance
        expected = unit_vectors_expected(value.dtype)
        raise ValueError(invalid(name, "value", expected, "norm", norm, valid))


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


def _broadcasts(first: Size, second: Size) -> bool:
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(1 in (a, b) or a == b for a, b in pairs)
