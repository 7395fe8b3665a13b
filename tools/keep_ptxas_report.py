# SPDX-License-Identifier: MIT
"""Runs a compiler and keeps what ptxas says about its kernels in a file beside the object.

    python tools/keep_ptxas_report.py nvcc ... -o kernel.o ...

cmake/svmf_cuda.cmake puts it in front of nvcc; tools/cuda_report.py reads the files.
"""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    command = sys.argv[1:]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.splitlines()
    if done.returncode != 0 or "-o" not in command:
        print(done.stderr, end="", file=sys.stderr)
        return done.returncode
    report = [line for line in lines if line.startswith(("ptxas info", "    "))]
    for line in lines:
        if line not in report:
            print(line, file=sys.stderr)
    if report:
        target = Path(command[command.index("-o") + 1])
        target.with_suffix(target.suffix + ".ptxas").write_text("\n".join(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
