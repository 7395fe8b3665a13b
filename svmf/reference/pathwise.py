# SPDX-License-Identifier: MIT
"""dw/dkappa at a fixed quantile of w = mu.z, by numerical integration.

Implicit reparameterisation (Figurnov, Mohamed, Mnih 2018): with the distribution function F(w;
kappa) and density g(w; kappa), dw/dkappa = -(dF/dkappa) / g = int_w^1 (t - A) g(t) dt / g(w), A the
mean of w. Unbiased; no correction term.
"""

import numpy
import torch
from torch import Tensor

from svmf.reference.density import vmf_mean_length

__all__ = [
    "vmf_pathwise_derivative",
]

_NODES, _WEIGHTS = (torch.from_numpy(array) for array in numpy.polynomial.legendre.leggauss(80))


def vmf_pathwise_derivative(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """-(dF/dkappa) / g at w, by Gauss-Legendre quadrature in the angle.

    With t = cos a and w = cos c the integral is sin(c) int (cos a - A) (sin a / sin c)^(m-2)
    exp(kappa (cos a - cos c)) da, over a from 0 to c; or, since the whole integral is zero, minus
    the same from c to pi. The side on which cos a - A keeps its sign is taken, so that nothing
    cancels. cos a - A itself loses about kappa / m of its digits.
    """
    k, m = kappa.double(), dim
    w, k = torch.broadcast_tensors(w.double(), k)
    mean = vmf_mean_length(k, m)
    inside = (w > -1) & (w < 1)
    cosine = torch.where(inside, w, 0.0)
    sine = ((1 - cosine) * (1 + cosine)).sqrt()
    angle = torch.atan2(sine, cosine)

    # Integrate from the angle of w outwards: to the pole, or as far as the integrand is not
    # negligible. The log density in the angle falls with slope (m-2) cot(a) - k sin(a) and at the
    # mode has a width of about 1/sqrt(k+m).
    outwards = torch.where(cosine >= mean, -1.0, 1.0)
    to_pole = torch.where(cosine >= mean, angle, torch.pi - angle)
    slope = ((m - 2) * cosine / sine - k * sine).abs()
    reach = torch.minimum(to_pole, torch.minimum(16 / (k + m - 1).sqrt(), 80 / slope))
    step = (outwards * reach / 2)[..., None] * (_NODES.to(k.device) + 1)
    node = angle[..., None] + step
    # cos(node) - cos(angle), without cancellation.
    difference = -2 * (angle[..., None] + step / 2).sin() * (step / 2).sin()
    log_density = k[..., None] * difference + (m - 2) * (node.sin() / sine[..., None]).log()
    integrand = (difference + (cosine - mean)[..., None]) * log_density.exp()
    integral = reach / 2 * (integrand * _WEIGHTS.to(k.device)).sum(-1)
    ends = torch.where(w.abs() == 1, 0.0, torch.nan)
    return torch.where(inside, -outwards * sine * integral, ends).to(kappa.dtype)
