# SPDX-License-Identifier: MIT
"""A spherical Cauchy latent in plain torch, as SC-VAE (arXiv 2506.21278) does it, written anew: the
Moebius map of a normalised normal vector, and the divergence by its power series

    KL = (m-1) (-log(1 - x) - sum_k c_k x^k / k),  x = rho^2,
    c_k = prod_j (j - m/2) / (j - 1 + m/2),  j = 1..k,

with its derivative beside it, cut where float32 no longer sees the rest for rho up to 0.9.
"""

import functools
from typing import Any

import torch
from torch import Tensor

LARGEST_RHO = 0.9
_TOLERANCE = 2e-6


def rsample_kl(loc: Tensor, rho: Tensor) -> tuple[Tensor, Tensor]:
    """loc [..., m], rho [...]: a sample of each row and its divergence from the uniform one."""
    return rsample(loc, rho), kl_uniform(rho, loc.shape[-1])


def rsample(loc: Tensor, rho: Tensor) -> Tensor:
    u = torch.nn.functional.normalize(torch.randn_like(loc), dim=-1)
    rho = rho.unsqueeze(-1)
    square = rho.square()
    apart = 1 + 2 * rho * (u * loc).sum(-1, keepdim=True) + square
    return (1 - square) * ((u + rho * loc) / apart) + rho * loc


def kl_uniform(rho: Tensor, m: int) -> Tensor:
    return _Kl.apply(rho, m)  # type: ignore[no-any-return]


@functools.cache
def _coefficients(m: int) -> tuple[Tensor, Tensor]:
    """c_k / k and c_k. For even m the series ends by itself."""
    values: list[float] = []
    slopes: list[float] = []
    c, k = 1.0, 0
    while True:
        k += 1
        c *= (k - m / 2) / (k - 1 + m / 2)
        if (m - 1) * abs(c) * LARGEST_RHO ** (2 * k) / (1 - LARGEST_RHO**2) < _TOLERANCE:
            return torch.tensor(values), torch.tensor(slopes)
        values.append(c / k)
        slopes.append(c)


class _Kl(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rho: Tensor, m: int) -> Tensor:
        values, slopes = _coefficients(m)
        x = rho.square()
        powers = x.unsqueeze(-1).pow(torch.arange(len(values) + 1.0))
        value = -torch.log1p(-x) - powers[..., 1:] @ values
        slope = 2 * rho * (1 / (1 - x) - powers[..., :-1] @ slopes)
        ctx.save_for_backward((m - 1) * slope)
        return (m - 1) * value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (slope,) = ctx.saved_tensors
        return grad * slope, None
