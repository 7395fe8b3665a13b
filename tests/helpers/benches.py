# SPDX-License-Identifier: MIT
"""What the tests of `svmf bench` and of `python -m benchmarks` change in what is measured."""

import pytest

from svmf.benchmarking import cases, sampler

_VALUES = {
    "m": [2, 3],
    "rows": [1, 8],
    "samples": [1, 2],
    "threads": [1, 2],
    "kappa": [0.1, 1e6],
    "dtype": ["float64"],
}

# Arguments that both refuse, and a part of the line that they say.
MISTAKES = (
    (("--shape", "12"), "--shape: expected ROWSxM"),
    (("--kappa", "-1"), "--kappa: expected finite numbers of at least 0"),
    (("--dtype", "float16"), "invalid choice: 'float16'"),
    (("--threads", "0"), "--threads: expected at least 1"),
    (("--device", "tpu"), "--device: expected cpu or cuda"),
    (("--seconds", "0"), "--seconds: expected a positive number"),
    (("--json", "/dev/null/x.json"), "cannot be written"),
)


def use_sweeps(monkeypatch: pytest.MonkeyPatch, *quantities: str) -> None:
    """A value or two of each quantity, at a shape that takes no time."""
    few = [(quantity, ["4x3"], _VALUES[quantity]) for quantity in quantities]
    monkeypatch.setattr(cases, "sweeps", lambda quick: few)


def interrupt_the_third_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C when two cases have been measured."""
    original, calls = sampler.measure, []

    def measure_twice(case, *args, **kwargs):
        calls.append(case)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(case, *args, **kwargs)

    monkeypatch.setattr(sampler, "measure", measure_twice)
