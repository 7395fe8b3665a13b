# SPDX-License-Identifier: MIT
"""A free-threaded Python has no limited API: the module is built for that version alone, and says
that it needs no GIL."""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from helpers.building import configure, needs_cmake
from helpers.paths import PROJECT


@needs_cmake
@pytest.mark.parametrize("free_threaded", [False, True])
def test_only_others_get_the_limited_api(free_threaded: bool, tmp_path: Path) -> None:
    """This Python, made to claim that it is free-threaded."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = {int(free_threaded)}"
    )
    finished = configure(tmp_path / "build", "-DSVMF_CUDA=OFF", PYTHONPATH=str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    rules = (tmp_path / "build" / "build.ninja").read_text()
    assert ("Py_LIMITED_API" in rules) != free_threaded
    name = f"_C{sysconfig.get_config_var('EXT_SUFFIX')}" if free_threaded else "_C.abi3.so"
    assert f"build {name}:" in rules


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler")
def test_the_module_says_that_it_needs_no_gil() -> None:
    """Without Python.h, whose macros would hide the names: not every Python has them."""
    source = (PROJECT / "csrc" / "module.cpp").read_text().replace("#include <Python.h>", "")
    for option, said in ("-DPy_GIL_DISABLED=1", True), ("-UPy_GIL_DISABLED", False):
        command = ["c++", "-E", "-x", "c++", option, "-"]
        made = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
        assert ("{Py_mod_gil, Py_MOD_GIL_NOT_USED}" in made.stdout) == said
