# SPDX-License-Identifier: MIT
"""Pictures of what models make: codes in two dimensions, images side by side, a curve."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from svmf.models import Latent
from svmf.plots import hammer, new_figure, plane, save_figure


def draw_codes(latent: Latent[Any], codes: Tensor, labels: Tensor, title: str, path: Path) -> None:
    """Of a latent space of two dimensions; `title` has places for its letter and its name."""
    draw, letter, space = (
        (hammer, "S", "S^2 (Hammer projection)") if latent.on_sphere else (plane, "N", "R^2")
    )
    axes = draw(codes, labels, title=title.format(letter=letter, space=space))
    save_figure(axes.figure, path)


def draw_images(
    images: Tensor, columns: int, height: int, width: int, title: str, path: Path
) -> None:
    """Images [n, height * width] in [0, 1], row by row; 1 is black."""
    rows = -(-len(images) // columns)
    canvas = torch.ones(rows * (height + 1), columns * (width + 1))
    for index, image in enumerate(images):
        top, left = index // columns * (height + 1), index % columns * (width + 1)
        canvas[top : top + height, left : left + width] = 1 - image.view(height, width)
    figure = new_figure(canvas.shape[1] / 90 + 0.5, canvas.shape[0] / 90 + 0.7)
    axes = figure.add_subplot(1, 1, 1)
    axes.imshow(canvas.numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axes.set_axis_off()
    axes.set_title(title, fontsize=10)
    save_figure(figure, path)


def draw_curve(
    x: Sequence[float], y: Sequence[float], labels: tuple[str, str], title: str, path: Path
) -> Path:
    figure = new_figure(5.5, 3.6)
    axes = figure.add_subplot(1, 1, 1)
    axes.plot(x, y, marker=".")
    axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
    axes.grid(True, alpha=0.3)
    return save_figure(figure, path)
