# SPDX-License-Identifier: MIT
"""Fully connected networks with Glorot initialisation."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn


def glorot_linear(inputs: int, outputs: int | Sequence[int]) -> nn.Linear:
    """A linear layer with Glorot's uniform weights and zero bias. Several output widths make one
    layer (one matrix product) whose blocks are initialised as if they were layers of their own."""
    blocks = [outputs] if isinstance(outputs, int) else list(outputs)
    layer = nn.Linear(inputs, sum(blocks))
    nn.init.zeros_(layer.bias)
    for block in torch.split(layer.weight.data, blocks):
        nn.init.xavier_uniform_(block)
    return layer


def mlp(sizes: Sequence[int], outputs: int | Sequence[int]) -> nn.Sequential:
    """ReLU layers of the widths `sizes[1:]` on `sizes[0]` inputs, and a linear layer at the end."""
    layers: list[nn.Module] = []
    for inputs, width in pairwise(sizes):
        layers += [glorot_linear(inputs, width), nn.ReLU()]
    return nn.Sequential(*layers, glorot_linear(sizes[-1], outputs))
