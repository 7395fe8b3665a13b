# SPDX-License-Identifier: MIT
"""How the CUDA kernels are launched: threads per block and shared memory, asked of the launch
functions themselves. They run in the emulation of tests/cuda_emulation, which describes a launch
instead of carrying it out."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cuda_emulation"))

import emulator  # noqa: E402
from cuda_report import short_name  # noqa: E402

ROWS = 65536
DIMENSIONS = (3, 10, 64, 200, 512, 4096)
PROCESSORS = 108


@dataclass(frozen=True)
class Launch:
    op: str
    dtype: str
    m: int
    kernel: str
    threads: int
    shared: int


def _cases() -> list[tuple[int, emulator.Case]]:
    """Every kind of launch; the arrays are empty, nobody looks at them."""
    some, cases = np.zeros(0), []

    def add(op: str, m: int, integers: tuple[int, ...], inputs: int, outputs: int, **options):
        for dtype in ("float32", "float64"):
            given = options.get("given", (some,) * inputs)
            case = emulator.Case(op, dtype, integers, options.get("reals", ()), given)
            case.outputs = options.get("taken", (0,) * outputs)
            case.processors = PROCESSORS
            cases.append((m, case))

    add("vmf_concentration", 0, (ROWS, 10), 1, 1)
    for name in (*emulator.listed_ops("RHO"), *emulator.listed_ops("POWER")):
        add(name, 0, (ROWS, 10), 1, 1)
    add("vmf_pathwise", 0, (ROWS, 10), 2, 1)
    for name in emulator.listed_ops("KAPPA"):
        add(name, 0, (ROWS, 10), 1, 1)
    for name in emulator.listed_ops("BESSEL"):
        for order in (2.0, 2.3):  # with a table, by recurrence
            add(name, 0, (ROWS,), 1, 1, reals=(order,))
        add(f"{name}.tensor", 0, (ROWS,), 2, 1)
    for m in DIMENSIONS:
        add("householder", m, (ROWS, m), 2, 1)
        add("householder_backward", m, (ROWS, m), 3, 2)
        add("vmf_features", m, (ROWS, m, m, 1), 2, 3, reals=(1.0,))
        add("vmf_features_backward", m, (ROWS, m), 5, 2)
        add("vmf_kl", m, (ROWS, m), 4, 1)
        add("vmf_log_prob", m, (ROWS, m), 3, 1)
        for family in ("spherical_cauchy", "power_spherical"):
            add(f"{family}_log_prob", m, (ROWS, m), 3, 1)
            add(f"{family}_sample", m, (1, ROWS, m, 1), 2, 4, taken=(0, 0, 0, None))
            add(f"{family}_sample_backward", m, (1, ROWS, m, 0), 8, 2)
        for kl in (0, None):
            add("vmf_sample", m, (1, ROWS, m, 1), 2, 4, taken=(0, 0, 0, kl))
        for gradient in (0, 1):
            add("vmf_sample_backward", m, (1, ROWS, m, gradient), 8, 2)
    return cases


def _symbols(program: Path) -> dict[int, str]:
    """Function addresses, relative to emulation::settings."""
    text = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^([0-9a-f]+) [tTwW] (.*)$", text, re.M)
    (origin,) = (int(a, 16) for a, name in lines if name == "emulation::settings()")
    return {int(a, 16) - origin: name for a, name in lines}


def describe_launches() -> list[Launch]:
    program = emulator.build("asan")
    cases = _cases()
    with tempfile.TemporaryDirectory() as folder:
        output = emulator.run(
            program, [case for _, case in cases], Path(folder), {"SVMF_EMULATION_REPORT": "1"}
        )
    symbols = _symbols(program)
    found = re.findall(r"^launch (-?\d+) (\d+) (\d+) ", output, re.M)
    return [
        Launch(case.op, case.dtype, m, short_name(symbols[int(at)]), int(threads), int(shared))
        for (m, case), (at, threads, shared) in zip(cases, found, strict=True)
    ]
