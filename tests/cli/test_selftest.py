# SPDX-License-Identifier: MIT
"""`svmf selftest`, its report and its exit code; and the GPUs of `svmf info`, without any."""

import pytest
import torch

import svmf
from svmf import _gpus, selftest
from svmf import _inventory as inventory
from svmf.cli import main
from svmf.selftest import checks, op_calls

QUICK = ("random words", "every op", "reference", "side stream")


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(selftest, "CHECKS", {name: selftest.CHECKS[name] for name in QUICK})


def test_the_cpu_passes(quick, capsys):
    assert main(["selftest", "--device", "cpu"]) == 0
    report = capsys.readouterr().out
    for name in ("random words", "every op", "reference"):
        assert f"ok   {name}" in report
    assert "skip side stream      for GPUs" in report
    assert "everything works" in report
    for fact in ("svmf ", "torch ", "driver ", "GPU ", "machine "):
        assert f"\n  {fact}" in report


@pytest.mark.slow
def test_all_checks_pass(capsys):
    assert main(["selftest", "--device", "cpu"]) == 0
    assert "FAIL" not in capsys.readouterr().out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_a_failure_when_asked_for(capsys):
    assert main(["selftest", "--device", "cuda"]) == 1
    assert "FAIL: no GPU to test: torch sees no GPU" in capsys.readouterr().out


def test_a_gpu_that_is_not_tested_is_named(quick, monkeypatch, capsys):
    """A build without CUDA on a machine with a GPU passes as a CPU's, and says so."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(_gpus, "names", lambda: ["A100 (8.0)"])
    monkeypatch.setattr(selftest, "build_info", lambda: {**svmf.build_info(), "cuda": ""})
    assert main(["selftest"]) == 0
    report = capsys.readouterr().out
    assert "svmf selftest, device cpu" in report
    assert "note: the GPU is not tested: svmf was built without CUDA" in report


def test_a_wrong_result_fails(quick, monkeypatch, capsys):
    monkeypatch.setattr(checks, "KNOWN", (0.5, *checks.KNOWN[1:]))
    assert main(["selftest", "--device", "cpu"]) == 1
    assert "FAIL random words" in capsys.readouterr().out


def test_every_op_of_the_inventory_is_called():
    called = {name.removesuffix(".tensor") for name, *_ in op_calls.calls()}
    left_out = {"_parameter_range", "_build_info", "_draw_seed", "_vmf_rsample_backward"}
    left_out.add(inventory.FEATURE_SAMPLER_BACKWARD)
    left_out |= {family.backward for family in inventory.FAMILIES}
    assert called == set(inventory.NAMES) - left_out


@pytest.mark.parametrize(
    ("built", "capability", "expected"),
    [
        ("8.0", (8, 0), True),
        ("8.0", (8, 6), True),
        ("8.6", (8, 0), False),
        ("8.0", (9, 0), False),
        ("8.0+PTX", (9, 0), True),
        ("9.0+PTX", (8, 9), False),
        ("9.0a", (9, 0), True),
        ("10.0a", (10, 3), False),
        ("7.5 8.0 8.6 9.0 10.0 12.0+PTX", (8, 9), True),
        ("7.5 8.0 8.6 9.0 10.0 12.0+PTX", (6, 1), False),
        ("", (8, 0), False),
    ],
)
def test_which_devices_code_runs_on(built, capability, expected):
    assert _gpus.fits(built, capability) is expected


def test_info_names_driver_and_gpus(monkeypatch, capsys):
    monkeypatch.setattr(_gpus, "driver", lambda: "580.65")
    monkeypatch.setattr(_gpus, "names", lambda: ["A100 (8.0)"])
    assert main(["info"]) == 0
    said = capsys.readouterr().out
    assert "NVIDIA driver                580.65" in said
    assert "A100 (8.0)" in said
