# SPDX-License-Identifier: MIT
"""What a figure depends on besides the code: CPU, instruction set, versions, commit."""

import os
import platform
import subprocess
from pathlib import Path

import torch

import svmf

_PACKAGE = Path(svmf.__file__).resolve().parent


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str | None:
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=_PACKAGE, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return finished.stdout.strip() if finished.returncode == 0 else None


def _commit() -> str:
    """The commit of the project's own checkout, if the package is used from one."""
    top = _git("rev-parse", "--show-toplevel")
    if not top or Path(top) / "svmf" != _PACKAGE:
        return "unknown (installed package)"
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", str(_PACKAGE), "../csrc")
    return (_git("rev-parse", "--short", "HEAD") or "unknown") + (" (modified)" if changed else "")


def environment(device: str = "cpu") -> dict[str, str]:
    info = svmf.build_info()
    known = {
        "cpu": _cpu_name(),
        "cores": str(os.cpu_count()),
        "instruction set": info["cpu_isa"],
        "compiler": info["compiler"],
        "torch": info["torch"],
        "svmf": info["svmf"],
        "commit": _commit(),
        "python": platform.python_version(),
    }
    if device.startswith("cuda"):
        known["gpu"] = torch.cuda.get_device_name(device)
    return known


def describe_environment(device: str = "cpu") -> str:
    return ", ".join(f"{name} {value}" for name, value in environment(device).items())
