# SPDX-License-Identifier: MIT
"""Peak memory of forward and of forward + backward against the size of the output, measured.

On the CPU the operating system's high-water mark of resident memory, in a process of its own whose
allocator gives every freed block of 64 KiB or more back at once; on a GPU torch's own counter. What
is alive before the call (parameters, incoming gradients) does not count.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from benchmarks.fresh_process import records_of_fresh_process
from benchmarks.peers import BY_NAME
from svmf.benchmarking.cases import TITLES, Case, Shape
from svmf.benchmarking.report import table

NAMES = ("svmf", "Normal'", "reference", "published")
SHAPES = (Shape(1, 131072, 10), Shape(1, 16384, 64))
QUICK_SHAPES = (Shape(1, 16384, 64),)
LEAST_ELEMENTS = 2**18  # 1 MiB in float32: less drowns in what the process does besides
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): resets the high-water mark to the present size
_BLOCK = str(64 * 1024)


def measure_memory(shapes: Sequence[Shape], device: str) -> list[dict[str, object]] | str:
    """One record per op, shape and candidate; or the reason why it cannot be measured."""
    if device.startswith("cuda"):
        return _records(shapes, device)
    if not os.access(_CLEAR, os.W_OK):
        return f"memory: skipped, needs {_CLEAR} (Linux)"
    texts = [f"{s.samples}x{s.batch}x{s.m}" for s in shapes]
    blocks = {"MALLOC_MMAP_THRESHOLD_": _BLOCK, "MALLOC_TRIM_THRESHOLD_": _BLOCK}
    return records_of_fresh_process(
        "memory", ["-m", "benchmarks.memory", *texts], {**os.environ, **blocks}
    )


def _records(shapes: Sequence[Shape], device: str) -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    on_gpu = device.startswith("cuda")
    peak = partial(_peak_on_gpu, device) if on_gpu else _peak_resident
    for op in TITLES:
        for shape in shapes:
            case = Case(op, shape, device=device)
            for name in NAMES:
                candidate = BY_NAME[name]
                if candidate.missing() is None and candidate.applies(case):
                    peak_bytes = peak(candidate.calls[op](case))
                    records.append(_record(case, name, peak_bytes))
    return records


def _record(case: Case, name: str, peak: int) -> dict[str, object]:
    output = case.shape.elements * case.like["dtype"].itemsize
    return {
        "op": case.op,
        "shape": str(case.shape),
        "candidate": name,
        "peak_bytes": peak,
        "output_bytes": output,
        "bytes_per_element": peak / case.shape.elements,
        "times_output": peak / output,
    }


def _status(field: str) -> int:
    """A size from /proc/self/status in bytes."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert found is not None
    return int(found.group(1)) * 1024


def _peak_resident(call: Callable[[], object]) -> int:
    call()
    _CLEAR.write_text(_RESET_PEAK)
    before = _status("VmRSS")
    kept = call()
    peak = _status("VmHWM")
    del kept
    return max(0, peak - before)


def _peak_on_gpu(device: str, call: Callable[[], object]) -> int:
    call()
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    kept = call()
    torch.cuda.synchronize(device)
    peak = torch.cuda.max_memory_allocated(device)
    del kept
    return peak - before


def memory_table(records: Sequence[dict[str, object]]) -> str:
    rows = [
        [
            TITLES[str(record["op"])],
            str(record["shape"]),
            str(record["candidate"]),
            f"{record['bytes_per_element']:.1f}",
            f"{record['times_output']:.2f}",
        ]
        for record in records
    ]
    headers = ["what", "rows x m", "candidate", "peak bytes/element", "peak / output"]
    return table(headers, rows, text_columns=3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sizes = [Shape(*(int(n) for n in text.split("x"))) for text in sys.argv[1:]]
    print(json.dumps(_records(sizes, "cpu")))
