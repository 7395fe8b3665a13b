# SPDX-License-Identifier: MIT
"""Elementwise ops on several threads: the same bits, and really more than one thread at work."""

import json
import os

import pytest
import torch
from helpers.commands import python
from helpers.op_cases import CASES, Case

import svmf.functional as F

# CPU time of each thread after much elementwise work on two threads.
PROGRAM = """
import json, os
import torch
import svmf.functional as F


def ticks():
    used = {}
    for task in os.listdir("/proc/self/task"):
        fields = open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()
        used[task] = int(fields[11]) + int(fields[12])
    return used


torch.set_num_threads(2)
kappa = torch.rand(1_000_000, dtype=torch.float64) * 100
start, before = ticks(), sum(os.times()[:2])
while sum(os.times()[:2]) - before < 1.0:
    F.vmf_kl_uniform(kappa, 10)
work = {task: used - start.get(task, 0) for task, used in ticks().items()}
print(json.dumps(sorted(work.values(), reverse=True)))
"""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_bits_on_any_number_of_threads(case: Case) -> None:
    for dtype in (torch.float32, torch.float64):
        tensors = [t.repeat(1237, *[1] * (t.dim() - 1)) for t in case.tensors(dtype)]
        values = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            values.append(case.call(*tensors))
        assert torch.equal(values[0], values[1])
        assert torch.equal(values[0], values[2])


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two CPUs")
def test_second_thread_works() -> None:
    finished = python("-c", PROGRAM)
    first, second, *_ = json.loads(finished.stdout)
    assert second >= first / 4


def test_small_tensors_stay_on_one_thread() -> None:
    """Below the grain a call must not pay for a second thread: it gives the same bits anyway."""
    kappa = torch.rand(100)
    torch.set_num_threads(2)
    two = F.vmf_kl_uniform(kappa, 10)
    torch.set_num_threads(1)
    assert torch.equal(two, F.vmf_kl_uniform(kappa, 10))
