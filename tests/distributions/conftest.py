# SPDX-License-Identifier: MIT
"""Independent values for the tests: mpmath and one-dimensional quadrature, nothing of svmf; and
rows to cluster."""

import math
from collections.abc import Callable

import mpmath
import numpy
import pytest
import torch
from helpers.exact import directions, vmf_log_norm

from svmf.distributions import VonMisesFisher


class Exact:
    """Plain formulas, slow and safe."""

    directions = staticmethod(directions)
    vmf_log_norm = staticmethod(vmf_log_norm)

    @staticmethod
    def log_area(dim: int) -> float:
        """log of the surface area of S^(m-1)."""
        half = mpmath.mpf(dim) / 2
        return float(mpmath.log(2) + half * mpmath.log(mpmath.pi) - mpmath.loggamma(half))

    @staticmethod
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

    @staticmethod
    def covariance(loc: torch.Tensor, mean: float, variance: float) -> torch.Tensor:
        """Covariance of z from the mean and variance of w = mu.z."""
        dim = loc.shape[-1]
        outer = torch.outer(loc, loc)
        across = (1 - variance - mean**2) / (dim - 1)
        return variance * outer + across * (torch.eye(dim, dtype=loc.dtype) - outer)


@pytest.fixture(autouse=True)
def checked(values_are_checked):
    pass


@pytest.fixture
def exact() -> type[Exact]:
    return Exact


@pytest.fixture(scope="module")
def clusters() -> tuple[torch.Tensor, torch.Tensor]:
    """Three well-separated clusters in R^5 and the cluster of each row."""
    kappa = torch.tensor([80.0, 30.0, 200.0], dtype=torch.float64)
    truth = VonMisesFisher(torch.eye(5, dtype=torch.float64)[:3], kappa)
    rows = truth.sample((400,), generator=torch.Generator().manual_seed(0))
    return rows.reshape(-1, 5), torch.arange(3).repeat(400)
