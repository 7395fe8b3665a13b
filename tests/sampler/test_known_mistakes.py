# SPDX-License-Identifier: MIT
"""The checks have power: three mistakes of published code are found, and the same code without them
passes.

The wrong samplers are written here in plain torch (Algorithms 1 to 3 of the paper), with one
formula exchanged: b = (m-1)/(4 kappa) beyond kappa = 10; a Householder vector divided by its norm
plus 1e-5; a gradient without g_cor.
"""

from collections.abc import Callable

import pytest
import torch
from helpers import gof
from helpers.kappa_gradients import exact_slopes, per_sample_gradients, standard_errors_off
from helpers.sample_checks import Sampler, examine
from torch import Tensor

import svmf.functional

DRAWS = 100_000
NORM_LIMIT, COSINE_LIMIT = 32.0, 1e9  # eps; these samplers take w from z's first coordinate


def exact_b(kappa: float, m: int) -> float:
    return (m - 1) / (2 * kappa + (4 * kappa**2 + (m - 1) ** 2) ** 0.5)


def short_b(kappa: float, m: int) -> float:
    return (m - 1) / (4 * kappa) if kappa > 10 else exact_b(kappa, m)


def exact_reflection(x: Tensor, loc: Tensor) -> Tensor:
    u = -loc.clone()
    u[0] += 1
    u = u / u.norm()
    return x - 2 * (x @ u)[:, None] * u


def padded_reflection(x: Tensor, loc: Tensor) -> Tensor:
    u = -loc.clone()
    u[0] += 1
    u = u / (u.norm() + 1e-5)
    return x - 2 * (x @ u)[:, None] * u


def textbook(
    b_of: Callable[[float, int], float], reflect: Callable[[Tensor, Tensor], Tensor]
) -> Sampler:
    """Algorithms 1 to 3 with the formula for b and the reflection given."""

    def draw(loc: Tensor, kappa: float, rows: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        m = loc.shape[0]
        torch.manual_seed(seed)
        b = b_of(kappa, m)
        a = ((m - 1) + 2 * kappa + (4 * kappa**2 + (m - 1) ** 2) ** 0.5) / 4
        d = 4 * a * b / (1 + b) - (m - 1) * torch.tensor(m - 1.0).double().log()
        beta = torch.distributions.Beta(*torch.full((2, 1), (m - 1) / 2, dtype=torch.float64))
        epsilon, pending = torch.empty(rows, dtype=torch.float64), torch.arange(rows)
        while pending.numel():
            proposal = beta.sample((pending.numel(),)).squeeze(-1)
            t = 2 * a * b / (1 - (1 - b) * proposal)
            accept = (m - 1) * t.log() - t + d >= torch.rand_like(t).log()
            epsilon[pending[accept]] = proposal[accept]
            pending = pending[~accept]
        below = 2 * b * epsilon / (1 - (1 - b) * epsilon)
        normal = torch.randn(rows, m - 1, dtype=torch.float64)
        tangent = normal / normal.norm(dim=-1, keepdim=True)
        above = 2 - below
        z = torch.cat([(1 - below)[:, None], (below * above).sqrt()[:, None] * tangent], dim=-1)
        return reflect(z, loc), below, above

    return draw


@pytest.fixture
def loc(directions):
    return lambda m: directions(m, seed=m)


@pytest.mark.parametrize(("m", "kappa"), [(10, 12.0), (20, 15.0), (50, 20.0), (65, 45.0)])
def test_short_b_is_found(loc, m, kappa):
    right = examine(textbook(exact_b, exact_reflection), loc(m), kappa, DRAWS, seed=1)
    right.require_all(f"textbook sampler, m={m} kappa={kappa}", NORM_LIMIT, COSINE_LIMIT)
    wrong = examine(textbook(short_b, exact_reflection), loc(m), kappa, DRAWS, seed=1)
    assert wrong.p_values["w (Kolmogorov-Smirnov)"] < gof.THRESHOLD


@pytest.mark.parametrize("m", [3, 10, 50])
def test_padded_norm_is_found(loc, m):
    wrong = examine(textbook(exact_b, padded_reflection), loc(m), 5.0, 1000, seed=2)
    with pytest.raises(AssertionError, match="from 1"):
        wrong.require_all("padded reflection", NORM_LIMIT, COSINE_LIMIT)
    assert wrong.norm_error > 1e6 * NORM_LIMIT


@pytest.mark.parametrize("m", [2, 5, 10, 50])
def test_missing_correction_is_found(m):
    """`rejection` is the gradient with g_cor left out."""
    kappa = float(m)
    gradients = per_sample_gradients(svmf.functional, "rejection", m, kappa, DRAWS, seed=3)
    exact = exact_slopes(m, kappa)["mu.z"]
    assert standard_errors_off(gradients["mu.z"], exact) > 6  # the other estimators are within 4
