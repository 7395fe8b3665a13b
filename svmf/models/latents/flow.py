# SPDX-License-Identifier: MIT
"""A flow on the sphere S^d as posterior: a von Mises-Fisher distribution under layers of maps that
the encoder chooses for every row (`svmf.distributions.SphereFlow`).

Its KL divergence from the uniform prior is that of the base, which is known, less the mean log of
the layers' area factor, of which one sample is an unbiased estimate.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from svmf import functional
from svmf._direction import direction
from svmf._gradients import PATHWISE
from svmf._sphere_maps import forward_maps
from svmf.distributions import SphereFlow
from svmf.models.latents.base import Draw
from svmf.models.latents.sphere import UniformPrior

_ENTROPY_DRAWS = 256
_LONG = 1e15  # its square fits into float32
_SMALL = 0.1  # of the layers' raw outputs: training starts near the base
_LONGEST = 0.95  # of a Moebius centre: beyond, the inverse loses too many digits of float32
_LONGEST_LAST = 0.998  # of the last one, alone: it makes a patch 1,000 times narrower


class FlowParameters(NamedTuple):
    loc: Tensor  # [..., m], unit rows
    concentration: Tensor  # [...], at least 1
    centres: Tensor  # [..., layers, m], inside the unit ball
    stretches: Tensor  # [..., layers, m]


class FlowLatent(UniformPrior[FlowParameters]):
    """Flow posterior on S^d, uniform prior. The raw output of a layer is one vector for its Moebius
    centre and one for its stretch. A last Moebius map with one number contracts towards the mean
    direction: layers shape a wide density, and it becomes narrow at the end. Zero leaves the base
    as it is."""

    exact_kl = False

    def __init__(self, dim: int, gradient: str = PATHWISE, layers: int = 4) -> None:
        super().__init__(dim, gradient)
        if layers < 1:
            raise ValueError(f"FlowLatent: expected `layers` of at least 1, got {layers}")
        self.layers = layers

    @property
    def head_sizes(self) -> tuple[int, ...]:
        vectors = self.layers * self.coordinates
        return (self.coordinates, 1, vectors, vectors, 1)

    def posterior(self, raw: Tensor) -> FlowParameters:
        loc, concentration, centres, stretches, pull = raw.split(self.head_sizes, dim=-1)
        shape = (self.layers, self.coordinates)
        loc = direction(loc)
        centres = _shortened(_SMALL * centres.unflatten(-1, shape), 0.5) * _LONGEST
        stretches = _shortened(_SMALL * stretches.unflatten(-1, shape), 0.25)
        narrow = (-_LONGEST_LAST * torch.tanh(0.5 * pull) * loc).unsqueeze(-2)
        return FlowParameters(
            loc,
            F.softplus(concentration.squeeze(-1)) + 1,
            torch.cat([centres, narrow], -2),
            torch.cat([stretches, torch.zeros_like(narrow)], -2),
        )

    def draw(self, posterior: FlowParameters) -> Draw:
        loc, concentration, centres, stretches = posterior
        base, kl = functional.vmf_rsample_kl(loc, concentration)
        z, log_area = forward_maps(base, centres, stretches)
        return Draw(z, kl - log_area)

    def entropy(self, posterior: FlowParameters) -> Tensor:
        """That of the base plus the mean log area factor, over 256 draws."""
        loc, concentration, centres, stretches = posterior
        base = functional.vmf_rsample(loc, concentration, (_ENTROPY_DRAWS,))
        log_area = forward_maps(base, centres, stretches)[1]
        return functional.vmf_entropy(concentration, self.coordinates) + log_area.mean(0)

    def spread(self, posterior: FlowParameters) -> Tensor:
        """The concentration of the base."""
        return posterior.concentration

    def mean(self, posterior: FlowParameters) -> Tensor:
        """Where the layers take the location of the base."""
        loc, _, centres, stretches = posterior
        return forward_maps(loc, centres, stretches)[0]

    def distribution(self, posterior: FlowParameters) -> torch.distributions.Distribution:
        return SphereFlow(*posterior, validate_args=False)


def _shortened(raw: Tensor, power: float) -> Tensor:
    """Vectors x to x / (1 + |x|^2)^power: shorter than 1 for 1/2, than the root of |x| for 1/4."""
    raw = raw.clamp(-_LONG, _LONG)
    return raw / (1 + raw.square().sum(-1, keepdim=True)).pow(power)
