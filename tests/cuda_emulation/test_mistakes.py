# SPDX-License-Identifier: MIT
"""The emulation notices the usual mistakes: small kernels with one mistake each."""

import os
import subprocess

import emulator
import pytest

SOURCE = emulator.HERE / "mistakes" / "mistakes.cu"
WRONG_RESULT = 5

# Mistake: the build that notices it, the exit code, and a part of the message.
MISTAKES = {
    "wrong_shuffle_width": ("asan", WRONG_RESULT, ""),
    "impossible_shuffle_width": ("asan", 3, "width must be a power of two"),
    "store_past_the_end": ("asan", 1, "heap-buffer-overflow"),
    "read_past_shared_memory": ("asan", 1, "heap-buffer-overflow"),
    "return_before_the_barrier": ("asan", 3, "deadlock"),
    "shuffle_in_a_branch": ("asan", 3, "deadlock"),
    "two_barriers_for_one": ("asan", 3, "different barriers"),
    "lane_outside_its_mask": ("asan", 3, "not in the mask"),
    "source_outside_the_mask": ("asan", 3, "outside the mask"),
    "uninitialised_shared_memory": ("asan", WRONG_RESULT, ""),
    "block_too_large": ("asan", 4, "invalid configuration"),
    "missing_barrier": ("tsan", 66, "data race"),
    "missing_barrier_between_two": ("tsan", 66, "data race"),
    "sum_without_atomics": ("tsan", 66, "data race"),
}


@pytest.fixture(scope="session")
def programs(compiler):
    return {sanitizer: emulator.build(sanitizer, [SOURCE]) for sanitizer in ("asan", "tsan")}


def run(program, mistake: str, order: int) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(program), mistake, str(order)],
        capture_output=True,
        text=True,
        env={**os.environ, **emulator.ENVIRONMENT},
    )


@pytest.mark.parametrize("order", range(len(emulator.ORDERS)))
@pytest.mark.parametrize("sanitizer", ["asan", "tsan"])
def test_a_kernel_without_mistakes_passes(programs, sanitizer, order):
    done = run(programs[sanitizer], "none", order)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_noticed(programs, mistake):
    sanitizer, code, message = MISTAKES[mistake]
    done = run(programs[sanitizer], mistake, emulator.ORDERS.index("forward"))
    assert done.returncode == code, done.stderr
    assert message in done.stderr
