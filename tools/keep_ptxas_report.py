# SPDX-License-Identifier: MIT
"""Runs a compiler and keeps what ptxas says about its kernels in a file beside the object (see cmake/svmf_cuda.cmake).

    python tools/keep_ptxas_report.py nvcc ... -o kernel.o ...
"""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    command = sys.argv[1:]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    report = [line for line in done.stderr.splitlines() if line.startswith(("ptxas info", "    "))]
    other = [line for line in done.stderr.splitlines() if line not in report]
    if other:
        print("\n".join(other), file=sys.stderr)
    if report and "-o" in command:
        target = Path(command[command.index("-o") + 1])
        target.with_suffix(target.suffix + ".ptxas").write_text("\n".join(report) + "\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
