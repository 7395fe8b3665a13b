# SPDX-License-Identifier: MIT
"""`VonMisesFisher(loc, scale)` with `scale` of shape [..., 1]."""

import torch
from torch import Size, Tensor

from svmf import distributions

Shape = int | Size | tuple[int, ...]


def as_shape(shape: Shape) -> Size:
    return Size((shape,)) if isinstance(shape, int) else Size(shape)


class VonMisesFisher(distributions.VonMisesFisher):
    """The von Mises-Fisher distribution with the signature of `hyperspherical_vae`."""

    def __init__(self, loc: Tensor, scale: Tensor, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The concentration, with the trailing dimension of size 1 that the package asks for."""
        return self.concentration.unsqueeze(-1)

    @property
    def stddev(self) -> Tensor:
        """`scale`, as in the package. (Not the standard deviation; that is `variance.sqrt()`.)"""
        return self.scale

    @property
    def dtype(self) -> torch.dtype:
        return self.loc.dtype

    @property
    def device(self) -> torch.device:
        return self.loc.device

    def rsample(self, shape: Shape = ()) -> Tensor:  # type: ignore[override]
        return super().rsample(as_shape(shape))

    def sample(self, shape: Shape = ()) -> Tensor:  # type: ignore[override]
        with torch.no_grad():
            return self.rsample(shape)
