# SPDX-License-Identifier: MIT
"""Pictures of a trained MNIST model: its latent space, its samples and, for d = 2, its manifold."""

import math
from pathlib import Path

import torch
from torch import Tensor

from reproduction.pictures import draw_codes, draw_images
from svmf.models import VAE
from svmf.training.task import Task
from svmf.training.vae_task import VAETask

SAMPLED_DIMS = (2, 5, 10, 20)
_SHOWN = 5000
_MANIFOLD_SIDE = 20


def draw_model(task: Task, folder: Path) -> None:
    """The figures that the paper shows for this model's dimension."""
    assert isinstance(task, VAETask)
    assert task.images is not None
    name, letter = task.config.model, "S" if task.model.latent.on_sphere else "N"
    dim = task.config.dim
    if dim in SAMPLED_DIMS:
        draw_samples(
            task,
            f"{letter}-VAE, samples from the prior, d = {dim}",
            folder / f"samples-{name}-d{dim}.png",
        )
    if dim == 2:
        test = task.images.test
        codes = task.latent_means(test.images[:_SHOWN], 0).cpu()
        labels = test.labels[:_SHOWN]
        title = "{letter}-VAE, latent space {space}"
        draw_codes(task.model.latent, codes, labels, title, folder / f"latent-{name}.png")
        draw_manifold(task, f"{letter}-VAE, manifold", folder / f"manifold-{name}.png")


@torch.no_grad()
def draw_samples(task: VAETask, title: str, path: Path, side: int = 10) -> None:
    assert task.images is not None
    generator = torch.Generator().manual_seed(0)
    z = task.model.latent.prior_sample(side * side, generator).to(task.device)
    images = task.model.decode(z).cpu()
    draw_images(images, side, task.images.height, task.images.width, title, path)


@torch.no_grad()
def draw_manifold(task: VAETask, title: str, path: Path) -> None:
    """Decoded points on a grid: quantiles of the Gaussian prior in the plane, or equal steps of
    longitude and sine of latitude (equal areas) on the sphere."""
    assert task.images is not None
    z = _grid(task.model)
    images = task.model.decode(z.to(task.device)).cpu()
    draw_images(images, _MANIFOLD_SIDE, task.images.height, task.images.width, title, path)


def _grid(model: VAE) -> Tensor:
    steps = (torch.arange(_MANIFOLD_SIDE) + 0.5) / _MANIFOLD_SIDE
    if model.latent.on_sphere:
        height = 1 - 2 * steps
        longitude = (2 * steps - 1) * math.pi
        z = height.repeat_interleave(_MANIFOLD_SIDE)
        angle = longitude.repeat(_MANIFOLD_SIDE)
        radius = (1 - z.square()).sqrt()
        return torch.stack([radius * angle.cos(), radius * angle.sin(), z], dim=1)
    quantiles = torch.special.ndtri(steps)
    return torch.cartesian_prod(-quantiles, quantiles).flip(1)
