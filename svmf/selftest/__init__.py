# SPDX-License-Identifier: MIT
"""`svmf selftest`: every op on this machine's device, against the CPU, in about half a minute.

On a GPU the expectation is the CPU's result; on the CPU float32 is held against float64, and
float64 against the formulas of svmf.reference. Nothing here replaces the tests of the repository:
it answers whether this build runs on this machine.
"""

import platform
import time
from collections.abc import Callable

import torch

from svmf import _gpus
from svmf._library import build_info
from svmf.selftest import checks, gpu_checks
from svmf.selftest.op_calls import check_half_types, check_ops
from svmf.selftest.step import SkippedError

CHECKS: dict[str, Callable[[str], str]] = {
    "architectures": gpu_checks.check_architecture,
    "random words": checks.check_words,
    "every op": check_ops,
    "half types": check_half_types,
    "reference": checks.check_reference,
    "moments": checks.check_moments,
    "side stream": gpu_checks.check_stream,
    "second device": gpu_checks.check_second_device,
    "CUDA graph": gpu_checks.check_graph,
    "torch.compile": checks.check_compile,
    "long row": gpu_checks.check_long_row,
    "out of memory": gpu_checks.check_out_of_memory,
    "launches": gpu_checks.check_launches,
    "speed": checks.check_speed,
}


def facts() -> dict[str, str]:
    info = build_info()
    return {
        "svmf": f"{info['svmf']}, {info['compiler']}, instruction set {info['cpu_isa']}",
        "built with CUDA": f"{info['cuda'] or 'no'} {info['cuda_archs']}".strip(),
        "torch": f"{info['torch']}, CUDA {torch.version.cuda or 'no'}",
        "driver": _gpus.driver() or "none",
        "GPU": "; ".join(_gpus.names()) or "none",
        "machine": f"{platform.platform()}, Python {platform.python_version()}",
    }


def missing_for_cuda() -> list[str]:
    """Why there is no GPU to test, in words."""
    missing = [] if torch.cuda.is_available() else ["torch sees no GPU"]
    return missing if build_info()["cuda"] else [*missing, "svmf was built without CUDA"]


def selftest(device: str | None = None) -> int:
    """Prints the report; 0 if nothing failed, else 1."""
    missing = missing_for_cuda()
    device = device or ("cpu" if missing else "cuda")
    print(f"svmf selftest, device {device}")
    for name, text in facts().items():
        print(f"  {name:16s} {text}")
    if device == "cuda" and missing:
        print(f"FAIL: no GPU to test: {' and '.join(missing)} (docs/cuda.md)")
        return 1
    if torch.cuda.is_available() and device == "cpu":
        print(f"note: the GPU is not tested: {' and '.join(missing) or 'as asked for'}")
    start, failed = time.perf_counter(), 0
    for name, check in CHECKS.items():
        try:
            outcome, text = "ok", check(device)
        except SkippedError as reason:
            outcome, text = "skip", str(reason)
        except Exception as error:
            outcome, text = "FAIL", f"{type(error).__name__}: {error}".split("\n\n")[0]
            failed += 1
        print(f"{outcome:4s} {name:16s} {text}", flush=True)
    took = time.perf_counter() - start
    print(f"{f'{failed} FAILED' if failed else 'everything works'}, {took:.0f} s")
    return 1 if failed else 0
