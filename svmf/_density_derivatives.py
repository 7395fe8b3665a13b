# SPDX-License-Identifier: MIT
"""The derivatives of the log densities, written with differentiable ops as those of
svmf/_derivatives.py."""

from typing import Any

import torch
from torch import Tensor

from svmf._derivatives import dot, sum_of_rows, total_of, widen
from svmf._dispatch import Derivative, ops


class LogProb(Derivative):
    """log p = -kappa |x - mu|^2/2 + (kappa - L) - log S."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _partials(self, kept: Any) -> tuple[Tensor, Tensor, Tensor]:
        """x - mu, kappa, and the partial derivative in kappa."""
        value, loc, kappa = widen(*kept)
        difference = value - loc
        complement = ops.vmf_mean_length_complement(kappa, loc.shape[-1])
        return difference, kappa, complement - sum_of_rows(difference.square()) / 2

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        difference, kappa, in_kappa = self._partials(kept)
        grad_loc = ((grad * kappa).unsqueeze(-1) * difference).to(dtype)
        return -grad_loc, grad_loc, (grad * in_kappa).to(dtype)

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        along_value, along_loc, along_kappa = tangents
        difference, kappa, in_kappa = self._partials(kept)
        total = total_of(
            None if along_value is None else -kappa * dot(difference, along_value),
            None if along_loc is None else kappa * dot(difference, along_loc),
            None if along_kappa is None else in_kappa * along_kappa,
        )
        return None if total is None else total.to(kept[0].dtype)


class RadialLogProb(Derivative):
    """A log density that depends on (value, loc, parameter) through their distances; what a family
    is, `_partials` says: the partial derivatives in value, loc and the parameter."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _partials(self, value: Tensor, loc: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        raise NotImplementedError

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        in_value, in_loc, in_kappa = self._partials(*widen(*kept))
        column = grad.unsqueeze(-1)
        return (
            (column * in_value).to(dtype),
            (column * in_loc).to(dtype),
            (grad * in_kappa).to(dtype),
        )

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        along_value, along_loc, along_kappa = tangents
        in_value, in_loc, in_kappa = self._partials(*widen(*kept))
        total = total_of(
            None if along_value is None else dot(in_value, along_value),
            None if along_loc is None else dot(in_loc, along_loc),
            None if along_kappa is None else in_kappa * along_kappa,
        )
        return None if total is None else total.to(kept[0].dtype)


class CauchyLogProb(RadialLogProb):
    """log p = (m-1) log((1 - rho^2)/D) - log S,  D = (1 - rho)^2 + rho |x - mu|^2."""

    def _partials(self, value: Tensor, loc: Tensor, rho: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        difference, count = value - loc, loc.shape[-1] - 1
        square, minus = sum_of_rows(difference.square()), 1 - rho
        distance = minus.square() + rho * square
        in_value = (-2 * count * rho / distance).unsqueeze(-1) * difference
        # Over a common denominator, where what is large cancels.
        numerator = 2 * minus.square() - square * (1 + rho.square())
        return in_value, -in_value, count * numerator / (distance * minus * (1 + rho))


class PowerLogProb(RadialLogProb):
    """log p = kappa log h - L - log S, with h = (1 + mu.x)/2 from the nearer pole: 1 - |x - mu|^2/4
    or |x + mu|^2/4."""

    def _partials(self, value: Tensor, loc: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        difference, sum_ = value - loc, value + loc
        near = sum_of_rows(difference.square()) <= sum_of_rows(sum_.square())
        quarter = sum_of_rows(torch.where(near.unsqueeze(-1), difference, sum_).square()) / 4
        h = torch.where(near, 1 - quarter, quarter)
        pole = (h == 0) & (kappa == 0)  # 0 log 0 = 0
        h = torch.where(pole, torch.ones_like(h), h)
        sides = (
            torch.where(near.unsqueeze(-1), -difference, sum_),
            torch.where(near.unsqueeze(-1), difference, sum_),
        )
        factor = (kappa / (2 * h)).unsqueeze(-1)
        slope = ops._power_spherical_log_partition_grad(kappa, loc.shape[-1])
        log_h = torch.where(
            near, torch.log1p(-torch.where(near, quarter, torch.zeros_like(h))), h.log()
        )
        return factor * sides[0], factor * sides[1], log_h - slope
