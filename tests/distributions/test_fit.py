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


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("bias_correction", [False, True])
def test_the_scale_of_weights_does_not_matter(exact, scale, bias_correction):
    """Sums of 1e308 and squares of 1e200 or 1e-200 have no place in float64."""
    data = torch.nn.functional.normalize(exact.directions(6, 3) + 1, dim=-1)
    weights = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], dtype=torch.float64)
    fits = [
        VonMisesFisher.fit(data, w, bias_correction=bias_correction)
        for w in (weights, scale * weights)
    ]
    torch.testing.assert_close(fits[1].concentration, fits[0].concentration)
    torch.testing.assert_close(fits[1].loc, fits[0].loc)


def test_gradient_reaches_the_data(exact):
    data = torch.nn.functional.normalize(exact.directions(6, 3) + 1, dim=-1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: VonMisesFisher.fit(x).concentration, data)


@pytest.mark.parametrize(
    ("error", "value", "weights", "message"),
    [
        (TypeError, torch.ones(4, 3, dtype=torch.int64), None, "`value`.*floating.*int64"),
        (ValueError, [["a", "b"]], None, "`value` to hold numbers"),
        (ValueError, 3 * torch.eye(3), None, r"unit vectors.*norm 3 at \[0\] \(3 of 3 wrong\)"),
        (ValueError, torch.full((2, 3), torch.nan), None, r"`value` to be finite.*\[0\]"),
        (ValueError, torch.ones(3), None, r"`value` of shape \[n, ..., m\].*\[3\]"),
        (ValueError, torch.ones(0, 3), None, r"n >= 1.*\[0, 3\]"),
        (ValueError, torch.eye(3), torch.ones(2), r"`weights` of shape \[3\].*\[2\]"),
        (ValueError, torch.eye(3), -torch.ones(3), "finite `weights` >= 0"),
        (ValueError, torch.eye(3), torch.full((3,), torch.inf), "finite `weights` >= 0"),
        (ValueError, torch.eye(3), 1j * torch.ones(3), "finite `weights` >= 0"),
        (TypeError, {"x": 1}, None, "`value` to hold numbers"),
        (TypeError, torch.eye(3).to_sparse(), None, "`value` to be dense"),
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


def test_rows_of_other_norms(exact):
    """500 Gaussian rows in R^384: normalised they are nearly uniform, as they are they mislead."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(500, 384, generator=generator)
    with pytest.raises(
        ValueError, match=r"norm 1[89].* at \[0\] \(500 of 500 wrong\).*normalize=True"
    ):
        VonMisesFisher.fit(rows)
    unit = rows / rows.norm(dim=-1, keepdim=True)
    fitted = VonMisesFisher.fit(rows, normalize=True)
    torch.testing.assert_close(fitted.concentration, VonMisesFisher.fit(unit).concentration)
    tiny = VonMisesFisher.fit(rows * 1e-30, normalize=True)
    torch.testing.assert_close(tiny.concentration, fitted.concentration)
    with pytest.raises(ValueError, match=r"with a direction in `value`, got norm 0 at \[1\]"):
        VonMisesFisher.fit(torch.eye(3) * torch.tensor([1.0, 0.0, 2.0])[:, None], normalize=True)


def test_arrays_and_frames(exact):
    data = torch.nn.functional.normalize(exact.directions(30, 4) + 1, dim=-1)
    weights = torch.rand(30, dtype=torch.float64)
    ours = VonMisesFisher.fit(data, weights)

    class Frame:
        columns = "abcd"

        def to_numpy(self):
            return data.numpy()

    read_only = data.numpy().copy()
    read_only.setflags(write=False)
    for given in (data.numpy(), data.tolist(), Frame(), read_only, data.numpy()[::-1][::-1]):
        fitted = VonMisesFisher.fit(given, weights.numpy())
        assert torch.equal(fitted.loc, ours.loc)
        assert torch.equal(fitted.concentration, ours.concentration)
    assert VonMisesFisher.fit(data.float().numpy()).loc.dtype == torch.float32


@pytest.mark.parametrize(("dim", "count"), [(2, 5), (3, 10), (50, 20), (384, 40)])
@pytest.mark.parametrize("kappa", [0.5, 10.0, 1e3, 1e6])
def test_bias_correction_solves_its_equation(exact, dim, count, kappa):
    """n A(kappa) = R A(kappa R), checked with mpmath."""
    truth = VonMisesFisher(exact.directions(dim), kappa)
    data = truth.sample((count,), generator=torch.Generator().manual_seed(dim))
    fitted = VonMisesFisher.fit(data, bias_correction=True).concentration.item()
    resultant = data.sum(0).norm().item()
    if resultant**2 <= count:
        assert fitted == 0
        return
    assert fitted < VonMisesFisher.fit(data).concentration.item()

    def mean_length(k):
        return mpmath.besseli(dim / 2, k) / mpmath.besseli(dim / 2 - 1, k)

    with mpmath.workdps(40):

        def excess(k):
            return count * mean_length(k) - resultant * mean_length(k * resultant)

        assert excess(mpmath.mpf(fitted) * (1 - 1e-6)) < 0 < excess(mpmath.mpf(fitted) * (1 + 1e-6))


def test_bias_correction_takes_the_bias_away():
    """m = 4096, n = 10,000, kappa = 10: the usual estimate is four times too large."""
    dim, count = 4096, 10_000
    loc = torch.zeros(dim)
    loc[0] = 1
    data = VonMisesFisher(loc, 10.0).sample((count,), generator=torch.Generator().manual_seed(0))
    assert VonMisesFisher.fit(data).concentration.item() > 35
    # R^2 = n^2 A^2 + n +- ...: the estimate has a standard deviation of about 1.
    assert abs(VonMisesFisher.fit(data, bias_correction=True).concentration.item() - 10) < 3


def test_bias_correction_on_average():
    """The mean over 4,000 data sets of 10 observations, where the usual estimate is 11 % off."""
    loc = torch.zeros(4000, 3, dtype=torch.float64)
    loc[:, 0] = 1
    data = VonMisesFisher(loc, 50.0).sample((10,), generator=torch.Generator().manual_seed(0))
    corrected = VonMisesFisher.fit(data, bias_correction=True).concentration
    usual = VonMisesFisher.fit(data).concentration
    # For large kappa 2 kappa (n - R) is chi-square with 2 (n - 1) degrees: E[1/chi^2] = 1/16.
    assert usual.mean().item() == pytest.approx(50 * 20 / 16, rel=0.04)
    assert corrected.mean().item() == pytest.approx(50 * 18 / 16, rel=0.04)
    # Its median is right, as that of the usual estimate is not.
    assert corrected.median().item() == pytest.approx(50, rel=0.05)
    # Weights that are all equal change nothing, whatever their scale.
    weights = torch.full((10,), 0.1, dtype=torch.float64)
    weighted = VonMisesFisher.fit(data, weights, bias_correction=True).concentration
    torch.testing.assert_close(weighted, corrected, rtol=1e-6, atol=0)
