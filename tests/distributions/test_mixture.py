# SPDX-License-Identifier: MIT
"""The EM mixture: recovers what was drawn, reports how it went, and finds the Hyades."""

import math
import runpy
from pathlib import Path

import numpy
import pytest
import torch

from svmf.distributions import VonMisesFisher
from svmf.mixture import VonMisesFisherMixture


@pytest.fixture(scope="module")
def clusters() -> tuple[torch.Tensor, torch.Tensor]:
    """Three well-separated clusters in R^5 and the cluster of each row."""
    kappa = torch.tensor([80.0, 30.0, 200.0], dtype=torch.float64)
    truth = VonMisesFisher(torch.eye(5, dtype=torch.float64)[:3], kappa)
    rows = truth.sample((400,), generator=torch.Generator().manual_seed(0))
    return rows.reshape(-1, 5), torch.arange(3).repeat(400)


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


def test_weights_count_rows(clusters):
    data = clusters[0][:200]
    weight = torch.arange(200) % 3
    one = VonMisesFisherMixture(1, seed=0)
    weighted = one.fit(data, sample_weight=weight).concentrations_
    repeated = one.fit(data.repeat_interleave(weight, 0)).concentrations_
    torch.testing.assert_close(weighted, repeated)


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


def test_arrays_progress_and_high_dimension(capsys, exact):
    data = exact.directions(60, 2000, dtype=torch.float32).numpy()
    mixture = VonMisesFisherMixture(2, seed=0, max_iter=3, progress=True)
    assert mixture.fit_predict(data).shape == (60,)
    assert "iteration 0: mean log likelihood" in capsys.readouterr().err
    assert mixture.locs_.dtype == torch.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: VonMisesFisherMixture(0), ValueError, "`n_components` >= 1, got 0"),
        (lambda: VonMisesFisherMixture(2, max_iter=0), ValueError, "`max_iter` >= 1, got 0"),
        (lambda: VonMisesFisherMixture(2, n_init=0), ValueError, "`n_init` >= 1, got 0"),
        (lambda: VonMisesFisherMixture(2).predict(torch.eye(3)), RuntimeError, "call `fit` first"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3)[0]), ValueError, r"`X` of shape.*\[3\]"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3).int()), TypeError, "`X`.*int32"),
        (lambda: VonMisesFisherMixture(2).fit(torch.eye(3) * 2), ValueError, "norm 2 in row 0"),
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


@pytest.fixture
def catalogue(data_dir) -> Path:
    path = data_dir / "sphere" / "stars_hipparcos_mag6.csv"
    if not path.exists():
        pytest.skip(f"no star catalogue: {path.name} is not among the data sets")
    return path


@pytest.fixture(scope="module")
def example() -> dict:
    """The names in examples/star_clusters.py."""
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "star_clusters.py"))


def test_star_catalogue(catalogue, example):
    """Of sixteen clusters among the stars to magnitude 6, the tightest is the Hyades."""
    stars = example["read_directions"](catalogue)
    mixture = VonMisesFisherMixture(16, seed=0, n_init=3).fit(stars)
    assert mixture.converged_
    assert mixture.score(stars) > -math.log(4 * math.pi) + 0.06  # the sky is not uniform
    ra, dec = example["sky_position"](mixture.locs_[mixture.concentrations_.argmax()])
    assert abs(ra - 66.7) < 3
    assert abs(dec - 15.9) < 3


def test_star_example_runs(catalogue, example, monkeypatch, capsys):
    arguments = ["star_clusters.py", str(catalogue), "--components", "3", "--starts", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    example["main"]()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("5044 stars, 3 components: converged")
    assert len(printed) == 3 + 3
