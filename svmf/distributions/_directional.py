# SPDX-License-Identifier: MIT
"""What every distribution with a mean direction and a concentration shares.

Shapes, checks of the parameters, expand, indexing, moves between devices, and the moments: a
density that depends on z only through w = mu.z has mean E[w] mu and covariance
Var[w] mu mu^T + E[1 - w^2] / (m - 1) (I - mu mu^T).
"""

from typing import Any, TypeVar

import torch
from torch import Size, Tensor
from torch.distributions import Distribution, constraints

from svmf import functional as F
from svmf._sphere import log_sphere_area
from svmf._torch_private import readable
from svmf.constraints import unit_vector
from svmf.distributions._base import SphereDistribution
from svmf.distributions._checks import are_unit, invalid, refuse_norms

Self = TypeVar("Self", bound="DirectionalDistribution")


class DirectionalDistribution(SphereDistribution):
    """Base of the distributions on S^(m-1) that are symmetric about `loc`."""

    arg_constraints = {"loc": unit_vector, "concentration": constraints.nonnegative}  # noqa: RUF012

    loc: Tensor  # [*batch_shape, m]
    concentration: Tensor  # [*batch_shape]
    # What messages call the concentration, its values, and their bound, which is none of them.
    _parameter, _values, _bound = "concentration", "finite values >= 0", torch.inf

    def __init__(
        self, loc: Tensor, concentration: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = loc, concentration = self._broadcast(loc, concentration)
        # The base class would check each parameter by several ops and read the host for each.
        super().__init__(concentration.shape, loc.shape[-1:], validate_args=False)
        if validate_args is None:
            validate_args = type(self)._validate_args  # torch's default, as it is now
        self._validate_args = validate_args
        if validate_args and readable(loc, concentration):
            self._check_values(loc, concentration)

    @classmethod
    def _broadcast(cls, loc: Tensor, concentration: Tensor | float) -> tuple[Tensor, Tensor]:
        """Both parameters with the full batch shape, after the checks that need no values."""
        name = cls.__name__
        if not isinstance(loc, Tensor):
            raise TypeError(f"{name}: expected `loc` to be a tensor, got {type(loc).__name__}")
        if not loc.is_floating_point():
            raise TypeError(f"{name}: expected `loc` of a floating type, got {loc.dtype}")
        if loc.dim() == 0 or loc.shape[-1] < 2:
            raise ValueError(
                f"{name}: expected `loc` of shape [..., m] with m >= 2 (the sphere S^(m-1)), "
                f"got shape {list(loc.shape)}"
            )
        if not isinstance(concentration, Tensor):
            concentration = torch.as_tensor(concentration, dtype=loc.dtype, device=loc.device)
        if concentration.device != loc.device:
            raise ValueError(
                f"{name}: expected `{cls._parameter}` on the device of `loc`, {loc.device}, "
                f"got {concentration.device}"
            )
        if concentration.dtype != loc.dtype:
            loc, concentration = cls._under_autocast(loc, concentration)
        if concentration.dim() == loc.dim() and concentration.shape[-1] == 1:
            concentration = concentration.squeeze(-1)  # one value per row of `loc`
        batch_shape = loc.shape[:-1]
        if concentration.shape != batch_shape:
            try:
                batch_shape = torch.broadcast_shapes(batch_shape, concentration.shape)
            except RuntimeError:
                raise ValueError(
                    f"{name}: expected `{cls._parameter}` to broadcast with the batch shape "
                    f"{list(batch_shape)} of `loc`, got shape {list(concentration.shape)}"
                ) from None
            loc = loc.expand(*batch_shape, loc.shape[-1])
            concentration = concentration.expand(batch_shape)
        return loc, concentration

    @classmethod
    def _under_autocast(cls, loc: Tensor, concentration: Tensor) -> tuple[Tensor, Tensor]:
        """The wider of two types under autocast, which mixes them by itself; else an error.

        A unit vector of a narrow type has a norm that is rounded to that type: it is normalised
        again.
        """
        mixes = concentration.is_floating_point() and torch.is_autocast_enabled(loc.device.type)
        if not mixes:
            raise TypeError(
                f"{cls.__name__}: expected `{cls._parameter}` of the type of `loc`, {loc.dtype}, "
                f"got {concentration.dtype}"
            )
        if torch.promote_types(loc.dtype, concentration.dtype) == loc.dtype:
            return loc, concentration.to(loc.dtype)
        loc = loc.to(concentration.dtype)
        return loc / torch.linalg.vector_norm(loc, dim=-1, keepdim=True), concentration

    @classmethod
    def _check_values(cls, loc: Tensor, concentration: Tensor) -> None:
        """Unit rows in `loc`, `concentration` in its range: one pass, one host read."""
        if concentration.numel() == 0:
            return
        low, high, smallest, largest = F.parameter_range(loc, concentration)
        # Written so that nan fails.
        if not (smallest >= 0 and largest < cls._bound):
            found = concentration.detach()
            valid = (found >= 0) & (found < cls._bound)
            raise ValueError(
                invalid(cls.__name__, cls._parameter, cls._values, "value", found, valid)
            )
        if not are_unit(low, high, loc.dtype):
            refuse_norms(cls.__name__, "loc", torch.linalg.vector_norm(loc.detach(), dim=-1))

    def _new(self: Self, loc: Tensor, concentration: Tensor, instance: Self | None = None) -> Self:
        """A distribution like this one with other parameters that are known to be valid."""
        new = type(self).__new__(type(self)) if instance is None else instance
        new.loc, new.concentration = loc, concentration
        Distribution.__init__(new, loc.shape[:-1], loc.shape[-1:], validate_args=False)
        new._validate_args = self._validate_args
        return new

    def expand(self: Self, batch_shape: Any, _instance: Self | None = None) -> Self:
        batch_shape = Size(batch_shape)
        loc = self.loc.expand(*batch_shape, self.loc.shape[-1])
        return self._new(loc, self.concentration.expand(batch_shape), _instance)

    def __getitem__(self: Self, index: Any) -> Self:
        """The distributions at `index` of the batch, which is indexed as a tensor would be."""
        concentration = self.concentration[index]
        parts = index if isinstance(index, tuple) else (index,)
        if any(part is Ellipsis for part in parts):
            index = (*parts, slice(None))  # the ellipsis would swallow the vectors' dimension
        return self._new(self.loc[index], concentration)

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """The same distribution with its parameters moved as by `torch.Tensor.to`."""
        loc = self.loc.to(*args, **kwargs)
        return self._new(loc, self.concentration.to(*args, **kwargs))

    def entropy(self) -> Tensor:
        return log_sphere_area(self.loc.shape[-1]) - self._kl_uniform()

    def _kl_uniform(self) -> Tensor:
        """KL to the uniform distribution, [*batch_shape]."""
        raise NotImplementedError

    def _mean_cosine(self) -> Tensor:
        """E[w], of shape [*batch_shape]."""
        raise NotImplementedError

    def _cosine_variances(self) -> tuple[Tensor, Tensor]:
        """Var[w] and E[1 - w^2] / (m - 1), the variance along `loc` and across it."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """E[z], a vector inside the unit ball; its direction is `loc`."""
        return self._mean_cosine().unsqueeze(-1) * self.loc

    @property
    def mode(self) -> Tensor:
        """The point of highest density, `loc`. (At concentration 0 every point is a mode.)"""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance of each coordinate of z: the diagonal of `covariance_matrix`."""
        along, across = self._cosine_variances()
        return across.unsqueeze(-1) + (along - across).unsqueeze(-1) * self.loc.square()

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance of z, of shape [*batch_shape, m, m]."""
        along, across = self._cosine_variances()
        outer = self.loc.unsqueeze(-1) * self.loc.unsqueeze(-2)
        identity = torch.eye(self.loc.shape[-1], dtype=self.loc.dtype, device=self.loc.device)
        return across[..., None, None] * identity + (along - across)[..., None, None] * outer
