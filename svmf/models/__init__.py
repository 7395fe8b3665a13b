# SPDX-License-Identifier: MIT
"""The paper's models, each written once with a latent space that can be swapped."""

from svmf._gradients import GRADIENTS
from svmf.models.graph_vae import GraphVAE
from svmf.models.importance import exact_log_likelihood_2d, log_likelihood, released_log_likelihood
from svmf.models.knn import balanced_subset, nearest_labels
from svmf.models.latents import (
    LATENTS,
    FlowLatent,
    GaussianLatent,
    Latent,
    PointLatent,
    PowerSphericalLatent,
    ProductLatent,
    SphericalCauchyLatent,
    SphericalLatent,
)
from svmf.models.likelihood import Bernoulli, Directional, Gaussian, Likelihood, bernoulli_log_prob
from svmf.models.semi_supervised import SemiSupervisedVAE
from svmf.models.vae import VAE

__all__ = [
    "GRADIENTS",
    "LATENTS",
    "VAE",
    "Bernoulli",
    "Directional",
    "FlowLatent",
    "Gaussian",
    "GaussianLatent",
    "GraphVAE",
    "Latent",
    "Likelihood",
    "PointLatent",
    "PowerSphericalLatent",
    "ProductLatent",
    "SemiSupervisedVAE",
    "SphericalCauchyLatent",
    "SphericalLatent",
    "balanced_subset",
    "bernoulli_log_prob",
    "exact_log_likelihood_2d",
    "log_likelihood",
    "nearest_labels",
    "released_log_likelihood",
]
