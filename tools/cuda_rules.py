# SPDX-License-Identifier: MIT
"""Rules for the machine code of the CUDA kernels; `make cuda` checks them.

    python tools/cuda_rules.py build/cuda

- A kernel's stack is below 512 bytes per thread: the driver reserves it for every thread that the
  device can hold.
- float32 kernels use no local memory, which is to say that they have no stack.
- No load of a parameter with an index that differs from lane to lane: the constant bank would serve
  the lanes one after another.

The stack is in ptxas' report. Local memory is looked for in the code too; that and the third rule
need cuobjdump and nvdisasm on PATH (the toolkit, or the Python packages nvidia-cuda-cuobjdump and
nvidia-cuda-nvdisasm) and are left out, aloud, without.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from cuda_report import Compiled, read_ptxas
from cuda_sass import read_bodies

STACK = 512

LOCAL = re.compile(r"\b(LDL|STL)\b")
INDEXED_PARAMETER = re.compile(r"\bLDC[.\w]* R\d+, c\[0x0\]\[R\d+")


def allowed_stack(kernel: Compiled) -> int:
    return 0 if kernel.is_float32 else STACK


def broken_by_stack(kernels: list[Compiled]) -> list[str]:
    return [
        f"{k.name} on {k.arch}: {k.stack} bytes of stack, allowed are {allowed_stack(k)}"
        for k in kernels
        if k.stack > allowed_stack(k)
    ]


def broken_by_code(kernel: Compiled, body: str) -> list[str]:
    broken = []
    if kernel.is_float32 and LOCAL.search(body):
        broken.append(f"{kernel.name} on {kernel.arch}: local memory in a float32 kernel")
    if found := INDEXED_PARAMETER.search(body):
        broken.append(f"{kernel.name} on {kernel.arch}: a parameter by lane: {found[0]}")
    return broken


def main() -> int:
    folder = Path(sys.argv[1])
    kernels = read_ptxas(folder)
    broken = broken_by_stack(kernels)
    archs = sorted({k.arch for k in kernels})
    if shutil.which("cuobjdump") is None:
        print("cuda_rules: no cuobjdump on PATH: loads of parameters not looked at")
    else:
        for arch in archs:
            bodies = read_bodies(folder, arch)
            for kernel in (k for k in kernels if k.arch == arch):
                broken += broken_by_code(kernel, bodies[kernel.name])
    for line in broken:
        print(f"cuda_rules: {line}", file=sys.stderr)
    print(f"cuda_rules: {len(kernels)} kernels for {', '.join(archs)}, {len(broken)} break a rule")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
