# SPDX-License-Identifier: MIT
"""The distribution function of w = mu.z, by Gauss-Legendre quadrature in the angle a = arccos w.

The density of the angle is proportional to exp(kappa cos a) sin(a)^(m-2). The tail on the far side
of w from the mode and the whole are integrated relative to the density at the mode, so that neither
special functions nor cancellation enter; gradients follow by autograd.
"""

import torch
from torch import Tensor

from svmf._quadrature import gauss_legendre

_NODES = 96


def cosine_cdf(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """P(mu.z <= w) for z ~ vMF(mu, kappa) on S^(m-1), in float64; both tails to full precision."""
    w, kappa = torch.broadcast_tensors(w.double(), kappa.double())
    cosine = torch.where(w.abs() < 1, w, 0.0)
    angle = torch.atan2(((1 - cosine) * (1 + cosine)).sqrt(), cosine)

    # The mode solves kappa sin(a)^2 = (m-2) cos(a). It only scales; no gradient need pass.
    k, order = kappa.detach(), dim - 2
    mode_cosine = torch.where(
        k == 0, 0.0, 2 * k / (order + torch.hypot(2 * k, torch.full_like(k, order)))
    )
    mode_sine = torch.where(k == 0, 1.0, (order * mode_cosine / torch.where(k == 0, 1.0, k)).sqrt())
    mode = torch.atan2(mode_sine, mode_cosine)

    nodes, weights = gauss_legendre(_NODES, w)

    def integral(start: Tensor, length: Tensor) -> Tensor:
        """The density relative to the mode, over the angles from start to start + length."""
        a = start.unsqueeze(-1) + length.unsqueeze(-1) * nodes
        gap = a - mode.unsqueeze(-1)
        cosine_gap = -2 * (mode.unsqueeze(-1) + gap / 2).sin() * (gap / 2).sin()
        log_density = kappa.unsqueeze(-1) * cosine_gap
        if order:
            log_density = log_density + order * (a.sin() / mode_sine.unsqueeze(-1)).log()
        return length.abs() * (log_density.exp() * weights).sum(-1)

    reach = 16 / (k + dim - 1).sqrt()  # sixteen standard deviations or more
    whole = integral(mode, -torch.minimum(mode, reach))
    whole = whole + integral(mode, torch.minimum(torch.pi - mode, reach))

    low = angle > mode  # w below its mode: the tail runs to a = pi, else to a = 0
    slope = (order * angle.cos() / angle.sin() - kappa * angle.sin()).abs().detach()
    to_pole = torch.where(low, torch.pi - angle, angle)
    tail_length = torch.minimum(to_pole, torch.minimum(reach, 80 / slope))
    tail = integral(angle, torch.where(low, tail_length, -tail_length)) / whole
    inside = torch.where(low, tail, 1 - tail)
    outside = torch.where(w >= 1, 1.0, torch.where(w <= -1, 0.0, torch.nan))
    return torch.where(kappa >= 0, torch.where(w.abs() < 1, inside, outside), torch.nan)
