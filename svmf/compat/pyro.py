# SPDX-License-Identifier: MIT
"""The distributions for Pyro: the same classes with Pyro's mixin (`pip install pyro-ppl`).

    import pyro
    from svmf.compat.pyro import HypersphericalUniform, VonMisesFisher

    def model(data):
        direction = pyro.sample("direction", HypersphericalUniform(3))
        with pyro.plate("data", len(data)):
            pyro.sample("x", VonMisesFisher(direction, 20.0), obs=data)

NUTS and the automatic guides reach the sphere by its stereographic projection (`svmf.constraints`).
"""

try:
    from pyro.distributions.torch_distribution import TorchDistributionMixin
except ImportError as error:
    raise ImportError("svmf.compat.pyro needs Pyro: pip install pyro-ppl") from error

from svmf import distributions

__all__ = ["HypersphericalUniform", "PowerSpherical", "VonMisesFisher"]


class HypersphericalUniform(distributions.HypersphericalUniform, TorchDistributionMixin):
    pass


class PowerSpherical(distributions.PowerSpherical, TorchDistributionMixin):
    pass


class VonMisesFisher(distributions.VonMisesFisher, TorchDistributionMixin):
    pass
