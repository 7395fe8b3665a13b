# SPDX-License-Identifier: MIT
"""Mistakes in the build's settings are named when CMake configures, before anything is compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.nvcc import needs_nvcc
from helpers.paths import PROJECT

CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
NINJA = shutil.which("ninja", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")

pytestmark = pytest.mark.skipif(not (CMAKE and NINJA), reason="needs cmake and ninja")


def configure(build: Path, *options: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [CMAKE, "-S", PROJECT, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}",
         f"-DPython_EXECUTABLE={sys.executable}", *options],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


def one_line(text: str) -> str:
    """CMake wraps its messages."""
    return " ".join(text.split())


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
        tmp_path / "build", "-DSVMF_CUDA=ON", PATH=path_without_nvcc, CUDACXX="", CUDA_PATH=""
    )
    assert finished.returncode != 0
    assert (
        "svmf: SVMF_CUDA=ON, but no nvcc was found. Put nvcc on PATH, or set "
        "CUDACXX=/path/to/nvcc, or build with SVMF_CUDA=OFF."
    ) in one_line(finished.stderr)


def test_cuda_auto_without_nvcc(tmp_path: Path, path_without_nvcc: str) -> None:
    finished = configure(tmp_path / "build", PATH=path_without_nvcc, CUDACXX="", CUDA_PATH="")
    assert finished.returncode == 0, finished.stderr
    assert "svmf: no nvcc found, building for the CPU only (SVMF_CUDA=AUTO)" in finished.stdout


def test_unknown_cuda_setting(tmp_path: Path) -> None:
    finished = configure(tmp_path / "build", "-DSVMF_CUDA=MAYBE")
    assert finished.returncode != 0
    assert "expected SVMF_CUDA to be AUTO, ON or OFF, got 'MAYBE'" in one_line(finished.stderr)


@needs_nvcc
def test_bad_architecture_list(tmp_path: Path) -> None:
    finished = configure(tmp_path / "build", "-DSVMF_CUDA=ON", TORCH_CUDA_ARCH_LIST="8.0;Hopper")
    assert finished.returncode != 0
    assert (
        "expected entries like 8.0 or 12.0+PTX in TORCH_CUDA_ARCH_LIST, got 'Hopper'"
    ) in one_line(finished.stderr)


def test_python_without_torch(tmp_path: Path) -> None:
    """A build environment without torch is told what is missing."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    finished = configure(
        tmp_path / "build",
        "-DSVMF_CUDA=OFF",
        f"-DPython_EXECUTABLE={tmp_path / 'empty' / 'bin' / 'python'}",
    )
    assert finished.returncode != 0
    assert "cannot import torch, which the build needs for its headers" in one_line(finished.stderr)
