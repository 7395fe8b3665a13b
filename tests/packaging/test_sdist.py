# SPDX-License-Identifier: MIT
"""The source distribution has all that a build needs and nothing stray, and `pip install` from it
works."""

import re
import tarfile
from pathlib import Path

import pytest
from helpers.building import copy_tracked, needs_history, pip, tracked
from helpers.commands import python

pytestmark = needs_history


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a copy of the files under version control."""
    copy, out = copy_tracked(tmp_path_factory.mktemp("sources")), tmp_path_factory.mktemp("dist")
    program = f"from setuptools.build_meta import build_sdist; build_sdist({str(out)!r})"
    python("-c", program, cwd=copy)
    (path,) = out.glob("*.tar.gz")
    return path


def test_contents(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()} - {""}
    needed = {n for n in tracked() if n.split("/")[0] in ("csrc", "cmake", "svmf")}
    needed |= {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "setup.py"}
    assert needed <= names
    folders = r"(csrc|cmake|svmf)(/.*)?"
    others = r"CMakeLists.txt|LICENSE|README.md|CHANGELOG.md|pyproject.toml|setup.(py|cfg)"
    metadata = r"MANIFEST.in|PKG-INFO|svmf.egg-info(/.*)?"
    stray = [n for n in names if not re.fullmatch(f"{folders}|{others}|{metadata}", n)]
    assert stray == []
    assert [n for n in names if n.endswith((".so", ".pyc"))] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_install(sdist: Path, tmp_path: Path) -> None:
    pip("install", "--target", tmp_path / "site", sdist)
    program = (
        "import svmf, torch; svmf.functional.vmf_rsample(torch.eye(3), torch.ones(3)); "
        "print(svmf.__file__)"
    )
    shown = python("-c", program, cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path / "site")})
    assert shown.stdout.startswith(str(tmp_path))
