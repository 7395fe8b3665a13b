# SPDX-License-Identifier: MIT
"""The mixture and spherical k-means among scikit-learn's tools."""

import pickle

import numpy
import pytest
import torch
from helpers.commands import python

from svmf.distributions import VonMisesFisher
from svmf.mixture import SphericalKMeans, VonMisesFisherMixture

# What scikit-learn's checks do that unit vectors do not allow, each seen to be the only reason.
ZERO_ROWS = "the data of the check have rows of zeros, which have no direction"
NOT_FOR_DIRECTIONS = {
    "check_estimators_dtypes": ZERO_ROWS,
    "check_estimator_sparse_tag": ZERO_ROWS,
    "check_estimator_sparse_array": ZERO_ROWS,
    "check_estimator_sparse_matrix": ZERO_ROWS,
}
# scikit-learn expects the same of its own KMeans: a repeated row is drawn as a seed more often.
NOT_FOR_SEEDS = {
    "check_sample_weight_equivalence_on_dense_data": "seeds are drawn from rows",
    "check_sample_weight_equivalence_on_sparse_data": "seeds are drawn from rows",
}


@pytest.fixture(scope="module")
def rows() -> tuple[numpy.ndarray, numpy.ndarray]:
    truth = VonMisesFisher(torch.eye(4, dtype=torch.float64)[:3], 40.0)
    generator = torch.Generator().manual_seed(0)
    return truth.sample((150,), generator=generator).reshape(-1, 4).numpy(), numpy.tile(
        range(3), 150
    )


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (VonMisesFisherMixture(normalize=True, max_iter=30), NOT_FOR_DIRECTIONS),
        (SphericalKMeans(3, normalize=True), NOT_FOR_DIRECTIONS | NOT_FOR_SEEDS),
    ],
    ids=["mixture", "kmeans"],
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, expected):
    """All of `check_estimator` but what is listed above."""
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(
        estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
    )
    assert len(results) > 40
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    unexpected = {r["check_name"] for r in results if r["status"] == "xfail"} ^ set(expected)
    assert unexpected == set()


def test_pipeline_search_and_clone(rows):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    data, label = rows
    pipeline = make_pipeline(Normalizer(), VonMisesFisherMixture(random_state=0))
    search = GridSearchCV(pipeline, {"vonmisesfishermixture__n_components": [1, 3]}, cv=3)
    search.fit(data * 7)
    assert search.best_params_ == {"vonmisesfishermixture__n_components": 3}
    mixture = VonMisesFisherMixture(3, random_state=0, tol=1e-4).fit(data)
    copy = sklearn.base.clone(mixture)
    assert copy.get_params() == mixture.get_params()
    assert not hasattr(copy, "labels_")
    from sklearn.metrics import normalized_mutual_info_score as nmi

    assert nmi(mixture.labels_, label) > 0.95
    assert nmi(SphericalKMeans(3, random_state=0).fit_predict(data), label) > 0.95


def test_repr_params_and_pickle(rows):
    mixture = VonMisesFisherMixture(3, random_state=0, concentration="shared")
    text = "VonMisesFisherMixture(n_components=3, random_state=0, concentration='shared')"
    assert repr(mixture) == text
    assert mixture.set_params(tol=0.1).get_params()["tol"] == 0.1
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        mixture.set_params(k=3)
    with pytest.raises(RuntimeError, match="call `fit` first"):
        mixture.predict(rows[0])
    again = pickle.loads(pickle.dumps(mixture.fit(rows[0])))
    numpy.testing.assert_array_equal(again.predict(rows[0]), mixture.labels_)
    assert isinstance(mixture.labels_, numpy.ndarray)
    assert isinstance(mixture.predict(torch.as_tensor(rows[0])), torch.Tensor)


def test_scikit_learn_is_not_needed(rows, tmp_path):
    numpy.save(tmp_path / "x.npy", rows[0])
    code = f"""
import sys
sys.modules["sklearn"] = sys.modules["scipy"] = None
import numpy
from svmf.mixture import VonMisesFisherMixture
x = numpy.load({str(tmp_path / "x.npy")!r})
m = VonMisesFisherMixture(3, random_state=0)
try:
    m.predict(x)
except RuntimeError as error:
    print(type(error).__name__)
print(len(set(m.fit_predict(x).tolist())))
"""
    done = python("-c", code)
    assert done.stdout.split() == ["RuntimeError", "3"]


class Frame:
    """A data frame as far as it matters: columns, a shape, `to_numpy`."""

    def __init__(self, array: numpy.ndarray, columns: list[str]) -> None:
        self.array, self.columns, self.shape = array, columns, array.shape

    def to_numpy(self) -> numpy.ndarray:
        return self.array


def test_data_frames(rows):
    frame = Frame(rows[0], ["a", "b", "c", "d"])
    mixture = VonMisesFisherMixture(3, random_state=0).fit(frame)
    assert mixture.feature_names_in_.tolist() == frame.columns
    assert mixture.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        mixture.predict(Frame(rows[0], ["a", "b", "d", "c"]))


def test_spherical_kmeans(rows):
    data = rows[0]
    kmeans = SphericalKMeans(3, random_state=0, n_init=2).fit(data)
    assert kmeans.converged_
    assert (numpy.diff(kmeans.history_) > -1e-12).all()
    centres = kmeans.cluster_centers_.numpy()
    cosine = data @ centres.T
    numpy.testing.assert_array_equal(cosine.argmax(1), kmeans.labels_)
    assert kmeans.inertia_ == pytest.approx((1 - cosine.max(1)).sum())
    assert kmeans.score(data) == pytest.approx(-kmeans.inertia_)
    numpy.testing.assert_allclose(kmeans.transform(data), 1 - cosine, atol=1e-12)
    for j in range(3):  # a centre is the direction of its rows
        mean = data[kmeans.labels_ == j].sum(0)
        numpy.testing.assert_allclose(centres[j], mean / numpy.linalg.norm(mean), atol=1e-9)
    batches = SphericalKMeans(3, random_state=0, batch_size=64).fit(data)
    assert batches.inertia_ < 1.02 * kmeans.inertia_
