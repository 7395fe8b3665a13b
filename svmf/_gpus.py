# SPDX-License-Identifier: MIT
"""What GPUs there are, and whether this build has code for them: for `svmf info` and `svmf
selftest`."""

import shutil
import subprocess

import torch


def driver() -> str:
    """The driver as nvidia-smi names it, or nothing."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else ""


def names() -> list[str]:
    """Every GPU that torch sees, with its compute capability."""
    if not torch.cuda.is_available():
        return []
    found = []
    for i in range(torch.cuda.device_count()):
        major, minor = torch.cuda.get_device_capability(i)
        found.append(f"{torch.cuda.get_device_name(i)} ({major}.{minor})")
    return found


def fits(built: str, capability: tuple[int, int]) -> bool:
    """Whether code built for these architectures ("8.0 9.0+PTX") runs on a device.

    Machine code runs on devices of its own major version that are not older; PTX on every device
    that is not older. Code for one architecture alone (9.0a) runs there.
    """
    for entry in built.split():
        number, _, ptx = entry.partition("+")
        alone = number[-1] in "af"
        major, minor = (int(part) for part in number.rstrip("af").split("."))
        if alone and (major, minor) != capability:
            continue
        newer = (major, minor) <= capability
        if newer and (ptx or major == capability[0]):
            return True
    return False
