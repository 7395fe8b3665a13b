# SPDX-License-Identifier: MIT
"""No correlation between rows, between samples, between successive and neighbouring seeds, between
w and the tangent direction, or between float32 and float64: by rank correlation and by the
chi-square of a table of 16 x 16 cells, which sees every dependence of that width.

False-alarm rate: that of helpers/gof.py for all checks together.
"""

import zlib

import numpy
import pytest
import torch
from helpers import gof
from helpers.vmf_exact import angle_of, cosine_distribution
from torch import Tensor

import svmf.functional as F

PAIRS = [(2, 3.0), (3, 10.0), (4, 0.0), (5, 12.0), (10, 50.0), (20, 1e4)]
LAGS = (1, 2, 3, 4, 7, 8, 15, 16, 64, 1000, 1024)
CELLS = 16
QUICK, MANY = 100_000, 4_000_000


def draw(
    m: int, kappa: float, rows: int, seed: int, dtype: torch.dtype = torch.float32
) -> tuple[gof.Array, gof.Array]:
    """For each row: the rank of w in (0, 1), and that of a coordinate across mu."""
    loc = torch.zeros(m, dtype=dtype)
    loc[0] = 1
    key = torch.tensor([seed])
    k = torch.full((rows,), kappa, dtype=dtype)
    z, state = torch.ops.svmf.vmf_rsample.default(loc.expand(rows, m), k, key, [], 0, True)
    return ranks(z, state, m, kappa)


def ranks(z: Tensor, state: Tensor, m: int, kappa: float) -> tuple[gof.Array, gof.Array]:
    below, above = state.double().numpy().reshape(2, -1)
    w = cosine_distribution(m, kappa).cdf(angle_of(below, above))
    sine = numpy.sqrt(below * above)
    across = z.double().numpy().reshape(-1, m)[:, 1] / numpy.where(sine > 0, sine, 1)
    if m == 2:
        # A side is one bit; spread it, so that all tests see it.
        noise = numpy.random.default_rng(zlib.crc32(z.numpy().tobytes())).random(w.size)
        return w, (noise + (across > 0)) / 2
    return w, cosine_distribution(m - 1, 0.0).cdf(numpy.arccos(across.clip(-1, 1)))


def independent(x: gof.Array, y: gof.Array, what: str) -> None:
    gof.require(gof.uncorrelated(x, y), f"{what}: correlation")
    cell = (x * CELLS).astype(int).clip(0, CELLS - 1) * CELLS
    cell += (y * CELLS).astype(int).clip(0, CELLS - 1)
    seen = numpy.bincount(cell, minlength=CELLS**2)
    expected = x.size / CELLS**2
    statistic = float(((seen - expected) ** 2).sum() / expected)
    gof.require(gof.chi_square(statistic, CELLS**2 - 1), f"{what}: table")


def check_rows(m: int, kappa: float, rows: int) -> None:
    w, across = draw(m, kappa, rows, seed=11)
    independent(w, across, f"m={m}: w and direction")
    for lag in LAGS:
        independent(w[:-lag], w[lag:], f"m={m}: w of rows at distance {lag}")
        independent(across[:-lag], across[lag:], f"m={m}: direction of rows at distance {lag}")
        independent(w[:-lag], across[lag:], f"m={m}: w and direction at distance {lag}")


def check_seeds(m: int, kappa: float, rows: int) -> None:
    base = 2**40 + 12345
    w, across = draw(m, kappa, rows, base)
    for other in (base + 1, base - 1, base + 2, base ^ 1 << 31, base ^ 1 << 32, base ^ 1 << 61):
        w2, across2 = draw(m, kappa, rows, other)
        independent(w, w2, f"m={m}: w of seeds {base} and {other}")
        independent(across, across2, f"m={m}: direction of seeds {base} and {other}")
    # The same row under many neighbouring seeds.
    count = min(rows, 100_000) // 20
    firsts = [draw(m, kappa, 2, seed) for seed in range(count)]
    first = numpy.array([w[0] for w, _ in firsts])
    independent(first[:-1], first[1:], f"m={m}: row 0 of successive seeds")
    gof.require(gof.kolmogorov_smirnov(first), f"m={m}: row 0 over seeds")


@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_rows(m: int, kappa: float) -> None:
    check_rows(m, kappa, QUICK)


@pytest.mark.parametrize(("m", "kappa"), PAIRS[::2])
def test_seeds(m: int, kappa: float) -> None:
    check_seeds(m, kappa, 20_000)


@pytest.mark.statistics
@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_many_rows(m: int, kappa: float) -> None:
    check_rows(m, kappa, MANY)


@pytest.mark.statistics
@pytest.mark.parametrize(("m", "kappa"), PAIRS)
def test_many_seeds(m: int, kappa: float) -> None:
    check_seeds(m, kappa, MANY // 4)


def test_samples_of_one_row() -> None:
    """The sample dimension, and calls that follow each other under one torch seed."""
    m, kappa, samples, batch = 10, 50.0, 40, 2000
    loc = torch.zeros(batch, m)
    loc[:, 0] = 1
    k, key = torch.full((batch,), kappa), torch.tensor([77])
    z, state = torch.ops.svmf.vmf_rsample.default(loc, k, key, [samples], 0, True)
    w, across = (x.reshape(samples, batch) for x in ranks(z, state, m, kappa))
    independent(w[:-1].ravel(), w[1:].ravel(), "w of successive samples")
    independent(across[:-1].ravel(), across[1:].ravel(), "direction of successive samples")
    independent(w[:, :-1].ravel(), w[:, 1:].ravel(), "w of neighbouring rows")


@pytest.mark.parametrize("reseed", [False, True])
def test_successive_calls_and_neighbouring_torch_seeds(reseed: bool) -> None:
    """One torch seed and calls in a row, or a call after each of torch.manual_seed(0), (1), ..."""
    m, kappa, batch = 5, 12.0, 400
    loc = torch.zeros(batch, m)
    loc[:, 0] = 1
    k = torch.full((batch,), kappa)
    torch.manual_seed(5)
    made = []
    for call in range(100):
        if reseed:
            torch.manual_seed(call)
        made.append(F.vmf_rsample(loc, k)[:, 0].double().numpy())
    w = numpy.stack(made)
    u = cosine_distribution(m, kappa).cdf(numpy.arccos(w.clip(-1, 1)))
    gof.require(gof.kolmogorov_smirnov(u.ravel()), "w over calls")
    independent(u[:-1].ravel(), u[1:].ravel(), "w of successive calls")


def test_types_are_two_samples() -> None:
    """float32 and float64 of one seed share words, and are documented as two samples: each is
    right, and they are not meant to be independent. Their neighbours must be."""
    w32, _ = draw(10, 50.0, QUICK, 3, torch.float32)
    w64, _ = draw(10, 50.0, QUICK, 3, torch.float64)
    independent(w32[:-1], w64[1:], "float32 and float64 of neighbouring rows")


def test_a_dependence_is_found() -> None:
    generator = numpy.random.default_rng(0)
    x = generator.random(QUICK)
    with pytest.raises(AssertionError, match="correlation"):
        independent(x, (x * 0.03 + generator.random(QUICK) * 0.97), "")
    noise, some = generator.random(QUICK), generator.random(QUICK) < 0.1
    with pytest.raises(AssertionError, match="table"):  # uncorrelated, but not independent
        independent(x, numpy.where(some, abs(2 * x - 1), noise), "")
