# SPDX-License-Identifier: MIT
"""The sphere itself."""

import math

import torch
from torch import Tensor

# Below it no square overflows in float32; float16 ends earlier, with a norm of inf.
LONG = 1e18


def log_sphere_area(dim: int) -> float:
    """log of the surface area 2 pi^(m/2) / Gamma(m/2) of S^(m-1), m = `dim`."""
    return math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)


def largest_concentration(dtype: torch.dtype) -> float:
    """The end of the domain of the functions of the von Mises-Fisher distribution."""
    return 1e10 if dtype == torch.float64 else 1e6


def unit_and_length(raw: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of `raw` [..., m] over their lengths, and the lengths [..., 1]; zero points along
    the first axis.

    The squares of a long or a short row have no place in its type (float32: from 1e19 on, below
    1e-23). Such a row is divided by its largest entry first, a constant for gradients, as the
    direction does not depend on the scale; every other keeps its bits.
    """
    length = torch.linalg.vector_norm(raw.detach(), dim=-1, keepdim=True)
    usual = (length > short(raw)) & (length < LONG)
    largest = raw.detach().abs().amax(-1, keepdim=True)
    nothing = largest == 0
    scale = torch.where(usual | nothing, 1.0, largest)
    first = torch.nn.functional.pad(torch.ones_like(largest), (0, raw.shape[-1] - 1))
    scaled = torch.where(nothing, first, raw / scale)
    length = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
    return scaled / length, torch.where(nothing, 0.0, length * scale)


def short(raw: Tensor) -> float:
    """The squares of longer rows keep their digits, and so does the length in its type."""
    return max(1e-12, torch.finfo(raw.dtype).tiny)
