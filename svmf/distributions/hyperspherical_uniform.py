# SPDX-License-Identifier: MIT
"""The uniform distribution on the sphere S^(m-1): the prior of a hyperspherical auto-encoder."""

from typing import Any

import torch
from torch import Generator, Size, Tensor
from torch.types import _size

from svmf import functional as F
from svmf._sphere import log_sphere_area
from svmf.distributions._base import SphereDistribution


class HypersphericalUniform(SphereDistribution):
    """The uniform distribution on the sphere S^(m-1) in R^m.

    Args:
        dim: the ambient dimension m >= 2, so that `HypersphericalUniform(3)` is the usual sphere.
        batch_shape: shape of a batch of such distributions.
        dtype, device: of the samples; by default those of new tensors.
        validate_args: whether `log_prob` checks that its argument lies on the sphere.

    >>> p = HypersphericalUniform(3)
    >>> p
    HypersphericalUniform(dim: 3)
    >>> p.sample((4,)).shape
    torch.Size([4, 3])
    >>> p.entropy()  # log(4 pi)
    tensor(2.5310)
    """

    arg_constraints = {}  # noqa: RUF012

    def __init__(
        self,
        dim: int,
        batch_shape: _size = (),
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeError(
                f"HypersphericalUniform: expected `dim` to be an int, got {type(dim).__name__}"
            )
        if dim < 2:
            raise ValueError(
                "HypersphericalUniform: expected `dim` >= 2, the ambient dimension of the sphere "
                f"S^(dim-1), got {dim}"
            )
        self._dtype, self._device = dtype, device
        super().__init__(Size(batch_shape), Size((dim,)), validate_args=validate_args)

    @property
    def dim(self) -> int:
        """The ambient dimension m."""
        return self.event_shape[0]

    def expand(
        self, batch_shape: Any, _instance: "HypersphericalUniform | None" = None
    ) -> "HypersphericalUniform":
        new = type(self).__new__(type(self)) if _instance is None else _instance
        new.__dict__.update(self.__dict__)
        new._batch_shape = Size(batch_shape)
        return new

    def _zero(self) -> Tensor:
        return torch.zeros((), dtype=self._dtype, device=self._device)

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m]: vMF samples of concentration 0."""
        loc = torch.zeros(self.event_shape, dtype=self._dtype, device=self._device)
        loc[0] = 1
        shape = Size(sample_shape) + self.batch_shape
        return F.vmf_rsample(loc, self._zero(), shape, generator=generator)

    def _log_density(self, value: Tensor) -> Tensor:
        self._check_shape(value)
        shape = torch.broadcast_shapes(value.shape[:-1], self.batch_shape)
        return value.new_full((), -log_sphere_area(self.dim)).expand(shape)

    def entropy(self) -> Tensor:
        """The log of the surface area 2 pi^(m/2) / Gamma(m/2)."""
        return (self._zero() + log_sphere_area(self.dim)).expand(self.batch_shape)

    @property
    def mean(self) -> Tensor:
        return self._zero().expand(self.batch_shape + self.event_shape)

    @property
    def variance(self) -> Tensor:
        return (self._zero() + 1 / self.event_shape[0]).expand(self.batch_shape + self.event_shape)

    @property
    def covariance_matrix(self) -> Tensor:
        dim = self.event_shape[0]
        identity = torch.eye(dim, dtype=self._dtype, device=self._device)
        return (identity / dim).expand(*self.batch_shape, dim, dim)

    def __repr__(self) -> str:
        batch = f", batch_shape: {tuple(self.batch_shape)}" if self.batch_shape else ""
        return f"{type(self).__name__}(dim: {self.dim}{batch})"
