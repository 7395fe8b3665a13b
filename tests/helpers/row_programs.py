# SPDX-License-Identifier: MIT
"""Programs over the row kernels alone (cmake/svmf_kernels_only.cmake), without Python and torch,
and what tests/aarch64/row_values.cpp writes."""

import subprocess
from pathlib import Path

import numpy as np

from helpers.paths import PROJECT


def build(program: str, folder: str, *settings: str, project: Path = PROJECT) -> Path:
    tree = project / "build" / folder
    configure = ["cmake", "-S", project, "-B", tree, "-G", "Ninja", "-DSVMF_KERNELS_ONLY=ON"]
    subprocess.run([*configure, *settings], check=True)
    subprocess.run(["cmake", "--build", tree, "--target", program], check=True)
    return tree / program


def read_values(path: Path) -> list[tuple[str, str, int, np.ndarray]]:
    """Name, type, m and numbers of every block."""
    blocks = []
    with path.open("rb") as stream:
        while line := stream.readline():
            name, kind, m, count = line.decode().split()
            blocks.append((name, kind, int(m), np.frombuffer(stream.read(8 * int(count)))))
    return blocks
