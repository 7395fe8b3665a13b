# SPDX-License-Identifier: MIT
"""Maximum likelihood: against SciPy, weighted, batched, degenerate, and in high dimension."""

import math

import mpmath
import pytest
import scipy.stats
import torch

from svmf.distributions import VonMisesFisher


@pytest.mark.parametrize("dim", [2, 3, 20])
def test_equals_scipy(exact, dim):
    data = scipy.stats.vonmises_fisher(exact.directions(dim).numpy(), 14.0).rvs(500, random_state=1)
    loc, kappa = scipy.stats.vonmises_fisher.fit(data)
    ours = VonMisesFisher.fit(torch.as_tensor(data))
    torch.testing.assert_close(ours.loc, torch.as_tensor(loc))
    assert ours.concentration.item() == pytest.approx(float(kappa), rel=1e-6)


def test_weights_count_observations(exact):
    data = torch.nn.functional.normalize(exact.directions(30, 4) + 1, dim=-1)
    weights = torch.arange(30) % 3
    repeated = VonMisesFisher.fit(data.repeat_interleave(weights, 0))
    weighted = VonMisesFisher.fit(data, weights.double())
    torch.testing.assert_close(weighted.loc, repeated.loc)
    torch.testing.assert_close(weighted.concentration, repeated.concentration)


def test_batches_are_independent(exact):
    data = torch.nn.functional.normalize(exact.directions(40, 2, 3, 5) + 0.5, dim=-1)
    weights = torch.rand(40, 2, 3, dtype=torch.float64)
    fitted = VonMisesFisher.fit(data, weights)
    assert fitted.batch_shape == (2, 3)
    for i in range(2):
        for j in range(3):
            alone = VonMisesFisher.fit(data[:, i, j], weights[:, i, j])
            torch.testing.assert_close(fitted[i, j].loc, alone.loc)
            torch.testing.assert_close(fitted[i, j].concentration, alone.concentration)
    shared = VonMisesFisher.fit(data, weights[:, 0, 0])
    assert shared.batch_shape == (2, 3)


@pytest.mark.parametrize(("dim", "kappa"), [(1000, 800.0), (100_000, 50_000.0)])
def test_high_dimension(exact, dim, kappa):
    """The fit solves A_m(kappa) = R; SciPy's fit gives 1e-8 from m = 67 on."""
    truth = VonMisesFisher(exact.directions(dim, dtype=torch.float32), kappa)
    torch.manual_seed(0)
    data = truth.sample((200,))
    fitted = VonMisesFisher.fit(data)
    assert fitted.loc.dtype == torch.float32
    length = data.double().mean(0).norm().item()
    with mpmath.workdps(30):
        v, k = mpmath.mpf(dim) / 2, mpmath.mpf(fitted.concentration.item())
        # The Gauss continued fraction of I_v / I_(v-1), from far down.
        ratio = mpmath.mpf(0)
        for j in range(400, -1, -1):
            ratio = 1 / (2 * (v + j) / k + ratio)
        assert float(ratio) == pytest.approx(length, rel=1e-6)


def test_degenerate_data(exact):
    same = exact.directions(3).expand(10, 3)
    assert VonMisesFisher.fit(same).concentration.item() == 1e10
    assert VonMisesFisher.fit(same.float()).concentration.item() <= 1e6
    opposite = torch.stack((exact.directions(3), -exact.directions(3)))
    fitted = VonMisesFisher.fit(opposite)
    assert fitted.concentration.item() == 0
    assert fitted.loc.tolist() == [1, 0, 0]
    single = VonMisesFisher.fit(same[:1])
    torch.testing.assert_close(single.loc, same[0])


def test_gradient_reaches_the_data(exact):
    data = torch.nn.functional.normalize(exact.directions(6, 3) + 1, dim=-1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: VonMisesFisher.fit(x).concentration, data)


@pytest.mark.parametrize(
    ("error", "value", "weights", "message"),
    [
        (TypeError, torch.ones(4, 3, dtype=torch.int64), None, "`value`.*floating.*int64"),
        (TypeError, [[1.0, 0.0]], None, "`value`.*tensor.*list"),
        (ValueError, torch.ones(3), None, r"`value` of shape \[n, ..., m\].*\[3\]"),
        (ValueError, torch.ones(0, 3), None, r"n >= 1.*\[0, 3\]"),
        (ValueError, torch.eye(3), torch.ones(2), r"`weights` of shape \[3\].*\[2\]"),
        (ValueError, torch.eye(3), -torch.ones(3), "`weights` >= 0"),
        (ValueError, torch.eye(3), torch.zeros(3), "positive sum"),
    ],
)
def test_mistakes(error, value, weights, message):
    with pytest.raises(error, match=r"VonMisesFisher\.fit: expected .*" + message):
        VonMisesFisher.fit(value, weights)


def test_recovers_a_large_concentration(exact):
    """1 - R is 1e-6 here: float32 data, float64 sums. Two standard errors of kappa are 2 %."""
    truth = VonMisesFisher(exact.directions(3, dtype=torch.float32), 1e5)
    torch.manual_seed(3)
    fitted = VonMisesFisher.fit(truth.sample((20_000,)))
    assert math.isclose(fitted.concentration.item(), 1e5, rel_tol=0.05)
