# SPDX-License-Identifier: MIT
"""KL divergences, registered for `torch.distributions.kl_divergence`."""

import torch
from torch import Tensor
from torch.distributions import Distribution
from torch.distributions.kl import register_kl

from svmf import functional as F
from svmf.distributions._checks import common_batch
from svmf.distributions.hyperspherical_uniform import HypersphericalUniform
from svmf.distributions.power_spherical import PowerSpherical
from svmf.distributions.spherical_cauchy import SphericalCauchy
from svmf.distributions.von_mises_fisher import VonMisesFisher


def _common_dim(p: Distribution, q: Distribution) -> int:
    """The ambient dimension of both."""
    shape = p.event_shape
    if shape != q.event_shape:
        raise ValueError(
            "kl_divergence: expected distributions on the same sphere, got event shapes "
            f"{list(p.event_shape)} and {list(q.event_shape)}"
        )
    return shape[-1]


def _broadcast(kl: Tensor, other: Distribution) -> Tensor:
    """`kl` with the batch shape of a distribution that has no parameters to broadcast."""
    if not other.batch_shape:
        return kl
    return kl.expand(common_batch("kl_divergence", kl.shape, other.batch_shape))


@register_kl(VonMisesFisher, HypersphericalUniform)
@register_kl(PowerSpherical, HypersphericalUniform)
@register_kl(SphericalCauchy, HypersphericalUniform)
def _kl_to_uniform(
    p: VonMisesFisher | PowerSpherical | SphericalCauchy, q: HypersphericalUniform
) -> Tensor:
    _common_dim(p, q)
    return _broadcast(p._kl_uniform(), q)


@register_kl(VonMisesFisher, VonMisesFisher)
def _kl_vmf_vmf(p: VonMisesFisher, q: VonMisesFisher) -> Tensor:
    _common_dim(p, q)
    return F.vmf_kl(p.loc, p.concentration, q.loc, q.concentration)


@register_kl(HypersphericalUniform, VonMisesFisher)
def _kl_uniform_vmf(p: HypersphericalUniform, q: VonMisesFisher) -> Tensor:
    # -log(area) - log C_m(kappa); the mean of kappa mu.z is zero.
    return _broadcast(F.vmf_log_partition(q.concentration, _common_dim(p, q)), p)


@register_kl(PowerSpherical, VonMisesFisher)
@register_kl(SphericalCauchy, VonMisesFisher)
def _kl_to_vmf(p: PowerSpherical | SphericalCauchy, q: VonMisesFisher) -> Tensor:
    # KL(p || uniform) + L - kappa E[mu.z]. The mean of z is known: E[mu_q.z] = E[w] mu_p.mu_q, with
    # the last two from their distance, which keeps the digits of close directions.
    dim = _common_dim(p, q)
    common_batch("kl_divergence", p.batch_shape, q.batch_shape)
    kappa = q.concentration.double()
    aligned = 1 - (p.loc.double() - q.loc.double()).square().sum(-1) / 2
    cosine = p._mean_cosine().double() * aligned
    kl = p._kl_uniform().double() + F.vmf_log_partition(kappa, dim) - kappa * cosine
    return kl.to(p.loc.dtype)


@register_kl(HypersphericalUniform, PowerSpherical)
def _kl_uniform_power_spherical(p: HypersphericalUniform, q: PowerSpherical) -> Tensor:
    # L - kappa E[log((1 + w) / 2)], whose mean over the sphere is the slope of L at 0.
    dim = _common_dim(p, q)
    kappa = q.concentration
    slope = F.power_spherical_mean_log_half(torch.zeros_like(kappa), dim)
    return _broadcast(F.power_spherical_log_partition(kappa, dim) - kappa * slope, p)


@register_kl(HypersphericalUniform, SphericalCauchy)
def _kl_uniform_spherical_cauchy(p: HypersphericalUniform, q: SphericalCauchy) -> Tensor:
    _common_dim(p, q)
    return _broadcast(q._kl_uniform(), p)


@register_kl(SphericalCauchy, SphericalCauchy)
def _kl_spherical_cauchy(p: SphericalCauchy, q: SphericalCauchy) -> Tensor:
    _common_dim(p, q)
    common_batch("kl_divergence", p.batch_shape, q.batch_shape)
    return p._kl_to(q)


@register_kl(HypersphericalUniform, HypersphericalUniform)
def _kl_uniform_uniform(p: HypersphericalUniform, q: HypersphericalUniform) -> Tensor:
    _common_dim(p, q)
    return _broadcast(torch.zeros_like(p.entropy()), q)
