# SPDX-License-Identifier: MIT
"""Density, KL divergence, entropy and maximum likelihood of the von Mises-Fisher distribution
(paper, section 3).

m = dim is the ambient dimension, kappa has any shape, and directions carry m in their last
dimension.
"""

import math

import torch
from torch import Tensor

from svmf._sphere import log_sphere_area
from svmf.reference.bessel import iv_ratio, log_iv

__all__ = [
    "vmf_concentration",
    "vmf_entropy",
    "vmf_kl",
    "vmf_kl_uniform",
    "vmf_log_norm",
    "vmf_log_partition",
    "vmf_log_prob",
    "vmf_mean_length",
    "vmf_mean_length_complement",
]


def vmf_mean_length(kappa: Tensor, dim: int) -> Tensor:
    """A_m(kappa) = I_(m/2)(kappa) / I_(m/2-1)(kappa), the length of E[z]."""
    return iv_ratio(dim / 2, kappa)


def vmf_log_norm(kappa: Tensor, dim: int) -> Tensor:
    """log C_m(kappa), C_m(kappa) = kappa^(m/2-1) / ((2 pi)^(m/2) I_(m/2-1)(kappa))."""
    k = kappa.double()
    at_zero = k == 0
    positive = torch.where(at_zero, 1.0, k)
    order = dim / 2 - 1
    formula = order * positive.log() - dim / 2 * math.log(2 * math.pi) - log_iv(order, positive)
    # The uniform density, with the first term of its Taylor series so that two derivatives are
    # right.
    limit = -log_sphere_area(dim) - k**2 / (2 * dim)
    return torch.where(at_zero, limit, formula).to(kappa.dtype)


def vmf_mean_length_complement(kappa: Tensor, dim: int) -> Tensor:
    """1 - A_m(kappa), as a difference: it loses kappa / m of its digits for large kappa."""
    return (1 - vmf_mean_length(kappa.double(), dim)).to(kappa.dtype)


def vmf_log_partition(kappa: Tensor, dim: int) -> Tensor:
    """log E[exp(kappa mu.z)] for uniform z: -log C_m(kappa) - log area."""
    k = kappa.double()
    return (-vmf_log_norm(k, dim) - log_sphere_area(dim)).to(kappa.dtype)


def vmf_kl_uniform(kappa: Tensor, dim: int) -> Tensor:
    """KL(vMF(mu, kappa) || U(S^(m-1))) = kappa A_m(kappa) + log C_m(kappa) + log area (paper,
    equation for the KL)."""
    k = kappa.double()
    kl = k * vmf_mean_length(k, dim) + vmf_log_norm(k, dim) + log_sphere_area(dim)
    return kl.to(kappa.dtype)


def vmf_entropy(kappa: Tensor, dim: int) -> Tensor:
    """Differential entropy -E[log q(z)] = -log C_m(kappa) - kappa A_m(kappa)."""
    k = kappa.double()
    return (-vmf_log_norm(k, dim) - k * vmf_mean_length(k, dim)).to(kappa.dtype)


def vmf_log_prob(value: Tensor, loc: Tensor, kappa: Tensor) -> Tensor:
    """log q(z | mu, kappa) = log C_m(kappa) + kappa mu.z."""
    k = kappa.double()
    cosine = (value.double() * loc.double()).sum(-1)
    return (vmf_log_norm(k, loc.shape[-1]) + k * cosine).to(value.dtype)


def vmf_kl(loc1: Tensor, kappa1: Tensor, loc2: Tensor, kappa2: Tensor) -> Tensor:
    """KL(vMF(mu1, kappa1) || vMF(mu2, kappa2)) = E_1[log q1 - log q2], with E_1[z] = A_m(kappa1)
    mu1."""
    dim = loc1.shape[-1]
    k1, k2 = kappa1.double(), kappa2.double()
    cosine = (loc1.double() * loc2.double()).sum(-1)
    log_norms = vmf_log_norm(k1, dim) - vmf_log_norm(k2, dim)
    return (log_norms + vmf_mean_length(k1, dim) * (k1 - k2 * cosine)).to(kappa1.dtype)


def vmf_concentration(mean_length: Tensor, dim: int) -> Tensor:
    """kappa with A_m(kappa) = R, by bisection between R (m-2) / (1-R^2) and R m / (1-R^2).

    The bounds are those of the first-order approximations of Banerjee, Dhillon, Ghosh and Sra, JMLR
    6 (2005) 1345. One Newton step after the bisection carries the derivative dkappa/dR = 1 /
    A_m'(kappa).
    """
    length = mean_length.double()
    inside = (length > 0) & (length < 1)
    safe = torch.where(inside, length, 0.5)
    low = (safe * (dim - 2) / (1 - safe**2)).detach()
    high = (safe * dim / (1 - safe**2)).detach()
    for _ in range(100):
        middle = (low + high) / 2
        below = vmf_mean_length(middle, dim) < safe
        low, high = torch.where(below, middle, low), torch.where(below, high, middle)
    kappa = ((low + high) / 2).detach()
    ratio = vmf_mean_length(kappa, dim)
    slope = 1 - ratio**2 - (dim - 1) * ratio / kappa
    kappa = kappa + (safe - ratio) / slope
    ends = torch.where(length == 0, dim * length, torch.where(length == 1, torch.inf, torch.nan))
    return torch.where(inside, kappa, ends).to(mean_length.dtype)
