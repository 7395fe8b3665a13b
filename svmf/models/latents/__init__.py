# SPDX-License-Identifier: MIT
"""Latent spaces that every model can swap. A new one is a subclass of `Latent` in a file of its own
and an entry in `LATENTS`; to train it by name, an entry in `svmf/training/model_table.py`.
"""

from typing import Any

from svmf.models.latents.base import Draw, Latent, with_correction
from svmf.models.latents.euclidean import GaussianLatent, Location, LocationScale, PointLatent
from svmf.models.latents.flow import FlowLatent, FlowParameters
from svmf.models.latents.product import ProductLatent
from svmf.models.latents.sphere import (
    Direction,
    OnSphere,
    PowerSphericalLatent,
    SphericalCauchyLatent,
    SphericalLatent,
    UniformPrior,
)

__all__ = [
    "LATENTS",
    "Direction",
    "Draw",
    "FlowLatent",
    "FlowParameters",
    "GaussianLatent",
    "Latent",
    "Location",
    "LocationScale",
    "OnSphere",
    "PointLatent",
    "PowerSphericalLatent",
    "ProductLatent",
    "SphericalCauchyLatent",
    "SphericalLatent",
    "UniformPrior",
    "with_correction",
]

LATENTS: dict[str, type[Latent[Any]]] = {
    "point": PointLatent,
    "gaussian": GaussianLatent,
    "spherical": SphericalLatent,
    "power-spherical": PowerSphericalLatent,
    "spherical-cauchy": SphericalCauchyLatent,
    "flow": FlowLatent,
}
