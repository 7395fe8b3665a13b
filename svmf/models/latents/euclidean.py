# SPDX-License-Identifier: MIT
"""Flat latent spaces: a point (auto-encoder), and the Gaussian of the N-VAE."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from svmf.models.latents.base import Draw, Latent, PosteriorT

_MIN_SCALE = 1e-6  # softplus underflows to zero; a Gaussian without width has no density


class Location(NamedTuple):
    loc: Tensor  # [..., d]


class LocationScale(NamedTuple):
    loc: Tensor  # [..., d]
    scale: Tensor  # [..., d], positive


class NormalPrior(Latent[PosteriorT]):
    """What both share: the standard normal prior on R^d."""

    def prior_log_prob(self, z: Tensor) -> Tensor:
        return _standard_normal_log_prob(z)

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.randn(count, self.dim, generator=generator)


class PointLatent(NormalPrior[Location]):
    """No noise and no KL: an auto-encoder. Its "prior" is the standard normal one, for sampling."""

    spread_name = "norm"
    has_density = False

    @property
    def head_sizes(self) -> tuple[int, ...]:
        return (self.dim,)

    def posterior(self, raw: Tensor) -> Location:
        return Location(raw)

    def draw(self, posterior: Location) -> Draw:
        return Draw(posterior.loc, posterior.loc.new_zeros(posterior.loc.shape[:-1]))

    def sample(self, posterior: Location, count: int) -> Tensor:
        return posterior.loc.detach().expand(count, *posterior.loc.shape)

    def distribution(self, posterior: Location) -> torch.distributions.Distribution:
        raise NotImplementedError("PointLatent: an auto-encoder has no posterior density")

    def spread(self, posterior: Location) -> Tensor:
        return posterior.loc.norm(dim=-1)


class GaussianLatent(NormalPrior[LocationScale]):
    """Normal posterior with a diagonal covariance, standard normal prior."""

    spread_name = "sigma"

    @property
    def head_sizes(self) -> tuple[int, ...]:
        return (self.dim, self.dim)

    def posterior(self, raw: Tensor) -> LocationScale:
        loc, scale = raw.split(self.head_sizes, dim=-1)
        return LocationScale(loc, F.softplus(scale) + _MIN_SCALE)

    def draw(self, posterior: LocationScale) -> Draw:
        loc, scale = posterior
        z = torch.addcmul(loc, scale, torch.randn_like(scale))
        kl = 0.5 * (loc.square() + scale.square() - 1).sum(-1) - scale.log().sum(-1)
        return Draw(z, kl)

    def sample(self, posterior: LocationScale, count: int) -> Tensor:
        loc, scale = posterior.loc.detach(), posterior.scale.detach()
        return torch.addcmul(loc, scale, loc.new_empty(count, *loc.shape).normal_())

    def log_prob(self, posterior: LocationScale, z: Tensor) -> Tensor:
        loc, scale = posterior
        return _standard_normal_log_prob((z - loc) / scale) - scale.log().sum(-1)

    def entropy(self, posterior: LocationScale) -> Tensor:
        return posterior.scale.log().sum(-1) + self.dim * (0.5 + 0.5 * math.log(2 * math.pi))

    def distribution(self, posterior: LocationScale) -> torch.distributions.Distribution:
        normal = torch.distributions.Normal(*posterior, validate_args=False)
        return torch.distributions.Independent(normal, 1, validate_args=False)

    def spread(self, posterior: LocationScale) -> Tensor:
        return posterior.scale.mean(-1)

    def grid(self, points: int) -> tuple[Tensor, Tensor]:
        if self.dim > 2:
            return super().grid(points)
        # midpoints of cells of equal probability would starve the tails: a regular grid to 6 sigma
        side = points if self.dim == 1 else math.isqrt(points)
        line = (torch.arange(side, dtype=torch.float64) + 0.5) / side * 12 - 6
        z = torch.cartesian_prod(*[line] * self.dim).reshape(-1, self.dim)
        log_mass = self.prior_log_prob(z) + self.dim * math.log(12 / side)
        return z.float(), log_mass.float()


def _standard_normal_log_prob(z: Tensor) -> Tensor:
    return -0.5 * (z.square().sum(-1) + z.shape[-1] * math.log(2 * math.pi))
