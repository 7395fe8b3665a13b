# SPDX-License-Identifier: MIT
"""Mistakes in the build's settings are named when CMake configures, before anything is compiled."""

import shutil
from pathlib import Path

import pytest
from helpers.building import configure, needs_cmake, one_line
from helpers.commands import python
from helpers.nvcc import needs_nvcc, torch_that_claims

NO_CUDA_VARIABLES = {"CUDACXX": "", "CUDA_PATH": "", "CUDA_HOME": ""}

pytestmark = needs_cmake


@pytest.fixture
def path_without_nvcc(tmp_path: Path) -> str:
    """A folder with links to the compilers alone, so that no nvcc is found."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("g++", "gcc", "c++", "cc", "ld", "ar", "ranlib", "nm", "as", "sh", "uname"):
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    return str(tools)


def test_cuda_on_without_nvcc(tmp_path: Path, path_without_nvcc: str) -> None:
    finished = configure(
        tmp_path / "build", "-DSVMF_CUDA=ON", PATH=path_without_nvcc, **NO_CUDA_VARIABLES
    )
    assert finished.returncode != 0
    assert (
        "svmf: SVMF_CUDA=ON, but no nvcc was found that works. Put nvcc on PATH, or set CUDA_HOME "
        "or CUDACXX=/path/to/nvcc, or build with SVMF_CUDA=OFF."
    ) in one_line(finished.stderr)


def test_cuda_auto_with_a_torch_that_has_none(tmp_path: Path) -> None:
    """Not even looked for: an nvcc on the PATH is no wish for eight minutes of compilation."""
    finished = configure(tmp_path / "build", PYTHONPATH=torch_that_claims("", tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert (
        "svmf: for the CPU only, as torch 2.13.0 (SVMF_CUDA=AUTO; ON builds the CUDA ops all the "
        "same)"
    ) in finished.stdout
    assert "WARNING" not in finished.stderr.upper()


def test_cuda_auto_with_a_cuda_torch_without_nvcc(tmp_path: Path, path_without_nvcc: str) -> None:
    finished = configure(
        tmp_path / "build",
        PATH=path_without_nvcc,
        PYTHONPATH=torch_that_claims("13.0", tmp_path),
        **NO_CUDA_VARIABLES,
    )
    assert finished.returncode == 0, finished.stderr
    message = one_line(finished.stderr)
    assert "CMake Warning" in message
    assert "no nvcc was found that works. torch 2.13.0 has CUDA 13.0, but svmf is built" in message
    assert "WITHOUT its CUDA ops" in message


@pytest.mark.parametrize("setting", ["ON", "AUTO"])
def test_cuda_home_without_nvcc(tmp_path: Path, setting: str) -> None:
    finished = configure(
        tmp_path / "build",
        f"-DSVMF_CUDA={setting}",
        PYTHONPATH=torch_that_claims("13.0", tmp_path),
        **NO_CUDA_VARIABLES | {"CUDA_HOME": "/nowhere"},
    )
    assert (finished.returncode == 0) == (setting == "AUTO")
    assert "svmf: CUDA_HOME is /nowhere, but there is no bin/nvcc in it. " in one_line(
        finished.stderr
    )


def test_unknown_cuda_setting(tmp_path: Path) -> None:
    finished = configure(tmp_path / "build", "-DSVMF_CUDA=MAYBE")
    assert finished.returncode != 0
    assert "expected SVMF_CUDA to be AUTO, ON or OFF, got 'MAYBE'" in one_line(finished.stderr)


@needs_nvcc
def test_bad_architecture_list(tmp_path: Path) -> None:
    finished = configure(tmp_path / "build", "-DSVMF_CUDA=ON", TORCH_CUDA_ARCH_LIST="8.0;Wankel")
    assert finished.returncode != 0
    assert (
        "expected entries like 8.0, 12.0+PTX or Ampere in TORCH_CUDA_ARCH_LIST, got 'Wankel'"
    ) in one_line(finished.stderr)


def test_python_without_torch(tmp_path: Path) -> None:
    """A build environment without torch is told what is missing."""
    python("-m", "venv", "--without-pip", tmp_path / "empty")
    finished = configure(
        tmp_path / "build",
        "-DSVMF_CUDA=OFF",
        f"-DPython_EXECUTABLE={tmp_path / 'empty' / 'bin' / 'python'}",
    )
    assert finished.returncode != 0
    assert "cannot import torch, which the build needs for its headers" in one_line(finished.stderr)
