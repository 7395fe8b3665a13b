# SPDX-License-Identifier: MIT
"""The network of `svmf train` for images and rows: of a shape and a kind of the rows."""

import math
from collections.abc import Callable
from typing import Any

from svmf.models import VAE, Bernoulli, Directional, Gaussian, Latent, Likelihood
from svmf.training.config import RunConfig

_LIKELIHOODS: dict[str, Callable[[tuple[int, ...]], Likelihood]] = {
    "bernoulli": lambda shape: Bernoulli(),
    "gaussian": lambda shape: Gaussian(learnable=True),
    "gaussian 1": lambda shape: Gaussian(),  # the circle's
    "vmf": lambda shape: Directional(math.prod(shape)),
}


def likelihood_names() -> tuple[str, ...]:
    return tuple(_LIKELIHOODS)


def build_vae(
    config: RunConfig, latent: Latent[Any], shape: tuple[int, ...], likelihood: str
) -> VAE:
    """The paper's network for rows of this shape."""
    inputs = shape[0] if len(shape) == 1 else shape
    hidden = config.hidden or (256, 128)
    return VAE(inputs, latent, _LIKELIHOODS[likelihood](shape), hidden, radius=config.radius)
