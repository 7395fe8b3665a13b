# SPDX-License-Identifier: MIT
"""Derivatives that take more than one op: of the Bessel functions, of the pathwise derivative, and
the difference of two mean lengths. All are written with differentiable ops."""

import math

import torch
from torch import Tensor

from svmf._dispatch import ops
from svmf._quadrature import gauss_legendre

Order = float | Tensor


def _order_over_x(order: Order, x: Tensor) -> Tensor | float:
    """v/x, which is no term at all for v = 0."""
    if isinstance(order, Tensor):
        return torch.where(order == 0, torch.zeros_like(x), order / x)
    return order / x if order != 0 else 0.0


def log_iv_slope(order: Order, x: Tensor) -> Tensor:
    return ops.iv_ratio(order + 1, x) + _order_over_x(order, x)


def log_ive_slope(order: Order, x: Tensor) -> Tensor:
    return log_iv_slope(order, x) - 1


def log_kv_slope(order: Order, x: Tensor) -> Tensor:
    return ops._log_kve_grad(order, x) - 1


def iv_ratio_second_slope(order: Order, x: Tensor) -> Tensor:
    """R' = 1 - R^2 - (2v-1) R/x (DLMF 10.29.2), differentiated once more."""
    ratio, slope, c = ops.iv_ratio(order, x), ops._iv_ratio_grad(order, x), 2 * order - 1
    away = torch.where(x == 0, 1, x)
    bend = -2 * ratio * slope - c * (slope - ratio / away) / away
    # The ratio is odd in x, or 2/x + ... for v = 0.
    return torch.where((x == 0) & (ratio == 0), torch.zeros_like(x), bend)


# The slope of A has its nearest pole at 0: on an interval of this ratio eight nodes give 1e-15.
_NEAR = 1.5
_DIFFERENCE_NODES = 8


def mean_length_difference(kappa1: Tensor, kappa2: Tensor, dim: int) -> Tensor:
    """A(kappa2) - A(kappa1) without cancellation.

    Where the two are near, by quadrature of the slope,

        A(kappa2) - A(kappa1) = (kappa2 - kappa1) int_0^1 A'(kappa1 + t (kappa2 - kappa1)) dt,

    else by the difference of A, or of 1 - A where that is the smaller.
    """
    step = kappa2 - kappa1
    near = step.abs() <= (_NEAR - 1) * torch.minimum(kappa1, kappa2)
    nodes, weights = gauss_legendre(_DIFFERENCE_NODES, kappa1)
    inside = torch.where(near, step, 0.0).unsqueeze(-1) * nodes + kappa1.unsqueeze(-1)
    integral = step * (ops._vmf_mean_length_grad(inside, dim) * weights).sum(-1)
    mean1, mean2 = ops.vmf_mean_length(kappa1, dim), ops.vmf_mean_length(kappa2, dim)
    rest1 = ops.vmf_mean_length_complement(kappa1, dim)
    rest2 = ops.vmf_mean_length_complement(kappa2, dim)
    apart = torch.where(torch.minimum(mean1, mean2) < 0.5, mean2 - mean1, rest1 - rest2)
    return torch.where(near, integral, apart)


# Of the quadrature of dD/dkappa; the tail beyond this many standard deviations of the proposal is
# below rounding.
_PATHWISE_NODES = 48
_STANDARD_DEVIATIONS = 12.0


def pathwise_slope_in_w(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """dD/dw of the pathwise derivative D(w, kappa), from its differential equation,

        dD/dw = A - w - D (log g)',    (log g)' = kappa - (m-3) w / (1 - w^2),

    with g the density of w (docs/math.md). At w = 1 and w = -1, where D vanishes, the limits are
    -2 (1 - A) / (m-1) and 2 (1 + A) / (m-1).
    """
    mean = ops.vmf_mean_length(kappa, dim)
    at_pole = w.abs() >= 1
    inside = torch.where(at_pole, 0.0, w)
    D = ops.vmf_pathwise_derivative(inside, kappa, dim)
    log_density_slope = kappa - (dim - 3) * inside / ((1 - inside) * (1 + inside))
    limit = 2 / (dim - 1) * (mean - w.sign())
    limit = torch.where(w > 0, -2 / (dim - 1) * ops.vmf_mean_length_complement(kappa, dim), limit)
    return torch.where(at_pole, limit, mean - inside - D * log_density_slope)


def pathwise_slope_in_kappa(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """dD/dkappa, by quadrature in the proposal's coordinate eps on the side of w that holds less of
    the mass:

        dD/dkappa = (1/g(w)) int_{-1}^{w} (A' - D(t)) g(t) dt.

    At w = 1 and w = -1 the derivative D is zero for every kappa.
    """
    at_pole = w.abs() >= 1
    w = torch.where(at_pole, 0.0, w)
    nu = (dim - 1) / 2
    b = nu / (torch.sqrt(nu * nu + kappa * kappa) + kappa)
    right = w.detach() >= ops.vmf_mean_length(kappa.detach(), dim)
    # Right of w eps goes down to 0; left of w, 1 - eps does.
    near_w = torch.where(right, 1 - w, b * (1 + w)) / ((1 - w) + b * (1 + w))
    spread = _STANDARD_DEVIATIONS / (2 * math.sqrt(2 * nu + 1))
    end = (near_w - spread).clamp(min=0.0)
    nodes, weights = gauss_legendre(_PATHWISE_NODES, w)
    # xi^2 clusters the nodes at the far end, where the density behaves as a power.
    xi = nodes.square()
    near = end.unsqueeze(-1) + (near_w - end).unsqueeze(-1) * xi
    eps = torch.where(right.unsqueeze(-1), near, 1 - near)
    rest = torch.where(right.unsqueeze(-1), 1 - near, near)
    b1, k1, w1 = b.unsqueeze(-1), kappa.unsqueeze(-1), w.unsqueeze(-1)
    denominator = rest + b1 * eps
    below, above = 2 * b1 * eps / denominator, 2 * rest / denominator  # 1-t, 1+t
    t = torch.where(above > below, 1 - below, above - 1)
    log_ratio = k1 * ((1 - w1) - below) + (dim - 3) / 2 * torch.log(
        below * above / ((1 - w1) * (1 + w1))
    )
    dt = 2 * b1 / denominator.square() * (near_w - end).unsqueeze(-1) * 2 * nodes
    slope = ops._vmf_mean_length_grad(kappa, dim).unsqueeze(-1)
    D = ops.vmf_pathwise_derivative(t, k1.expand_as(t), dim)
    integral = ((slope - D) * torch.exp(log_ratio) * dt * weights).sum(-1)
    return torch.where(at_pole, 0.0, torch.where(right, -integral, integral))
