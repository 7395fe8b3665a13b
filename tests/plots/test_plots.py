# SPDX-License-Identifier: MIT
"""Pictures of points: every kind of array, Axes of one's own, classes and scales, clear errors."""

import doctest

import numpy
import pytest
import torch
from matplotlib.figure import Figure

import svmf.plots
from svmf.plots import hammer, plane, sphere

POINTS = torch.nn.functional.normalize(torch.randn(30, 3), dim=-1)
KINDS = {
    "tensor": lambda x: x,
    "with gradient": lambda x: x.clone().requires_grad_(),
    "array": lambda x: x.numpy(),
    "lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", [hammer, sphere, plane])
def test_arrays_are_welcome_and_axes_come_back(draw, kind):
    points = POINTS if draw is not plane else POINTS[:, :2]
    labels = numpy.arange(30) % 3
    ax = draw(KINDS[kind](points), labels, title="thirty")
    assert ax.get_title() == "thirty"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    shown = [collection for collection in ax.collections if collection.get_label() in "012"]
    assert sum(len(collection.get_offsets()) for collection in shown) == 30


def test_a_point_lands_where_it_belongs():
    """The north pole is on top of the map; the x axis is its middle."""
    offsets = hammer([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).collections[0].get_offsets()
    numpy.testing.assert_allclose(offsets, [[0, 0], [0, numpy.pi / 2]], atol=1e-6)


def test_other_norms_are_divided_by_on_request():
    offsets = hammer([[0.0, 5.0, 0.0]], normalize=True).collections[0].get_offsets()
    numpy.testing.assert_allclose(offsets, [[numpy.pi / 2, 0]], atol=1e-6)


def test_axes_of_ones_own():
    figure = Figure()
    left = figure.add_subplot(1, 2, 1, projection="hammer")
    right = figure.add_subplot(1, 2, 2, projection="3d")
    assert hammer(POINTS, ax=left) is left
    assert sphere(POINTS, ax=right) is right


def test_numbers_are_a_scale_and_texts_are_classes(tmp_path):
    ax = hammer(POINTS, torch.linspace(0, 1, 30))
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 2  # the colour scale
    ax = sphere(POINTS, ["b", "a"] * 15)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    ax.figure.savefig(tmp_path / "sphere.png")
    assert (tmp_path / "sphere.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hammer(torch.randn(4, 2)), r"expected `points` to have the shape \[n, 3\], got"),
        (lambda: sphere(3 * POINTS), "plots.sphere: expected `points` to hold unit vectors"),
        (lambda: plane(POINTS), r"the shape \[n, 2\]"),
        (lambda: hammer(POINTS, [1, 2]), "one entry per point, 30, got 2"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_doctests():
    assert doctest.testmod(svmf.plots).failed == 0
