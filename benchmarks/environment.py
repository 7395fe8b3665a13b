# SPDX-License-Identifier: MIT
"""What a figure depends on besides the code, and the commit of the code."""

import subprocess
from pathlib import Path

import svmf
from svmf.benchmarking import report

ROOT = Path(__file__).resolve().parent.parent


def _git(*arguments: str) -> str | None:
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return finished.stdout.strip() if finished.returncode == 0 else None


def _commit() -> str:
    """The commit of this checkout, if the package is used from it."""
    if Path(svmf.__file__).resolve().parent != ROOT / "svmf":
        return "unknown (installed package)"
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "svmf", "csrc")
    return (_git("rev-parse", "--short", "HEAD") or "unknown") + (" (modified)" if changed else "")


def environment(device: str = "cpu") -> dict[str, str]:
    return {**report.environment(device), "commit": _commit()}
