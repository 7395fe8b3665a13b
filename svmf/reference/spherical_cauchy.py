# SPDX-License-Identifier: MIT
"""The spherical Cauchy distribution as Kato and McCullagh have it ("Some properties of a Cauchy
family on the sphere derived from the Moebius transformations", Bernoulli 26 (2020) 3224)."""

import math

import numpy
import scipy.integrate
import scipy.special
import torch
from torch import Tensor

__all__ = [
    "spherical_cauchy_kl_uniform",
    "spherical_cauchy_log_prob",
    "spherical_cauchy_moebius",
]


def spherical_cauchy_moebius(uniform: Tensor, loc: Tensor, rho: Tensor) -> Tensor:
    """z = (1 - rho^2) / |u + rho mu|^2 (u + rho mu) + rho mu, for u uniform on the sphere."""
    centre = rho.unsqueeze(-1) * loc
    shifted = uniform + centre
    scale = (1 - rho.square()) / shifted.square().sum(-1)
    return scale.unsqueeze(-1) * shifted + centre


def spherical_cauchy_log_prob(value: Tensor, loc: Tensor, rho: Tensor) -> Tensor:
    """log Gamma(m/2) / (2 pi^(m/2)) + (m-1) log((1 - rho^2) / (1 + rho^2 - 2 rho mu.z))."""
    m = loc.shape[-1]
    log_area = math.log(2) + m / 2 * math.log(math.pi) - math.lgamma(m / 2)
    cosine = (value * loc).sum(-1)
    ratio = (1 - rho.square()) / (1 + rho.square() - 2 * rho * cosine)
    return (m - 1) * ratio.log() - log_area


def spherical_cauchy_kl_uniform(rho: Tensor, dim: int) -> Tensor:
    """(m-1) E[log((1 + rho^2 + 2 rho c) / (1 - rho^2))], c the cosine of a uniform vector.

    log of the density at z = M(u) is log of the Jacobian of the Moebius map at u; the mean over c
    is by quadrature over the angle. No gradient.
    """

    def one(r: float) -> float:
        def integrand(angle: float) -> float:
            weight = numpy.sin(angle) ** (dim - 2)
            return weight * numpy.log1p(r * r + 2 * r * numpy.cos(angle))

        cut = numpy.pi - min(1.0, 5 * (1 - r))  # beyond it the integrand is steep
        parts = ((0.0, cut), (cut, numpy.pi))
        integral = sum(scipy.integrate.quad(integrand, *ends, epsabs=1e-10)[0] for ends in parts)
        total = math.sqrt(math.pi) * scipy.special.poch(dim / 2, -0.5)
        return (dim - 1) * (integral / total - math.log1p(-r * r))

    flat = [one(r) for r in rho.detach().double().flatten().tolist()]
    return torch.tensor(flat, dtype=torch.float64).reshape(rho.shape).to(rho.dtype)
