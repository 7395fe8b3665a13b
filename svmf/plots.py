# SPDX-License-Identifier: MIT
"""Figures as PNG files. matplotlib is imported when the first figure is made, without pyplot: no
window system, no global state."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

_DPI = 120


def new_figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    # no date and no version inside, so that the same data give the same file
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    return path


def circle_figure(panels: Sequence[tuple[str, Tensor, Tensor]], path: Path) -> Path:
    """Side by side: (title, codes [n, 2], true angles [n]); the colour is the true angle."""
    figure = new_figure(3 * len(panels), 3.2)
    for position, (title, codes, angles) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), position + 1)
        colour = torch.remainder(angles, 2 * torch.pi)
        x, y = codes.numpy().T
        axes.scatter(x, y, c=colour.numpy(), cmap="hsv", s=6, vmin=0, vmax=6.2832)
        axes.set_title(title)
        axes.set_aspect("equal")
        reach = float(codes.abs().max()) * 1.1
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
        axes.tick_params(labelsize=7)
    return save_figure(figure, path)


def plane_figure(codes: Tensor, labels: Tensor, title: str, path: Path) -> Path:
    """Codes [n, 2] in the plane, coloured by class."""
    figure = new_figure(5.2, 5)
    axes = figure.add_subplot(1, 1, 1)
    _scatter_classes(axes, codes[:, 0], codes[:, 1], labels)
    axes.set_aspect("equal")
    axes.set_title(title)
    return save_figure(figure, path)


def hammer_figure(codes: Tensor, labels: Tensor, title: str, path: Path) -> Path:
    """Codes [n, 3] on the sphere in Hammer's equal-area projection, coloured by class."""
    figure = new_figure(8, 4.4)
    axes = figure.add_subplot(1, 1, 1, projection="hammer")
    longitude = torch.atan2(codes[:, 1], codes[:, 0])
    latitude = torch.asin(codes[:, 2].clamp(-1, 1))
    _scatter_classes(axes, longitude, latitude, labels)
    axes.grid(True, alpha=0.3)
    axes.set_xticklabels([])
    axes.set_yticklabels([])
    axes.set_title(title)
    return save_figure(figure, path)


def _scatter_classes(axes: Any, x: Tensor, y: Tensor, labels: Tensor) -> None:
    for label in sorted(set(labels.tolist())):
        member = labels == label
        points = x[member].numpy(), y[member].numpy()
        axes.scatter(*points, s=3, label=str(label), color=f"C{label % 10}")
    axes.legend(markerscale=4, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def image_grid(images: Tensor, columns: int, height: int, width: int) -> Tensor:
    """Images [n, height * width] in [0, 1] as one picture, row by row."""
    rows = -(-len(images) // columns)
    canvas = torch.ones(rows * (height + 1), columns * (width + 1))
    for index, image in enumerate(images):
        top, left = index // columns * (height + 1), index % columns * (width + 1)
        canvas[top : top + height, left : left + width] = 1 - image.view(height, width)
    return canvas


def picture(canvas: Tensor, title: str, path: Path) -> Path:
    """A grey picture: 0 is black, 1 is white."""
    figure = new_figure(canvas.shape[1] / 90 + 0.5, canvas.shape[0] / 90 + 0.7)
    axes = figure.add_subplot(1, 1, 1)
    axes.imshow(canvas.numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    axes.set_axis_off()
    axes.set_title(title, fontsize=10)
    return save_figure(figure, path)


def curve_figure(
    x: Sequence[float], y: Sequence[float], labels: tuple[str, str], title: str, path: Path
) -> Path:
    figure = new_figure(5.5, 3.6)
    axes = figure.add_subplot(1, 1, 1)
    axes.plot(x, y, marker=".")
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    axes.grid(True, alpha=0.3)
    return save_figure(figure, path)
