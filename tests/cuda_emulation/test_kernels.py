# SPDX-License-Identifier: MIT
"""Every CUDA kernel, run thread by thread under the address and undefined-behaviour sanitizers,
against the CPU op."""

import cases
import emulator
import numpy as np
import pytest


@pytest.mark.parametrize("family", cases.FAMILIES)
def test_kernels_agree_with_the_cpu(family, asan_driver, tmp_path):
    comparisons = list(cases.FAMILIES[family](np.random.default_rng(7)))
    emulator.run(asan_driver, [c.case for c in comparisons], tmp_path)
    for comparison in comparisons:
        comparison.check()


def test_results_do_not_depend_on_tiles_or_thread_order(asan_driver, tmp_path):
    """One draw, for grids of several sizes and all thread orders: the same bits."""
    rng = np.random.default_rng(8)
    for m in (5, 12, 70, 520):
        runs = []
        comparison = next(c for c in cases.sample_cases(rng, (m,)) if c.case.integers[1] > 1)
        for order in emulator.ORDERS:
            for processors in (1, 2, 1000):
                case = emulator.Case(
                    **{
                        **vars(comparison.case),
                        "order": order,
                        "processors": processors,
                        "results": [],
                    }
                )
                runs.append(case)
        emulator.run(asan_driver, runs, tmp_path)
        for run in runs[1:]:
            for got, want in zip(run.results, runs[0].results, strict=True):
                np.testing.assert_array_equal(got, want)


def test_empty_inputs_launch_nothing(asan_driver, tmp_path):
    none = np.zeros(0, "float32")
    runs = [
        emulator.Case("vmf_entropy", "float32", (0, 5), (), (none,), (0,)),
        emulator.Case("log_iv", "float32", (0,), (1.0,), (none,), (0,)),
        emulator.Case("householder", "float32", (0, 5), (), (none, none), (0,)),
        emulator.Case("vmf_kl", "float32", (0, 5), (), (none,) * 4, (0,)),
        emulator.Case("vmf_sample", "float32", (3, 0, 5, 1), (), (none, none), (0, 0, 0, None)),
        emulator.Case("vmf_sample_backward", "float32", (3, 0, 5, 0), (), (none,) * 8, (0, 0)),
    ]
    emulator.run(asan_driver, runs, tmp_path)


def test_kl_is_computed_without_samples(asan_driver, tmp_path):
    kappa = np.array([0.5, 2.0, 7.0], "float32")
    loc = np.eye(3, 5, dtype="float32")
    case = emulator.Case(
        "vmf_sample", "float32", (0, 3, 5, 1), (), (loc, kappa), (0, None, None, 3)
    )
    emulator.run(asan_driver, [case], tmp_path)
    want = cases.ops.vmf_kl_uniform(cases._tensor(kappa), 5).numpy()
    np.testing.assert_allclose(case.results[3], want, rtol=4e-7)
