# SPDX-License-Identifier: MIT
"""exp(-z) I_v(z), which underflows for large v; `svmf.functional.log_ive` does not."""

import torch
from torch import Tensor

from svmf import functional as F


def ive(v: float, z: Tensor) -> Tensor:
    """exp(-z) I_v(z) for a number v >= 0."""
    return F.log_ive(v, z).exp()


class Ive(torch.nn.Module):
    """`ive` of a fixed order, as a module."""

    def __init__(self, v: float) -> None:
        super().__init__()
        self.v = v

    def forward(self, z: Tensor) -> Tensor:
        return ive(self.v, z)
