# SPDX-License-Identifier: MIT
"""A build finds a CMake that is new enough, also behind an old one, or says what to install."""

import os
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
import setuptools

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def find_cmake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    function: Callable[[str], str] = runpy.run_path(str(PROJECT / "setup.py"))["find_cmake"]
    return function


def folder_with_cmake(folder: Path, version: str) -> str:
    folder.mkdir()
    program = folder / "cmake"
    program.write_text(f"#!/bin/sh\necho cmake version {version}\n")
    program.chmod(0o755)
    return str(folder)


def test_an_old_one_is_passed_over(find_cmake, tmp_path):
    old = folder_with_cmake(tmp_path / "old", "3.25.1")
    new = folder_with_cmake(tmp_path / "new", "4.0.2")
    assert find_cmake(os.pathsep.join([old, new])) == os.path.join(new, "cmake")
    assert find_cmake(os.pathsep.join([new, old])) == os.path.join(new, "cmake")


def test_old_ones_alone_are_named(find_cmake, tmp_path):
    old = folder_with_cmake(tmp_path / "old", "3.25.1")
    with pytest.raises(SystemExit) as error:
        find_cmake(old)
    assert f"{old}/cmake is 3.25" in str(error.value)
    assert 'pip install "cmake>=3.26" ninja' in str(error.value)


def test_none_at_all(find_cmake, tmp_path):
    with pytest.raises(SystemExit, match="none found"):
        find_cmake(str(tmp_path))
