# SPDX-License-Identifier: MIT
"""Peak memory, measured: sampling needs its output and no copy of it; a step needs the sample and
the gradient of the mean direction, and per row a few numbers."""

import pytest

from benchmarks.first_call import first_call_table, measure_first_call
from benchmarks.memory import measure_memory, memory_table
from svmf.benchmarking.cases import Shape

pytestmark = pytest.mark.alone


def test_peak_memory_of_forward_and_backward():
    found = measure_memory([Shape(1, 32768, 64)], "cpu")
    if isinstance(found, str):
        pytest.skip(found)
    peak = {(r["op"], r["candidate"]): r["times_output"] for r in found}
    assert 0.95 < peak["sample", "svmf"] < 1.2
    assert 1.9 < peak["step", "svmf"] < 2.4
    assert peak["sample", "Normal'"] > 1.9  # the measure sees temporaries
    assert "peak / output" in memory_table(found)


def test_first_call_in_a_fresh_process():
    found = measure_first_call()
    assert not isinstance(found, str), found
    steps = [record for record in found if record["later"] is not None]
    assert len(steps) == 5
    assert all(record["first"] > 0 and record["later"] > 0 for record in steps)
    assert "import svmf after it" in first_call_table(found)
