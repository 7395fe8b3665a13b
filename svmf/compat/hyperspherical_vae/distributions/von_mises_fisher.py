# SPDX-License-Identifier: MIT
"""`VonMisesFisher(loc, scale)` with `scale` of shape [..., 1]."""

import torch
from torch import Size, Tensor

from svmf import distributions


def _as_shape(shape: int | Size | tuple[int, ...]) -> Size:
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

    def rsample(  # type: ignore[override]
        self,
        shape: int | Size | tuple[int, ...] = Size(),  # noqa: B008
    ) -> Tensor:
        return super().rsample(_as_shape(shape))

    def sample(  # type: ignore[override]
        self,
        shape: int | Size | tuple[int, ...] = Size(),  # noqa: B008
    ) -> Tensor:
        with torch.no_grad():
            return self.rsample(shape)
