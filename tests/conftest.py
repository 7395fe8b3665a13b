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
from torch.distributions import Distribution

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


@pytest.fixture
def values_are_checked():
    """The default, whatever other tests did: torch.compile turns it off for the process."""
    default = Distribution._validate_args
    Distribution.set_default_validate_args(True)
    yield
    Distribution.set_default_validate_args(default)


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The current folder, and the data sets that are found, are the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMF_DATA", raising=False)


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
