# SPDX-License-Identifier: MIT
"""Compiles the kernels with every compiler at hand and fails on a warning of -Wall -Wextra
-Wconversion. Nothing is linked or run.

    python tools/compilers.py                  # g++ and clang++ of every version, cross compilers
    python tools/compilers.py g++-9 clang++    # only these

- g++ and clang++ on PATH: the row kernels for the baseline, AVX2 and AVX-512.
- aarch64-linux-gnu-g++, and clang++ beside it: the row kernels for 64-bit ARM.
- zig, if the Python package `ziglang` is installed: the row kernels for macOS, Windows and musl,
  and for the first two the module too, with torch's headers of this machine.

Sources and flags are those of CMake's files.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ["", *(f"-{n}" for n in range(9, 30))]
ZIG_TARGETS = ["aarch64-macos", "x86_64-macos", "x86_64-windows-gnu", "x86_64-linux-musl"]


def cmake_list(path: str, call: str) -> list[str]:
    """The arguments of a call in one of CMake's files."""
    found = re.search(rf"{re.escape(call)}([^)]*)\)", (ROOT / path).read_text())
    assert found is not None, f"{path} has no {call}"
    return found[1].split()


def row_sources() -> list[str]:
    return [*cmake_list("CMakeLists.txt", "svmf_add_row_kernels("), "csrc/cpu/isa.cpp"]


def module_sources() -> list[str]:
    listed = cmake_list("CMakeLists.txt", "Python_add_library(_C MODULE")
    return [name for name in listed if name.endswith(".cpp") and "build_info" not in name]


def set_flags(isa: str) -> list[str]:
    if isa == "baseline":
        return []
    return cmake_list("cmake/svmf_cpu_isa.cmake", f"svmf_clang_flags(svmf_flags_{isa}")


def common_flags() -> list[str]:
    return cmake_list("cmake/svmf_compile_options.cmake", "svmf_clang_flags(svmf_common_flags")


@dataclass
class Target:
    """One compiler that builds for one system."""

    name: str
    command: list[str]
    sets: list[str] = field(default_factory=lambda: ["baseline"])
    module: list[str] = field(default_factory=list)

    def jobs(self) -> list[list[str]]:
        command = [*self.command, "-std=c++17", *common_flags(), "-Wconversion", "-I", "csrc"]
        jobs = [
            [*command, f"-DSVMF_ISA=isa_{isa}", *set_flags(isa), source]
            for isa in self.sets
            for source in row_sources()
        ]
        jobs += [[*command, *torch_flags(), source] for source in self.module]
        return jobs


def torch_flags() -> list[str]:
    folders = [sysconfig.get_path("include")]
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.submodule_search_locations:
        folders.append(str(Path(next(iter(spec.submodule_search_locations))) / "include"))
    definitions = ["-DTORCH_TARGET_VERSION=0x020a000000000000", "-DPy_LIMITED_API=0x030a0000"]
    # -Wconversion is asked of the kernels' headers; here torch's types of sizes meet.
    return [*definitions, "-Wno-conversion", *(f"-isystem{folder}" for folder in folders)]


def module_for(target: str) -> list[str]:
    """What this machine's headers of torch and Python serve for: on Windows, Python's do not."""
    if "macos" in target:
        return module_sources()
    if "windows" in target:
        return [name for name in module_sources() if name != "csrc/module.cpp"]
    return []


def version_of(compiler: str) -> str:
    asked = [compiler, "-dumpfullversion", "-dumpversion"]  # clang knows the second alone
    if "clang" in compiler:
        asked.remove("-dumpfullversion")
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def native(compiler: str) -> Target:
    command, version = [compiler, "-fsyntax-only"], version_of(compiler)
    if "clang" not in compiler and int(version.split(".")[0]) < 10:
        # As in cmake/svmf_compile_options.cmake.
        command += ["-Wno-unused-but-set-parameter", "-Wno-unused-but-set-variable"]
    machine = platform.machine()
    sets = ["baseline", "avx2", "avx512"] if machine == "x86_64" else ["baseline"]
    return Target(f"{compiler} ({version}), {machine}", command, sets)


def installed(*kinds: str) -> list[str]:
    """The names on PATH, each version of a compiler once."""
    names = [
        kind + version for kind in kinds for version in VERSIONS if shutil.which(kind + version)
    ]
    versions = {(name.rstrip("-0123456789"), version_of(name)): name for name in reversed(names)}
    return list(reversed(versions.values()))


def targets() -> list[Target]:
    found, arm = installed("g++", "clang++"), installed("aarch64-linux-gnu-g++")
    here = [native(name) for name in found]
    here += [Target(name, [name, "-fsyntax-only"]) for name in arm]
    if arm:  # clang takes the C++ library of the cross compiler
        option = "--target=aarch64-linux-gnu"
        clangs = [name for name in found if name.startswith("clang++")]
        here += [Target(f"{c} {option}", [c, option, "-fsyntax-only"]) for c in clangs]
    if importlib.util.find_spec("ziglang"):
        # It links whatever is not compiled to an object, and checks what is not optimised.
        zig = [sys.executable, "-m", "ziglang", "c++", "-c", "-O0", "-fno-sanitize=all"]
        quiet = ["-Wno-unused-command-line-argument"]
        here += [
            Target(f"zig {name}", [*zig, *quiet, "-target", name], module=module_for(name))
            for name in ZIG_TARGETS
        ]
    return here


def compile_one(command: list[str]) -> str:
    """What the compiler had to say, or an empty text."""
    # The last -O counts: an unoptimised object is quick, and warnings are the same.
    command = [word for word in command if word != "-O3"]
    with tempfile.NamedTemporaryFile(suffix=".o") as made:
        output = ["-o", made.name] if "-c" in command else []
        done = subprocess.run([*command, *output], cwd=ROOT, capture_output=True, text=True)
    wrong = done.returncode != 0 or re.search(r"(warning|error):", done.stderr)
    return f"{done.stderr}\nwhile compiling {command[-1]}" if wrong else ""


def check(target: Target) -> bool:
    jobs = target.jobs()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(compile_one, jobs) if text]
    print(f"{target.name}: {len(jobs)} compilations, {len(said)} with warnings", flush=True)
    for text in said[:3]:
        print(text)
    return not said


def main(names: list[str]) -> int:
    chosen = [native(name) for name in names] if names else targets()
    if not any("aarch64" in target.name for target in chosen):
        print("without 64-bit ARM: needs g++-aarch64-linux-gnu")
    if not any("zig" in target.name for target in chosen):
        print("without macOS, Windows and musl: needs the Python package ziglang")
    clean = [check(target) for target in chosen]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
