# SPDX-License-Identifier: MIT
"""Gauss-Legendre rules on (0, 1), as plain numbers.

A tensor in a cache would stay what it was at the first call: fake under torch.compile, unfit for
gradients under inference mode. So the cache holds numbers, and every call makes its own tensors.
"""

import functools
import math

import torch
from torch import Tensor


@functools.cache
def _nodes_and_weights(count: int) -> tuple[list[float], list[float]]:
    """By Newton's method on the Legendre polynomial."""
    nodes, weights = [], []
    for i in range(count):
        x = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(8):
            value, before = 1.0, 0.0
            for n in range(count):
                value, before = ((2 * n + 1) * x * value - n * before) / (n + 1), value
            slope = count * (before - x * value) / (1 - x * x)
            x -= value / slope
        nodes.append((1 + x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return nodes, weights


def gauss_legendre(count: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Nodes and weights [count] of the type and on the device of `like`."""
    nodes, weights = _nodes_and_weights(count)
    return (
        torch.tensor(nodes, dtype=like.dtype, device=like.device),
        torch.tensor(weights, dtype=like.dtype, device=like.device),
    )
