# SPDX-License-Identifier: MIT
"""The latent part of a training step, by every competitor: sampling alone, and sample + KL +
backward.

Each function returns a call without arguments. Parameters are float32 leaves that require a
gradient; a distribution is constructed in the call, as in a training step; the backward pass starts
from fixed incoming gradients.
"""

from collections.abc import Callable

import published_formulas
import torch
from common import Shape
from torch.distributions import Normal, kl_divergence

import svmf.functional
import svmf.reference

Call = Callable[[], object]


def _direction(shape: Shape) -> torch.Tensor:
    normal = torch.randn(shape.batch, shape.m)
    return torch.nn.functional.normalize(normal, dim=-1).requires_grad_()


def _incoming(shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of z and of the KL of each row."""
    return torch.randn(*shape.sample_shape, shape.batch, shape.m), torch.ones(shape.batch)


def vmf_forward(shape: Shape, kappa: float) -> Call:
    loc = _direction(shape)
    k = torch.full((shape.batch,), kappa, requires_grad=True)
    return lambda: svmf.functional.vmf_rsample(loc, k, shape.sample_shape)


def normal_forward(shape: Shape, validate: bool) -> Call:
    loc = torch.randn(shape.batch, shape.m, requires_grad=True)
    scale = torch.ones(shape.batch, shape.m, requires_grad=True)
    if validate:
        return lambda: Normal(loc, scale).rsample(shape.sample_shape)
    return lambda: Normal(loc, scale, validate_args=False).rsample(shape.sample_shape)


def randn(shape: Shape) -> Call:
    size = (*shape.sample_shape, shape.batch, shape.m)
    return lambda: torch.randn(size)


def vmf_step(shape: Shape, kappa: float, gradient: str = "pathwise") -> Call:
    loc, incoming = _direction(shape), _incoming(shape)
    k = torch.full((shape.batch,), kappa, requires_grad=True)

    def call() -> object:
        outputs = svmf.functional.vmf_rsample_kl(loc, k, shape.sample_shape, gradient=gradient)
        return torch.autograd.grad(outputs, (loc, k), incoming)

    return call


def normal_step(shape: Shape, validate: bool) -> Call:
    loc = torch.randn(shape.batch, shape.m, requires_grad=True)
    scale = torch.ones(shape.batch, shape.m, requires_grad=True)
    incoming = _incoming(shape)
    checks = None if validate else False

    def call() -> object:
        posterior = Normal(loc, scale, validate_args=checks)
        prior = Normal(torch.zeros_like(loc), torch.ones_like(scale), validate_args=checks)
        z = posterior.rsample(shape.sample_shape)
        kl = kl_divergence(posterior, prior).sum(-1)
        return torch.autograd.grad((z, kl), (loc, scale), incoming)

    return call


def reference_step(shape: Shape, kappa: float) -> Call:
    loc, incoming = _direction(shape), _incoming(shape)
    k = torch.full((shape.batch,), kappa, requires_grad=True)

    def call() -> object:
        outputs = svmf.reference.vmf_rsample_kl(loc, k, shape.sample_shape)
        return torch.autograd.grad(outputs, (loc, k), incoming)

    return call


def published_step(shape: Shape, kappa: float) -> Call:
    loc, incoming = _direction(shape), _incoming(shape)
    scale = torch.full((shape.batch, 1), kappa, requires_grad=True)

    def call() -> object:
        z = published_formulas.rsample(loc, scale, shape.sample_shape)
        kl = published_formulas.kl_uniform(scale, shape.m)
        return torch.autograd.grad((z, kl), (loc, scale), incoming)

    return call
