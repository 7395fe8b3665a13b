# SPDX-License-Identifier: MIT
"""svmf: von Mises-Fisher distributions on the hypersphere for PyTorch, fast and exact, and
hyperspherical VAEs.

>>> import torch, svmf
>>> loc = torch.nn.functional.normalize(torch.randn(8, 10), dim=-1)
>>> svmf.functional.vmf_kl_uniform(torch.full((8,), 50.0), dim=10).shape
torch.Size([8])
"""

import importlib
from typing import TYPE_CHECKING, Any

from svmf import functional
from svmf._library import build_info
from svmf._version import __version__

if TYPE_CHECKING:
    from svmf import compat as compat
    from svmf import data as data
    from svmf import distributions as distributions
    from svmf import models as models
    from svmf import reference as reference

__all__ = ["__version__", "build_info", "functional"]

# Imported on first use, so that `import svmf` costs little more than `import torch`.
_LAZY = (
    "compat",
    "constraints",
    "data",
    "distributions",
    "mixture",
    "models",
    "reference",
    "training",
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"svmf.{name}")
    raise AttributeError(f"module 'svmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
