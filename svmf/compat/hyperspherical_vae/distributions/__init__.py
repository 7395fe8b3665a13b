# SPDX-License-Identifier: MIT
"""`VonMisesFisher(loc, scale)` and `HypersphericalUniform(dim=m-1)`."""

from svmf.compat.hyperspherical_vae.distributions.hyperspherical_uniform import (
    HypersphericalUniform,
)
from svmf.compat.hyperspherical_vae.distributions.von_mises_fisher import VonMisesFisher

__all__ = ["HypersphericalUniform", "VonMisesFisher"]
