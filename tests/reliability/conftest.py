# SPDX-License-Identifier: MIT
"""A finished run, and copies of it to be damaged."""

import shutil
from pathlib import Path

import pytest
from reliability.tiny_run import tiny_config, write_images

from svmf.training import start_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is done; its images lie beside it."""
    folder = tmp_path_factory.mktemp("hostile")
    start_run(tiny_config(write_images(folder / "images"), 2), folder / "run")
    return folder / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"
