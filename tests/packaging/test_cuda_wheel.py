# SPDX-License-Identifier: MIT
"""The wheel with the CUDA ops, compiled by nvcc and linked for two architectures, warnings as
errors: no float32 kernel spills registers, and the module works on a machine without a GPU."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
import torch
from helpers.building import pip
from helpers.commands import python
from helpers.nvcc import needs_nvcc
from helpers.paths import PROJECT

ARCHITECTURES = "8.0 9.0"
OPTIONS = "-DSVMF_WERROR=ON -DSVMF_PTXAS_REPORT=ON"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), needs_nvcc]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("sources")
    for name in ("csrc", "cmake", "svmf", "tools"):
        shutil.copytree(
            PROJECT / name, copy / name, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
    for name in ("CMakeLists.txt", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(PROJECT / name, copy)
    return copy


@pytest.fixture(scope="module")
def installed(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the package from the wheel."""
    out = tmp_path_factory.mktemp("wheels")
    settings = {"TORCH_CUDA_ARCH_LIST": ARCHITECTURES, "CMAKE_ARGS": OPTIONS}
    pip("wheel", "--wheel-dir", out, sources, SVMF_CUDA="ON", **settings)
    (wheel,) = out.glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_no_float32_kernel_spills(sources: Path, installed: Path) -> None:
    finished = python(sources / "tools" / "cuda_report.py", sources / "build", "--check")
    assert "sm_80, sm_90" in finished.stdout


PROGRAM = """
import json
import svmf.functional, torch
schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("svmf::")]
names = [s.name + (f".{s.overload_name}" if s.overload_name else "") for s in schemas]
distribution = svmf.distributions.VonMisesFisher(torch.eye(4), torch.full((4,), 3.0))
z = distribution.rsample((5,))
has_cuda = torch._C._dispatch_has_kernel_for_dispatch_key
print(json.dumps({
    "file": svmf.__file__,
    "info": svmf.build_info(),
    "lengths": z.norm(dim=-1).flatten().tolist(),
    "without CUDA": sorted(name for name in names if not has_cuda(name, "CUDA")),
    "ops": len(names),
}))
"""


@pytest.mark.skipif(torch.cuda.is_available(), reason="about machines without a GPU")
def test_works_without_a_gpu(installed: Path, tmp_path: Path) -> None:
    finished = python("-c", PROGRAM, cwd=tmp_path, environment={"PYTHONPATH": str(installed)})
    said = json.loads(finished.stdout)
    assert said["file"].startswith(str(installed))
    assert said["info"]["cuda_archs"] == ARCHITECTURES
    assert said["info"]["cuda"]
    assert said["lengths"] == pytest.approx([1.0] * 20, abs=1e-6)
    # The rest runs on the host for every device.
    host = ["svmf::_build_info", "svmf::_draw_seed", "svmf::_parameter_range"]
    assert said["without CUDA"] == host
    assert said["ops"] > 25
