# SPDX-License-Identifier: MIT
"""svmf.build_info() and `svmf info` say what this installation is."""

import json

import pytest
import torch

import svmf
from svmf.cli import main

KEYS = {
    "svmf",
    "torch",
    "compiler",
    "flags",
    "cpu_isas",
    "cpu_isa",
    "cuda",
    "cuda_archs",
    "torch_headers",
}


def test_build_info() -> None:
    info = svmf.build_info()
    assert info.keys() >= KEYS
    assert all(isinstance(value, str) for value in info.values())
    assert info["svmf"] == svmf.__version__
    assert info["torch"] == torch.__version__
    assert info["cpu_isa"] in info["cpu_isas"].split()
    assert "-ffp-contract=off" in info["flags"]
    assert bool(info["cuda"]) == bool(info["cuda_archs"])


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    info = svmf.build_info()
    assert len(lines) == len(info)
    for line, value in zip(lines, info.values(), strict=True):
        assert line.endswith(value.strip() or "none")


def test_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == svmf.build_info()
