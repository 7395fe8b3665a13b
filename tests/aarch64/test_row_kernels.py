# SPDX-License-Identifier: MIT
"""The row kernels on 64-bit ARM, under qemu, against those of x86 with AVX2, which has fma too.

Functions of one number do the same operations in the same order on both, so they agree in every
bit, as the random words do. What is summed along a row is summed in another order: it may differ
by a few eps of the vectors' length, which is 1, or of the largest value where that is larger. A
sample within an ulp of its acceptance bound could come out as another proposal; with these seeds
none does.
"""

import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import aarch64
from helpers.paths import PROJECT
from helpers.row_programs import build, read_values

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(aarch64.missing()), reason=aarch64.missing()),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compares with x86-64"),
    pytest.mark.timeout(3600),
]
EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52}
# Sums along rows of up to 1000 unit vectors' numbers; 6 eps was seen.
SUMMED = {
    "vmf_kl", "vmf_log_prob", "spherical_cauchy_log_prob", "power_spherical_log_prob",
    "householder", "householder_grad_x", "householder_grad_loc",
    "sample", "sample_grad_loc", "sample_grad_kappa",
}  # fmt: skip
MOST_EPS = 16


@pytest.fixture(scope="module")
def x86(tmp_path_factory) -> list:
    path = tmp_path_factory.mktemp("x86") / "values"
    subprocess.run([build("row_values_avx2", "kernels"), path], check=True)
    return read_values(path)


def values_on_arm(folder: Path, project: Path = PROJECT) -> list:
    program = aarch64.build_for_arm("row_values_baseline", project)
    subprocess.run([aarch64.QEMU, program, folder / "values"], check=True)
    return read_values(folder / "values")


@pytest.fixture(scope="module")
def values(x86, tmp_path_factory) -> list:
    return list(zip(values_on_arm(tmp_path_factory.mktemp("arm")), x86, strict=True))


def assert_alike(name: str, kind: str, m: int, arm: np.ndarray, x86: np.ndarray) -> None:
    said = f"{name} {kind} m = {m}"
    if name in SUMMED:
        bound = MOST_EPS * EPSILON[kind] * max(1.0, np.abs(x86).max())
        np.testing.assert_allclose(arm, x86, rtol=0, atol=bound, err_msg=said)
    else:
        np.testing.assert_array_equal(arm, x86, err_msg=said)


def test_functions_and_random_words_have_the_bits_of_avx2(values):
    compared = 0
    for (name, kind, m, arm), (*same, x86) in values:
        assert [name, kind, m] == same
        if name not in SUMMED:
            assert_alike(name, kind, m, arm, x86)
            compared += len(arm)
    assert compared > 20_000


def test_samples_and_gradients_agree_up_to_the_order_of_sums(values):
    for (name, kind, m, arm), (*_, x86) in values:
        if name in SUMMED:
            assert_alike(name, kind, m, arm, x86)


# Mistakes in csrc/simd/neon.h: right, wrong, and what must be seen to differ. Those of one list
# stand in one copy of the sources, as none touches what shows another.
MISTAKES = {
    "words, fma and sums": [
        ("vuzp2q_u32(first, second)", "vuzp2q_u32(second, first)", "words f32"),
        ("*high = product >> 32;", "*high = product >> 31;", "words f64"),
        ("return vfmaq_f32(c, a, b);", "return a * b + c;", "vmf_pathwise f32"),
        ("return vfmaq_f64(c, a, b);", "return a * b + c;", "vmf_pathwise f64"),
        ("vget_lane_f32(vpadd_f32(pair, pair), 0)", "vget_lane_f32(pair, 0)", "householder f32"),
        ("return vpaddd_f64(a);", "return a[0];", "householder f64"),
    ],
    "transposes": [
        ("(Native)vtrn1q_f64(t1, t3)", "(Native)vtrn2q_f64(t1, t3)", "sample f32"),
        ("v[1].v = vtrn2q_f64(a, b);", "v[1].v = vtrn1q_f64(a, b);", "sample f64"),
    ],
}


@pytest.mark.parametrize("planted", MISTAKES)
def test_planted_mistakes_are_noticed(planted, x86, tmp_path):
    for part in ("csrc", "cmake", "tests"):
        shutil.copytree(PROJECT / part, tmp_path / part)
    shutil.copy2(PROJECT / "CMakeLists.txt", tmp_path)
    header = tmp_path / "csrc" / "simd" / "neon.h"
    text = header.read_text()
    for right, wrong, _ in MISTAKES[planted]:
        assert text.count(right) == 1, f"neon.h has no single '{right}'"
        text = text.replace(right, wrong)
    header.write_text(text)
    noticed = set()
    for (name, kind, m, arm), (*_, expected) in zip(
        values_on_arm(tmp_path, tmp_path), x86, strict=True
    ):
        try:
            assert_alike(name, kind, m, arm, expected)
        except AssertionError:
            noticed.add(f"{name} {kind}")
    assert {seen for *_, seen in MISTAKES[planted]} <= noticed


def test_samples_are_unit_vectors(values):
    for (name, kind, m, arm), _ in values:
        if name == "sample":
            lengths = np.linalg.norm(arm.reshape(-1, m), axis=1)
            np.testing.assert_allclose(lengths, 1, rtol=0, atol=8 * EPSILON[kind])
