# SPDX-License-Identifier: MIT
"""The EM mixture: recovers what was drawn and reports how it went."""

import math

import numpy
import pytest
import torch

from svmf.distributions import VonMisesFisher
from svmf.mixture import VonMisesFisherMixture


@pytest.fixture(scope="module")
def fitted(clusters) -> VonMisesFisherMixture:
    return VonMisesFisherMixture(3, seed=1).fit(clusters[0])


def test_recovers_clusters(clusters, fitted):
    data, label = clusters
    predicted = fitted.predict(data)
    match = torch.stack([predicted[label == j].mode().values for j in range(3)])
    assert match.unique().numel() == 3
    assert (predicted == match[label]).double().mean() > 0.99
    torch.testing.assert_close(
        fitted.locs_[match], torch.eye(5, dtype=torch.float64)[:3], atol=0.03, rtol=0
    )
    truth = torch.tensor([80.0, 30.0, 200.0], dtype=torch.float64)
    torch.testing.assert_close(fitted.concentrations_[match], truth, rtol=0.2, atol=0)
    torch.testing.assert_close(
        fitted.weights_, torch.full((3,), 1 / 3, dtype=torch.float64), atol=0.02, rtol=0
    )


def test_report(fitted):
    assert fitted.converged_
    assert fitted.n_iter_ == fitted.report_.n_iter == len(fitted.report_.history)
    assert fitted.lower_bound_ == fitted.report_.history[-1]
    history = numpy.array(fitted.report_.history)
    assert (numpy.diff(history) > -1e-9).all()  # EM never goes down
    assert "converged after" in str(fitted.report_)


def test_scores_are_the_density(clusters, fitted):
    data, _ = clusters
    log_density = fitted.distribution().log_prob(data)
    torch.testing.assert_close(fitted.score_samples(data), log_density)
    assert fitted.score(data) == pytest.approx(log_density.mean().item())
    proba = fitted.predict_proba(data)
    torch.testing.assert_close(proba.sum(-1), torch.ones(len(data), dtype=torch.float64))
    assert torch.equal(proba.argmax(-1), fitted.predict(data))
    assert fitted.lower_bound_ == pytest.approx(fitted.score(data), abs=1e-5)


def test_seed_reproduces_and_bic_finds_three(clusters):
    data, _ = clusters
    first, second = (VonMisesFisherMixture(3, seed=5).fit(data) for _ in range(2))
    assert torch.equal(first.locs_, second.locs_)
    assert torch.equal(first.sample(7)[0], second.sample(7)[0])
    bic = [VonMisesFisherMixture(k, seed=0, n_init=2).fit(data).bic(data) for k in range(1, 5)]
    assert int(numpy.argmin(bic)) == 2


def test_one_component_is_the_maximum_likelihood_fit(clusters):
    data = clusters[0]
    mixture = VonMisesFisherMixture().fit(data)
    fit = VonMisesFisher.fit(data)
    torch.testing.assert_close(mixture.locs_[0], fit.loc)
    torch.testing.assert_close(mixture.concentrations_[0], fit.concentration)


def test_samples(fitted):
    value, component = fitted.sample(500)
    assert value.shape == (500, 5)
    assert (fitted.predict(value) == component).double().mean() > 0.97


def test_more_components_than_distinct_rows():
    data = torch.eye(3).repeat(4, 1)
    mixture = VonMisesFisherMixture(5, seed=0, max_iter=20).fit(data)
    assert mixture.weights_.isfinite().all()
    assert mixture.concentrations_.max() <= mixture.max_concentration
    assert mixture.predict(torch.eye(3)).unique().numel() == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: VonMisesFisherMixture(0).fit(torch.eye(3)),
            ValueError,
            "`n_components` >= 1.*got 0",
        ),
        (
            lambda: VonMisesFisherMixture(2, max_iter=0).fit(torch.eye(3)),
            ValueError,
            "`max_iter` >= 1.*got 0",
        ),
        (
            lambda: VonMisesFisherMixture(2, n_init=0).fit(torch.eye(3)),
            ValueError,
            "`n_init` >= 1.*got 0",
        ),
        (lambda: VonMisesFisherMixture(2).predict(torch.eye(3)), RuntimeError, "call `fit` first"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3)[0]), ValueError, r"`X` of shape.*\[3\]"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3).int()), TypeError, "`X`.*int32"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3) * 2), ValueError, r"norm 2 at \[0\]"),
        (lambda: VonMisesFisherMixture(4).fit(torch.eye(3)), ValueError, "n_components = 4.*got 3"),
        (
            lambda: VonMisesFisherMixture(1).fit(torch.eye(3), sample_weight=[1.0]),
            ValueError,
            r"`sample_weight` of shape \[3\], got \[1\]",
        ),
        (
            lambda: VonMisesFisherMixture(1).fit(torch.eye(3), sample_weight=[1.0, -1.0, 1.0]),
            ValueError,
            "`sample_weight` >= 0",
        ),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["n_components", "max_iter", "n_init", "batch_size"])
