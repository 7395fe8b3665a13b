# SPDX-License-Identifier: MIT
"""The EM mixture: recovers what was drawn, reports how it went, and finds the Hyades."""

import math
import runpy
import warnings
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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(clusters, dtype):
    """Computed in float32: the parameters are those of float32 but for the rounding of the data."""
    data, label = clusters
    half = VonMisesFisherMixture(3, random_state=1).fit(data.to(dtype))
    assert half.locs_.dtype == half.concentrations_.dtype == torch.float32
    assert half.locs_.isfinite().all()
    full = VonMisesFisherMixture(3, random_state=1).fit(data.float())
    order = (half.locs_ @ full.locs_.T).argmax(0)
    torch.testing.assert_close(half.concentrations_[order], full.concentrations_, rtol=0.02, atol=0)
    match = torch.stack([half.labels_[label == j].mode().values for j in range(3)])
    assert (half.labels_ == match[label]).double().mean() > 0.99


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


@pytest.mark.parametrize("length", [1e-30, 1e-20, 1e20, 1e30])
def test_long_and_short_rows_are_normalised_dense_and_sparse(length):
    from svmf.mixture.rows import read_rows

    rows = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.normalize(rows, dim=-1)
    index = torch.arange(20)
    for X in (length * rows, (length * rows).to_sparse()):
        found = read_rows(X, name="test", normalize=True)
        torch.testing.assert_close(found.dense(index), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("options", [{}, {"assignment": "hard"}, {"batch_size": 256}])
def test_sparse_rows_give_the_dense_fit(clusters, dtype, options):
    """CSR of SciPy and torch: the same numbers as dense rows, weights included."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    generator = torch.Generator().manual_seed(0)
    keep = torch.rand(clusters[0].shape, generator=generator) < 0.6
    keep[:, 0] = True
    data = torch.nn.functional.normalize(clusters[0] * keep, dim=-1).to(dtype)
    weight = torch.rand(len(data), generator=generator)
    options = {"max_iter": 8, "tol": 0, "random_state": 2, **options}
    dense = VonMisesFisherMixture(3, **options).fit(data, sample_weight=weight)
    csr = scipy_sparse.csr_matrix(data.numpy())
    sparse = VonMisesFisherMixture(3, **options).fit(csr, sample_weight=weight.numpy())
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if dtype == torch.float32 else {}
    torch.testing.assert_close(sparse.locs_, dense.locs_, **tolerance)
    torch.testing.assert_close(sparse.concentrations_, dense.concentrations_, **tolerance)
    assert isinstance(sparse.score_samples(csr), numpy.ndarray)
    numpy.testing.assert_allclose(
        sparse.score_samples(csr), dense.score_samples(data), rtol=1e-3, atol=1e-3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says once per process that CSR tensors are young
        own = data.to_sparse_csr()
    assert torch.equal(sparse.predict(own), torch.as_tensor(sparse.predict(csr)))
    assert torch.equal(sparse.predict(data.to_sparse()), sparse.predict(own))


def test_sparse_rows_are_never_dense():
    """2,000 rows of 2^22 columns: dense they would need 33 GB."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    random = numpy.random.default_rng(0)
    column = random.integers(0, 2**22, (2000, 3))
    column[:1000, 0], column[1000:, 0] = 7, 11
    value = numpy.tile([0.8, 0.36, 0.48], (2000, 1)).ravel()
    data = scipy_sparse.csr_matrix((value, column.ravel(), numpy.arange(0, 6001, 3)), (2000, 2**22))
    label = VonMisesFisherMixture(2, random_state=0, max_iter=5, normalize=True).fit(data).labels_
    assert len(set(label[:1000])) == len(set(label[1000:])) == 1
    assert label[0] != label[-1]


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


def test_rows_of_other_norms_on_request(clusters):
    data = clusters[0]
    scaled = data * torch.linspace(1e-30, 1e30, len(data))[:, None]
    with pytest.raises(ValueError, match=r"norm 1e-30 at \[0\].*pass normalize=True"):
        VonMisesFisherMixture(3).fit(scaled)
    mixture = VonMisesFisherMixture(3, random_state=1, normalize=True).fit(scaled)
    torch.testing.assert_close(
        mixture.locs_, VonMisesFisherMixture(3, random_state=1).fit(data).locs_
    )
    scaled[4] = 0
    with pytest.raises(ValueError, match=r"norm 0 at \[4\]"):
        mixture.fit(scaled)
    scaled[4] = math.nan
    with pytest.raises(ValueError, match=r"NaN or inf at \[4\]"):
        mixture.fit(scaled)


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
    """Of 48 clusters among the stars to magnitude 6, the tightest is the Hyades."""
    stars = example["read_directions"](catalogue)
    mixture = VonMisesFisherMixture(48, seed=0).fit(stars)
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
