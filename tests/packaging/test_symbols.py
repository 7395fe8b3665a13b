# SPDX-License-Identifier: MIT
"""What the compiler made of the row kernels. A function that the linker may merge must be named by
its instruction set: of two copies of one name it keeps either, and the copy for AVX-512 would be
called on a machine without it. And an fma stands only where one is written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.paths import PROJECT

BUILD = PROJECT / "build" / f"cmake-{sys.implementation.cache_tag}" / "CMakeFiles"
NM = shutil.which("nm")
OBJDUMP = shutil.which("objdump")


def objects_for(isa: str) -> list[Path]:
    objects = sorted(BUILD.glob(f"svmf_rows_{isa}.dir/csrc/cpu/kernels/*.o"))
    if not objects:
        pytest.skip(f"this build has no objects for {isa}: run `make install` on x86-64")
    return objects


@pytest.mark.skipif(NM is None, reason="nm is not installed")
@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_weak_functions_are_named_by_their_instruction_set(isa):
    objects = objects_for(isa)
    listed = subprocess.run(
        [NM, "--defined-only", *objects], capture_output=True, text=True, check=True
    )
    symbols = [line.split()[-2:] for line in listed.stdout.splitlines() if len(line.split()) == 3]
    weak = [name for kind, name in symbols if kind == "W"]
    assert weak, "no weak function at all: is this the right listing?"
    assert [name for name in weak if f"isa_{isa}" not in name] == []


@pytest.mark.skipif(OBJDUMP is None, reason="objdump is not installed")
@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_no_product_is_fused_by_the_compiler(isa):
    """g++ 12 fuses a*b + c beside a*b - c in spite of -ffp-contract=off, and only these."""
    listed = subprocess.run(
        [OBJDUMP, "-d", *objects_for(isa)], capture_output=True, text=True, check=True
    )
    assert "vfmadd" in listed.stdout, "no fma at all: is this the right listing?"
    assert [
        line for line in listed.stdout.splitlines() if re.search("vfm(addsub|subadd)", line)
    ] == []
