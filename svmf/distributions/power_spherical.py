# SPDX-License-Identifier: MIT
"""The power spherical distribution (De Cao and Aziz, "The Power Spherical distribution", 2020).

Density proportional to (1 + mu.z)^kappa on S^(m-1). (1 + mu.z) / 2 is Beta(beta + kappa, beta) with
beta = (m-1)/2: all constants are Gamma functions.
"""

from typing import Any

import torch
from torch import Generator, Tensor
from torch.types import _size

from svmf import functional as F
from svmf._sphere import largest_concentration, unit_and_length
from svmf.distributions._directional import DirectionalDistribution
from svmf.distributions._fit import read_directions


class PowerSpherical(DirectionalDistribution):
    """The power spherical distribution on the sphere S^(m-1) in R^m.

    Args:
        loc: mean directions mu, unit vectors of shape [..., m], m >= 2.
        concentration: kappa >= 0, a number or a tensor; shapes as for `VonMisesFisher`.
        validate_args: whether to check values; by default as `torch.distributions` has it.

    >>> q = PowerSpherical(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(6.0))
    >>> q.mean
    tensor([0.0000, 0.0000, 0.7500])
    >>> q.entropy()
    tensor(1.4423)
    """

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m] that carry gradients, in kappa by
        implicit reparameterisation."""
        return F.power_spherical_rsample(
            self.loc, self.concentration, sample_shape, generator=generator
        )

    def _log_density(self, value: Tensor) -> Tensor:
        return F.power_spherical_log_prob(value, self.loc, self.concentration)

    def _kl_uniform(self) -> Tensor:
        return F.power_spherical_kl_uniform(self.concentration, self.loc.shape[-1])

    def _scalars(self) -> tuple[Tensor, float]:
        """kappa in float64, one scalar per row, and beta = (m-1)/2."""
        return self.concentration.double(), (self.loc.shape[-1] - 1) / 2

    def _mean_cosine(self) -> Tensor:
        kappa, half = self._scalars()
        return (kappa / (2 * half + kappa)).to(self.loc.dtype)

    def _cosine_variances(self) -> tuple[Tensor, Tensor]:
        kappa, half = self._scalars()
        alpha = kappa + half
        total = alpha + half
        across = 2 * alpha / total / (total + 1)
        return (2 * half * across / total).to(self.loc.dtype), across.to(self.loc.dtype)

    @classmethod
    @torch.no_grad()
    def fit(
        cls, value: Any, *, normalize: bool = False, validate_args: bool | None = None
    ) -> "PowerSpherical":
        """The maximum-likelihood distribution of the unit vectors `value`, [n, *batch, m].

        The direction maximises the sum of log(1 + mu.z), whatever kappa; kappa then solves
        E[log((1 + w) / 2)] = the observed mean. Observations that are all one leave kappa at its
        bound, 1e6 in float32 and 1e10 in float64.
        """
        name = f"{cls.__name__}.fit"
        value = read_directions(value, name=name, normalize=normalize)
        data = value.double()
        loc = _best_direction(data)
        kappa = _concentration_of(_mean_log_half(data, loc), data.shape[-1])
        kappa = kappa.clamp(max=largest_concentration(value.dtype))
        return cls(loc.to(value.dtype), kappa.to(value.dtype), validate_args=validate_args)


def _mean_log_half(data: Tensor, loc: Tensor) -> Tensor:
    """The mean over the observations [n, *batch, m] of log((1 + mu.z) / 2)."""
    gap = (data - loc).square().sum(-1) / 4
    return torch.log1p(-gap.clamp(max=1)).mean(0)


def _best_direction(data: Tensor) -> Tensor:
    """The mu [*batch, m] with the largest mean of log(1 + mu.z), from the mean direction on.

    At the maximum the sum of z / (1 + mu.z) is parallel to mu: steps towards it, halved where they
    do not help.
    """
    loc, _ = unit_and_length(data.mean(0))
    best = _mean_log_half(data, loc)
    step = torch.ones_like(best)
    for _ in range(200):
        weight = 1 / (1 + (data * loc).sum(-1)).clamp(min=1e-12)
        wanted, _ = unit_and_length((weight.unsqueeze(-1) * data).mean(0))
        moved, _ = unit_and_length(loc + step.unsqueeze(-1) * (wanted - loc))
        found = _mean_log_half(data, moved)
        better = found > best
        change = (moved - loc).abs().amax(-1) * better
        loc = torch.where(better.unsqueeze(-1), moved, loc)
        best = torch.where(better, found, best)
        step = torch.where(better, (2 * step).clamp(max=1), step / 2)
        if not bool(((change > 1e-13) | ((step > 1e-6) & ~better)).any()):
            break
    return loc


def _concentration_of(mean_log_half: Tensor, dim: int) -> Tensor:
    """The kappa with E[log((1 + w) / 2)] = mean_log_half, by bisection of its logarithm; 0 where
    the uniform distribution has more."""
    low = torch.full_like(mean_log_half, -40.0)
    high = torch.full_like(mean_log_half, 30.0)
    for _ in range(80):
        middle = (low + high) / 2
        less = F.power_spherical_mean_log_half(middle.exp(), dim) < mean_log_half
        low, high = torch.where(less, middle, low), torch.where(less, high, middle)
    flat = mean_log_half <= F.power_spherical_mean_log_half(torch.zeros_like(low), dim)
    return torch.where(flat, 0.0, ((low + high) / 2).exp())