@pytest.mark.parametrize("number", [0, -2, 1.5, True])
def test_counts_are_checked(name, number):
    with pytest.raises(ValueError, match=f"`{name}` >= 1, a whole number, got {number}"):
        VonMisesFisherMixture(**{name: number}).fit(torch.eye(3))


@pytest.mark.parametrize("wrong", ["0.1", None, [], torch.ones(2), math.nan, -1.0])
@pytest.mark.parametrize("name", ["tol", "max_concentration"])
def test_numbers_are_checked(name, wrong):
    with pytest.raises(ValueError, match=f"VonMisesFisherMixture: expected `{name}` >"):
        VonMisesFisherMixture(**{name: wrong}).fit(torch.eye(3))


@pytest.mark.parametrize("state", [2.5, math.nan, math.inf, "3", []])
def test_a_random_state_is_whole(state):
    with pytest.raises(TypeError, match="`random_state` to be None, a whole number"):
        VonMisesFisherMixture(random_state=state).fit(torch.eye(3))


@pytest.mark.parametrize("count", [-1, 2.5, None, "many"])
def test_the_number_of_draws_is_checked(count):
    with pytest.raises(ValueError, match="sample: expected a whole number `n_samples` >= 0"):
        VonMisesFisherMixture().fit(torch.eye(3)).sample(count)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e300])
def test_the_scale_of_weights_does_not_matter(clusters, scale):
    weight = torch.arange(len(clusters[0]), dtype=torch.float64) % 3
    fits = [
        VonMisesFisherMixture(3, random_state=1).fit(clusters[0], sample_weight=w)
        for w in (weight, scale * weight)
    ]
    torch.testing.assert_close(fits[1].concentrations_, fits[0].concentrations_)


@pytest.mark.parametrize("wrong", [1j, math.inf, math.nan, -1.0, 0.0])
def test_weights_are_checked(wrong):
    with pytest.raises(ValueError, match="`sample_weight` >= 0, finite"):
        VonMisesFisherMixture().fit(torch.eye(3), sample_weight=wrong * torch.ones(3))


@pytest.mark.parametrize("bound", [math.inf, math.nan, -1.0, 0.0, 1e11])
def test_concentration_bound_is_checked(bound):
    with pytest.raises(ValueError, match="`max_concentration` > 0 and at most 1e10"):
        VonMisesFisherMixture(max_concentration=bound).fit(torch.eye(3))


