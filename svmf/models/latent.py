# SPDX-License-Identifier: MIT
"""Latent spaces that every model can swap: point (auto-encoder), Gaussian, vMF, power spherical.

A latent turns the raw output of an encoder into a posterior, draws from it with its KL divergence
from the prior, and knows its dimension twice: `dim` is the paper's d, the intrinsic one, and
`coordinates` is what a decoder receives (d, or m = d + 1 on the sphere).
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from svmf import functional

GRADIENTS = ("pathwise", "corrected", "rejection")
_MIN_SCALE = 1e-6  # softplus underflows to zero; a Gaussian without width has no density


class Draw(NamedTuple):
    """z [..., coordinates] and its KL [...]. `log_ratio` [...] is for the paper's estimator: its
    value is zero, and f(z) + f(z).detach() * log_ratio carries the unbiased gradient of E[f]."""

    z: Tensor
    kl: Tensor
    log_ratio: Tensor | None = None


def with_correction(value: Tensor, log_ratio: Tensor | None) -> Tensor:
    """`value` with the gradient that the estimator of `log_ratio` asks for."""
    return value if log_ratio is None else value + value.detach() * log_ratio


class Location(NamedTuple):
    loc: Tensor  # [..., d]


class LocationScale(NamedTuple):
    loc: Tensor  # [..., d]
    scale: Tensor  # [..., d], positive


class Direction(NamedTuple):
    loc: Tensor  # [..., m], unit rows
    concentration: Tensor  # [...], at least 1


PosteriorT = TypeVar("PosteriorT", bound=tuple[Any, ...])


class Latent(ABC, Generic[PosteriorT]):
    """One posterior family with its prior. Holds no weights: the encoder's last layer does."""

    spread_name: ClassVar[str]  # the figure that `spread` gives, as metrics call it
    distance: ClassVar[str] = "euclidean"
    has_density: ClassVar[bool] = True

    def __init__(self, dim: int, gradient: str = "pathwise") -> None:
        if dim < 1:
            raise ValueError(f"{type(self).__name__}: expected `dim` of at least 1, got {dim}")
        if gradient not in self.gradients():
            raise ValueError(
                f"{type(self).__name__}: expected `gradient` among {self.gradients()}, "
                f"got {gradient!r}"
            )
        self.dim = dim
        self.gradient = gradient

    @classmethod
    def gradients(cls) -> tuple[str, ...]:
        """The gradient estimators of this family."""
        return ("pathwise",)

    @property
    def coordinates(self) -> int:
        return self.dim

    @property
    @abstractmethod
    def head_sizes(self) -> tuple[int, ...]:
        """Widths of the blocks of raw output that `posterior` expects, side by side."""

    @abstractmethod
    def posterior(self, raw: Tensor) -> PosteriorT: ...

    @abstractmethod
    def draw(self, posterior: PosteriorT) -> Draw:
        """One reparameterised sample per row, with the KL divergence from the prior."""

    @abstractmethod
    def sample(self, posterior: PosteriorT, count: int) -> Tensor:
        """[count, ..., coordinates], without gradient."""

    @abstractmethod
    def log_prob(self, posterior: PosteriorT, z: Tensor) -> Tensor: ...

    @abstractmethod
    def entropy(self, posterior: PosteriorT) -> Tensor: ...

    @abstractmethod
    def prior_log_prob(self, z: Tensor) -> Tensor: ...

    @abstractmethod
    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor: ...

    @abstractmethod
    def spread(self, posterior: PosteriorT) -> Tensor:
        """One figure per row of how wide the posterior is."""

    def mean(self, posterior: PosteriorT) -> Tensor:
        """The point that represents the posterior: its location."""
        return posterior[0]


class PointLatent(Latent[Location]):
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

    def log_prob(self, posterior: Location, z: Tensor) -> Tensor:
        raise NotImplementedError("PointLatent: an auto-encoder has no posterior density")

    def entropy(self, posterior: Location) -> Tensor:
        raise NotImplementedError("PointLatent: an auto-encoder has no posterior density")

    def prior_log_prob(self, z: Tensor) -> Tensor:
        return _standard_normal_log_prob(z)

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.randn(count, self.dim, generator=generator)

    def spread(self, posterior: Location) -> Tensor:
        return posterior.loc.norm(dim=-1)


