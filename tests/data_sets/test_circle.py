# SPDX-License-Identifier: MIT
"""The synthetic circle: three clusters, a closed curve, points near it, a function of its seed."""

import torch

from svmf.data import make_circle


def test_points_lie_near_the_curve():
    circle = make_circle(600, seed=2)
    assert circle.points.shape == (600, 100)
    nearest = torch.cdist(circle.points, circle.curve).amin(1)
    # noise of 0.1 in each of 100 coordinates: length 1.0, give or take
    assert 0.8 < float(nearest.mean()) < 1.1
    steps = (circle.curve - circle.curve.roll(1, 0)).norm(dim=1)
    assert float(steps.max()) < 10 * float(steps.median()), "the curve is closed and smooth"


def test_clusters_and_seeds():
    circle = make_circle(3000, seed=0)
    counts = torch.bincount(circle.clusters, minlength=3)
    assert int(counts.min()) > 850
    centre = torch.exp(1j * circle.angles[circle.clusters == 1].double()).mean()
    assert abs(float(centre.angle()) - 2 * torch.pi / 3) < 0.1
    assert torch.equal(circle.points, make_circle(3000, seed=0).points)
    assert not torch.equal(circle.points, make_circle(3000, seed=1).points)
