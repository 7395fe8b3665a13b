# SPDX-License-Identifier: MIT
"""What a figure depends on besides the code: CPU, instruction set, versions."""

import os
import platform
from pathlib import Path

import torch

import svmf


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def environment(device: str = "cpu") -> dict[str, str]:
    info = svmf.build_info()
    known = {
        "cpu": _cpu_name(),
        "cores": str(os.cpu_count()),
        "instruction set": info["cpu_isa"],
        "compiler": info["compiler"],
        "torch": info["torch"],
        "svmf": info["svmf"],
        "python": platform.python_version(),
    }
    if device.startswith("cuda"):
        known["gpu"] = torch.cuda.get_device_name(device)
    return known