class GaussianLatent(Latent[LocationScale]):
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

    def prior_log_prob(self, z: Tensor) -> Tensor:
        return _standard_normal_log_prob(z)

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.randn(count, self.dim, generator=generator)

    def spread(self, posterior: LocationScale) -> Tensor:
        return posterior.scale.mean(-1)


class _OnSphere(Latent[Direction]):
    """What the families on S^d share: a direction with a concentration, and the uniform prior.
    The mean is normalised to the sphere and kappa = softplus(.) + 1, as the paper's code has it."""

    spread_name = "kappa"
    distance = "geodesic"

    @property
    def coordinates(self) -> int:
        return self.dim + 1

    @property
    def head_sizes(self) -> tuple[int, ...]:
        return (self.coordinates, 1)

    def posterior(self, raw: Tensor) -> Direction:
        loc, concentration = raw.split(self.head_sizes, dim=-1)
        return Direction(F.normalize(loc, dim=-1), F.softplus(concentration.squeeze(-1)) + 1)

    def prior_log_prob(self, z: Tensor) -> Tensor:
        return z.new_full(z.shape[:-1], -log_sphere_area(self.coordinates))

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return F.normalize(torch.randn(count, self.coordinates, generator=generator), dim=-1)

    def spread(self, posterior: Direction) -> Tensor:
        return posterior.concentration


class SphericalLatent(_OnSphere):
    """Von Mises-Fisher posterior on S^d, uniform prior."""

    @classmethod
    def gradients(cls) -> tuple[str, ...]:
        return GRADIENTS

    def draw(self, posterior: Direction) -> Draw:
        loc, concentration = posterior
        if self.gradient == "corrected":
            z, log_ratio = functional.vmf_rsample_with_correction(loc, concentration)
            return Draw(z, functional.vmf_kl_uniform(concentration, self.coordinates), log_ratio)
        return Draw(*functional.vmf_rsample_kl(loc, concentration, gradient=self.gradient))

    def sample(self, posterior: Direction, count: int) -> Tensor:
        loc, concentration = posterior.loc.detach(), posterior.concentration.detach()
        return functional.vmf_rsample(loc, concentration, (count,))

    def log_prob(self, posterior: Direction, z: Tensor) -> Tensor:
        return functional.vmf_log_prob(z, posterior.loc, posterior.concentration)

    def entropy(self, posterior: Direction) -> Tensor:
        return functional.vmf_entropy(posterior.concentration, self.coordinates)


class PowerSphericalLatent(_OnSphere):
    """Power spherical posterior (De Cao and Aziz 2020) on S^d, uniform prior."""

    def draw(self, posterior: Direction) -> Draw:
        family = self._family(posterior)
        return Draw(family.rsample(), log_sphere_area(self.coordinates) - family.entropy())

    def sample(self, posterior: Direction, count: int) -> Tensor:
        return self._family(posterior).sample((count,))

    def log_prob(self, posterior: Direction, z: Tensor) -> Tensor:
        return self._family(posterior).log_prob(z)

    def entropy(self, posterior: Direction) -> Tensor:
        return self._family(posterior).entropy()

    def _family(self, posterior: Direction) -> Any:
        from svmf.distributions import PowerSpherical

        return PowerSpherical(posterior.loc, posterior.concentration, validate_args=False)


LATENTS: dict[str, type[Latent[Any]]] = {
    "point": PointLatent,
    "gaussian": GaussianLatent,
    "spherical": SphericalLatent,
    "power-spherical": PowerSphericalLatent,
}


def log_sphere_area(coordinates: int) -> float:
    """log of the area of S^(m-1): log(2 pi^(m/2) / Gamma(m/2))."""
    half = coordinates / 2
    return math.log(2) + half * math.log(math.pi) - math.lgamma(half)


def _standard_normal_log_prob(z: Tensor) -> Tensor:
    return -0.5 * (z.square().sum(-1) + z.shape[-1] * math.log(2 * math.pi))
