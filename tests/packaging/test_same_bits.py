# SPDX-License-Identifier: MIT
"""Every row kernel gives the same bits whichever compiler made it: an fma stands where it is
written and nowhere else. And where long double is a double, as on macOS and Windows: the constants
that the host works out do not change."""

import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.paths import PROJECT
from helpers.row_programs import build, read_values

sys.path.insert(0, str(PROJECT / "tools"))
import compilers

CLANG = next(iter(reversed(compilers.installed("clang++"))), "clang++")
OTHERS = {
    "clang": f"-DCMAKE_CXX_COMPILER={CLANG}",
    "long-double-64": "-DCMAKE_CXX_FLAGS=-mlong-double-64",
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compiles for AVX2"),
    pytest.mark.skipif(not compilers.installed("g++"), reason="needs g++"),
]


def values_with(output: Path, folder: str, *settings: str) -> list:
    subprocess.run([build("row_values_avx2", folder, *settings), output], check=True)
    return read_values(output)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list:
    return values_with(tmp_path_factory.mktemp("expected") / "values", "kernels")


@pytest.mark.parametrize("other", OTHERS)
def test_bits_are_those_of_the_usual_build(other: str, expected: list, tmp_path: Path) -> None:
    if other == "clang" and not compilers.installed("clang++"):
        pytest.skip("needs clang++")
    made = values_with(tmp_path / "values", f"kernels-{other}", OTHERS[other])
    compared = 0
    for (*names, numbers), (*same, true) in zip(made, expected, strict=True):
        assert names == same
        np.testing.assert_array_equal(numbers, true, err_msg=str(names))
        compared += numbers.size
    assert compared > 400_000
