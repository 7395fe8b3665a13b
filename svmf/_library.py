# SPDX-License-Identifier: MIT
"""Loads the compiled ops (torch.ops.svmf.*) and the Python parts that torch wants beside them."""

import torch

try:
    from svmf import _C  # noqa: F401  (importing it registers the ops)
except ImportError as error:
    raise ImportError(
        "svmf: the compiled module svmf._C could not be loaded. Build it with "
        "`pip install --no-build-isolation -e .` in the project's folder (see docs/building.md). "
        f"The loader said: {error}"
    ) from error

from svmf import _autograd, _fake  # noqa: F401  (registrations)


def build_info() -> dict[str, str]:
    """What this installation is: versions, compiler, flags, instruction set in use, CUDA
    architectures.
    """
    from svmf import __version__

    lines = torch.ops.svmf._build_info().splitlines()
    info = {"svmf": __version__, "torch": str(torch.__version__)}
    info.update(line.split("=", 1) for line in lines)
    return info
