# SPDX-License-Identifier: MIT
"""The row kernels on 64-bit ARM, under qemu, against those of x86 with AVX2, which has fma too.

Functions of one number do the same operations in the same order on both, so they agree in every
bit, as the random words do. What is summed along a row is summed in another order: it may differ
by a few eps of the vectors' length, which is 1, or of the largest value where that is larger. A
sample within an ulp of its acceptance bound could come out as another proposal; with these seeds
none does.
"""

import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import aarch64

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(aarch64.missing()), reason=aarch64.missing()),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compares with x86-64"),
    pytest.mark.timeout(3600),
]
EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52}
# Sums along rows of up to 1000 unit vectors' numbers; 6 eps was seen.
SUMMED = {
    "vmf_kl", "vmf_log_prob", "householder", "householder_grad_x", "householder_grad_loc",
    "sample", "sample_grad_loc", "sample_grad_kappa",
}  # fmt: skip
MOST_EPS = 16


def read(path: Path) -> list[tuple[str, str, int, np.ndarray]]:
    blocks = []
    with path.open("rb") as stream:
        while line := stream.readline():
            name, kind, m, count = line.decode().split()
            blocks.append((name, kind, int(m), np.frombuffer(stream.read(8 * int(count)))))
    return blocks


@pytest.fixture(scope="module")
def values(tmp_path_factory) -> list:
    folder = tmp_path_factory.mktemp("values")
    arm = aarch64.build_for_arm("row_values_baseline")
    subprocess.run([aarch64.QEMU, arm, folder / "arm"], check=True)
    x86 = aarch64.build("row_values_avx2", "kernels")
    subprocess.run([x86, folder / "x86"], check=True)
    return list(zip(read(folder / "arm"), read(folder / "x86"), strict=True))


def test_functions_and_random_words_have_the_bits_of_avx2(values):
    compared = 0
    for (name, kind, m, arm), (*same, x86) in values:
        assert [name, kind, m] == same
        if name not in SUMMED:
            np.testing.assert_array_equal(arm, x86, err_msg=f"{name} {kind} m = {m}")
            compared += len(arm)
    assert compared > 20_000


def test_samples_and_gradients_agree_up_to_the_order_of_sums(values):
    for (name, kind, m, arm), (*_, x86) in values:
        if name in SUMMED:
            bound = MOST_EPS * EPSILON[kind] * max(1.0, np.abs(x86).max())
            np.testing.assert_allclose(
                arm, x86, rtol=0, atol=bound, err_msg=f"{name} {kind} m = {m}"
            )


def test_samples_are_unit_vectors(values):
    for (name, kind, m, arm), _ in values:
        if name == "sample":
            lengths = np.linalg.norm(arm.reshape(-1, m), axis=1)
            np.testing.assert_allclose(lengths, 1, rtol=0, atol=8 * EPSILON[kind])
