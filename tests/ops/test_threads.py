# SPDX-License-Identifier: MIT
"""Elementwise ops on several threads: the same bits, and really more than one thread at work."""

import json
import os
import subprocess
import sys

import pytest
import torch
from op_cases import CASES, Case

import svmf.functional as F

# CPU time of each thread after much elementwise work on two threads.
PROGRAM = """
import json, os, sys
import torch
import svmf.functional as F
torch.set_num_threads(2)
kappa = torch.rand(1_000_000, dtype=torch.float64) * 100
before = sum(os.times()[:2])
while sum(os.times()[:2]) - before < 1.0:
    F.vmf_kl_uniform(kappa, 10)
ticks = []
for task in os.listdir("/proc/self/task"):
    fields = open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()
    ticks.append(int(fields[11]) + int(fields[12]))
print(json.dumps(sorted(ticks, reverse=True)))
"""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_bits_on_one_and_two_threads(case: Case) -> None:
    tensors = [t.repeat_interleave(1237, dim=0) for t in case.tensors(torch.float32)]
    values = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        values.append(case.call(*tensors))
    assert torch.equal(*values)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two CPUs")
def test_second_thread_works() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    first, second, *_ = json.loads(finished.stdout)
    assert second >= first / 4


def test_small_tensors_stay_on_one_thread() -> None:
    """Below the grain a call must not pay for a second thread: it gives the same bits anyway."""
    kappa = torch.rand(100)
    torch.set_num_threads(2)
    two = F.vmf_kl_uniform(kappa, 10)
    torch.set_num_threads(1)
    assert torch.equal(two, F.vmf_kl_uniform(kappa, 10))
