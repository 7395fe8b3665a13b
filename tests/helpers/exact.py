# SPDX-License-Identifier: MIT
"""Random directions, and what distributions on the sphere should give, by mpmath and
one-dimensional quadrature. Nothing of svmf is used."""

import math
from collections.abc import Callable

import mpmath
import numpy
import torch


def directions(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Random unit vectors [*shape], drawn in float64."""
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(normal, dim=-1).to(dtype)


def vmf_log_norm(kappa: float, dim: int) -> float:
    """log C_m(kappa)."""
    with mpmath.workdps(40):
        v = mpmath.mpf(dim) / 2 - 1
        bessel = mpmath.log(mpmath.besseli(v, kappa))
        return float(v * mpmath.log(kappa) - (v + 1) * mpmath.log(2 * mpmath.pi) - bessel)


def log_area(dim: int) -> float:
    """log of the surface area of S^(m-1)."""
    half = mpmath.mpf(dim) / 2
    return float(mpmath.log(2) + half * mpmath.log(mpmath.pi) - mpmath.loggamma(half))


def cosine_moments(
    log_density: Callable[[numpy.ndarray], numpy.ndarray], dim: int
) -> tuple[float, float]:
    """Mean and variance of w = mu.z for a density exp(log_density(w)) on S^(m-1)."""
    angle = (numpy.arange(200_000) + 0.5) * (math.pi / 200_000)  # the midpoint rule
    logs = log_density(numpy.cos(angle)) + (dim - 2) * numpy.log(numpy.sin(angle))
    density = numpy.exp(logs - logs.max())
    density /= density.sum()
    mean = (density * numpy.cos(angle)).sum()
    variance = (density * (numpy.cos(angle) - mean) ** 2).sum()
    return float(mean), float(variance)


def covariance(loc: torch.Tensor, mean: float, variance: float) -> torch.Tensor:
    """Covariance of z from the mean and variance of w = mu.z."""
    dim = loc.shape[-1]
    outer = torch.outer(loc, loc)
    across = (1 - variance - mean**2) / (dim - 1)
    return variance * outer + across * (torch.eye(dim, dtype=loc.dtype) - outer)
