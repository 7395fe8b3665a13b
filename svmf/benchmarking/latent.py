# SPDX-License-Identifier: MIT
"""The latent part of a training step, by svmf, by torch and by plain formulas: sampling alone, and
sample + KL + backward.

Each function takes a case and returns a call without arguments. Parameters are leaves that require
a gradient; a distribution is constructed in the call, as in a training step; the backward pass
starts from fixed incoming gradients.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

import svmf.functional
from svmf.benchmarking.shapes import Case

Call = Callable[[], object]


def direction(case: Case) -> Tensor:
    """Mean directions [batch, m], a leaf."""
    normal = torch.randn(case.shape.batch, case.shape.m, **_like(case))
    return torch.nn.functional.normalize(normal, dim=-1).requires_grad_()


def concentration(case: Case, *trailing: int) -> Tensor:
    """kappa [batch, *trailing], a leaf."""
    return torch.full((case.shape.batch, *trailing), case.kappa, requires_grad=True, **_like(case))


def incoming(case: Case) -> tuple[Tensor, Tensor]:
    """Gradients of z and of the KL of each row."""
    z = torch.randn(*case.shape.sample_shape, case.shape.batch, case.shape.m, **_like(case))
    return z, torch.ones(case.shape.batch, **_like(case))


def _like(case: Case) -> dict[str, Any]:
    return {"dtype": case.torch_dtype, "device": case.device}


def _location_scale(case: Case) -> tuple[Tensor, Tensor]:
    size = (case.shape.batch, case.shape.m)
    loc = torch.randn(size, requires_grad=True, **_like(case))
    return loc, torch.ones(size, requires_grad=True, **_like(case))


def svmf_sample(case: Case) -> Call:
    loc, kappa = direction(case), concentration(case)
    return lambda: svmf.functional.vmf_rsample(loc, kappa, case.shape.sample_shape)


def svmf_step(case: Case, gradient: str = "pathwise") -> Call:
    loc, kappa, gradients = direction(case), concentration(case), incoming(case)

    def call() -> object:
        outputs = svmf.functional.vmf_rsample_kl(
            loc, kappa, case.shape.sample_shape, gradient=gradient
        )
        return torch.autograd.grad(outputs, (loc, kappa), gradients)

    return call


def class_sample(case: Case) -> Call:
    from svmf.distributions import VonMisesFisher

    loc, kappa = direction(case), concentration(case)
    return lambda: VonMisesFisher(loc, kappa).rsample(case.shape.sample_shape)


def class_step(case: Case) -> Call:
    from svmf.distributions import HypersphericalUniform, VonMisesFisher

    loc, kappa, gradients = direction(case), concentration(case), incoming(case)
    prior = HypersphericalUniform(case.shape.m, device=case.device, dtype=case.torch_dtype)

    def call() -> object:
        posterior = VonMisesFisher(loc, kappa)
        z = posterior.rsample(case.shape.sample_shape)
        return torch.autograd.grad((z, kl_divergence(posterior, prior)), (loc, kappa), gradients)

    return call


def normal_sample(case: Case, validate: bool = True) -> Call:
    loc, scale = _location_scale(case)
    if validate:
        return lambda: Normal(loc, scale).rsample(case.shape.sample_shape)
    return lambda: Normal(loc, scale, validate_args=False).rsample(case.shape.sample_shape)


def normal_step(case: Case, validate: bool = True) -> Call:
    (loc, scale), gradients = _location_scale(case), incoming(case)
    checks = None if validate else False

    def call() -> object:
        posterior = Normal(loc, scale, validate_args=checks)
        prior = Normal(torch.zeros_like(loc), torch.ones_like(scale), validate_args=checks)
        z = posterior.rsample(case.shape.sample_shape)
        kl = kl_divergence(posterior, prior).sum(-1)
        return torch.autograd.grad((z, kl), (loc, scale), gradients)

    return call


def randn(case: Case) -> Call:
    size = (*case.shape.sample_shape, case.shape.batch, case.shape.m)
    like = _like(case)
    return lambda: torch.randn(size, **like)


def copy_sample(case: Case) -> Call:
    """The memory limit of sampling: as many numbers read, and written to a new tensor."""
    z, _ = incoming(case)
    return z.clone


def copy_step(case: Case) -> Call:
    """The limit of a step: one multiplication forward and one backward, by autograd."""
    z, _ = incoming(case)
    leaf = z.clone().requires_grad_()
    return lambda: torch.autograd.grad(leaf * 2.0, leaf, z)


def reference_sample(case: Case) -> Call:
    import svmf.reference

    loc, kappa = direction(case), concentration(case)
    return lambda: svmf.reference.vmf_rsample(loc, kappa, case.shape.sample_shape)


def reference_step(case: Case) -> Call:
    import svmf.reference

    loc, kappa, gradients = direction(case), concentration(case), incoming(case)

    def call() -> object:
        outputs = svmf.reference.vmf_rsample_kl(loc, kappa, case.shape.sample_shape)
        return torch.autograd.grad(outputs, (loc, kappa), gradients)

    return call
