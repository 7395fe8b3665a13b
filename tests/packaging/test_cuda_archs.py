# SPDX-License-Identifier: MIT
"""TORCH_CUDA_ARCH_LIST as cmake/svmf_cuda_archs.cmake reads it. Needs CMake and no nvcc."""

import subprocess
from pathlib import Path

import pytest
from helpers.building import CMAKE, needs_cmake, one_line
from helpers.paths import PROJECT
from torch.utils import cpp_extension

pytestmark = needs_cmake

SCRIPT = f"""
include({PROJECT}/cmake/svmf_cuda_archs.cmake)
svmf_parse_cuda_archs("${{GIVEN}}" architectures text)
message(STATUS "<${{architectures}}|${{text}}>")
"""


def parse(given: str, folder: Path) -> tuple[int, str]:
    """CMake's exit code and what it said, on one line."""
    script = folder / "parse.cmake"
    script.write_text(SCRIPT)
    command = [CMAKE, f"-DGIVEN={given}", "-P", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, one_line(done.stdout + done.stderr)


def as_torch_reads(given: str) -> set[str]:
    """The code that torch's own extensions ask nvcc for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_CUDA_ARCH_LIST", given)
        return {flag.split(",code=")[1] for flag in cpp_extension._get_cuda_arch_flags()}


@pytest.mark.parametrize(
    "given",
    [
        *("8.0", "8.0 9.0+PTX", "8.0;9.0+PTX", "7.5+PTX", "9.0a", "Turing", "Ampere;Hopper"),
        *("Ada", "Ampere+Tegra", "Blackwell", "Blackwell+Tegra 8.6"),
    ],
)
def test_the_list_means_what_it_means_to_torch(given: str, tmp_path: Path) -> None:
    code, said = parse(given, tmp_path)
    assert code == 0, said
    architectures = said.split("<")[1].split("|")[0].split(";")
    asked = set()
    for arch in architectures:
        number = arch.removesuffix("-real")
        asked.add(f"sm_{number}")
        if number == arch:
            asked.add(f"compute_{number}")
    assert asked == as_torch_reads(given)


TOO_OLD = ("architectures from 7.5 (Turing) on", "7.0", "8.0;6.1+PTX", "Volta", "Pascal 8.0")
UNKNOWN = ("entries like 8.0, 12.0+PTX or Ampere", "sm_80", "8,0", "80", "Tesla", "8.0+ptx")


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        *((TOO_OLD[0], given) for given in (*TOO_OLD[1:], "Kepler+Tesla")),
        *((UNKNOWN[0], given) for given in UNKNOWN[1:]),
    ],
)
def test_others_are_refused(expected: str, given: str, tmp_path: Path) -> None:
    code, said = parse(given, tmp_path)
    assert code != 0
    assert f"expected {expected} in TORCH_CUDA_ARCH_LIST, got" in said
    assert f"in '{given}'" in said
