# SPDX-License-Identifier: MIT
"""svmf.build_info() and `svmf info` say what this installation is."""

import json

import pytest
import torch
from helpers.commands import python

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
    *of_build, driver, gpus = lines
    assert len(of_build) == len(info)
    for line, value in zip(of_build, info.values(), strict=True):
        assert line.endswith(value.strip() or "none")
    assert driver.startswith("NVIDIA driver")
    assert gpus.startswith("GPUs, with compute capability")


def test_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    machine = {name: found.pop(name) for name in ("driver", "gpus")}
    assert found == svmf.build_info()
    assert all(isinstance(value, str) for value in machine.values())


WITHOUT_CUDA_OPS = """
import torch
torch.version.cuda = "13.0"
import svmf.functional
keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
for op, arguments in (
    (torch.ops.svmf.vmf_kl_uniform.default, (torch.ones(2), 3)),
    (torch.ops.svmf.log_iv.tensor, (torch.ones(2), torch.ones(2))),
):
    try:
        op.redispatch(keys, *arguments)
    except RuntimeError as error:
        print(error)
print(svmf.functional.vmf_kl_uniform(torch.ones(2), 3).isfinite().all().item())
"""


@pytest.mark.skipif(bool(svmf.build_info()["cuda"]), reason="needs a build without the CUDA ops")
def test_a_gpu_tensor_is_told_what_the_build_lacks() -> None:
    """A torch that has CUDA, with an svmf that has not: as after a build without nvcc."""
    finished = python("-c", WITHOUT_CUDA_OPS)
    first, second, worked = finished.stdout.splitlines()
    assert first.startswith("svmf: a tensor is on a CUDA device, but svmf was built without its")
    assert "SVMF_CUDA=ON pip install" in first
    assert (second, worked) == (first, "True")
