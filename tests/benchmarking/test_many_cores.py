# SPDX-License-Identifier: MIT
"""The model of many cores shares out rows as csrc/cpu/vmf_sample.cpp does."""

import re
from pathlib import Path

import pytest

from benchmarks import many_cores
from benchmarks.many_cores import BACKWARD, FORWARD, Machine, parts, tasks

SOURCE = Path(__file__).parents[2] / "csrc" / "cpu" / "vmf_sample.cpp"


def test_constants_are_those_of_the_op() -> None:
    found = {
        name: int(value) for name, value in re.findall(r"\b(k\w+) = (\d+)", SOURCE.read_text())
    }
    assert found["kBlockRows"] == many_cores.BLOCK_ROWS
    assert found["kRowCost"] == many_cores.ROW_COST
    assert found["kForwardGrain"] == FORWARD.grain
    assert found["kBackwardGrain"] == BACKWARD.grain


@pytest.mark.parametrize(
    ("rows", "m", "threads", "expected"),
    [
        (64, 10, 64, (1, 64)),  # one block
        (1024, 64, 64, (16, 64)),  # as many tasks as blocks of at least a grain
        (8192, 64, 2, (2, 4096)),
        (8192, 64, 3, (3, 2752)),  # 43, 43 and 42 blocks
    ],
)
def test_tasks(rows: int, m: int, threads: int, expected: tuple[int, int]) -> None:
    assert tasks(rows, m, threads, FORWARD.grain) == expected


def test_memory_limits_what_many_cores_ask_for() -> None:
    machine = Machine(join=0.0, call=0.0, bandwidth=1e9)
    assert parts(machine, FORWARD, 65536, 64, 64)["memory"] == pytest.approx(65536 * 64 * 8 / 1e9)
