# SPDX-License-Identifier: MIT
"""tools/compilers.py reads sources and flags from CMake's files, and a warning does not pass. The
transposes stay in registers whichever compiler turns them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.building import needs_compiler
from helpers.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))
import compilers
import tidy

OBJDUMP = shutil.which("objdump")
CLANG = next(iter(compilers.installed("clang++")), None)


def test_sources_and_flags_are_those_of_cmake():
    kernels = {f"csrc/cpu/kernels/{p.name}" for p in PROJECT.glob("csrc/cpu/kernels/*.cpp")}
    assert {*kernels, "csrc/cpu/isa.cpp"} == set(compilers.row_sources())
    assert {"csrc/module.cpp", "csrc/schemas.cpp"} <= set(compilers.module_sources())
    assert {"-Wall", "-Wextra", "-ffp-contract=off"} <= set(compilers.common_flags())
    assert "-mfma" in compilers.set_flags("avx2")
    assert "-mavx512vl" in compilers.set_flags("avx512")
    assert compilers.set_flags("baseline") == []


def test_tidy_looks_at_all_sources_but_two():
    sources = {str(p.relative_to(PROJECT)) for p in PROJECT.glob("csrc/**/*.cpp")}
    left_out = {"csrc/testing/module.cpp", "csrc/common/build_info.cpp"}
    assert {command[2] for command in tidy.commands("clang-tidy")} == sources - left_out


@needs_compiler
@pytest.mark.parametrize(
    ("body", "wrong"),
    [("return static_cast<int>(x);", False), ("return x;", True), ("return y;", True)],
)
def test_warnings_and_errors_are_noticed(body: str, wrong: bool, tmp_path: Path):
    source = tmp_path / "source.cpp"
    source.write_text(f"int f(double x) {{ {body} }}\n")
    command = [*compilers.native("g++").command, "-Wconversion", str(source)]
    assert bool(compilers.compile_one(command)) == wrong


@pytest.mark.slow
@pytest.mark.skipif(CLANG is None or OBJDUMP is None, reason="needs clang++ and objdump")
def test_clang_transposes_without_scatters(tmp_path: Path):
    """Through memory, clang would make one scatter of each row. Tables may be gathered: they are
    made once."""
    flags = [*compilers.common_flags(), *compilers.set_flags("avx512"), "-DSVMF_ISA=isa_avx512"]
    made = tmp_path / "rows.o"
    source = PROJECT / "csrc" / "cpu" / "kernels" / "vmf_sample_backward_rows.cpp"
    subprocess.run(
        [CLANG, "-std=c++17", *flags, f"-I{PROJECT / 'csrc'}", "-c", source, "-o", made], check=True
    )
    listed = subprocess.run([OBJDUMP, "-dC", made], capture_output=True, text=True, check=True)
    turned, inside = 0, ""
    for line in listed.stdout.splitlines():
        if line.endswith(">:"):
            inside = line
            turned += "transpose" in line
        elif "vscatter" in line:
            assert "VmfTable" in inside or "pathwise::FitBuilder" in inside, inside
    assert turned >= 2, "no transposes out of line: is this the right listing?"
