# SPDX-License-Identifier: MIT
"""svmf: von Mises-Fisher distributions on the hypersphere for PyTorch, fast and exact, and
hyperspherical VAEs.

>>> import torch, svmf
>>> loc = torch.nn.functional.normalize(torch.randn(8, 10), dim=-1)
>>> svmf.functional.vmf_kl_uniform(torch.full((8,), 50.0), dim=10).shape
torch.Size([8])
>>> svmf.VonMisesFisher(loc, 50.0).sample().shape
torch.Size([8, 10])

Everything is imported on first use: `import svmf` alone loads neither torch nor the compiled ops,
so that the command line answers at once. `import svmf.functional` registers the ops, for programs
that only name them (`torch.ops.svmf`, `torch.export.load`).
"""

import importlib
from typing import TYPE_CHECKING, Any

from svmf._version import __version__

if TYPE_CHECKING:
    from svmf import compat as compat
    from svmf import constraints as constraints
    from svmf import data as data
    from svmf import distributions as distributions
    from svmf import functional as functional
    from svmf import losses as losses
    from svmf import mixture as mixture
    from svmf import models as models
    from svmf import reference as reference
    from svmf import statistics as statistics
    from svmf import training as training
    from svmf._library import build_info as build_info
    from svmf.distributions import HypersphericalUniform as HypersphericalUniform
    from svmf.distributions import PowerSpherical as PowerSpherical
    from svmf.distributions import SphericalCauchy as SphericalCauchy
    from svmf.distributions import VonMisesFisher as VonMisesFisher
    from svmf.training import load_model as load_model

_MODULES = (
    "compat",
    "constraints",
    "data",
    "distributions",
    "functional",
    "losses",
    "mixture",
    "models",
    "reference",
    "statistics",
    "training",
)
_WHERE = {  # names that are not modules, and the module that has them
    "HypersphericalUniform": "svmf.distributions",
    "PowerSpherical": "svmf.distributions",
    "SphericalCauchy": "svmf.distributions",
    "VonMisesFisher": "svmf.distributions",
    "build_info": "svmf._library",
    "load_model": "svmf.training",
}

__all__ = ["__version__", *_MODULES, *_WHERE]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"svmf.{name}")
    if name in _WHERE:
        value = globals()[name] = getattr(importlib.import_module(_WHERE[name]), name)
        return value
    raise AttributeError(f"module 'svmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_WHERE})
