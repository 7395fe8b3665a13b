# SPDX-License-Identifier: MIT
"""clang as a second compiler of the CUDA kernels, where it is installed beside a toolkit: it reads
the sources differently from nvcc and warns of other things. Device code for sm_80, no assembler."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.nvcc import NVCC
from helpers.paths import PROJECT

CLANG = next((p for p in map(shutil.which, ("clang++", "clang++-19", "clang++-20")) if p), None)
KERNELS = sorted((PROJECT / "csrc" / "cuda" / "kernels").glob("*.cu"))


def _toolkit() -> Path | None:
    """The folder of the CUDA toolkit; nvcc on PATH may be a script that stands elsewhere."""
    places = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    places += [Path(NVCC).resolve().parents[1]] if NVCC else []
    found = (Path(place) for place in places if place)
    return next((path for path in found if (path / "nvvm" / "libdevice").is_dir()), None)


TOOLKIT = _toolkit()
pytestmark = pytest.mark.skipif(not (CLANG and TOOLKIT), reason="needs clang and a CUDA toolkit")


@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.stem)
def test_clang_compiles(source: Path, tmp_path: Path) -> None:
    # Headers that clang 19 asks for and CUDA 13 no longer has; nothing here uses them.
    for name in ("texture_fetch_functions.h", "curand_mtgp32_kernel.h"):
        (tmp_path / name).touch()
    done = subprocess.run(
        [CLANG, "-x", "cuda", f"--cuda-path={TOOLKIT}", "--cuda-gpu-arch=sm_80",
         "--cuda-device-only", "-S", "-O1", "-ffp-contract=off", "-std=c++17", "-Wall", "-Wextra",
         "-Wno-unknown-cuda-version", "-Wno-unknown-attributes", "-Wno-pass-failed",
         "-DSVMF_ISA=isa_cuda", f"-I{tmp_path}", f"-I{PROJECT / 'csrc'}", str(source),
         "-o", str(tmp_path / "out.ptx")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours = [line for line in done.stderr.splitlines() if re.search(r"csrc/.*warning:", line)]
    assert not ours, "\n".join(ours)
    assert ".entry" in (tmp_path / "out.ptx").read_text()
