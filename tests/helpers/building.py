# SPDX-License-Identifier: MIT
"""CMake, pip and the compiler as the tests of the build and of single headers call them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.commands import python
from helpers.paths import PROJECT

# This environment's tools first.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
CMAKE, NINJA = (shutil.which(name, path=PATH) for name in ("cmake", "ninja"))
COMPILER = shutil.which("g++")

needs_cmake = pytest.mark.skipif(not (CMAKE and NINJA), reason="needs cmake and ninja")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
needs_history = pytest.mark.skipif(
    not (PROJECT / ".git").exists(), reason="needs the project's history"
)


def configure(build: Path, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The project as CMake configures it in `build`, with its outcome."""
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


def tracked() -> list[str]:
    """The files under version control that are there."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return [name for name in listing.stdout.split("\0") if name and (PROJECT / name).exists()]


def copy_tracked(folder: Path) -> Path:
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / name, folder / name)
    return folder


def pip(command: str, *arguments: object, **environment: str) -> str:
    """What pip says, which builds without isolation and, unless told otherwise, without CUDA."""
    options = ["--verbose", "--no-build-isolation", "--no-deps"]
    settings = {"SVMF_CUDA": "OFF", "PATH": PATH, **environment}
    finished = python("-m", "pip", command, *options, *arguments, environment=settings)
    return finished.stdout + finished.stderr


def compiled(source: Path, program: Path, *options: object) -> Path:
    """The program made of a source that includes headers of csrc."""
    if COMPILER is None:
        pytest.skip("g++ is not installed")
    command = [COMPILER, "-std=c++17", *options, f"-I{PROJECT / 'csrc'}", source, "-o", program]
    subprocess.run(list(map(str, command)), check=True)
    return program
