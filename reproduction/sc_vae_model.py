# SPDX-License-Identifier: MIT
"""The convolutional VAE of SC-VAE (arXiv 2506.21278) and the heads of its posterior families, as
its repository states them. Samples, divergences and gradients are svmf's.

Every head but the Gaussian's turns one raw number of the encoder into a concentration. They differ
in where training starts and in how far a step goes, by which the families are not equal:

    spherical Cauchy   rho = sigmoid(raw), from raw = 2: rho = 0.88
    von Mises-Fisher   kappa = softplus(raw) + 1, from raw = 2: kappa = 3.1, close to uniform
    power spherical    kappa = softplus(raw), from raw = 0: kappa = 0.69, close to uniform

So there is one row more: a von Mises-Fisher posterior with the spherical Cauchy's head, rho turned
into kappa by the equation under which the paper matches both families, equal curvature at the mode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from svmf._direction import direction
from svmf.models import VAE, Bernoulli
from svmf.models.latents import (
    Direction,
    GaussianLatent,
    Latent,
    LocationScale,
    OnSphere,
    PowerSphericalLatent,
    SphericalCauchyLatent,
    SphericalLatent,
)

CHANNELS = (32, 64, 128)
HIDDEN = 128


class LogVarianceLatent(GaussianLatent):
    def posterior(self, raw: Tensor) -> LocationScale:
        loc, log_variance = raw.split(self.head_sizes, dim=-1)
        return LocationScale(loc, (0.5 * log_variance).exp())


def _split(latent: OnSphere, raw: Tensor) -> tuple[Tensor, Tensor]:
    loc, concentration = raw.split(latent.head_sizes, dim=-1)
    return direction(loc), concentration.squeeze(-1)


def _rho(raw: Tensor) -> Tensor:
    return torch.sigmoid(raw).clamp(max=1 - torch.finfo(raw.dtype).eps)


class SigmoidCauchyLatent(SphericalCauchyLatent):
    def posterior(self, raw: Tensor) -> Direction:
        loc, raw_rho = _split(self, raw)
        return Direction(loc, _rho(raw_rho))


class CurvatureLatent(SphericalLatent):
    """Von Mises-Fisher with the spherical Cauchy's head. Its log density has the curvature
    2 d rho / (1 - rho)^2 at the mode, d = m - 1; the von Mises-Fisher's is kappa."""

    def posterior(self, raw: Tensor) -> Direction:
        loc, raw_rho = _split(self, raw)
        rho = _rho(raw_rho)
        return Direction(loc, 2 * self.dim * rho / (1 - rho).square())


class SoftplusPowerLatent(PowerSphericalLatent):
    def posterior(self, raw: Tensor) -> Direction:
        loc, concentration = _split(self, raw)
        return Direction(loc, F.softplus(concentration) + torch.finfo(raw.dtype).eps)


@dataclass(frozen=True)
class Family:
    """`start` is the first bias of the concentration's head, None where it is left to chance."""

    title: str
    latent: Callable[[int], Latent[Any]]
    start: float | None = None


FAMILIES = {
    "n": Family("N", LogVarianceLatent),
    "vmf": Family("vMF", SphericalLatent, 2.0),
    "ps": Family("power spherical", SoftplusPowerLatent, 0.0),
    "cauchy": Family("spherical Cauchy", SigmoidCauchyLatent, 2.0),
    "vmf-head": Family("vMF with the spherical Cauchy's head", CurvatureLatent, 2.0),
}


def build(family: Family, dim: int, side: int) -> VAE:
    """Images are `side` x `side`; `side` is divisible by 4. PyTorch's own initialisation."""
    latent = family.latent(dim)
    first, second, third = CHANNELS
    head = nn.Linear(HIDDEN, sum(latent.head_sizes))
    if family.start is not None:
        nn.init.constant_(head.bias[-1:], family.start)
    encoder = nn.Sequential(
        nn.Conv2d(1, first, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(first, second, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(second, third, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(third * (side // 8) ** 2, HIDDEN),
        nn.ReLU(),
        head,
    )
    small = side // 4
    decoder = nn.Sequential(
        nn.Linear(latent.coordinates, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, third * small**2),
        nn.ReLU(),
        nn.Unflatten(1, (third, small, small)),
        nn.ConvTranspose2d(third, second, 3, stride=2, padding=1, output_padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(second, first, 3, stride=2, padding=1, output_padding=1),
        nn.ReLU(),
        nn.Conv2d(first, 1, 3, padding=1),  # logits
    )
    model = VAE(latent=latent, likelihood=Bernoulli(), encoder=encoder, decoder=decoder)
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]
