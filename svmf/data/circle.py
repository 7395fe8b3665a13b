# SPDX-License-Identifier: MIT
"""The paper's first experiment: three von Mises-Fisher clusters on the circle, carried into R^100
by a noisy nonlinear map. The map is kept, so that decoded points can be compared with the curve."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

AMBIENT = 100
_CLUSTERS = 3
_CONCENTRATION = 5.0
_HIDDEN = 100
_NOISE = 0.1
_SCALE = 1.0  # root mean square of a coordinate of the curve, roughly
_GAIN = 1.5  # of the hidden layer; larger bends the curve more


@dataclass(frozen=True)
class CircleSet:
    """Points [n, 100], their angles [n] and clusters [n], and the curve without noise."""

    points: Tensor
    angles: Tensor
    clusters: Tensor
    curve: Tensor  # [1024, 100], at equally spaced angles


def make_circle(count: int, seed: int) -> CircleSet:
    """The map depends on the seed too: each seed is a new problem."""
    random = np.random.default_rng([seed, 0])
    clusters = random.integers(_CLUSTERS, size=count)
    angles = random.vonmises(clusters * (2 * np.pi / _CLUSTERS), _CONCENTRATION)
    weights_in = random.normal(size=(2, _HIDDEN)) * _GAIN
    bias = random.normal(size=_HIDDEN) * 0.5
    weights_out = random.normal(size=(_HIDDEN, AMBIENT)) * (_SCALE / np.sqrt(_HIDDEN))

    def embed(angle: np.ndarray) -> np.ndarray:
        on_circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.tanh(on_circle @ weights_in + bias) @ weights_out

    points = embed(angles) + _NOISE * random.normal(size=(count, AMBIENT))
    curve = embed(np.linspace(0, 2 * np.pi, 1024, endpoint=False))
    return CircleSet(
        torch.from_numpy(points.astype(np.float32)),
        torch.from_numpy(angles.astype(np.float32)),
        torch.from_numpy(clusters.astype(np.int64)),
        torch.from_numpy(curve.astype(np.float32)),
    )
