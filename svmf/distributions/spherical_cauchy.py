# SPDX-License-Identifier: MIT
"""The spherical Cauchy distribution (Kato and McCullagh, Bernoulli 26 (2020) 3224).

The image of the uniform distribution under a Moebius map of the sphere: no rejection, no Bessel
functions, heavier tails than the von Mises-Fisher distribution.
"""

from typing import Any

import torch
from torch import Generator, Tensor
from torch.distributions import constraints
from torch.types import _size

from svmf import functional as F
from svmf._sphere import unit_and_length
from svmf.constraints import unit_vector
from svmf.distributions._directional import DirectionalDistribution
from svmf.distributions._fit import read_directions


class SphericalCauchy(DirectionalDistribution):
    """The spherical Cauchy distribution on the sphere S^(m-1) in R^m.

    Its density with respect to the surface measure is that of the uniform distribution times
    ((1 - rho^2) / (1 + rho^2 - 2 rho mu.z))^(m-1). At m = 2 it is the wrapped Cauchy distribution.

    Args:
        loc: directions mu, unit vectors of shape [..., m], m >= 2.
        rho: 0 <= rho < 1, a number or a tensor; shapes as the concentration of `VonMisesFisher`. 0
            is the uniform distribution.
        validate_args: whether to check values; by default as `torch.distributions` has it.

    >>> q = SphericalCauchy(torch.tensor([0.0, 1.0]), torch.tensor(0.5))
    >>> q
    SphericalCauchy(loc: torch.Size([2]), rho: 0.5)
    >>> q.mean
    tensor([0.0000, 0.5000])
    """

    arg_constraints = {  # noqa: RUF012
        "loc": unit_vector,
        "rho": constraints.half_open_interval(0.0, 1.0),
    }
    _parameter, _values, _bound = "rho", "values in [0, 1)", 1.0
    rho: Tensor  # [*batch_shape]

    def __init__(self, loc: Tensor, rho: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(loc, rho, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:  # type: ignore[override]
        """The same as `rho`: what the base class calls the second parameter."""
        return self.rho

    @concentration.setter
    def concentration(self, value: Tensor) -> None:
        self.rho = value

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m] that carry gradients: the Moebius map
        of uniform vectors, smooth in mu and rho."""
        return F.spherical_cauchy_rsample(self.loc, self.rho, sample_shape, generator=generator)

    def _log_density(self, value: Tensor) -> Tensor:
        return F.spherical_cauchy_log_prob(value, self.loc, self.rho)

    def _kl_uniform(self) -> Tensor:
        return F.spherical_cauchy_kl_uniform(self.rho, self.loc.shape[-1])

    def _kl_to(self, other: "SphericalCauchy") -> Tensor:
        """KL to another: Moebius maps keep it, and one of them makes `other` uniform.

        What it makes of this one has rho'^2 = |phi - psi|^2 / (|phi - psi|^2 + (1 - |phi|^2)
        (1 - |psi|^2)) for phi = rho mu of both.
        """
        first, second = self.rho.double(), other.rho.double()
        chord = (self.loc.double() - other.loc.double()).square().sum(-1)
        apart = (first - second).square() + first * second * chord
        inside = (1 - first) * (1 + first) * (1 - second) * (1 + second)
        same = apart == 0  # the square root has no derivative there; the KL has, 0
        rho = torch.where(same, 0.0, (torch.where(same, 1.0, apart) / (apart + inside)).sqrt())
        rho = rho.clamp(max=1 - torch.finfo(rho.dtype).eps)  # it would round to 1
        return F.spherical_cauchy_kl_uniform(rho, self.loc.shape[-1]).to(self.loc.dtype)

    def _mean_cosine(self) -> Tensor:
        return F.spherical_cauchy_mean_length(self.rho, self.loc.shape[-1])

    def _cosine_variances(self) -> tuple[Tensor, Tensor]:
        rho, m = self.rho.double(), self.loc.shape[-1]
        mean = F.spherical_cauchy_mean_length(rho, m)
        # At a fixed uniform vector dw/drho = 2 (1 - w^2) / (1 - rho^2).
        across = (1 - rho) * (1 + rho) / 2 * F.spherical_cauchy_mean_length_slope(rho, m)
        along = 1 - mean.square() - across
        return along.to(self.loc.dtype), (across / (m - 1)).to(self.loc.dtype)

    @classmethod
    @torch.no_grad()
    def fit(
        cls, value: Any, *, normalize: bool = False, validate_args: bool | None = None
    ) -> "SphericalCauchy":
        """The maximum-likelihood distribution of the unit vectors `value`, [n, *batch, m].

        phi = rho mu is the point of the ball whose Moebius map takes the mean of the observations
        to 0; found by moving phi against that mean until nothing changes. At least three distinct
        observations; otherwise rho approaches 1 without end and stops at 1 - 1e-7.
        """
        name = f"{cls.__name__}.fit"
        value = read_directions(value, name=name, normalize=normalize)
        data, m = value.double(), value.shape[-1]
        phi = torch.zeros_like(data[0])
        for _ in range(500 if phi.numel() else 0):
            mean = _to_centre(data, phi).mean(0)
            moved = _from_centre(mean * (m / (2 * (m - 1))), phi)
            length = torch.linalg.vector_norm(moved, dim=-1, keepdim=True)
            moved = moved * (length.clamp(max=1 - 1e-7) / length.clamp(min=1e-300))
            change = (moved - phi).abs().max()
            phi = moved
            if not bool(change > 1e-13):
                break
        loc, rho = unit_and_length(phi)
        rho = rho.squeeze(-1).to(value.dtype)
        return cls(loc.to(value.dtype), rho, validate_args=validate_args)


def _from_centre(x: Tensor, phi: Tensor) -> Tensor:
    """The Moebius map of the ball that takes 0 to phi and keeps its axis, at x [..., m]."""
    inner = (x * phi).sum(-1, keepdim=True)
    x2, phi2 = x.square().sum(-1, keepdim=True), phi.square().sum(-1, keepdim=True)
    return ((1 + 2 * inner + x2) * phi + (1 - phi2) * x) / (1 + 2 * inner + phi2 * x2)


def _to_centre(x: Tensor, phi: Tensor) -> Tensor:
    """Its inverse, which takes phi to 0."""
    return _from_centre(x, -phi)
