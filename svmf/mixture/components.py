# SPDX-License-Identifier: MIT
"""The components of a von Mises-Fisher mixture: their joint log density, and the M step."""

import torch
from torch import Tensor

from svmf import functional as F
from svmf._sphere import largest_concentration
from svmf.mixture.rows import Rows

# Above this many times (m - 1) a concentration needs more digits of a cosine than float32 has:
# 1 - A is about (m - 1) / (2 kappa). Below it, rounding costs at most 3e-5 (m - 1) nats.
_SHARP = 100


class Components:
    """The parameters, and with them the joint log density of rows and components."""

    def __init__(self, weights: Tensor, locs: Tensor, concentrations: Tensor) -> None:
        self.weights, self.locs, self.concentrations = weights, locs, concentrations
        kappa, dim = concentrations.double(), locs.shape[1]
        constant = weights.double().log() + F.vmf_log_norm(kappa, dim)  # [k]
        self._constant, self._base = constant, constant.to(locs.dtype)
        self._scaled = (kappa[:, None] * locs.double()).to(locs.dtype)
        self.sharp: Tensor | None = None
        if locs.dtype == torch.float32 and bool((kappa > _SHARP * (dim - 1)).any()):
            self.sharp = (kappa > _SHARP * (dim - 1)).nonzero().squeeze(-1)
            self._sharp_kappa = kappa[self.sharp]
            self._sharp_peak = (constant + kappa)[self.sharp]
            self._sharp_locs = locs[self.sharp].double()

    def linear(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.locs, self.concentrations.double(), self._constant

    def double(self) -> "Components":
        return Components(self.weights.double(), self.locs.double(), self.concentrations.double())

    def scores(self, chunk: Rows) -> Tensor:
        """log(weight) + log C_m(kappa) + kappa mu.x, one product: [n, k].

        For sharp components kappa (mu.x - 1) is taken as -kappa |x - mu|^2 / 2 in float64, which
        neither cancels nor feels that the norms of float32 vectors are rounded.
        """
        joint = chunk.product(self._scaled, self._base)
        if self.sharp is not None:
            wide = chunk.double()
            half_norms = (wide.squared_norms()[:, None] + self._sharp_locs.square().sum(-1)) / 2
            gap = half_norms - wide.product(self._sharp_locs)
            joint[:, self.sharp] = (self._sharp_peak - self._sharp_kappa * gap).to(joint.dtype)
        return joint


def maximised(
    count: Tensor, resultant: Tensor, fallback: Tensor, *, shared: bool, bound: float
) -> tuple[Components, int]:
    """The M step in float64, and how many components had no data: they move to rows of `fallback`.

    `shared`: one concentration for all. `bound`: the largest concentration.
    """
    dtype, dim = fallback.dtype, resultant.shape[1]
    length = torch.linalg.vector_norm(resultant, dim=-1)
    empty = (count < 1e-6) | (length == 0)
    count = torch.where(empty, 1.0, count)
    safe = torch.where(empty, 1.0, length)
    locs = torch.where(empty[:, None], fallback.double(), resultant / safe[:, None])
    if shared:
        mean_length = (length.sum() / count.sum()).clamp(max=1).expand_as(length)
    else:
        mean_length = torch.where(empty, 0.5, (safe / count).clamp(max=1))
    kappa = F.vmf_concentration(mean_length, dim).clamp(
        max=min(bound, largest_concentration(dtype))
    )
    locs = torch.nn.functional.normalize(locs, dim=-1).to(dtype)
    model = Components((count / count.sum()).to(dtype), locs, kappa.to(dtype))
    return model, int(empty.sum())
