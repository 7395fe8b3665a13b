# SPDX-License-Identifier: MIT
"""The kernels that threads share memory in, under the thread sanitizer: only barriers order memory
there, so a missing one is a race, whatever order the threads happen to run in. Few rows: a fiber
costs it milliseconds."""

import cases
import emulator
import numpy as np
import pytest


def race_cases(rng: np.random.Generator) -> list[emulator.Case]:
    """Warp and block teams, several tiles per owner, several blocks, several steps per tile, one or
    many samples a row."""
    loc = {m: cases.unit_rows(rng, 70, m, "float32") for m in (5, 12, 70, 520, 1100)}
    kappa = cases.kappas(rng, 70, "float32")
    runs = []

    def add(op: str, integers, inputs, outputs) -> None:
        runs.append(
            emulator.Case(
                op, "float32", integers, (), inputs, outputs, order="shuffled", processors=1
            )
        )

    for m, samples, batch in ((5, 2, 40), (12, 1, 70), (70, 1, 18), (520, 1, 9)):
        rows, mu = samples * batch, loc[m][:batch]
        add(
            "vmf_sample", (samples, batch, m, 3), (mu, kappa[:batch]), (rows * m, rows, rows, batch)
        )
    for m, samples, batch in ((5, 1, 40), (5, 9, 2), (70, 1, 18), (1100, 1, 9)):
        rows, mu = samples * batch, loc[m][:batch]
        g, half = rng.standard_normal((rows, m)), np.full(rows, 0.9)
        z = np.tile(mu, (samples, 1))
        add(
            "vmf_sample_backward",
            (samples, batch, m, 0),
            (g, kappa[:batch], None, z, half, 2 - half, mu, kappa[:batch]),
            (batch * m, batch),
        )
    for m, rows in ((12, 70), (1100, 16)):  # two rows per tile and several tiles per owner
        mu, x = loc[m][:rows], rng.standard_normal((rows, m))
        add("householder", (rows, m), (x, mu), (rows * m,))
        add("householder_backward", (rows, m), (x, x, mu), (rows * m, rows * m))
        add("vmf_kl", (rows, m), (mu, kappa[:rows], mu[::-1], kappa[:rows]), (rows,))
    add("vmf_entropy", (40, 7), (kappa[:40],), (40,))
    return runs


@pytest.mark.timeout(900)
def test_kernels_have_no_races(tsan_driver, tmp_path):
    runs = race_cases(np.random.default_rng(3))
    emulator.run(tsan_driver, runs, tmp_path)
    for run in runs:
        assert all(np.isfinite(result).all() for result in run.results)
