# SPDX-License-Identifier: MIT
"""nvcc, where there is one, and whether a CUDA build can be configured with it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

NVCC = shutil.which("nvcc")


def nvcc_version() -> tuple[int, int]:
    assert NVCC is not None
    text = subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", text)
    assert found is not None
    return int(found[1]), int(found[2])


def _fits_torch() -> bool:
    """A torch with CUDA wants an nvcc of its own major version; one without takes any."""
    cuda = torch.version.cuda
    return NVCC is not None and (cuda is None or int(cuda.split(".")[0]) == nvcc_version()[0])


def torch_that_claims(cuda: str, folder: Path) -> str:
    """A PYTHONPATH with a torch that is nothing but its versions."""
    torch = folder / "fake" / "torch"
    (torch / "include" / "torch" / "csrc" / "stable").mkdir(parents=True)
    (torch / "include" / "torch" / "csrc" / "stable" / "ops.h").touch()
    (torch / "__init__.py").write_text(
        f"class version:\n    cuda = {cuda!r}\n__version__ = '2.13.0'\n"
    )
    return str(torch.parent)


needs_nvcc = pytest.mark.skipif(
    not _fits_torch(), reason="needs nvcc, of the CUDA version of torch if that has one"
)
