# SPDX-License-Identifier: MIT
"""The source distribution has all that a build needs and nothing stray, and `pip install` from it
works."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from helpers.paths import PROJECT

pytestmark = pytest.mark.skipif(
    not (PROJECT / ".git").exists(), reason="needs the project's history"
)


def tracked() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return [name for name in listing.stdout.split("\0") if name and (PROJECT / name).exists()]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a copy of the files under version control."""
    copy, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("dist")
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / name, copy / name)
    program = f"from setuptools.build_meta import build_sdist; build_sdist({str(out)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
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
    binaries = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
         "--target", tmp_path / "site", sdist],
        env={**os.environ, "SVMF_CUDA": "OFF", "PATH": f"{binaries}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    program = (
        "import svmf, torch; svmf.functional.vmf_rsample(torch.eye(3), torch.ones(3)); "
        "print(svmf.__file__)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.startswith(str(tmp_path))
