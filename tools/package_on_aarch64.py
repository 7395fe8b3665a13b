# SPDX-License-Identifier: MIT
"""Builds the whole package for 64-bit ARM and runs its tests under qemu, on an x86-64 machine.

    python tools/package_on_aarch64.py                       # the lane to run before a release
    python tools/package_on_aarch64.py --lane all            # all tests of math, ops and sampler
    python tools/package_on_aarch64.py tests/models -k vae    # these instead: arguments of pytest

Everything lies in build/aarch64-package (1.4 GB) and is kept; what is there is not made again:

- root/     Debian 12's Python 3.11 and C library for arm64: debootstrap downloads, dpkg unpacks
- site/     PyTorch's wheel for aarch64 (2.10.0: for the CPU alone) and what the tests import
- build/    the module, made by the cross compiler with that torch's headers
- project/  a copy of the files under version control, with the module in it

No binfmt and no chroot are needed: python is a script that calls qemu with itself as the name of
the program, so that tests which start Python start it again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "aarch64-package"
SYSTEM, SITE, TREE, PROJECT = (WORK / name for name in ("root", "site", "build", "project"))
PYTHON = WORK / "python"

TORCH = "torch==2.10.0"
LANES = {
    # Accuracy of every function, words and samples bit by bit, bad rows, every op beside its
    # reference. The time is in docs/building.md.
    "release": [
        *(f"tests/math/test_{name}.py" for name in (
            "philox", "host_constants", "vmf_kappa", "vmf_kl", "log_bessel", "log_bessel_k",
            "pathwise", "vmf_concentration", "power_spherical", "spherical_cauchy")),
        *(f"tests/sampler/test_{name}.py" for name in (
            "exact_values", "reproducible", "bad_rows", "counters", "householder", "log_prob")),
        "tests/ops/test_reference.py",
        # Each starts Python and torch once more, for sets of x86.
        "-k", "not instruction_set",
    ],
    # torch.compile wants a compiler on ARM; the scripts that make tables are the same everywhere.
    "all": [
        "tests/ops", "tests/sampler", "tests/math",
        "--ignore=tests/ops/test_compile.py", "--ignore=tests/math/test_generated_tables.py",
    ],
}  # fmt: skip
REQUIRED = [
    "filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec",
    "numpy", "scipy", "mpmath", "pytest", "pytest-timeout", "pybind11",
]  # fmt: skip
DEBIAN = "python3.11,libpython3.11-dev,libstdc++6,libgomp1"
TOOLS = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "debootstrap": "debootstrap",
    "dpkg": "dpkg",
    "cmake": "cmake (3.26 or newer, or pip install cmake)",
    "ninja": "ninja-build",
}


def run(*command: object, **options) -> None:
    print("+", *command, flush=True)
    subprocess.run(list(map(str, command)), check=True, **options)


def make_system() -> None:
    if (SYSTEM / "usr" / "bin" / "python3.11").exists():
        return
    run("debootstrap", "--download-only", "--arch=arm64", "--variant=minbase",
        f"--include={DEBIAN}", "bookworm", SYSTEM)  # fmt: skip
    for package in sorted(SYSTEM.glob("var/cache/apt/archives/*.deb")):
        run("dpkg", "-x", package, SYSTEM)


def make_site() -> None:
    if (SITE / "torch").exists():
        return
    tags = [f"manylinux_2_{n}_aarch64" for n in (17, 27, 28)] + ["manylinux2014_aarch64"]
    options = [f"--platform={tag}" for tag in tags]
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", *options,
               "--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]  # fmt: skip
    run(*install, "--target", SITE, "-c", ROOT / "requirements-lock.txt", *REQUIRED)
    # Alone and last: pip asks this machine which packages torch needs, and on x86-64 that is CUDA.
    run(*install, "--target", SITE, "--no-deps", TORCH)


def make_python() -> None:
    PYTHON.write_text(
        "#!/bin/sh\n"
        f'exec qemu-aarch64 -L {SYSTEM} -0 "$0" -E PYTHONHOME={SYSTEM}/usr '
        f"-E PYTHONPATH={PROJECT}:{SITE} -E PYTHONDONTWRITEBYTECODE=1 "
        f'{SYSTEM}/usr/bin/python3.11 "$@"\n'
    )
    PYTHON.chmod(0o755)


def make_module() -> None:
    """Debian keeps a part of Python's headers in a folder of the processor."""
    headers = SYSTEM / "usr" / "include"
    if not (TREE / "build.ninja").exists():
        run("cmake", "-S", ROOT, "-B", TREE, "-G", "Ninja", "-DCMAKE_SYSTEM_NAME=Linux",
            "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++",
            f"-DCMAKE_CXX_FLAGS=-idirafter {headers}", "-DSVMF_CUDA=OFF", "-DSVMF_TESTING=ON",
            "-DSVMF_WERROR=ON", f"-DPython_EXECUTABLE={PYTHON}",
            f"-DPython_INCLUDE_DIR={headers / 'python3.11'}")  # fmt: skip
    run("cmake", "--build", TREE)


def make_project() -> None:
    shutil.rmtree(PROJECT, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (PROJECT / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, PROJECT / name)
    shutil.copy2(TREE / "_C.abi3.so", PROJECT / "svmf")
    testing = PROJECT / "build" / "cmake-cpython-311" / "testing"
    testing.mkdir(parents=True)
    for module in TREE.glob("testing/*.so"):
        shutil.copy2(module, testing)
    # What an installed package says of itself.
    found = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert found is not None, "pyproject.toml has no version"
    metadata = PROJECT / f"svmf-{found[1]}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: svmf\nVersion: {found[1]}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lane", choices=LANES, default="release")
    chosen, arguments = parser.parse_known_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        return print(f"apt install {' '.join(missing)}", file=sys.stderr) or 1
    WORK.mkdir(parents=True, exist_ok=True)
    make_system()
    make_site()
    make_python()
    make_module()
    make_project()
    selection = ["-m", "not alone and not slow and not statistics", "--timeout", "3600"]
    command = [PYTHON, "-m", "pytest", "-q", *selection, *(arguments or LANES[chosen.lane])]
    print("+", *command, flush=True)
    return subprocess.run(list(map(str, command)), cwd=PROJECT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
