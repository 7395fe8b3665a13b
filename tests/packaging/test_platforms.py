# SPDX-License-Identifier: MIT
"""Platforms that cannot work are refused with a reason when CMake configures; where the processor
lacks instructions, the set without them is chosen; a tensor on mps is told where to go."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from helpers.building import COMPILER, compiled, configure, needs_cmake, needs_compiler, one_line

from svmf import _library


def complaint(build: Path, *options: str) -> str:
    """What CMake complains of, for the row kernels alone."""
    alone = "-DSVMF_KERNELS_ONLY=ON", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"
    finished = configure(build, *alone, *options)
    assert finished.returncode != 0, finished.stdout
    return one_line(finished.stderr)


@needs_cmake
@needs_compiler
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-DCMAKE_CXX_FLAGS=-m32"], "svmf: expected a 64-bit processor"),
        # The compiler's own answer, and one that claims the other order.
        (["-DCMAKE_CXX_FLAGS=-U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"],
         "svmf: expected a little-endian processor"),
        (["-DCMAKE_OSX_ARCHITECTURES=arm64;x86_64"],
         "svmf: expected one architecture in CMAKE_OSX_ARCHITECTURES, got 'arm64;x86_64'"),
        (["-DMSVC=1"], "svmf: Microsoft's compiler has no vector extensions"),
    ],
    ids=["32-bit", "big-endian", "universal2", "msvc"],
)  # fmt: skip
def test_refused(options: list[str], message: str, tmp_path: Path) -> None:
    if "-m32" in options[0] and os.uname().machine != "x86_64":
        pytest.skip("-m32 is an option of x86-64")
    if shutil.which("uname") is None:
        pytest.skip("needs uname")
    assert message in complaint(tmp_path / "build", f"-DCMAKE_CXX_COMPILER={COMPILER}", *options)


CROSS = shutil.which("aarch64-linux-gnu-g++")


@needs_cmake
@pytest.mark.skipif(CROSS is None, reason="needs aarch64-linux-gnu-g++")
def test_a_real_big_endian_compiler_is_refused(tmp_path: Path) -> None:
    options = [f"-DCMAKE_CXX_COMPILER={CROSS}", "-DCMAKE_CXX_FLAGS=-mbig-endian"]
    assert "svmf: expected a little-endian processor" in complaint(tmp_path / "build", *options)


# isa.cpp with a processor that has what the environment variable CPU lists.
CHOICE = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
inline bool cpu_has_feature(const char* name) {
  return (" " + std::string(std::getenv("CPU")) + " ").find(" " + std::string(name) + " ") !=
         std::string::npos;
}
#define __builtin_cpu_supports cpu_has_feature
#include "cpu/isa.cpp"
namespace svmf {
namespace row_kernel_tables {
#define SET(isa)                                      \
  const RowKernelTable& isa_##isa() {                 \
    static const RowKernelTable table{#isa, {}, {}};  \
    return table;                                     \
  }
SET(baseline) SET(avx2) SET(avx512)
}  // namespace row_kernel_tables
}  // namespace svmf
int main() {
  try {
    std::puts(svmf::active_row_kernels().name);
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
}
"""
AVX512 = ["avx512f", "avx512bw", "avx512dq", "avx512vl"]


@pytest.fixture(scope="module")
def choose(tmp_path_factory: pytest.TempPathFactory):
    if os.uname().machine != "x86_64":
        pytest.skip("needs x86-64")
    folder = tmp_path_factory.mktemp("choice")
    (folder / "choice.cpp").write_text(CHOICE)
    program = compiled(folder / "choice.cpp", folder / "choice", "-O0")

    def run(features: list[str], wanted: str = "") -> str:
        settings = {"CPU": " ".join(features), "SVMF_CPU_ISA": wanted}
        done = subprocess.run([program], env=settings, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


def test_the_best_set_that_the_processor_has_is_chosen(choose) -> None:
    assert choose([]) == "baseline"
    assert choose(["avx2"]) == "baseline"  # without fma
    assert choose(["avx2", "fma"]) == "avx2"
    assert choose(["avx2", "fma", *AVX512]) == "avx512"
    assert choose(["avx2", "fma", *AVX512], "baseline") == "baseline"
    assert "which this CPU does not have" in choose(["avx2", "fma"], "avx512")


@pytest.mark.parametrize("missing", AVX512)
def test_avx512_without_one_of_its_extensions_is_avx2(missing: str, choose) -> None:
    """Knights Landing has F alone, for instance."""
    assert choose(["avx2", "fma", *(f for f in AVX512 if f != missing)]) == "avx2"


def test_a_tensor_on_mps_is_told_to_go_to_the_cpu() -> None:
    """There is no such device here: the op is sent to the kernels that such a torch would get."""
    explained = _library.explain_missing_device("MPS", _library._refuse_mps)
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.MPS)
    try:
        with pytest.raises(RuntimeError, match=r"on an mps device.*\.cpu\(\).*\.to\('mps'\)"):
            torch.ops.svmf.vmf_kl_uniform.default.redispatch(keys, torch.ones(2), 3)
    finally:
        for library in explained:
            library._destroy()
