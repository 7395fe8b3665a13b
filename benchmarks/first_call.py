# SPDX-License-Identifier: MIT
"""What the first call costs, in a fresh process: imports, torch's own first backward pass, and
sample + KL + backward, for which svmf builds a table when it meets a new m."""

import json
import statistics
import time
from collections.abc import Mapping, Sequence

from benchmarks.fresh_process import records_of_fresh_process
from benchmarks.texts import time_text
from svmf.benchmarking.report import table

_LATER_CALLS = 20
_PROGRAM = """
import time
start = time.perf_counter()
import torch
torch_there = time.perf_counter()
import svmf
svmf_there = time.perf_counter()
from benchmarks.first_call import print_records
print_records(torch_there - start, svmf_there - torch_there)
"""


def measure_first_call() -> list[dict[str, object]] | str:
    """Records "what", "first", "later" (seconds), or the reason why there are none."""
    return records_of_fresh_process("first call", ["-c", _PROGRAM])


def print_records(import_torch: float, import_svmf: float) -> None:
    """The work of the fresh process."""
    import torch

    from benchmarks.peers import BY_NAME
    from svmf.benchmarking.cases import Case, Shape

    torch.set_num_threads(1)
    shape = Shape(1, 64, 10)
    steps = {
        "a multiplication 64 x 10": ("copy", Case("step", shape)),
        "Normal' 64 x 10": ("Normal'", Case("step", shape)),
        "svmf 64 x 10": ("svmf", Case("step", shape)),
        "svmf 64 x 11, another m": ("svmf", Case("step", Shape(1, 64, 11))),
        "svmf 64 x 10 in float64": ("svmf", Case("step", shape, dtype="float64")),
    }
    records: list[dict[str, object]] = [
        {"what": "import torch", "first": import_torch, "later": None},
        {"what": "import svmf after it", "first": import_svmf, "later": None},
    ]
    calls = {what: BY_NAME[name].calls["step"](case) for what, (name, case) in steps.items()}
    for name, call in calls.items():
        times = []
        for _ in range(1 + _LATER_CALLS):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        later = statistics.median(times[1:])
        records.append({"what": f"step, {name}", "first": times[0], "later": later})
    print(json.dumps(records))


def first_call_table(records: Sequence[Mapping[str, object]]) -> str:
    def text(seconds: object) -> str:
        return time_text(seconds) if isinstance(seconds, float) else "-"

    rows = [[str(r["what"]), text(r["first"]), text(r["later"])] for r in records]
    return table(["what", "first call", "later calls"], rows)
