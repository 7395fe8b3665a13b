# SPDX-License-Identifier: MIT
"""The power spherical distribution as De Cao and Aziz have it ("The Power Spherical distribution",
2020). The Gamma functions cancel where kappa is small or large against m."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = [
    "power_spherical_kl_uniform",
    "power_spherical_log_partition",
    "power_spherical_log_prob",
    "power_spherical_rsample",
    "power_spherical_rsample_kl",
]


def power_spherical_log_partition(kappa: Tensor, dim: int) -> Tensor:
    """log E[((1 + w) / 2)^kappa] for uniform z, (1 + w) / 2 being Beta(beta, beta), beta =
    (m-1)/2."""
    beta, k = (dim - 1) / 2, kappa.double()
    ratio = torch.lgamma(beta + k) - torch.lgamma(2 * beta + k)
    return (ratio + math.lgamma(2 * beta) - math.lgamma(beta)).to(kappa.dtype)


def power_spherical_kl_uniform(kappa: Tensor, dim: int) -> Tensor:
    """kappa E[log((1 + w) / 2)] - log partition, E[log t] = psi(alpha) - psi(alpha + beta)."""
    beta, k = (dim - 1) / 2, kappa.double()
    mean = torch.digamma(beta + k) - torch.digamma(2 * beta + k)
    return (k * mean - power_spherical_log_partition(k, dim)).to(kappa.dtype)


def power_spherical_log_prob(value: Tensor, loc: Tensor, kappa: Tensor) -> Tensor:
    dim = loc.shape[-1]
    log_area = math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
    half = (1 + (value * loc).sum(-1)) / 2
    return torch.xlogy(kappa, half) - power_spherical_log_partition(kappa, dim) - log_area


def power_spherical_rsample(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """A Beta variable for w, a uniform tangent, the Householder reflection. The gradient in kappa
    is torch's of a Beta variable. `generator` seeds the normal numbers alone."""
    dim = loc.shape[-1]
    beta = torch.full_like(kappa, (dim - 1) / 2)
    w = 2 * torch.distributions.Beta(beta + kappa, beta).rsample(torch.Size(sample_shape)) - 1
    shape = (*sample_shape, *loc.shape[:-1], dim - 1)
    normal = torch.randn(shape, dtype=loc.dtype, device=loc.device, generator=generator)
    tangent = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
    y = torch.cat((w.unsqueeze(-1), (1 - w.square()).sqrt().unsqueeze(-1) * tangent), dim=-1)
    u = -loc
    u = torch.cat((1 + u[..., :1], u[..., 1:]), dim=-1)
    square = u.square().sum(-1, keepdim=True)
    factor = torch.where(square == 0, 0.0, 2 / torch.where(square == 0, 1.0, square))
    return y - factor * (u * y).sum(-1, keepdim=True) * u


def power_spherical_rsample_kl(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    z = power_spherical_rsample(loc, kappa, sample_shape, generator=generator)
    return z, power_spherical_kl_uniform(kappa, loc.shape[-1])
