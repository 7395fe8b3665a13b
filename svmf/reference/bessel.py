# SPDX-License-Identifier: MIT
"""Modified Bessel functions, through `scipy.special.ive` and `kve`.

ive(v, x) = exp(-x) I_v(x) has no autograd of its own; `_Scaled` adds it by the paper's rule d/dx
I_v = (I_(v-1) + I_(v+1)) / 2 (appendix "Gradient of KL divergence"; DLMF 10.29.1), as often as
wanted. The derivative of K_v is minus such a mean.
"""

from typing import Any

import scipy.special
import torch
from torch import Tensor

__all__ = [
    "iv_ratio",
    "log_iv",
    "log_iv_order_derivative",
    "log_ive",
    "log_kv",
    "log_kv_order_derivative",
    "log_kve",
]


class _Scaled(torch.autograd.Function):
    """exp(-x) I_v(x) for sign 1, exp(x) K_v(x) for sign -1, differentiable in x; nan for x < 0."""

    @staticmethod
    def forward(ctx: Any, sign: int, order: Tensor, x: Tensor) -> Tensor:
        ctx.sign = sign
        ctx.save_for_backward(order, x)
        function = scipy.special.ive if sign == 1 else scipy.special.kve
        value = torch.as_tensor(function(order.cpu().numpy(), x.detach().cpu().numpy()))
        return torch.where(x >= 0, value.to(x.device), torch.nan)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        order, x = ctx.saved_tensors
        below, here, above = (_Scaled.apply(ctx.sign, order + step, x) for step in (-1, 0, 1))
        slope = ctx.sign * ((below + above) / 2 - here)
        return None, None, (grads[0] * slope).sum_to_size(x.shape)


def _ive(order: Tensor, x: Tensor) -> Tensor:
    return _Scaled.apply(1, order, x)


def _kve(order: Tensor, x: Tensor) -> Tensor:
    return _Scaled.apply(-1, order, x)


def _float64_order(order: float | Tensor, x: Tensor) -> Tensor:
    return torch.as_tensor(order, dtype=torch.float64, device=x.device).detach()


def log_ive(order: float | Tensor, x: Tensor) -> Tensor:
    """log(exp(-x) I_v(x)); -inf where `scipy.special.ive` underflows."""
    return _ive(_float64_order(order, x), x.double()).log().to(x.dtype)


def log_iv(order: float | Tensor, x: Tensor) -> Tensor:
    """log I_v(x)."""
    return (log_ive(order, x.double()) + x.double()).to(x.dtype)


def iv_ratio(order: float | Tensor, x: Tensor) -> Tensor:
    """I_v(x) / I_(v-1)(x); at x = 0 by its leading term x / (2 v); nan where both underflow."""
    v = _float64_order(order, x)
    at_zero = x == 0
    positive = torch.where(at_zero, 1.0, x.double())
    ratio = _ive(v, positive) / _ive(v - 1, positive)
    return torch.where(at_zero, x.double() / (2 * v), ratio).to(x.dtype)


def log_kve(order: float | Tensor, x: Tensor) -> Tensor:
    """log(exp(x) K_v(x)); inf where `scipy.special.kve` overflows."""
    return _kve(_float64_order(order, x), x.double()).log().to(x.dtype)


def log_kv(order: float | Tensor, x: Tensor) -> Tensor:
    """log K_v(x)."""
    return (log_kve(order, x.double()) - x.double()).to(x.dtype)


_STEPS = 4000


def log_kv_order_derivative(order: float | Tensor, x: Tensor) -> Tensor:
    """d/dv log K_v(x) of K_v(x) = int_0^inf exp(-x cosh t) cosh(v t) dt (DLMF 10.32.9), by the
    trapezoidal rule up to where the integrand has vanished."""
    v, argument = (a.unsqueeze(-1) for a in torch.broadcast_tensors(_float64_order(order, x), x))
    argument = argument.double()
    end = torch.asinh(v / argument) + torch.acosh(1 + 50 / argument)
    t = end * torch.linspace(0, 1, _STEPS, dtype=torch.float64, device=x.device)
    weight = torch.softmax(v * t - argument * (torch.cosh(t) - 1), dim=-1)
    weight[..., 0] /= 2
    both = 1 + torch.exp(-2 * v * t)
    odd = -torch.expm1(-2 * v * t)
    return ((weight * odd * t).sum(-1) / (weight * both).sum(-1)).to(x.dtype)


def log_iv_order_derivative(order: float | Tensor, x: Tensor) -> Tensor:
    """d/dv log I_v(x) of I_v(x) = sum_k (x/2)^(2k+v) / (k! Gamma(v+k+1)) (DLMF 10.38.1)."""
    v, argument = (a.unsqueeze(-1) for a in torch.broadcast_tensors(_float64_order(order, x), x))
    argument = argument.double()
    largest = float(argument.max()) if argument.numel() else 0.0
    terms = int(largest / 2 + 20 * largest**0.5 + 60)
    k = torch.arange(terms, dtype=torch.float64, device=x.device)
    log_half = torch.log(argument / 2)
    weight = torch.softmax(2 * k * log_half - torch.lgamma(k + 1) - torch.lgamma(v + k + 1), -1)
    return (log_half.squeeze(-1) - (weight * torch.digamma(v + k + 1)).sum(-1)).to(x.dtype)
