# SPDX-License-Identifier: MIT
"""The sufficient statistic of directional data: mean direction and mean resultant length.

Sums run in float64 whatever the type of the data, since 1 - length decides about a large
concentration, and in chunks, so that no float64 copy of the whole data is made.
"""

from typing import Any

import torch
from torch import Tensor

from svmf import functional as F
from svmf._sphere import unit_and_length
from svmf.distributions._data import as_tensor, unit_vectors

_CHUNK_ELEMENTS = 1 << 22


def read_directions(value: Any, *, name: str, normalize: bool = False) -> Tensor:
    """The observations as a tensor of unit vectors [n, *batch, m]."""
    value = as_tensor(value, name=name)
    if value.dim() < 2 or value.shape[0] == 0 or value.shape[-1] < 2:
        raise ValueError(
            f"{name}: expected `value` of shape [n, ..., m] with n >= 1 and m >= 2, "
            f"got shape {list(value.shape)}"
        )
    return unit_vectors(value, name=name, normalize=normalize)


def mean_direction(
    value: Tensor, weights: Tensor | None = None, *, name: str
) -> tuple[Tensor, Tensor]:
    """Direction [*batch, m] and length [*batch] of the weighted mean of `value` [n, *batch, m]."""
    if weights is None:
        mean = value.sum(0, dtype=torch.float64) / value.shape[0]
    else:
        mean = _weighted_mean(value, weights, name)
    direction, length = unit_and_length(mean)
    # A mean of unit vectors is at most 1 long; rounding of the data may exceed it.
    return direction, length.squeeze(-1).clamp(max=1)


def _weighted_mean(value: Tensor, weights: Tensor, name: str) -> Tensor:
    if weights.shape != value.shape[:1] and weights.shape != value.shape[:-1]:
        raise ValueError(
            f"{name}: expected `weights` of shape {list(value.shape[:1])} or "
            f"{list(value.shape[:-1])}, got {list(weights.shape)}"
        )
    if not are_weights(weights):
        raise ValueError(f"{name}: expected finite `weights` >= 0")
    weights = scaled_weights(weights, value.device)
    total = weights.sum(0)
    if not bool((total > 0).all()):
        raise ValueError(f"{name}: expected `weights` with a positive sum")
    if weights.dim() == 1 and value.dim() > 2:
        weights = weights.reshape(-1, *[1] * (value.dim() - 2))
    rows = max(1, _CHUNK_ELEMENTS // max(1, value[0].numel()))
    pairs = zip(value.split(rows), weights.split(rows), strict=True)
    summed = sum((v.double() * w.unsqueeze(-1)).sum(0) for v, w in pairs)
    return summed / total.unsqueeze(-1)


def are_weights(weights: Tensor) -> bool:
    real = not weights.is_complex()
    return real and bool((weights >= 0).all() & weights.isfinite().all())


def scaled_weights(weights: Tensor, device: torch.device) -> Tensor:
    """In float64 and, where sums or squares would have no place in it, relative to the largest."""
    weights = weights.to(device=device, dtype=torch.float64)
    largest = weights.amax(0)
    usual = (largest == 0) | ((largest > 1e-100) & (largest < 1e100))
    return weights / torch.where(usual, 1.0, largest)


def effective_count(value: Tensor, weights: Tensor | None) -> Tensor:
    """(sum of weights)^2 / (sum of their squares): n for equal weights, whatever their scale."""
    if weights is None:
        return torch.tensor(float(value.shape[0]), dtype=torch.float64, device=value.device)
    weights = scaled_weights(weights, value.device)
    return weights.sum(0).square() / weights.square().sum(0)


def marginal_concentration(length: Tensor, count: Tensor, dim: int) -> Tensor:
    """The concentration that makes the resultant length R = count * length most likely.

    R alone has a likelihood proportional to C_m(kappa)^n / C_m(kappa R), free of the mean direction
    (Schou, Biometrika 65 (1978) 369): its maximum solves n A(kappa) = R A(kappa R), and is 0 for
    R^2 <= n. The usual estimate, n A(kappa) = R, counts the chance length of the resultant as
    concentration. All in float64; by bisection, without gradient.
    """
    count = count.expand_as(length)
    resultant = (count * length).detach()
    # It lies between 0 and the usual estimate, where n A = R > R A(kappa R).
    low = torch.zeros_like(resultant)
    high = F.vmf_concentration(length.detach(), dim).clamp(max=1e10)
    for _ in range(100):
        middle = (low + high) / 2
        excess = count * F.vmf_mean_length(middle, dim)
        excess = excess - resultant * F.vmf_mean_length(middle * resultant, dim)
        # n A - R A(kappa R) for large kappa, where both rounded to n and R: from the complements.
        gap = count * F.vmf_mean_length_complement(middle, dim)
        gap = gap - resultant * F.vmf_mean_length_complement(middle * resultant, dim)
        excess = torch.where(length > 0.9, (count - resultant) - gap, excess)
        low, high = torch.where(excess < 0, middle, low), torch.where(excess < 0, high, middle)
    return torch.where(resultant.square() <= count, 0.0, (low + high) / 2)
