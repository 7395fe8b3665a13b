# SPDX-License-Identifier: MIT
"""nvcc, where there is one, and whether a CUDA build can be configured with it."""

import re
import shutil
import subprocess

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


needs_nvcc = pytest.mark.skipif(
    not _fits_torch(), reason="needs nvcc, of the CUDA version of torch if that has one"
)
