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
        axes.scatter(codes[:, 0], codes[:, 1], c=colour, cmap="hsv", s=6, vmin=0, vmax=6.2832)
        axes.set_title(title)
        axes.set_aspect("equal")
        reach = float(codes.abs().max()) * 1.1
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
        axes.tick_params(labelsize=7)
    return save_figure(figure, path)
