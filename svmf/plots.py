# SPDX-License-Identifier: MIT
"""Pictures of points on the sphere: `hammer` (a map of S^2), `sphere` (a ball) and `plane`, which
return matplotlib's Axes; and the figure of the demonstration, a PNG file.

matplotlib is imported when the first figure is made, without pyplot: no window system, no global
state.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from svmf.distributions._data import as_tensor, unit_vectors

__all__ = ["hammer", "plane", "sphere"]

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


def plane(points: Any, labels: Any = None, *, ax: Any = None, title: str | None = None) -> Any:
    """Points [n, 2] in the plane; arguments and result as those of `hammer`."""
    found = _rows(points, 2, "plots.plane")
    ax = new_figure(5.2, 5).add_subplot(1, 1, 1) if ax is None else ax
    _scatter(ax, found.T, labels)
    ax.set_aspect("equal")
    return _titled(ax, title)


def hammer(
    points: Any,
    labels: Any = None,
    *,
    ax: Any = None,
    title: str | None = None,
    normalize: bool = False,
) -> Any:
    """A map of the sphere S^2 in Hammer's equal-area projection, with the unit vectors `points`
    [n, 3]: a tensor, an array, a data frame, lists. Rows of another norm are refused, or divided by
    it with `normalize`.

    `labels` [n] colours them: whole numbers or texts as classes with a legend, other numbers by a
    colour scale. `ax` is an Axes made with projection="hammer"; without one a figure is made. The
    result is the Axes; `ax.figure.savefig("map.png")` writes a file, and a notebook shows
    `ax.figure`.

    >>> import torch
    >>> points = torch.nn.functional.normalize(torch.randn(100, 3), dim=-1)
    >>> hammer(points, torch.arange(100) % 3, title="three classes").name
    'hammer'
    """
    found = _directions(points, normalize, "plots.hammer")
    if ax is None:
        ax = new_figure(8, 4.4).add_subplot(1, 1, 1, projection="hammer")
    longitude = torch.atan2(found[:, 1], found[:, 0])
    latitude = torch.asin(found[:, 2].clamp(-1, 1))
    _scatter(ax, (longitude, latitude), labels)
    ax.grid(True, alpha=0.3)
    ax.set_xticklabels([])
    ax.set_yticklabels([])
    return _titled(ax, title)


def sphere(
    points: Any,
    labels: Any = None,
    *,
    ax: Any = None,
    title: str | None = None,
    normalize: bool = False,
) -> Any:
    """The unit vectors `points` [n, 3] on a ball in three dimensions; arguments and result as those
    of `hammer`, but `ax` is one made with projection="3d". Points on the far side are hidden by
    nothing: turn the ball with `ax.view_init`.

    >>> import torch
    >>> sphere(torch.eye(3), ["x", "y", "z"]).name
    '3d'
    """
    found = _directions(points, normalize, "plots.sphere")
    if ax is None:
        ax = new_figure(5.4, 5).add_subplot(1, 1, 1, projection="3d")
    angle = torch.linspace(0, 2 * torch.pi, 49)
    height = torch.linspace(-1, 1, 25)[:, None]
    radius = (1 - height.square()).clamp(min=0).sqrt()
    ball = radius * angle.cos(), radius * angle.sin(), height.expand(25, 49)
    ax.plot_wireframe(*(c.numpy() for c in ball), color="0.8", linewidth=0.4, rstride=4, cstride=4)
    _scatter(ax, found.T, labels)
    ax.set_box_aspect((1, 1, 1))
    ax.set_axis_off()
    return _titled(ax, title)


def _rows(points: Any, width: int, name: str) -> Tensor:
    found = as_tensor(points, name=name, argument="points").detach().cpu()
    if found.dim() != 2 or found.shape[1] != width:
        shape = list(found.shape)
        raise ValueError(f"{name}: expected `points` to have the shape [n, {width}], got {shape}")
    return found


def _directions(points: Any, normalize: bool, name: str) -> Tensor:
    return unit_vectors(_rows(points, 3, name), name=name, argument="points", normalize=normalize)


def _titled(ax: Any, title: str | None) -> Any:
    if title is not None:
        ax.set_title(title)
    return ax


def _scatter(ax: Any, coordinates: Iterable[Tensor], labels: Any) -> None:
    columns = [column.numpy() for column in coordinates]
    if labels is None:
        ax.scatter(*columns, s=3)
        return
    found = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if len(found) != len(columns[0]):
        raise ValueError(
            f"plots: expected `labels` to have one entry per point, {len(columns[0])}, "
            f"got {len(found)}"
        )
    if any(isinstance(label, float) and not label.is_integer() for label in found):
        drawn = ax.scatter(*columns, s=3, c=found, cmap="viridis")
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
        return
    for index, label in enumerate(sorted(set(found))):
        member = [i for i, other in enumerate(found) if other == label]
        colour = f"C{(int(label) if not isinstance(label, str) else index) % 10}"
        text = str(label if isinstance(label, str) else int(label))
        ax.scatter(*(column[member] for column in columns), s=3, label=text, color=colour)
    ax.legend(markerscale=4, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
