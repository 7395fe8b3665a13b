# SPDX-License-Identifier: MIT
"""Samples drawn on the device have the vMF distribution, and their gradients in kappa the right
expectation: the checks of tests/sampler, with their false-alarm rates (gof.FALSE_ALARM; 4 standard
errors)."""

import pytest
import torch
from helpers.device_calls import SamplersOn, sampler_on
from helpers.kappa_gradients import exact_slopes, per_sample_gradients, standard_errors_off
from helpers.op_cases import directions
from helpers.sample_checks import examine

TYPES = [torch.float32, torch.float64]
PAIRS = [(2, 3.0), (3, 10.0), (4, 5.0), (10, 0.0), (10, 12.0), (10, 1e8), (65, 45.0), (500, 1e5)]
# Rounding of z itself, in eps, as in tests/sampler.
NORM_LIMIT = COSINE_LIMIT = 8.0
ALLOWED = 4.0
# On the CPU the sampler has its own tests: enough draws to see that these work.
DRAWS = {"cpu": 20_000, "cuda": 200_000}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_distribution(m: int, kappa: float, dtype: torch.dtype, device: torch.device) -> None:
    loc = directions(1, m, dtype, m)[0].double()
    n = DRAWS[device.type] if m < 500 else 5000
    report = examine(sampler_on(device, dtype), loc, kappa, n, seed=50_000 + m)
    report.require_all(f"{device} m={m} kappa={kappa:g} {dtype}", NORM_LIMIT, COSINE_LIMIT)


@pytest.mark.needs_cuda
@pytest.mark.statistics
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_distribution_with_many_draws(m: int, kappa: float, dtype: torch.dtype) -> None:
    loc = directions(1, m, dtype, m)[0].double()
    report = examine(sampler_on(torch.device("cuda"), dtype), loc, kappa, 1_000_000, seed=60_000)
    report.require_all(f"m={m} kappa={kappa:g} {dtype}", NORM_LIMIT, COSINE_LIMIT)


@pytest.mark.parametrize("estimator", ["pathwise", "corrected"])
@pytest.mark.parametrize("m", [2, 3, 10, 50])
def test_gradients_are_unbiased(m: int, estimator: str, device: torch.device) -> None:
    kappa, n = float(m), DRAWS[device.type]
    samplers = SamplersOn(device)
    gradients = per_sample_gradients(samplers, estimator, m, kappa, n, seed=95_000 + m)
    for name, exact in exact_slopes(m, kappa).items():
        off = standard_errors_off(gradients[name], exact)
        assert off < ALLOWED, f"{estimator}, {name}, m={m}: {off:.2f} standard errors"
