# SPDX-License-Identifier: MIT
"""`HypersphericalUniform(dim)` where `dim` is the dimension of the sphere, m - 1."""

import torch
from torch import Tensor

from svmf import distributions
from svmf.compat.hyperspherical_vae.distributions.von_mises_fisher import Shape, as_shape


class HypersphericalUniform(distributions.HypersphericalUniform):
    """The uniform distribution on S^dim in R^(dim+1), as `hyperspherical_vae` counts."""

    def __init__(
        self, dim: int, validate_args: bool | None = None, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(dim + 1, device=device, validate_args=validate_args)

    @property
    def dim(self) -> int:
        """The dimension of the sphere, one less than that of the space around it."""
        return self.event_shape[0] - 1

    @property
    def device(self) -> torch.device:
        return torch.device(self._device or "cpu")

    @device.setter
    def device(self, value: torch.device | str) -> None:
        self._device = value

    def sample(self, shape: Shape = ()) -> Tensor:  # type: ignore[override]
        return super().sample(as_shape(shape))

    def entropy(self) -> Tensor:
        """The log of the surface area, of the batch shape; without a batch, of shape [1]."""
        return super().entropy().reshape(self.batch_shape or (1,))
