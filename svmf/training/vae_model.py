# SPDX-License-Identifier: MIT
"""The networks of `svmf train` for images and rows, from the configuration and the data's sizes."""

import math
from collections.abc import Callable

from svmf.models import VAE, Bernoulli, Directional, Gaussian, Likelihood, SemiSupervisedVAE
from svmf.training.config import RunConfig
from svmf.training.task import make_latent

_LIKELIHOODS: dict[str, Callable[[tuple[int, ...]], Likelihood]] = {
    "bernoulli": lambda shape: Bernoulli(),
    "gaussian": lambda shape: Gaussian(learnable=True),
    "gaussian 1": lambda shape: Gaussian(),  # the circle's
    "vmf": lambda shape: Directional(math.prod(shape)),
}


def likelihood_names() -> tuple[str, ...]:
    return tuple(_LIKELIHOODS)


def build_vae(config: RunConfig, shape: tuple[int, ...], likelihood: str) -> VAE:
    """The paper's network for rows of this shape."""
    inputs = shape[0] if len(shape) == 1 else shape
    hidden = config.hidden or (256, 128)
    made = _LIKELIHOODS[likelihood](shape)
    return VAE(inputs, make_latent(config), made, hidden, radius=config.radius)


def build_semi_supervised(
    config: RunConfig, inputs: int, classes: int, labelled_weight: float = 1.0
) -> SemiSupervisedVAE:
    """M1+M2; `labelled_weight` matters to training alone."""
    return SemiSupervisedVAE(
        inputs,
        classes,
        make_latent(config, 0),
        make_latent(config, 1),
        Bernoulli(),
        hidden=(config.hidden or (500,))[0],
        alpha=config.alpha,
        labelled_weight=labelled_weight,
        label_tolerance=config.label_tolerance,
        radius=config.radius,
    )
