# SPDX-License-Identifier: MIT
"""The two partial derivatives of the pathwise derivative D(w, kappa), written with
differentiable ops.

They are needed only for second derivatives through vmf_pathwise_derivative. With g the density
of w and
nu = (m-1)/2 (docs/math.md): dD/dw = A - w - D (log g)', and dD/dkappa = (1/g(w)) int_{-1}^{w}
(A' - D(t)) g(t) dt.
"""

import functools
import math

import torch
from torch import Tensor

from svmf._transforms import ops

# Gauss-Legendre nodes on the integral; the tail beyond this many standard deviations of the
# proposal is below rounding.
_NODES = 48
_STANDARD_DEVIATIONS = 12.0


def _log_density_slope(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    return kappa - (dim - 3) * w / ((1 - w) * (1 + w))


def slope_in_w(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """dD/dw from the differential equation of D."""
    D = ops.vmf_pathwise_derivative(w, kappa, dim)
    return ops.vmf_mean_length(kappa, dim) - w - D * _log_density_slope(w, kappa, dim)


@functools.cache
def _gauss_legendre(count: int) -> tuple[list[float], list[float]]:
    """Nodes and weights on [0, 1], by Newton's method on the Legendre polynomial.

    Plain numbers: a tensor made here under torch.compile would be a fake one, and stay in the
    cache.
    """
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


def slope_in_kappa(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """dD/dkappa by quadrature in the proposal's coordinate eps, on the side of w that holds less
    of the mass.
    """
    nu = (dim - 1) / 2
    b = nu / (torch.sqrt(nu * nu + kappa * kappa) + kappa)
    eps_w = (1 - w) / ((1 - w) + b * (1 + w))
    right = w.detach() >= ops.vmf_mean_length(kappa.detach(), dim)
    spread = _STANDARD_DEVIATIONS / (2 * math.sqrt(2 * nu + 1))
    # Right of w: eps from eps_w down to 0; left of w: from eps_w up to 1.
    end = torch.where(right, (eps_w - spread).clamp(min=0.0), (eps_w + spread).clamp(max=1.0))
    nodes, weights = (
        torch.tensor(t, dtype=w.dtype, device=w.device) for t in _gauss_legendre(_NODES)
    )
    # xi^2 clusters the nodes at the far end, where the density behaves as a power.
    xi = nodes.square()
    eps = end.unsqueeze(-1) + (eps_w - end).unsqueeze(-1) * xi
    b1, k1, w1 = b.unsqueeze(-1), kappa.unsqueeze(-1), w.unsqueeze(-1)
    denominator = (1 - eps) + b1 * eps
    below, above = 2 * b1 * eps / denominator, 2 * (1 - eps) / denominator  # 1-t, 1+t
    t = torch.where(above > below, 1 - below, above - 1)
    log_ratio = k1 * ((1 - w1) - below) + (dim - 3) / 2 * torch.log(
        below * above / ((1 - w1) * (1 + w1))
    )
    dt = 2 * b1 / denominator.square() * (eps_w - end).abs().unsqueeze(-1) * 2 * nodes
    slope = ops._vmf_mean_length_grad(kappa, dim).unsqueeze(-1)
    D = ops.vmf_pathwise_derivative(t, k1.expand_as(t), dim)
    integral = ((slope - D) * torch.exp(log_ratio) * dt * weights).sum(-1)
    return torch.where(right, -integral, integral)
