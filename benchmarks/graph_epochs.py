# SPDX-License-Identifier: MIT
"""How long `svmf train svgae` takes on a citation graph, and the memory it needs: a run of some of
the epochs, scaled to all of them."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GraphRun:
    """`seconds` of the whole command for `epochs` epochs, `measured` of which were run."""

    data: str
    epochs: int
    measured: int
    seconds: float
    peak_bytes: int


def measure_graph(data: str, epochs: int, measured: int, threads: int) -> GraphRun | str:
    """The figures, or the reason why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            sys.executable, "-m", "svmf", "train", "svgae", "--data", data, "--quiet",
            "--epochs", str(measured), "--threads", str(threads), "--out", str(run),
        ]  # fmt: skip
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        message = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return f"S-VGAE on {data}: skipped, {message.strip().splitlines()[-1]}"
        lines = [json.loads(line) for line in (run / "timing.jsonl").read_text().splitlines()]
    # the first epoch pays for what is built once
    inside = sum(line["train_seconds"] + line["validation_seconds"] for line in lines[1:])
    seconds = wall + inside / (measured - 1) * (epochs - measured)
    return GraphRun(data, epochs, measured, seconds, usage.ru_maxrss * 1024)
