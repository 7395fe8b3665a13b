# SPDX-License-Identifier: MIT
"""The row kernels on five threads under the thread sanitizer: no race, and the bits of one thread.
(torch's own thread pool is not built for the sanitizer, so the module cannot run under it.)"""

import platform
import subprocess
from pathlib import Path

import pytest
from helpers.building import compiled

X86 = platform.machine() == "x86_64"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_row_kernels_have_no_races(tmp_path: Path) -> None:
    flags = [
        "-fsanitize=thread",
        "-pthread",
        "-O1",
        "-g1",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-Wno-psabi",
    ]
    flags += ["-mavx2", "-mfma", "-DSVMF_ISA=isa_avx2"] if X86 else []
    source = Path(__file__).with_name("row_threads.cpp")
    program = compiled(source, tmp_path / "row_threads", *flags)
    done = subprocess.run([program], capture_output=True, text=True, timeout=600, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("this kernel's address layout is not for the thread sanitizer")
    assert "WARNING: ThreadSanitizer" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout.strip()) == (0, "same")
