# SPDX-License-Identifier: MIT
"""The instruction sets give one result up to rounding, the environment chooses among them, and a
wrong choice is named. Each runs in a process of its own: the choice is made once."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from helpers.paths import TESTS

import svmf

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
import svmf
from helpers.op_cases import CASES
torch.set_num_threads(1)
values = {(case.name, dtype): case.call(*case.tensors(dtype))
          for case in CASES for dtype in (torch.float64, torch.float32)}
torch.save((svmf.build_info()["cpu_isa"], values), sys.stdout.buffer)
"""


def run(isa: str | None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "SVMF_CPU_ISA"}
    if isa is not None:
        environment["SVMF_CPU_ISA"] = isa
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(TESTS)],
        env=environment,
        capture_output=True,
        check=False,
    )


def values_of(isa: str | None) -> tuple[str, dict]:
    finished = run(isa)
    if b"which this CPU does not have" in finished.stderr:
        pytest.skip(f"this CPU has no {isa}")
    assert finished.returncode == 0, finished.stderr.decode()
    return torch.load(io.BytesIO(finished.stdout), weights_only=True)


@pytest.fixture(scope="module")
def default() -> tuple[str, dict]:
    return values_of(None)


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_equal_up_to_rounding(default: tuple[str, dict], isa: str) -> None:
    if isa not in svmf.build_info()["cpu_isas"].split():
        pytest.skip(f"this build has no {isa}")
    name, values = values_of(isa)
    assert name == isa
    for key, value in values.items():
        eps = torch.finfo(value.dtype).eps
        torch.testing.assert_close(
            value, default[1][key], rtol=16 * eps, atol=8 * eps, msg=str(key)
        )


def test_the_best_set_of_this_cpu_is_the_default(default: tuple[str, dict]) -> None:
    description = Path("/proc/cpuinfo")
    flags = description.read_text().split() if description.exists() else []
    built = svmf.build_info()["cpu_isas"].split()
    needed = {
        "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"},
        "avx2": {"avx2", "fma"},
        "baseline": set(),
    }
    best = next(isa for isa, wants in needed.items() if isa in built and wants <= set(flags))
    assert default[0] == best


def test_unknown_name_is_an_error() -> None:
    finished = run("sse9")
    assert finished.returncode != 0
    message = "svmf: expected SVMF_CPU_ISA to be baseline, avx2 or avx512, got 'sse9'"
    assert message in finished.stderr.decode()
