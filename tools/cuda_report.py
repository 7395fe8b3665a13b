# SPDX-License-Identifier: MIT
"""What the CUDA kernels cost on paper, from the compiler's own report (`make cuda` keeps it).

    python tools/cuda_report.py build/cuda --check    # fails if a float32 kernel spills
    python tools/cuda_report.py build/cuda            # the tables of docs/cuda.md

tools/update_tables.py puts the tables there.

Nothing is measured. Registers and spills are ptxas', block sizes and shared memory come from the
launch functions, instruction counts from the machine code (cuobjdump and nvdisasm on PATH), and
a time is an estimate: bytes over bandwidth, or instructions over issue rate if that is more.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Kernels that compute in float64 for both types (csrc/cuda/kernels/log_bessel.cuh).
DOUBLE_INSIDE = ("BesselOfOrders", "BesselByRecurrence")


@dataclass(frozen=True)
class Compiled:
    """ptxas about one kernel on one architecture."""

    name: str
    arch: str
    registers: int
    stack: int
    spills: int

    @property
    def is_float32(self) -> bool:
        """Of float32, or of a half type: what is computed in float32."""
        return "double" not in self.name and not any(word in self.name for word in DOUBLE_INSIDE)

    @property
    def is_half(self) -> bool:
        return is_half(self.name)


def read_ptxas(folder: Path) -> list[Compiled]:
    files = sorted(folder.rglob("*.ptxas"))
    if not files:
        raise SystemExit(f"cuda_report: no *.ptxas below {folder}; run `make cuda` first")
    text = demangled("".join(path.read_text() for path in files))
    kernels: list[Compiled] = []
    name, arch, frame = "", "", (0, 0)
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(.*)' for '(sm_\w+)'", line):
            name, arch = short_name(match[1]), match[2]
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
            frame = int(match[1]), int(match[2])
        elif match := re.search(r"Used (\d+) registers", line):
            kernels.append(Compiled(name, arch, int(match[1]), *frame))
    return kernels


def demangled(text: str) -> str:
    """The text with C++ names as they are written."""
    return subprocess.run(
        ["c++filt"], input=text, capture_output=True, text=True, check=True
    ).stdout


def is_half(kernel: str) -> bool:
    return "loat16, " in kernel


def short_name(symbol: str) -> str:
    """A demangled kernel without its namespaces and parameters."""
    name = re.sub(r"svmf::|isa_cuda::|\(anonymous namespace\)::|^void ", "", symbol)
    return name.split(">(")[0] + ">"


def check(kernels: Sequence[Compiled]) -> int:
    """A line for every float32 kernel that spills, and a summary."""
    bad = [k for k in kernels if k.is_float32 and k.spills]
    for k in bad:
        print(f"cuda_report: {k.name} spills {k.spills} bytes on {k.arch}", file=sys.stderr)
    archs = ", ".join(sorted({k.arch for k in kernels}))
    most = max(kernels, key=lambda k: k.registers)
    print(
        f"cuda_report: {len({k.name for k in kernels})} kernels for {archs}; "
        f"{len(bad)} float32 kernels spill, {sum(k.spills > 0 for k in kernels)} kernels in all; "
        f"at most {most.registers} registers ({most.name})"
    )
    return 1 if bad else 0


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def span(values: Iterable[float]) -> str:
    """One number, or the smallest and the largest."""
    low, high = min(values := [round(v) for v in values]), max(values)
    return f"{low}" if low == high else f"{low}-{high}"


@dataclass(frozen=True)
class Device:
    """From the vendor's data sheets and the CUDA programming guide."""

    name: str
    arch: str
    processors: int
    clock: float  # GHz, boost
    bandwidth: float  # GB/s
    threads: int  # per multiprocessor
    blocks: int
    shared: int  # bytes per multiprocessor

    def occupancy(self, registers: int, threads: int, shared: int) -> float:
        warp = math.ceil(registers * 32 / 256) * 256  # registers are handed out in this many
        blocks = min(
            self.blocks,
            65536 // (warp * (threads // 32)),
            self.threads // threads,
            self.shared // (shared + 1024),  # the system keeps 1 KB of each block
        )
        return blocks * threads / self.threads

    @property
    def issue(self) -> float:
        """Thread instructions per nanosecond: four warps of 32 per cycle and multiprocessor."""
        return 128 * self.processors * self.clock


A100 = Device("A100 40 GB", "sm_80", 108, 1.41, 1555, 2048, 32, 164 * 1024)
RTX4090 = Device("RTX 4090", "sm_89", 128, 2.52, 1008, 1536, 24, 100 * 1024)
DEVICES = (A100, RTX4090)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the build folder of `make cuda`")
    parser.add_argument("--check", action="store_true", help="fail if a float32 kernel spills")
    arguments = parser.parse_args()
    kernels = read_ptxas(arguments.folder)
    if arguments.check:
        return check(kernels)
    from cuda_tables import all_tables  # needs the emulation, which --check does not

    print(all_tables(kernels, arguments.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
