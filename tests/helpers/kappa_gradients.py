# SPDX-License-Identifier: MIT
"""Monte Carlo gradients d/dkappa E[f(z)] with every estimator, and the exact derivative of each
test function.

One gradient per sample is kept (kappa has an entry per row), so that means come with their standard
errors.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy
import torch
from torch import Tensor

from helpers.vmf_exact import cosine_distribution, exponential_mean_slope, mean_length_slope

ESTIMATORS = ("pathwise", "corrected", "rejection")

_ALONG, _ACROSS = 0.8, 1.3  # c of exp(c.z): its components along mu and in the tangent plane
_CHUNK_ELEMENTS = 2_000_000


@dataclass(frozen=True)
class TestFunction:
    """f(z) for a mean direction mu and one tangent direction, and d/dkappa E[f(z)]."""

    __test__ = False  # not a test class
    name: str
    value: Callable[[Tensor, Tensor, Tensor], Tensor]
    exact_slope: Callable[[int, float], float]


def _wave(below: numpy.ndarray, w: numpy.ndarray) -> numpy.ndarray:
    return w**3 - numpy.sin(2 * w)


def _wave_of(z: Tensor, mu: Tensor, _: Tensor) -> Tensor:
    w = z @ mu
    return w**3 - torch.sin(2 * w)


FUNCTIONS = (
    TestFunction("mu.z", lambda z, mu, _: z @ mu, mean_length_slope),
    TestFunction(
        "w^3 - sin 2w", _wave_of, lambda m, k: cosine_distribution(m, k).expectation_slope(_wave)
    ),
    TestFunction(
        "exp(c.z)",
        lambda z, mu, across: torch.exp(z @ (_ALONG * mu + _ACROSS * across)),
        lambda m, k: exponential_mean_slope(m, k, _ALONG, _ACROSS),
    ),
)


def frame(m: int) -> tuple[Tensor, Tensor]:
    """A random mean direction and a unit tangent direction, float64."""
    generator = torch.Generator().manual_seed(m)
    mu, across = torch.randn(2, m, generator=generator, dtype=torch.float64)
    mu = mu / mu.norm()
    across = across - (across @ mu) * mu
    return mu, across / across.norm()


def per_sample_gradients(
    functional: ModuleType | Any, estimator: str, m: int, kappa: float, n: int, seed: int
) -> dict[str, Tensor]:
    """For each test function n independent gradients in kappa. functional: svmf.functional or
    svmf.reference."""
    mu, across = frame(m)
    generator = torch.Generator().manual_seed(seed)
    # Filled in place: small arrays kept between large ones would break up the heap.
    gradients = {f.name: torch.empty(n, dtype=torch.float64) for f in FUNCTIONS}
    rows = max(1, _CHUNK_ELEMENTS // m)
    for start in range(0, n, rows):
        count = min(rows, n - start)
        k = torch.full((count,), kappa, dtype=torch.float64, requires_grad=True)
        loc = mu.expand(count, m)
        if estimator == "corrected":
            z, log_ratio = functional.vmf_rsample_with_correction(loc, k, generator=generator)
        else:
            z = functional.vmf_rsample(loc, k, gradient=estimator, generator=generator)
        for f in FUNCTIONS:
            value = f.value(z, mu, across)
            if estimator == "corrected":
                value = value + value.detach() * log_ratio
            (slope,) = torch.autograd.grad(value.sum(), k, retain_graph=True)
            gradients[f.name][start : start + count] = slope
    return gradients


@functools.cache
def exact_slopes(m: int, kappa: float) -> dict[str, float]:
    return {f.name: f.exact_slope(m, kappa) for f in FUNCTIONS}


def standard_errors_off(gradients: Tensor, exact: float) -> float:
    """Distance of the mean from the exact value, in standard errors of the mean."""
    error = gradients.std().item() / math.sqrt(gradients.numel())
    return abs(gradients.mean().item() - exact) / error
