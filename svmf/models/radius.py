# SPDX-License-Identifier: MIT
"""The radius at which a decoder sees codes on spheres: fixed, or one learnable number per sphere.

A decoder that expects inputs of unit variance, as a Gaussian latent gives them, gets them from a
sphere of radius sqrt(m) in R^m. Gaussian factors of a product are left as they are.
"""

from typing import Any

import torch
from torch import Tensor, nn

from svmf.models.latents import Latent

RADII = ("1", "sqrt", "learnable")


class Radius(nn.Module):
    """Scales each sphere's block of a code [..., coordinates]. A learnable radius starts at sqrt(m)
    of its sphere."""

    def __init__(self, latent: Latent[Any], radius: str) -> None:
        super().__init__()
        if radius not in RADII:
            raise ValueError(f"Radius: expected one of {', '.join(RADII)}, got {radius!r}")
        if not any(unit for _, unit in latent.spheres):
            raise ValueError(f"Radius: {type(latent).__name__} has no sphere")
        sizes = torch.tensor([size for size, _ in latent.spheres])
        on_sphere = torch.tensor([unit for _, unit in latent.spheres])
        logs = 0.5 * sizes.float().log() * on_sphere
        if radius == "learnable":
            self.log_radius = nn.Parameter(logs)
        else:
            self.register_buffer("log_radius", logs * (radius == "sqrt"), persistent=False)
        self.block: Tensor  # of each coordinate
        self.on_sphere: Tensor  # of each block: 1, or 0 where it is flat
        block = [i for i, (size, _) in enumerate(latent.spheres) for _ in range(size)]
        self.register_buffer("block", torch.tensor(block), persistent=False)
        self.register_buffer("on_sphere", on_sphere.float(), persistent=False)

    def forward(self, z: Tensor) -> Tensor:
        radii = (self.log_radius * self.on_sphere).exp()
        return z * radii.index_select(0, self.block).to(z.dtype)
