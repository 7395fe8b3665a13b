# SPDX-License-Identifier: MIT
"""Latent spaces on the sphere S^d in R^(d+1): von Mises-Fisher (S-VAE), power spherical and
spherical Cauchy."""

import math
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from svmf import functional
from svmf._direction import direction
from svmf._gradients import CORRECTED, GRADIENTS
from svmf._sphere import log_sphere_area
from svmf.distributions import PowerSpherical, SphericalCauchy, VonMisesFisher
from svmf.distributions._directional import DirectionalDistribution
from svmf.models.latents.base import Draw, Latent, PosteriorT


class Direction(NamedTuple):
    loc: Tensor  # [..., m], unit rows
    concentration: Tensor  # [...], kappa of at least 1, or the Cauchy's rho in (0, 1)


class UniformPrior(Latent[PosteriorT]):
    """What every posterior on S^d shares: codes are unit vectors, the prior is uniform."""

    spread_name = "kappa"
    on_sphere = True

    @property
    def coordinates(self) -> int:
        return self.dim + 1

    def prior_log_prob(self, z: Tensor) -> Tensor:
        return z.new_full(z.shape[:-1], -log_sphere_area(self.coordinates))

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return F.normalize(torch.randn(count, self.coordinates, generator=generator), dim=-1)

    def grid(self, points: int) -> tuple[Tensor, Tensor]:
        if self.dim > 2:
            return super().grid(points)
        index = torch.arange(points, dtype=torch.float64) + 0.5
        if self.dim == 1:
            angle = index * (2 * math.pi / points)
            z = torch.stack([angle.cos(), angle.sin()], -1)
        else:  # Fibonacci lattice: nodes of equal area, so equal mass
            height = 1 - 2 * index / points
            angle = index * (math.pi * (3 - math.sqrt(5)))
            radius = (1 - height.square()).sqrt()
            z = torch.stack([radius * angle.cos(), radius * angle.sin(), height], -1)
        return z.float(), torch.full((points,), -math.log(points))


class OnSphere(UniformPrior[Direction]):
    """A direction with a concentration. The mean is normalised to the sphere and kappa =
    softplus(.) + 1, as the paper's code has it."""

    family: ClassVar[type[DirectionalDistribution]]

    @property
    def head_sizes(self) -> tuple[int, ...]:
        return (self.coordinates, 1)

    def posterior(self, raw: Tensor) -> Direction:
        loc, concentration = raw.split(self.head_sizes, dim=-1)
        return Direction(direction(loc), F.softplus(concentration.squeeze(-1)) + 1)

    def distribution(self, posterior: Direction) -> DirectionalDistribution:
        return self.family(*posterior, validate_args=False)

    def spread(self, posterior: Direction) -> Tensor:
        return posterior.concentration


class SphericalLatent(OnSphere):
    """Von Mises-Fisher posterior on S^d, uniform prior."""

    family = VonMisesFisher
    _has_own_ways: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ways = ("posterior", "draw", "spread")
        cls._has_own_ways = any(getattr(cls, w) is not getattr(SphericalLatent, w) for w in ways)

    @classmethod
    def gradients(cls) -> tuple[str, ...]:
        return GRADIENTS

    def step(self, raw: Tensor) -> tuple[Draw, Tensor]:
        """All of it in one op."""
        if self._has_own_ways or self.gradient == CORRECTED:
            return super().step(raw)
        features, column = raw.split(self.head_sizes, dim=-1)
        x = column.squeeze(-1)
        draw = functional.vmf_rsample_kl_from_features(features, x, gradient=self.gradient)
        return Draw(*draw), F.softplus(x.detach()) + 1

    def draw(self, posterior: Direction) -> Draw:
        loc, concentration = posterior
        if self.gradient == CORRECTED:
            z, log_ratio = functional.vmf_rsample_with_correction(loc, concentration)
            return Draw(z, functional.vmf_kl_uniform(concentration, self.coordinates), log_ratio)
        return Draw(*functional.vmf_rsample_kl(loc, concentration, gradient=self.gradient))


class PowerSphericalLatent(OnSphere):
    """Power spherical posterior (De Cao and Aziz 2020) on S^d, uniform prior."""

    family = PowerSpherical

    def draw(self, posterior: Direction) -> Draw:
        return Draw(*functional.power_spherical_rsample_kl(*posterior))


class SphericalCauchyLatent(OnSphere):
    """Spherical Cauchy posterior (Kato and McCullagh 2020) on S^d, uniform prior.

    rho = k / (k + d) of k = softplus(.) + 1, which for small rho is about as concentrated as a von
    Mises-Fisher distribution of kappa = 2 k.
    """

    family = SphericalCauchy
    spread_name = "rho"

    def posterior(self, raw: Tensor) -> Direction:
        loc, k = super().posterior(raw)
        below_one = 1 - torch.finfo(k.dtype).eps  # a very large k would round to rho = 1
        return Direction(loc, (k / (k + self.dim)).clamp(max=below_one))

    def draw(self, posterior: Direction) -> Draw:
        return Draw(*functional.spherical_cauchy_rsample_kl(*posterior))
