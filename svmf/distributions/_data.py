# SPDX-License-Identifier: MIT
"""Directions as users have them: tensors, NumPy arrays, data frames, lists.

One reader and one check for every entry that takes data. Rows that are not unit vectors are
refused with the norm that was met, or divided by it on request: a fit to rows of another length
would be wrong and say nothing.
"""

from typing import Any

import torch
from torch import Tensor

from svmf._sphere import unit_and_length
from svmf._torch_private import readable
from svmf.distributions._checks import are_unit, read, refuse_norms


def as_tensor(value: Any, *, name: str, argument: str = "value") -> Tensor:
    """`value` as a tensor of a floating type.

    A tensor must have one already. Arrays, data frames and lists may hold integers too: they become
    float64.
    """
    if not isinstance(value, Tensor):
        value = _array_as_tensor(value, name=name, argument=argument)
    if not value.is_floating_point():
        raise TypeError(
            f"{name}: expected `{argument}` to be a tensor of a floating type, got {value.dtype}"
        )
    if value.layout != torch.strided:
        raise TypeError(f"{name}: expected `{argument}` to be dense, got {value.layout}")
    return value


def _array_as_tensor(value: Any, *, name: str, argument: str) -> Tensor:
    import numpy

    array = value.to_numpy() if hasattr(value, "to_numpy") else numpy.asarray(value)
    if numpy.iscomplexobj(array):
        raise ValueError(f"{name}: expected `{argument}` to be real. Complex data not supported")
    if array.dtype not in (numpy.float64, numpy.float32, numpy.float16):
        try:
            array = array.astype(numpy.float64)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{name}: expected `{argument}` to hold numbers: {error}") from None
    if not array.flags.writeable or any(step < 0 for step in array.strides):
        array = array.copy()  # torch shares the memory of arrays that it may write to
    return torch.from_numpy(numpy.ascontiguousarray(array))


def unit_vectors(
    value: Tensor, *, name: str, argument: str = "value", normalize: bool = False
) -> Tensor:
    """`value` [..., m] if its vectors have norm 1, divided by their norms if `normalize`."""
    if value.numel() == 0:
        return value
    if normalize:
        if readable(value):
            _refuse_without_direction(value.detach().abs().amax(-1), name, argument)
        return unit_and_length(value)[0]
    if not readable(value):
        return value
    norm = torch.linalg.vector_norm(value.detach(), dim=-1)
    low, high = read(*norm.aminmax())
    if not are_unit(low, high, value.dtype):
        _refuse_without_direction(norm, name, argument)
        refuse_norms(name, argument, norm, "; pass normalize=True to divide by the norms")
    return value


def _refuse_without_direction(size: Tensor, name: str, argument: str) -> None:
    """Raises if the size of a vector is 0 or not finite."""
    if not bool(size.isfinite().all()):
        at = (~size.isfinite()).nonzero()[0].tolist()
        raise ValueError(f"{name}: expected `{argument}` to be finite, got NaN or inf at {at}")
    if not bool((size > 0).all()):
        at = (size == 0).nonzero()[0].tolist()
        raise ValueError(
            f"{name}: expected vectors with a direction in `{argument}`, got norm 0 at {at}"
        )
