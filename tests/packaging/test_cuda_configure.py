# SPDX-License-Identifier: MIT
"""The CUDA build as CMake configures it: architectures, and the versions that must agree. Nothing
is compiled but CMake's own look at nvcc."""

import re
import subprocess
from pathlib import Path

import pytest
from helpers.building import PATH, configure, needs_cmake, one_line
from helpers.nvcc import NVCC, needs_nvcc, nvcc_version, torch_that_claims

pytestmark = [needs_cmake, needs_nvcc]


def configured(build: Path, setting: str = "ON", **environment: str) -> subprocess.CompletedProcess:
    settings = {"PATH": PATH, "TORCH_CUDA_ARCH_LIST": "", **environment}
    return configure(build, f"-DSVMF_CUDA={setting}", **settings)


def generated_code(build: Path) -> list[str]:
    """What nvcc is asked to generate, in the order of the architectures."""
    ninja = (build / "build.ninja").read_text()
    flags = next(line for line in ninja.splitlines() if "--generate-code" in line and "-O3" in line)
    return re.findall(r"--generate-code=([^\s\"]+)", flags)


def test_default_architectures(tmp_path: Path) -> None:
    """Turing to the newest, and PTX of the newest alone."""
    finished = configured(tmp_path)
    assert finished.returncode == 0, finished.stderr
    newest = nvcc_version() >= (12, 8)
    real = ["75", "80", "86", *(["90", "100"] if newest else [])]
    last = "120" if newest else "90"
    assert generated_code(tmp_path) == [
        *(f"arch=compute_{arch},code=[sm_{arch}]" for arch in real),
        f"arch=compute_{last},code=[compute_{last},sm_{last}]",
    ]
    names = "7.5 8.0 8.6 9.0 10.0 12.0+PTX" if newest else "7.5 8.0 8.6 9.0+PTX"
    assert re.search(rf"svmf: CUDA \d+\.\S+ for {re.escape(names)}\n", finished.stdout)


def test_chosen_architectures(tmp_path: Path) -> None:
    finished = configured(tmp_path, TORCH_CUDA_ARCH_LIST="8.0 9.0+PTX")
    assert finished.returncode == 0, finished.stderr
    assert generated_code(tmp_path) == [
        "arch=compute_80,code=[sm_80]",
        "arch=compute_90,code=[compute_90,sm_90]",
    ]


@pytest.mark.parametrize("setting", ["ON", "AUTO"])
def test_nvcc_of_another_major_version_than_torch(tmp_path: Path, setting: str) -> None:
    """Said by a torch that only claims to be built with the CUDA before nvcc's: an error if the
    CUDA ops were asked for, otherwise a warning and a build for the CPU."""
    other = f"{nvcc_version()[0] - 1}.6"
    finished = configured(
        tmp_path / "build", setting, PYTHONPATH=torch_that_claims(other, tmp_path)
    )
    assert (finished.returncode == 0) == (setting == "AUTO")
    message = one_line(finished.stderr)
    assert re.search(
        rf"svmf: nvcc is of CUDA {nvcc_version()[0]}\.[\d.]+, but torch 2\.13\.0 was built with "
        rf"CUDA {re.escape(other)}\.",
        message,
    )
    assert f"Use an nvcc of CUDA {other.split('.')[0]} (CUDACXX=/path/to/nvcc)" in message
    assert ("svmf is built WITHOUT its CUDA ops" in message) == (setting == "AUTO")


def test_cuda_home_is_honoured(tmp_path: Path) -> None:
    home = tmp_path / "cuda"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "nvcc").write_text(f'#!/bin/sh\nexec {NVCC} "$@"\n')
    (home / "bin" / "nvcc").chmod(0o755)
    finished = configured(tmp_path / "build", CUDA_HOME=str(home), CUDACXX="")
    assert finished.returncode == 0, finished.stderr
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text()
    assert re.search(rf"^CMAKE_CUDA_COMPILER:\w+={home}/bin/nvcc$", cache, re.M)
