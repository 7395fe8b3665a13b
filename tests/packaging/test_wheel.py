# SPDX-License-Identifier: MIT
"""The wheel serves every Python from 3.10 on and contains the package alone; a rebuild compiles
what changed and nothing else. Both build in a copy of the sources."""

import re
import zipfile
from pathlib import Path

import pytest
from helpers.building import copy_tracked, needs_history, pip
from helpers.commands import python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), needs_history]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files under version control."""
    return copy_tracked(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheels")
    pip("wheel", "--wheel-dir", out, sources)
    (path,) = out.glob("*.whl")
    return path


def test_tag(wheel: Path) -> None:
    assert re.fullmatch(r"svmf-[0-9.]+-cp310-abi3-linux_\w+\.whl", wheel.name)


def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [n for n in names if n.endswith(".so")] == ["svmf/_C.abi3.so"]
    assert "svmf/py.typed" in names
    assert {n.split("/")[0].split("-")[0] for n in names} == {"svmf"}
    allowed = re.compile(
        r"svmf/[\w/]+\.py|svmf/_C\.abi3\.so|svmf/py\.typed|svmf-[^/]+\.dist-info/.*"
    )
    assert [n for n in names if not allowed.fullmatch(n)] == []


def test_works_without_the_sources(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import svmf, torch; print(svmf.__file__, svmf.functional.vmf_kl_uniform(torch.ones(1), 3))"
    )
    finished = python("-c", program, cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path)})
    assert finished.stdout.startswith(str(tmp_path))


def compiled_files(log: str) -> list[str]:
    """Names of the objects that Ninja says it builds."""
    return re.findall(r"Building \w+ object \S*?(\w+\.(?:cpp|cu))\.o", log)


def test_rebuild_compiles_only_what_changed(sources: Path, wheel: Path, tmp_path: Path) -> None:
    def build(out: str) -> list[str]:
        return compiled_files(pip("wheel", "--wheel-dir", tmp_path / out, sources))

    assert build("same") == []
    kernel = sources / "csrc" / "cpu" / "kernels" / "vmf_kl_rows.cpp"
    kernel.write_text(kernel.read_text() + "\n// changed\n")
    built = build("changed")
    assert set(built) == {"vmf_kl_rows.cpp"}
    assert len(built) <= 3  # once per instruction set
