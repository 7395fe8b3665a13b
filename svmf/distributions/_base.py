# SPDX-License-Identifier: MIT
"""What every distribution on the sphere shares: how it samples, and what it asks of a value."""

import torch
from torch import Generator, Size, Tensor
from torch.distributions import Distribution
from torch.types import _size

from svmf._torch_private import below_autograd, readable
from svmf.constraints import unit_vector
from svmf.distributions._checks import are_unit, read, refuse_norms


class SphereDistribution(Distribution):
    """Base of the distributions on S^(m-1)."""

    support = unit_vector
    has_rsample = True

    def sample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m], without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape, generator=generator)  # type: ignore[call-arg]

    def log_prob(self, value: Tensor) -> Tensor:
        """The log density at `value`, with respect to the surface measure."""
        if self._validate_args:
            self._validate_sample(value)
        return self._log_density(value)

    def _log_density(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def _check_shape(self, value: Tensor) -> None:
        """Raises unless `value`, the argument of `log_prob`, has vectors of the right m in a batch
        that broadcasts."""
        shape = self.batch_shape + self.event_shape
        if value.shape[-1:] != shape[-1:] or not _broadcasts(value.shape, shape):
            raise ValueError(
                f"{type(self).__name__}.log_prob: expected `value` to broadcast with shape "
                f"{list(shape)}, got {list(value.shape)}"
            )

    def _validate_sample(self, value: Tensor) -> None:
        """Raises unless `value` also lies on the sphere."""
        name = f"{type(self).__name__}.log_prob"
        if not isinstance(value, Tensor) or not value.is_floating_point():
            got = value.dtype if isinstance(value, Tensor) else type(value).__name__
            raise TypeError(
                f"{name}: expected `value` to be a tensor of a floating type, got {got}"
            )
        self._check_shape(value)
        if value.numel() == 0 or not readable(value):
            return
        with below_autograd():
            norm = torch.linalg.vector_norm(value, dim=-1)
            low, high = read(*norm.aminmax())
        if not are_unit(low, high, value.dtype):
            refuse_norms(name, "value", norm)


def _broadcasts(first: Size, second: Size) -> bool:
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(1 in (a, b) or a == b for a, b in pairs)
