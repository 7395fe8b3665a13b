# SPDX-License-Identifier: MIT
"""The instruction sets give one result up to rounding, the environment chooses among them, and a
wrong choice is named. Each runs in a process of its own: the choice is made once."""

import io
import os
import platform
import shutil
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


def run(isa: str | None, machine: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """The program on this processor, or on what the command `machine` pretends to be."""
    environment = {name: value for name, value in os.environ.items() if name != "SVMF_CPU_ISA"}
    if isa is not None:
        environment["SVMF_CPU_ISA"] = isa
    return subprocess.run(
        [*machine, sys.executable, "-c", PROGRAM, str(TESTS)],
        env=environment,
        capture_output=True,
        check=False,
    )


def values_of(isa: str | None, machine: tuple[str, ...] = ()) -> tuple[str, dict]:
    finished = run(isa, machine)
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


QEMU = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(QEMU is None, reason="needs qemu-x86_64 (on Debian: apt install qemu-user)")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86-64 under qemu on x86-64")
def test_a_processor_without_avx_gets_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """qemu's Nehalem, the oldest that torch accepts. Bit for bit as here, where torch too is asked
    for kernels that need no AVX: it makes the arguments."""
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")  # NumPy's own choice stumbles over qemu
    name, values = values_of(None, (QEMU, "-cpu", "Nehalem"))
    assert name == "baseline"
    here = values_of("baseline")[1]
    assert [key for key in here if not torch.equal(values[key], here[key])] == []
