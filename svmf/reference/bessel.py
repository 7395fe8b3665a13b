# SPDX-License-Identifier: MIT
"""Modified Bessel functions of the first kind, through `scipy.special.ive`.

ive(v, x) = exp(-x) I_v(x) has no autograd of its own; `_Ive` adds it by the paper's rule d/dx I_v =
(I_(v-1) + I_(v+1)) / 2 (appendix "Gradient of KL divergence"; DLMF 10.29.1), as often as wanted.
"""

from typing import Any

import scipy.special
import torch
from torch import Tensor

__all__ = [
    "iv_ratio",
    "log_iv",
    "log_ive",
]


class _Ive(torch.autograd.Function):
    """exp(-x) I_v(x), differentiable in x; nan for x < 0."""

    @staticmethod
    def forward(ctx: Any, order: Tensor, x: Tensor) -> Tensor:
        ctx.save_for_backward(order, x)
        value = torch.as_tensor(scipy.special.ive(order.cpu().numpy(), x.detach().cpu().numpy()))
        return torch.where(x >= 0, value.to(x.device), torch.nan)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        order, x = ctx.saved_tensors
        slope = (_ive(order - 1, x) + _ive(order + 1, x)) / 2 - _ive(order, x)
        return None, (grads[0] * slope).sum_to_size(x.shape)


def _ive(order: Tensor, x: Tensor) -> Tensor:
    return _Ive.apply(order, x)


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
