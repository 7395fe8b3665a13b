# SPDX-License-Identifier: MIT
"""What all tests share: one thread, a fixed seed, and where the data lie.

The package `helpers` beside this file and the compiled `svmf_math` (csrc/math under pybind11, built
by `make install`) can be imported from every test.
"""

import os
import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent

sys.path.insert(0, str(TESTS))
_MATH_MODULES = sorted(PROJECT.glob("build/cmake-*/testing/svmf_math*.so"))
_PYTHON = f"cpython-{sys.version_info.major}{sys.version_info.minor}"
for _module in _MATH_MODULES:
    if _PYTHON in _module.name:
        sys.path.append(str(_module.parent))
        break


@pytest.fixture(autouse=True)
def one_thread_and_fixed_seed():
    """Every test starts from the same global seed with one thread; a test may set its own."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


def find_data() -> Path | None:
    """The folder of the data sets: $SVMF_DATA, or shared/data beside the project."""
    named = os.environ.get("SVMF_DATA")
    folder = Path(named) if named else PROJECT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = find_data()
    if folder is None:
        pytest.skip("no data sets: set SVMF_DATA to a folder with them")
    return folder


@pytest.fixture(scope="session")
def svmf_math():
    """csrc/math as a Python module."""
    return pytest.importorskip(
        "svmf_math", reason="svmf_math is not built: run `make install`", exc_type=ImportError
    )
