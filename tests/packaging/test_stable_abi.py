# SPDX-License-Identifier: MIT
"""The compiled module needs torch's C interface and nothing else of it."""

import os
import shutil
import sys
from pathlib import Path

import pytest
import svmf._C
import torch
from helpers.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))

import abi_symbols

pytestmark = pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm")
MODULE = Path(svmf._C.__file__)
# Further builds of torch: wheels, separated by colons.
WHEELS = [w for w in os.environ.get("SVMF_TORCH_WHEELS", "").split(":") if w]


def test_what_must_be_there_is_c():
    needed = abi_symbols.needed(MODULE)
    assert len(needed) > 10
    for name, weak in needed.items():
        assert weak or name.startswith(("aoti_torch_", "torch_")), name


def test_this_torch_has_it():
    assert abi_symbols.missing(MODULE, Path(torch.__file__).parent / "lib") == []


@pytest.mark.skipif(not WHEELS, reason="SVMF_TORCH_WHEELS names no wheels")
@pytest.mark.parametrize("wheel", WHEELS or [""])
def test_other_torches_have_it(wheel, tmp_path):
    assert abi_symbols.missing(MODULE, abi_symbols.unpack(Path(wheel), tmp_path)) == []
