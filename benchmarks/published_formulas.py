# SPDX-License-Identifier: MIT
"""What the well-known published code computes for a vMF latent, written anew in plain torch and
SciPy: a competitor for the benchmarks, mistakes included (docs/comparison.md). Batched rejection in
a Python loop, gradient by g_rep alone, exponentially scaled Bessel functions from SciPy with an
autograd rule."""

import math
from typing import Any

import numpy
import scipy.special
import torch
from torch import Tensor


class _Ive(torch.autograd.Function):
    """e^-x I_v(x) by SciPy."""

    @staticmethod
    def forward(ctx: Any, order: float, x: Tensor) -> Tensor:
        ctx.order = order
        ctx.save_for_backward(x)
        values = scipy.special.ive(order, x.detach().double().numpy())
        return torch.from_numpy(numpy.asarray(values)).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        (x,) = ctx.saved_tensors
        slope = _Ive.apply(ctx.order - 1, x) - _Ive.apply(ctx.order, x) * (ctx.order + x) / x
        return None, grad * slope


def rsample(loc: Tensor, scale: Tensor, sample_shape: tuple[int, ...] = ()) -> Tensor:
    """loc [*batch, m], scale [*batch, 1]: samples [*sample_shape, *batch, m]."""
    m = loc.shape[-1]
    scale = scale.expand(*sample_shape, *scale.shape)
    w = _cosine_on_s2(scale) if m == 3 else _cosine_by_rejection(scale, m)
    normal = torch.randn(*sample_shape, *loc.shape[:-1], m - 1, dtype=loc.dtype, device=loc.device)
    tangent = normal / normal.norm(dim=-1, keepdim=True)
    x = torch.cat([w, torch.sqrt(torch.clamp(1 - w**2, min=1e-10)) * tangent], dim=-1)
    first = torch.zeros_like(loc)
    first[..., 0] = 1
    u = first - loc
    u = u / (u.norm(dim=-1, keepdim=True) + 1e-5)
    return x - 2 * (x * u).sum(-1, keepdim=True) * u


def _cosine_on_s2(scale: Tensor) -> Tensor:
    u = torch.rand_like(scale)
    stacked = torch.stack([torch.log(u), torch.log(1 - u) - 2 * scale], dim=0)
    return 1 + torch.logsumexp(stacked, dim=0) / scale


def _cosine_by_rejection(scale: Tensor, m: int) -> Tensor:
    root = torch.sqrt(4 * scale**2 + (m - 1) ** 2)
    exact = (-2 * scale + root) / (m - 1)
    short = (m - 1) / (4 * scale)
    mix = torch.clamp(scale - 10, 0, 1)
    b = short * mix + exact * (1 - mix)
    a = (m - 1 + 2 * scale + root) / 4
    d = 4 * a * b / (1 + b) - (m - 1) * math.log(m - 1)
    w, pending = torch.zeros_like(scale), torch.ones_like(scale, dtype=torch.bool)
    half = torch.tensor((m - 1) / 2, dtype=scale.dtype)
    beta = torch.distributions.Beta(half, half)
    while pending.any():
        epsilon = beta.sample(scale.shape)
        u = torch.rand_like(scale)
        proposal = (1 - (1 + b) * epsilon) / (1 - (1 - b) * epsilon)
        t = 2 * a * b / (1 - (1 - b) * epsilon)
        accept = ((m - 1) * torch.log(t) - t + d > torch.log(u)) & pending
        w = torch.where(accept, proposal, w)
        pending = pending & ~accept
    return w


def kl_uniform(scale: Tensor, m: int) -> Tensor:
    """KL to the uniform distribution, scale [*batch, 1]; the result is [*batch]."""
    upper, lower = _Ive.apply(m / 2, scale), _Ive.apply(m / 2 - 1, scale)
    log_bessel = torch.log(1e-10 + lower) + scale
    log_norm = (m / 2 - 1) * torch.log(scale) - m / 2 * math.log(2 * math.pi) - log_bessel
    log_area = math.log(2) + m / 2 * math.log(math.pi) - math.lgamma(m / 2)
    return (scale * upper / lower + log_norm + log_area).squeeze(-1)
