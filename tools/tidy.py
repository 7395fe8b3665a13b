# SPDX-License-Identifier: MIT
"""Runs clang-tidy over the C++ sources with the checks of .clang-tidy, where it is installed.

    python tools/tidy.py    # or make tidy

Row kernels as AVX2; the module with torch's headers, if torch is there, and with it the wrappers of
the CUDA ops, for which the stand-in of CUDA's header in tests/cuda_emulation is enough.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compilers

NAMES = ["clang-tidy", *(f"clang-tidy-{version}" for version in range(29, 15, -1))]


def find_tidy() -> str | None:
    """A version from 16 on: older ones do not know some of the checks that are switched off."""
    for name in filter(shutil.which, NAMES):
        said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"version (\d+)", said)
        if version and int(version[1]) >= 16:
            return name
    return None


def commands(tidy: str) -> list[list[str]]:
    flags = ["-std=c++17", *compilers.common_flags(), "-I", "csrc"]
    rows = ["-DSVMF_ISA=isa_avx2", *compilers.set_flags("avx2")]
    jobs = [[tidy, "--quiet", s, "--", *flags, *rows] for s in compilers.row_sources()]
    if importlib.util.find_spec("torch"):
        module = compilers.torch_flags()
        sources = set(compilers.module_sources()) - set(compilers.row_sources())
        jobs += [[tidy, "--quiet", s, "--", *flags, *module] for s in sorted(sources)]
        module += ["-isystemtests/cuda_emulation/include", '-DSVMF_CUDA_ARCHS=""']
        listed = compilers.cmake_list("CMakeLists.txt", "svmf_add_cuda_ops(")
        sources = {name for name in listed if name.endswith(".cpp")}
        jobs += [[tidy, "--quiet", s, "--", *flags, *module] for s in sorted(sources)]
    return jobs


def run(command: list[str]) -> str:
    """The findings, or an empty text."""
    done = subprocess.run(command, cwd=compilers.ROOT, capture_output=True, text=True)
    return (done.stdout.strip() or done.stderr.strip()) if done.returncode else ""


def main() -> int:
    tidy = find_tidy()
    if tidy is None:
        return print("clang-tidy 16 or newer is not installed: the sources are not checked") or 0
    jobs = commands(tidy)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(run, jobs) if text]
    print(*found, f"{Path(tidy).name}: {len(found)} of {len(jobs)} files have findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
