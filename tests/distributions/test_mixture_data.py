# SPDX-License-Identifier: MIT
"""What the EM mixture is fitted to: arrays, half types, sparse rows, weights, rows of every length,
the stars of the Hyades."""

import math
import runpy
import warnings
from pathlib import Path

import numpy
import pytest
import torch

from svmf.mixture import VonMisesFisherMixture


def test_weights_count_rows(clusters):
    data = clusters[0][:200]
    weight = torch.arange(200) % 3
    one = VonMisesFisherMixture(1, seed=0)
    weighted = one.fit(data, sample_weight=weight).concentrations_
    repeated = one.fit(data.repeat_interleave(weight, 0)).concentrations_
    torch.testing.assert_close(weighted, repeated)


def test_arrays_progress_and_high_dimension(capsys, exact):
    data = exact.directions(60, 2000, dtype=torch.float32).numpy()
    mixture = VonMisesFisherMixture(2, seed=0, max_iter=3, progress=True)
    assert mixture.fit_predict(data).shape == (60,)
    assert "iteration 0: mean log likelihood" in capsys.readouterr().err
    assert mixture.locs_.dtype == torch.float32


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
