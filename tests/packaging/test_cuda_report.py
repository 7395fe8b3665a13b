# SPDX-License-Identifier: MIT
"""tools/cuda_report.py --check, which `make cuda` ends with: float32 kernels must not spill."""

from pathlib import Path

import pytest
from helpers.commands import python
from helpers.paths import PROJECT

KERNEL = (
    "_ZN4svmf8isa_cuda18householder_kernelI{type}NS0_8WarpTeamELb1EEEvNS0_15HouseholderTaskIT_EE"
)
REPORT = """\
ptxas info    : Compiling entry function '{kernel}' for 'sm_90'
ptxas info    : Function properties for {kernel}
    16 bytes stack frame, {spills} bytes spill stores, {spills} bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size
"""


@pytest.mark.parametrize(
    ("spills_of_float", "spills_of_double", "code"), [(0, 0, 0), (12, 0, 1), (0, 12, 0)]
)
def test_check(spills_of_float: int, spills_of_double: int, code: int, tmp_path: Path) -> None:
    for name, spills in (("f", spills_of_float), ("d", spills_of_double)):
        text = REPORT.format(kernel=KERNEL.format(type=name), spills=spills)
        (tmp_path / f"{name}.cu.o.ptxas").write_text(text)
    finished = python(PROJECT / "tools" / "cuda_report.py", tmp_path, "--check", check=False)
    assert finished.returncode == code, finished.stderr
    assert "2 kernels for sm_90" in finished.stdout
    wanted = "householder_kernel<float, WarpTeam, true> spills 12 bytes on sm_90"
    assert (wanted in finished.stderr) == bool(code)


def test_without_a_build(tmp_path: Path) -> None:
    finished = python(PROJECT / "tools" / "cuda_report.py", tmp_path, "--check", check=False)
    assert finished.returncode != 0
    assert "run `make cuda` first" in finished.stderr
