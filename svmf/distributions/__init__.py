# SPDX-License-Identifier: MIT
"""Distributions on the sphere S^(m-1) in the manner of `torch.distributions`.

>>> import torch
>>> from torch.distributions import kl_divergence
>>> from svmf.distributions import HypersphericalUniform, VonMisesFisher
>>> q = VonMisesFisher(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(10.0))
>>> q.rsample((5,)).shape
torch.Size([5, 3])
>>> kl_divergence(q, HypersphericalUniform(3))
tensor(1.9957)
"""

import torch

from svmf.distributions import kl as _kl  # registers the divergences
from svmf.distributions.hyperspherical_uniform import HypersphericalUniform
from svmf.distributions.monte_carlo import KlEstimate, kl_monte_carlo
from svmf.distributions.power_spherical import PowerSpherical
from svmf.distributions.sphere_flow import SphereFlow
from svmf.distributions.spherical_cauchy import SphericalCauchy
from svmf.distributions.von_mises_fisher import VonMisesFisher

__all__ = [
    "HypersphericalUniform",
    "KlEstimate",
    "PowerSpherical",
    "SphereFlow",
    "SphericalCauchy",
    "VonMisesFisher",
    "kl_monte_carlo",
]

# `torch.load` refuses classes that it does not know; these hold tensors and numbers only.
torch.serialization.add_safe_globals(
    [HypersphericalUniform, PowerSpherical, SphereFlow, SphericalCauchy, VonMisesFisher]
)

del _kl, torch
