# SPDX-License-Identifier: MIT
"""The functions of the spherical Cauchy distribution that do not depend on its direction.

With c the cosine of a uniform vector u with mu, and D = 1 + rho^2 + 2 rho c = |u + rho mu|^2, all
come from

    G(rho) = E[log D] = log(1 + rho^2) + E[log(1 + q c)],  q = 2 rho / (1 + rho^2).

KL(rho) = (m-1) (G(rho) - log(1 - rho^2)), E[w] = rho + (1 - rho^2) G'(rho) / 2, and E[1 - w^2] =
(1 - rho^2) / 2 dE[w]/drho, since dw/drho = 2 (1 - w^2) / (1 - rho^2) at fixed u. In float64, and
differentiable as often as one likes.
"""

import math

import torch
from torch import Tensor

# From here on the series in q^2 has no more than _TERMS terms above 1e-18, whatever q.
_SERIES_DIM = 60
_TERMS = 100
_NODES = 60  # of the double-exponential rule on each side of 0
_STEP = 0.0525


def _even_coefficients(m: int) -> tuple[float, ...]:
    """G = sum of coefficient[k] rho^(2k): for even m a polynomial.

    G is the derivative at s = 0 of E[D^s] = 2F1(-s, 1 - s - m/2; m/2; rho^2).
    """
    result, term = [0.0], 1.0
    for k in range(1, m // 2):
        term *= (k - m / 2) / (m / 2 + k - 1)
        result.append(-term / k)
    return tuple(result)


def _series_coefficients(m: int) -> tuple[float, ...]:
    """E[log(1 + q c)] = sum of coefficient[j] q^(2j), from E[c^(2j)] = (1/2)_j / (m/2)_j."""
    result, moment = [0.0], 1.0
    for j in range(1, _TERMS + 1):
        moment *= (j - 0.5) / (m / 2 + j - 1)
        result.append(-moment / (2 * j))
    return tuple(result)


def _quadrature(m: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes 1 + c and weights for the mean over c: the double-exponential rule (Takahasi and Mori
    1974), whose nodes crowd at the ends as log(1 + q c) needs for q near 1."""
    nodes, weights = [], []
    for k in range(-_NODES, _NODES + 1):
        x = k * _STEP
        y = math.pi / 2 * math.sinh(x)
        towards, away = 2 / (1 + math.exp(-2 * y)), 2 / (1 + math.exp(2 * y))  # 1 + c, 1 - c
        nodes.append(towards)
        # dc = 4 e^(2y) / (1 + e^(2y))^2 dy = (1 + c)(1 - c) dy
        weights.append(math.cosh(x) * (towards * away) ** ((m - 1) / 2))
    total = math.fsum(weights)
    return tuple(nodes), tuple(weight / total for weight in weights)


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """sum of coefficients[k] x^k by Horner's rule."""
    result = x * 0 + coefficients[-1]  # depends on x also if it is a constant
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def mean_log_distance(rho: Tensor, m: int) -> Tensor:
    """G(rho) = E[log |u + rho mu|^2] for float64 rho in [0, 1]."""
    square = rho.square()
    if m < _SERIES_DIM and m % 2 == 0:
        return _polynomial(square, _even_coefficients(m))
    if m >= _SERIES_DIM:
        q = 2 * rho / (1 + square)
        return square.log1p() + _polynomial(q.square(), _series_coefficients(m))
    nodes, weights = _quadrature(m)
    towards, weight = rho.new_tensor(nodes), rho.new_tensor(weights)
    # For small rho from E[log(1 + q c)] = E[log(1 - q^2 c^2)] / 2, where nothing of order rho is
    # left to cancel; else D = (1 - rho)^2 + 2 rho (1 + c), a sum of what is not negative.
    low, high = rho.clamp(max=0.5), rho.clamp(min=0.5)
    q = 2 * low / (1 + low.square())
    cosine = towards - 1
    small = torch.log1p(-(q.unsqueeze(-1) * cosine).square()) @ weight / 2 + low.square().log1p()
    distance = (1 - high).square().unsqueeze(-1) + 2 * high.unsqueeze(-1) * towards
    return torch.where(rho < 0.5, small, distance.log() @ weight)


def kl_uniform(rho: Tensor, m: int) -> Tensor:
    """KL from the uniform distribution, which is the same either way round."""
    # log(1 - rho^2): of the square where that is small, of both factors where one is.
    low, high = rho.clamp(max=0.5), rho.clamp(min=0.5)
    log = torch.where(rho < 0.5, torch.log1p(-low.square()), torch.log1p(-high) + high.log1p())
    return (m - 1) * (mean_log_distance(rho, m) - log)


def cosine_moments(rho: Tensor, m: int) -> tuple[Tensor, Tensor]:
    """E[w] and E[1 - w^2], with a graph if `rho` has one."""
    keep = torch.is_grad_enabled() and rho.requires_grad
    with torch.enable_grad():
        if not keep:
            rho = rho.detach().requires_grad_()
        ones = torch.ones_like(rho)
        (slope,) = torch.autograd.grad(mean_log_distance(rho, m), rho, ones, create_graph=True)
        mean = rho + (1 - rho.square()) * slope / 2
        (mean_slope,) = torch.autograd.grad(mean, rho, ones, create_graph=True)
        across = (1 - rho.square()) / 2 * mean_slope
    return (mean, across) if keep else (mean.detach(), across.detach())
