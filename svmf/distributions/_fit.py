# SPDX-License-Identifier: MIT
"""The sufficient statistic of directional data: mean direction and mean resultant length.

Sums run in float64 whatever the type of the data, since 1 - length decides about a large
concentration, and in chunks, so that no float64 copy of the whole data is made.
"""

import torch
from torch import Tensor

_CHUNK_ELEMENTS = 1 << 22


def mean_direction(
    value: Tensor, weights: Tensor | None = None, *, name: str
) -> tuple[Tensor, Tensor]:
    """Direction [*batch, m] and length [*batch] of the weighted mean of `value` [n, *batch, m]."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        got = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"{name}: expected `value` to be a tensor of a floating type, got {got}")
    if value.dim() < 2 or value.shape[0] == 0 or value.shape[-1] < 2:
        raise ValueError(
            f"{name}: expected `value` of shape [n, ..., m] with n >= 1 and m >= 2, "
            f"got shape {list(value.shape)}"
        )
    if weights is None:
        mean = value.sum(0, dtype=torch.float64) / value.shape[0]
    else:
        mean = _weighted_mean(value, weights, name)
    length = torch.linalg.vector_norm(mean, dim=-1)
    none = (length == 0).unsqueeze(-1)
    e1 = torch.zeros_like(mean)
    e1[..., 0] = 1
    direction = torch.where(none, e1, mean / torch.where(none, 1.0, length.unsqueeze(-1)))
    # A mean of unit vectors is at most 1 long; rounding of the data may exceed it.
    return direction, length.clamp(max=1)


def _weighted_mean(value: Tensor, weights: Tensor, name: str) -> Tensor:
    if weights.shape != value.shape[:1] and weights.shape != value.shape[:-1]:
        raise ValueError(
            f"{name}: expected `weights` of shape {list(value.shape[:1])} or "
            f"{list(value.shape[:-1])}, got {list(weights.shape)}"
        )
    weights = weights.double()
    total = weights.sum(0)
    if not bool((total > 0).all()) or bool((weights < 0).any()):
        raise ValueError(f"{name}: expected `weights` >= 0 with a positive sum")
    if weights.dim() == 1 and value.dim() > 2:
        weights = weights.reshape(-1, *[1] * (value.dim() - 2))
    rows = max(1, _CHUNK_ELEMENTS // max(1, value[0].numel()))
    pairs = zip(value.split(rows), weights.split(rows), strict=True)
    summed = sum((v.double() * w.unsqueeze(-1)).sum(0) for v, w in pairs)
    return summed / total.unsqueeze(-1)
