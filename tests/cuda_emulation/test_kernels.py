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


def test_half_types_go_through_the_kernels(asan_driver, tmp_path):
    """The bits of float32 rounded once; sanitizers look at what is read, written and aligned."""
    rng = np.random.default_rng(12)
    pairs = []
    for m in (2, 3, 9, 10, 34, 128, 130, 520):
        forward = *cases.sample_cases(rng, (m,)), *cases.family_sample_cases(rng, (m,))
        backward = *cases.backward_cases(rng, (m,)), *cases.family_backward_cases(rng, (m,))
        for comparison in (*forward, *backward):
            case = comparison.case
            samples = case.integers[0]
            if case.dtype != "float32" or (m > 128 and samples > 1):  # those are widened before
                continue
            half = emulator.Case(**{**vars(case), "dtype": "float16", "results": []})
            with np.errstate(over="ignore"):
                inputs = [
                    None if a is None else np.asarray(a, half.input_type(i))
                    for i, a in enumerate(half.inputs)
                ]
            half.inputs = inputs
            wide = emulator.Case(**{**vars(case), "inputs": inputs, "results": []})
            pairs.append((half, wide))
    emulator.run(asan_driver, [case for pair in pairs for case in pair], tmp_path)
    assert len(pairs) > 30
    for half, wide in pairs:
        for i, (got, want) in enumerate(zip(half.results, wide.results, strict=True)):
            if got is not None:
                with np.errstate(over="ignore"):
                    np.testing.assert_array_equal(got, want.astype(half.output_type(i)))


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
