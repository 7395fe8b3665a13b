# SPDX-License-Identifier: MIT
"""Builds of the emulation, once per session; kept between sessions under build/cuda_emulation."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import emulator


@pytest.fixture(scope="session")
def compiler() -> str:
    if shutil.which(emulator.COMPILER) is None:
        pytest.skip(f"the emulation of CUDA kernels needs {emulator.COMPILER}")
    return emulator.COMPILER


@pytest.fixture(scope="session")
def asan_driver(compiler) -> Path:
    """All kernels under the address and undefined-behaviour sanitizers."""
    return emulator.build("asan")


@pytest.fixture(scope="session")
def tsan_driver(compiler) -> Path:
    """All kernels under the thread sanitizer."""
    return emulator.build("tsan")