@pytest.mark.parametrize("kappa", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("dim", [3, 64])
def test_float32_scores_at_large_concentration(exact, dim, kappa):
    """Log densities of a sharp mixture in float32, against float64 of the same numbers."""
    locs = exact.directions(2, dim, dtype=torch.float32)
    truth = VonMisesFisher(locs, torch.full((2,), kappa))
    data = truth.sample((500,), generator=torch.Generator().manual_seed(1)).reshape(-1, dim)
    mixture = VonMisesFisherMixture(2, random_state=0).fit(data)
    wide = mixture.distribution()
    rows = torch.nn.functional.normalize(data.double(), dim=-1)
    means = torch.nn.functional.normalize(wide.component_distribution.loc.double(), dim=-1)
    component = VonMisesFisher(means, wide.component_distribution.concentration.double())
    joint = component.log_prob(rows[:, None]) + mixture.weights_.double().log()
    error = (mixture.score_samples(data).double() - joint.logsumexp(-1)).abs().max()
    assert error < 3e-5 * (dim - 1) + 1e-6 * joint.abs().max()
    torch.testing.assert_close(mixture.concentrations_, torch.full((2,), kappa), rtol=0.25, atol=0)


def test_no_seed_leaves_torch_alone_but_reproduces(clusters):
    data = clusters[0]
    torch.manual_seed(5)
    first = VonMisesFisherMixture(4).fit(data)
    after = torch.initial_seed()
    assert after == 5  # the global generator was drawn from, not seeded
    other = VonMisesFisherMixture(4).fit(data)
    torch.manual_seed(5)
    again = VonMisesFisherMixture(4).fit(data)
    assert torch.equal(first.locs_, again.locs_)
    assert not torch.equal(first.locs_, other.locs_)


@pytest.mark.parametrize("state", [3, numpy.random.RandomState(3), "numpy", "torch"])
def test_random_states(clusters, state):
    make = {"numpy": lambda: numpy.random.default_rng(3), "torch": torch.Generator}.get(state)
    first, second = (
        VonMisesFisherMixture(3, random_state=make() if make else state).fit(clusters[0])
        for _ in range(2)
    )
    assert torch.equal(first.locs_, second.locs_) or isinstance(state, numpy.random.RandomState)


def test_shared_concentration(clusters):
    """One concentration: the maximum of the likelihood over all, and fewer free parameters."""
    data = clusters[0]
    mixture = VonMisesFisherMixture(3, random_state=1, concentration="shared").fit(data)
    assert mixture.concentrations_.unique().numel() == 1
    kappa = mixture.concentrations_[0].clone()
    best = mixture.score(data)
    for factor in (0.97, 1.03):
        moved = VonMisesFisher(mixture.locs_, (kappa * factor).expand(3))
        joint = moved.log_prob(data[:, None]) + mixture.weights_.log()
        assert joint.logsumexp(-1).mean() < best
    own = VonMisesFisherMixture(3, random_state=1).fit(data)
    assert own._free_parameters() == 3 * 6 - 1
    assert mixture._free_parameters() == 3 * 6 - 1 - 2
    assert own.aic(data) == pytest.approx(2 * 17 - 2 * len(data) * own.score(data))


def test_hard_assignment(clusters):
    data = clusters[0]
    mixture = VonMisesFisherMixture(3, random_state=1, assignment="hard").fit(data)
    assert mixture.converged_
    assert (numpy.diff(mixture.report_.history) > -1e-9).all()
    share = torch.bincount(mixture.labels_, minlength=3).double() / len(data)
    torch.testing.assert_close(mixture.weights_, share)
    alone = VonMisesFisher.fit(data[mixture.labels_ == 0])
    torch.testing.assert_close(mixture.concentrations_[0], alone.concentration)


def test_mini_batches(clusters):
    """Stepwise EM ends near the maximum that EM finds, in batches and in pieces by hand."""
    data = clusters[0]
    whole = VonMisesFisherMixture(3, random_state=1).fit(data)
    batches = VonMisesFisherMixture(3, random_state=1, batch_size=100, tol=1e-4).fit(data)
    assert batches.converged_
    assert batches.score(data) > whole.score(data) - 0.01
    pieces = VonMisesFisherMixture(3, random_state=1)
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        for index in order.split(150):
            pieces.partial_fit(data[index])
    assert pieces.score(data) > whole.score(data) - 0.02
    assert pieces.n_iter_ == 3 * 8


def test_decided_rows_take_the_same_sums(clusters, monkeypatch):
    """Rows whose other shares vanish are added without a product: the fit is the same."""
    data = clusters[0]
    fast = VonMisesFisherMixture(3, random_state=1).fit(data)
    monkeypatch.setattr("svmf.mixture.steps.DenseRows", type(None))  # never the short way
    slow = VonMisesFisherMixture(3, random_state=1).fit(data)
    torch.testing.assert_close(fast.locs_, slow.locs_)
    torch.testing.assert_close(fast.concentrations_, slow.concentrations_)


def test_given_start_and_wrong_width(clusters):
    data = clusters[0]
    start = torch.eye(5, dtype=torch.float64)[:3]
    mixture = VonMisesFisherMixture(3, init=start).fit(data)
    assert (mixture.locs_ - start).abs().max() < 0.05  # in the given order
    with pytest.raises(ValueError, match=r"`init` of shape \[3, 5\], got \[2, 5\]"):
        VonMisesFisherMixture(3, init=start[:2]).fit(data)
    with pytest.raises(ValueError, match=r'"random" or mean directions, got .best.'):
        VonMisesFisherMixture(3, init="best").fit(data)
    with pytest.raises(ValueError, match=r"shape \[n, 5\].*X has 3 features"):
        mixture.predict(torch.eye(3))
    narrow = mixture.score_samples(data.float())  # another type than the fit's: the wider one
    torch.testing.assert_close(narrow, mixture.score_samples(data), rtol=1e-5, atol=1e-4)
