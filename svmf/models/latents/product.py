# SPDX-License-Identifier: MIT
"""Products of latent spaces: several spheres, or spheres beside a Gaussian, each with its own
posterior. Equal neighbours are one batch: four spheres S^10 are one op call, not four.

Everything factorises: draws stand side by side, KL divergences, entropies and log densities add up.
"""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor

from svmf._gradients import PATHWISE
from svmf.models.latents.base import Draw, Latent


class _Group(NamedTuple):
    """So many equal factors."""

    factor: Latent[Any]
    times: int

    def blocks(self, values: Tensor) -> Tensor:
        """[..., times * n] to [..., times, n]."""
        return values.unflatten(-1, (self.times, -1))


class ProductLatent(Latent[tuple[Any, ...]]):
    """`ProductLatent([SphericalLatent(10)] * 4 + [GaussianLatent(5)])`. `dim` and `coordinates` are
    the factors' sums; a code is the factors' codes side by side."""

    def __init__(self, factors: Sequence[Latent[Any]]) -> None:
        if not factors:
            raise ValueError("ProductLatent: expected at least one factor")
        for factor in factors:
            if not factor.has_density or isinstance(factor, ProductLatent):
                raise ValueError(
                    "ProductLatent: expected factors with a density that are no products, "
                    f"got {type(factor).__name__}"
                )
        self.factors = tuple(factors)
        self._groups = [
            _Group(equal[0], len(equal))
            for equal in (list(same) for _, same in groupby(factors, key=_likeness))
        ]
        self.dim = sum(factor.dim for factor in factors)
        others = [factor.gradient for factor in factors if factor.gradient != PATHWISE]
        self.gradient = others[0] if others else PATHWISE
        self.exact_kl = all(factor.exact_kl for factor in factors)  # type: ignore[misc]
        names = {factor.spread_name for factor in factors}
        self.spread_name = names.pop() if len(names) == 1 else "spread"  # type: ignore[misc]

    @property
    def coordinates(self) -> int:
        return sum(factor.coordinates for factor in self.factors)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        return tuple(size for factor in self.factors for size in factor.head_sizes)

    @property
    def bounded(self) -> bool:
        return all(factor.bounded for factor in self.factors)

    @property
    def spheres(self) -> tuple[tuple[int, bool], ...]:
        return tuple(block for factor in self.factors for block in factor.spheres)

    def distances(self, codes: Tensor, others: Tensor) -> Tensor:
        """The root of the sum of the factors' squared distances."""
        sizes = [factor.coordinates for factor in self.factors]
        parts = zip(self.factors, codes.split(sizes, -1), others.split(sizes, -1), strict=True)
        squares = [factor.distances(own, other).square() for factor, own, other in parts]
        return torch.stack(squares).sum(0).sqrt()

    def posterior(self, raw: Tensor) -> tuple[Any, ...]:
        sizes = [group.times * sum(group.factor.head_sizes) for group in self._groups]
        parts = zip(self._groups, raw.split(sizes, dim=-1), strict=True)
        return tuple(group.factor.posterior(group.blocks(part)) for group, part in parts)

    def draw(self, posterior: tuple[Any, ...]) -> Draw:
        draws = [group.factor.draw(own) for group, own in self._pairs(posterior)]
        z = torch.cat([draw.z.flatten(-2) for draw in draws], -1)
        kl = sum(draw.kl.sum(-1) for draw in draws)
        ratios = [draw.log_ratio.sum(-1) for draw in draws if draw.log_ratio is not None]
        assert isinstance(kl, Tensor)
        return Draw(z, kl, torch.stack(ratios).sum(0) if ratios else None)

    def sample(self, posterior: tuple[Any, ...], count: int) -> Tensor:
        parts = [group.factor.sample(own, count) for group, own in self._pairs(posterior)]
        return torch.cat([part.flatten(-2) for part in parts], -1)

    def log_prob(self, posterior: tuple[Any, ...], z: Tensor) -> Tensor:
        terms = [
            group.factor.log_prob(own, group.blocks(part)).sum(-1)
            for (group, own), part in zip(self._pairs(posterior), self._split(z), strict=True)
        ]
        return torch.stack(terms).sum(0)

    def entropy(self, posterior: tuple[Any, ...]) -> Tensor:
        terms = [group.factor.entropy(own).sum(-1) for group, own in self._pairs(posterior)]
        return torch.stack(terms).sum(0)

    def prior_log_prob(self, z: Tensor) -> Tensor:
        terms = [
            group.factor.prior_log_prob(group.blocks(part)).sum(-1)
            for group, part in zip(self._groups, self._split(z), strict=True)
        ]
        return torch.stack(terms).sum(0)

    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        parts = [
            group.factor.prior_sample(count * group.times, generator).reshape(count, -1)
            for group in self._groups
        ]
        return torch.cat(parts, -1)

    def spread(self, posterior: tuple[Any, ...]) -> Tensor:
        """The mean over the factors."""
        terms = [group.factor.spread(own).sum(-1) for group, own in self._pairs(posterior)]
        return torch.stack(terms).sum(0) / len(self.factors)

    def mean(self, posterior: tuple[Any, ...]) -> Tensor:
        parts = [group.factor.mean(own).flatten(-2) for group, own in self._pairs(posterior)]
        return torch.cat(parts, -1)

    def grid(self, points: int) -> tuple[Tensor, Tensor]:
        """Of the one factor, or the product of two lines."""
        if self.dim > 2:
            return super().grid(points)
        if len(self.factors) == 1:
            return self.factors[0].grid(points)
        (z1, mass1), (z2, mass2) = (factor.grid(math.isqrt(points)) for factor in self.factors)
        z = torch.cat([z1.repeat_interleave(len(z2), 0), z2.repeat(len(z1), 1)], -1)
        return z, (mass1.unsqueeze(1) + mass2).flatten()

    def distribution(self, posterior: tuple[Any, ...]) -> torch.distributions.Distribution:
        return _ProductDistribution(self, posterior)

    def _pairs(self, posterior: tuple[Any, ...]) -> list[tuple[_Group, Any]]:
        return list(zip(self._groups, posterior, strict=True))

    def _split(self, z: Tensor) -> tuple[Tensor, ...]:
        return z.split([group.times * group.factor.coordinates for group in self._groups], dim=-1)


class _ProductDistribution(torch.distributions.Distribution):
    """The posterior of a product: codes [*batch, coordinates]."""

    arg_constraints = {}  # noqa: RUF012  (torch's own style)
    has_rsample = True

    def __init__(self, latent: ProductLatent, posterior: tuple[Any, ...]) -> None:
        self._latent, self._posterior = latent, posterior
        self.factors = [
            group.factor.distribution(own) for group, own in latent._pairs(posterior)
        ]  # one per group of equal factors, which are the last batch dimension
        batch = self.factors[0].batch_shape[:-1]
        super().__init__(batch, torch.Size([latent.coordinates]), validate_args=False)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:  # type: ignore[override]
        parts = [factor.rsample(torch.Size(sample_shape)) for factor in self.factors]
        return torch.cat([part.flatten(-2) for part in parts], -1)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._latent.log_prob(self._posterior, value)

    def entropy(self) -> Tensor:
        return self._latent.entropy(self._posterior)

    @property
    def mean(self) -> Tensor:
        return torch.cat([factor.mean.flatten(-2) for factor in self.factors], -1)


def _likeness(factor: Latent[Any]) -> tuple[Any, ...]:
    """Factors that are equal in this are one batch: their class and all that they are made of."""
    return type(factor), sorted(vars(factor).items())
