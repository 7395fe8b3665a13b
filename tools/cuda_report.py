# SPDX-License-Identifier: MIT
"""What the CUDA kernels cost on paper, from the compiler's own report (`make cuda` keeps it beside the objects).

    python tools/cuda_report.py build/cuda            # the tables of docs/cuda.md, as Markdown
    python tools/cuda_report.py build/cuda --check    # fails if a float32 kernel spills registers

Nothing here is measured: occupancy follows from registers and threads per block, the time bounds from bytes and the
vendor's bandwidth.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Kernels that compute in float64 for both types (csrc/cuda/kernels/log_bessel.cuh).
DOUBLE_INSIDE = ("BesselOfOrders", "BesselByRecurrence")
REGISTERS_PER_PROCESSOR = 65536
REGISTER_UNIT = 256  # a warp's registers are handed out in this many
# Name: (threads per multiprocessor, blocks per multiprocessor, GB/s), from the vendor's data sheets.
DEVICES = {"A100 40 GB": (2048, 32, 1555), "RTX 4090": (1536, 24, 1008)}


@dataclass(frozen=True)
class Kernel:
    name: str
    arch: str
    registers: int
    stack: int
    spills: int

    @property
    def is_float32(self) -> bool:
        return "float" in self.name and not any(word in self.name for word in DOUBLE_INSIDE)

    @property
    def block(self) -> int:
        return 256 if "BlockTeam" in self.name else 128

    def occupancy(self, device: str) -> float:
        threads, blocks, _ = DEVICES[device]
        per_warp = -(-self.registers * 32 // REGISTER_UNIT) * REGISTER_UNIT
        warps = self.block // 32
        resident = min(blocks, REGISTERS_PER_PROCESSOR // (per_warp * warps), threads // self.block)
        return resident * self.block / threads


def read_report(folder: Path) -> list[Kernel]:
    files = sorted(folder.rglob("*.ptxas"))
    if not files:
        raise SystemExit(f"cuda_report: no *.ptxas below {folder}; run `make cuda` first")
    text = "".join(path.read_text() for path in files)
    text = subprocess.run(
        ["c++filt"], input=text, capture_output=True, text=True, check=True
    ).stdout
    kernels, name, arch, frame = [], "", "", (0, 0)
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(.*)' for '(sm_\w+)'", line):
            name = (
                re.sub(r"svmf::|isa_cuda::|\(anonymous namespace\)::|^void ", "", match[1]).split(
                    ">("
                )[0]
                + ">"
            )
            arch, frame = match[2], None
        elif (
            match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill", line)
        ) and frame is None:
            frame = (int(match[1]), int(match[2]))
        elif match := re.search(r"Used (\d+) registers", line):
            kernels.append(Kernel(name, arch, int(match[1]), *(frame or (0, 0))))
    return kernels


def kernel_table(kernels: list[Kernel]) -> str:
    head = [
        "kernel",
        "arch",
        "registers",
        "stack B",
        "spill B",
        *(f"occupancy {d}" for d in DEVICES),
    ]
    rows = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for k in sorted(kernels, key=lambda k: (k.name, k.arch)):
        shares = [f"{100 * k.occupancy(d):.0f} %" for d in DEVICES]
        rows.append(
            "| "
            + " | ".join(
                [f"`{k.name}`", k.arch, *map(str, (k.registers, k.stack, k.spills)), *shares]
            )
            + " |"
        )
    return "\n".join(rows)


def bandwidth_table() -> str:
    """Least bytes per element of each op (one sample per row), and the time that the bandwidth alone allows."""
    ops = {
        "function of kappa": 2,
        "householder": 3,
        "householder backward": 5,
        "vmf_rsample (per column: mu in, z out)": 2,
        "vmf_rsample backward (per column: G, z, mu in, grad out)": 4,
        "vmf_kl, vmf_log_prob (per column: two rows in)": 2,
    }
    head = [
        "op",
        "bytes, float32",
        "bytes, float64",
        *(f"ns per 1000 float32, {d}" for d in DEVICES),
    ]
    rows = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for op, values in ops.items():
        times = [f"{1000 * 4 * values / gb:.2f}" for _, _, gb in DEVICES.values()]
        rows.append(f"| {op} | {4 * values} | {8 * values} | " + " | ".join(times) + " |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    kernels = read_report(arguments.folder)
    if arguments.check:
        bad = [k for k in kernels if k.is_float32 and k.spills]
        for k in bad:
            print(f"cuda_report: {k.name} spills {k.spills} bytes on {k.arch}", file=sys.stderr)
        print(f"cuda_report: {len(kernels)} kernels, {len(bad)} float32 kernels with spills")
        return 1 if bad else 0
    print(bandwidth_table(), kernel_table(kernels), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
