# SPDX-License-Identifier: MIT
"""The spherical Cauchy distribution as Kato and McCullagh have it ("Some properties of a Cauchy
family on the sphere derived from the Moebius transformations", Bernoulli 26 (2020) 3224)."""

import math
from collections.abc import Callable, Sequence

import scipy.integrate
import scipy.special
import torch
from torch import Tensor

__all__ = [
    "spherical_cauchy_kl_uniform",
    "spherical_cauchy_log_prob",
    "spherical_cauchy_mean_length",
    "spherical_cauchy_moebius",
    "spherical_cauchy_rsample",
    "spherical_cauchy_rsample_kl",
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


def _mean_over_cosine(f: Callable[[float], float], dim: int, rho: float) -> float:
    """The mean of f(c) over the cosine c of a uniform vector, by quadrature over the angle."""

    def integrand(angle: float) -> float:
        return math.sin(angle) ** (dim - 2) * f(math.cos(angle))

    cut = math.pi - min(1.0, 5 * (1 - rho))  # beyond it the integrand is steep
    parts = ((0.0, math.pi / 2), (math.pi / 2, cut), (cut, math.pi))
    integral = sum(scipy.integrate.quad(integrand, *ends, epsabs=1e-13)[0] for ends in parts)
    return integral / (math.sqrt(math.pi) * scipy.special.poch(dim / 2, -0.5))


def _each(f: Callable[[float], float], rho: Tensor) -> Tensor:
    flat = [f(r) for r in rho.detach().double().flatten().tolist()]
    return torch.tensor(flat, dtype=torch.float64).reshape(rho.shape).to(rho.dtype)


def spherical_cauchy_kl_uniform(rho: Tensor, dim: int) -> Tensor:
    """(m-1) E[log((1 + rho^2 + 2 rho c) / (1 - rho^2))], c the cosine of a uniform vector.

    log of the density at z = M(u) is log of the Jacobian of the Moebius map at u. No gradient.
    """

    def one(r: float) -> float:
        mean = _mean_over_cosine(lambda c: math.log1p(r * r + 2 * r * c), dim, r)
        return (dim - 1) * (mean - math.log1p(-r * r))

    return _each(one, rho)


def spherical_cauchy_mean_length(rho: Tensor, dim: int) -> Tensor:
    """E[((1 + rho^2) c + 2 rho) / (1 + rho^2 + 2 rho c)], the mean cosine of the mapped vector. No
    gradient."""

    def one(r: float) -> float:
        def mapped(c: float) -> float:
            return ((1 + r * r) * c + 2 * r) / (1 + r * r + 2 * r * c)

        return _mean_over_cosine(mapped, dim, r)

    return _each(one, rho)


def spherical_cauchy_rsample(
    loc: Tensor,
    rho: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The Moebius map of a normalised normal vector."""
    shape = (*sample_shape, *loc.shape)
    normal = torch.randn(shape, dtype=loc.dtype, device=loc.device, generator=generator)
    uniform = normal / torch.linalg.vector_norm(normal, dim=-1, keepdim=True)
    return spherical_cauchy_moebius(uniform, loc, rho)


def spherical_cauchy_rsample_kl(
    loc: Tensor,
    rho: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    z = spherical_cauchy_rsample(loc, rho, sample_shape, generator=generator)
    return z, spherical_cauchy_kl_uniform(rho, loc.shape[-1])
