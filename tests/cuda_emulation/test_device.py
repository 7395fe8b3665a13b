# SPDX-License-Identifier: MIT
"""csrc/cuda/device.cpp without a GPU: the stream is asked of libtorch_cuda.so (a stand-in), the
device guard lives exactly as long as the launch, and errors are told apart."""

import json
import subprocess
import sys
from pathlib import Path

import emulator
import pytest
import torch

# A process of its own: the stand-in must not be found by other tests. Without `import torch`, which
# loads the real libtorch_cuda where there is one; the library finds libtorch_cpu by itself.
PROGRAM = """
import ctypes, json, sys
library, stub, calls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
if stub:
    ctypes.CDLL(stub)
launch = ctypes.CDLL(library).svmf_launch
launch.restype = ctypes.c_char_p
print(json.dumps([launch(*call).decode() for call in calls]))
"""


@pytest.fixture(scope="module")
def libraries(compiler) -> tuple[Path, Path]:
    return emulator.build_device_test(Path(torch.__file__).resolve().parent)


def launches(libraries, *calls: tuple[int, int, int], with_stub: bool = True) -> list[str]:
    """One record per (device, device whose guard is refused, launch error)."""
    library, stub = map(str, libraries)
    command = [sys.executable, "-c", PROGRAM, library, stub if with_stub else "", json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_tensors_device_and_its_stream(libraries):
    first, second = launches(libraries, (0, -1, 0), (3, -1, 0))
    assert first == f"on 0; launch on stream {0x5000}; off"
    assert second == f"on 3; launch on stream {0x5003}; off"


def test_a_failed_launch_leaves_the_device(libraries):
    (record,) = launches(libraries, (1, -1, 9))
    happened, text = record.split(" | ")
    assert happened == f"on 1; launch on stream {0x5001}; off"
    assert text == "some_op: the CUDA launch failed: invalid configuration argument"


def test_without_a_stream_or_a_guard_nothing_is_launched(libraries):
    no_stream, no_guard = launches(libraries, (9, -1, 0), (2, 2, 0))
    for record in (no_stream, no_guard):
        assert "launch on" not in record
        assert "off" not in record
        assert "API call failed" in record


def test_a_torch_without_cuda_is_named(libraries):
    (record,) = launches(libraries, (0, -1, 0), with_stub=False)
    assert record == (
        " | svmf: this torch has no CUDA (aoti_torch_get_current_cuda_stream was not found)"
    )
