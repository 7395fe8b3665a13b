# SPDX-License-Identifier: MIT
"""Instructions per element of the row kernels, counted without the hardware: on ARM by a plugin of
qemu, on x86 by valgrind. Prints a table; docs/building.md has its figures.

    python tests/aarch64/count_instructions.py
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from helpers import aarch64
from helpers.paths import PROJECT
from helpers.row_programs import build

ROWS = 1024
CASES = [("sample", 2), ("sample", 5), ("sample", 10), ("sample", 64), ("backward", 10),
         ("kl", 10), ("kl_grad", 10)]  # fmt: skip


def plugin() -> Path:
    library = PROJECT / "build" / "aarch64" / "count_instructions.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def count(command: list, pattern: str) -> int:
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(pattern, finished.stdout + finished.stderr)
    assert found is not None, finished.stderr
    return int(found.group(1))


def per_element(run, kind: str, kernel: str, m: int) -> float:
    """The count of one repetition is a difference of two runs: starting up does not count."""
    more, less = (run([kind, kernel, str(n), str(ROWS), str(m)]) for n in (3, 1))
    return (more - less) / 2 / (ROWS * (m if kernel in ("sample", "backward") else 1))


def main() -> int:
    if aarch64.missing() or shutil.which("valgrind") is None:
        return print(aarch64.missing() or "valgrind is needed to count on x86") or 1
    arm = aarch64.build_for_arm("row_kernels_driver_baseline")
    baseline = build("row_kernels_driver_baseline", "kernels")
    avx2 = build("row_kernels_driver_avx2", "kernels")
    flags = "-DCMAKE_CXX_FLAGS=-mfma -msse4.1"
    fused = build("row_kernels_driver_baseline", "kernels-fma128", flags)
    library = plugin()

    def on_arm(arguments):
        command = [aarch64.QEMU, "-plugin", library, "-d", "plugin", arm, *arguments]
        return count(command, r"instructions (\d+)")

    def on_x86(program):
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        return lambda arguments: count([*tool, program, *arguments], r"Collected : (\d+)")

    runs = {
        "x86 baseline": on_x86(baseline),
        "x86 AVX2": on_x86(avx2),
        "x86 128 bits, fma": on_x86(fused),
        "NEON": on_arm,
    }
    print("| kernel | type | " + " | ".join(runs) + " |")
    print("| --- | --- |" + " ---: |" * len(runs))
    for kernel, m in CASES:
        for kind in ("f32", "f64"):
            figures = [f"{per_element(run, kind, kernel, m):.1f}" for run in runs.values()]
            print(f"| {kernel}, m = {m} | {kind} | " + " | ".join(figures) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
