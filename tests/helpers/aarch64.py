# SPDX-License-Identifier: MIT
"""The tools of the lane for 64-bit ARM (`make test-aarch64`): a cross compiler and qemu's user
mode, which runs the programs that it makes. Nothing here needs Python or torch for ARM.

    PYTHONPATH=tests python -m helpers.aarch64    # says what is missing, or nothing
"""

import shutil
import sys
from pathlib import Path

from helpers.paths import PROJECT
from helpers.row_programs import build

COMPILER = shutil.which("aarch64-linux-gnu-g++")
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
INSTALL = "on Debian and Ubuntu: apt install g++-aarch64-linux-gnu qemu-user"


def missing() -> str:
    """What to install, or an empty text."""
    names = [
        name
        for name, tool in (("aarch64-linux-gnu-g++", COMPILER), ("qemu-aarch64", QEMU))
        if tool is None
    ]
    return f"tests for aarch64 need {' and '.join(names)} ({INSTALL})" if names else ""


def build_for_arm(program: str, project: Path = PROJECT) -> Path:
    """The same for ARM, where no warning is allowed."""
    return build(
        program,
        "aarch64",
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_CXX_COMPILER={COMPILER}",
        "-DSVMF_WERROR=ON",
        project=project,
    )


if __name__ == "__main__":
    sys.exit(missing() or 0)
