# SPDX-License-Identifier: MIT
"""Loads the compiled ops (torch.ops.svmf.*) and the Python parts that torch wants beside them."""

from collections.abc import Callable

import torch

try:
    from svmf import _C  # noqa: F401  (importing it registers the ops)
except ImportError as error:
    raise ImportError(
        "svmf: the compiled module svmf._C could not be loaded. Build it with "
        "`pip install --no-build-isolation -e .` in the project's folder (see docs/building.md). "
        f"The loader said: {error}"
    ) from error

from svmf import _autograd, _fake, _inventory  # noqa: F401  (registrations)


def build_info() -> dict[str, str]:
    """What this installation is: versions, compiler, flags, instruction set in use, CUDA
    architectures.
    """
    from svmf import __version__

    lines = torch.ops.svmf._build_info().splitlines()
    info = {"svmf": __version__, "torch": str(torch.__version__)}
    info.update(line.split("=", 1) for line in lines)
    return info


def _refuse_cuda(*arguments: object) -> None:
    raise RuntimeError(
        "svmf: a tensor is on a CUDA device, but svmf was built without its CUDA ops (see `svmf "
        "info`). Build it again with an nvcc of torch's CUDA version: SVMF_CUDA=ON pip install "
        "--no-build-isolation --force-reinstall --no-deps . (docs/building.md), or move the tensor "
        "to the CPU."
    )


def _refuse_mps(*arguments: object) -> None:
    raise RuntimeError(
        "svmf: a tensor is on an mps device, for which svmf has no kernels. Move it to the CPU "
        "with .cpu(), and the result back with .to('mps')."
    )


def explain_missing_device(key: str, refuse: Callable[..., None]) -> list[torch.library.Library]:
    """Gives every op a kernel for the dispatch key that says what is missing, instead of torch's
    general message. They last as long as the result."""
    libraries = [torch.library.Library(name, "IMPL", key) for name in ("svmf", "svmf_kernels")]
    for name in set(_inventory.NAMES) - set(_inventory.HOST_ONLY):
        for overload in getattr(torch.ops.svmf, name).overloads():
            for library in libraries:
                library.impl(name if overload == "default" else f"{name}.{overload}", refuse)
    return libraries


def explain_missing_cuda() -> list[torch.library.Library]:
    return explain_missing_device("CUDA", _refuse_cuda)


if torch.version.cuda and not build_info()["cuda"]:
    _explained = explain_missing_cuda()
if torch.backends.mps.is_built():
    _explained_mps = explain_missing_device("MPS", _refuse_mps)
