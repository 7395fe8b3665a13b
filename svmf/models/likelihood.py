# SPDX-License-Identifier: MIT
"""log p(x | z) from a decoder's output: Bernoulli pixels, Gaussian values, or unit vectors.

The Bernoulli term is the largest elementwise cost of a training step, so it has its own backward:
one sigmoid, no intermediate kept beside the logits.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from svmf import functional
from svmf._direction import direction


class _BernoulliLogProb(torch.autograd.Function):
    @staticmethod
    def forward(logits: Tensor, x: Tensor) -> Tensor:
        softplus = F.softplus(logits)
        return torch.sub(x * logits, softplus, out=softplus).sum(-1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        logits, x = ctx.saved_tensors
        return torch.sigmoid(logits).neg_().add_(x).mul_(grad.unsqueeze(-1)), None


def bernoulli_log_prob(logits: Tensor, x: Tensor) -> Tensor:
    """sum over the last axis of x log p + (1-x) log(1-p), p = sigmoid(logits). x broadcasts against
    the logits and gets no gradient."""
    if torch.compiler.is_compiling():  # a compiler fuses the plain formula as well
        return (x * logits - F.softplus(logits)).sum(-1)
    return _BernoulliLogProb.apply(logits, x)  # type: ignore[no-any-return]


class Likelihood(nn.Module, ABC):
    """log p(x | z) per row, given what the decoder made of z."""

    @abstractmethod
    def forward(self, decoded: Tensor, x: Tensor) -> Tensor: ...

    @abstractmethod
    def mean(self, decoded: Tensor) -> Tensor:
        """E[x | z]."""


class Bernoulli(Likelihood):
    """Independent binary pixels; the decoder gives logits."""

    def forward(self, decoded: Tensor, x: Tensor) -> Tensor:
        return bernoulli_log_prob(decoded, x)

    def mean(self, decoded: Tensor) -> Tensor:
        return torch.sigmoid(decoded)


class Gaussian(Likelihood):
    """Independent normal coordinates of one standard deviation, fixed or learned; the decoder gives
    means."""

    def __init__(self, scale: float = 1.0, learnable: bool = False) -> None:
        super().__init__()
        self.scale = scale
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale))) if learnable else None

    def forward(self, decoded: Tensor, x: Tensor) -> Tensor:
        if self.log_scale is not None:
            learned = x.shape[-1] * (0.5 * math.log(2 * math.pi) + self.log_scale)
            squares = (decoded - x).square().sum(-1)
            return -0.5 * squares * (-2 * self.log_scale).exp() - learned
        constant = x.shape[-1] * (0.5 * math.log(2 * math.pi) + math.log(self.scale))
        return (decoded - x).square().sum(-1) * (-0.5 / self.scale**2) - constant

    def mean(self, decoded: Tensor) -> Tensor:
        return decoded


class Directional(Likelihood):
    """Unit vectors of R^m: von Mises-Fisher around the direction that the decoder gives, with one
    concentration for all rows, which is learned."""

    def __init__(self, m: int) -> None:
        super().__init__()
        self.log_concentration = nn.Parameter(torch.tensor(math.log(m)))

    def forward(self, decoded: Tensor, x: Tensor) -> Tensor:
        return functional.vmf_log_prob(x, direction(decoded), self.log_concentration.exp())

    def mean(self, decoded: Tensor) -> Tensor:
        kappa = self.log_concentration.exp()
        return direction(decoded) * functional.vmf_mean_length(kappa, decoded.shape[-1])
