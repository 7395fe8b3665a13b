# SPDX-License-Identifier: MIT
"""A measurement that needs a process of its own: it prints JSON, and failing it costs a line."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_TIMEOUT = 120
_ROOT = Path(__file__).resolve().parent.parent  # where `import benchmarks` works


def records_of_fresh_process(
    what: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> list[dict[str, object]] | str:
    """What `python *arguments` prints, or the reason why there is nothing."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT,
    )
    if finished.returncode != 0:
        return f"{what}: skipped, {(finished.stderr.splitlines() or ['no message'])[-1]}"
    return json.loads(finished.stdout)
