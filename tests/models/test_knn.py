# SPDX-License-Identifier: MIT
"""k-NN against scikit-learn's, with both distances; balanced choice of labels."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier

from svmf.models import balanced_subset, nearest_labels


@pytest.mark.parametrize("distance", ["euclidean", "geodesic"])
def test_against_scikit_learn(distance):
    random = np.random.default_rng(0)
    points = random.normal(size=(90, 4))
    queries = random.normal(size=(300, 4))
    labels = random.integers(0, 3, 90)
    if distance == "geodesic":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        metric = lambda a, b: np.arccos(np.clip(a @ b, -1, 1))  # noqa: E731
    else:
        metric = "euclidean"
    expected = KNeighborsClassifier(5, metric=metric).fit(points, labels).predict(queries)
    found = nearest_labels(
        torch.from_numpy(points), torch.from_numpy(labels), torch.from_numpy(queries), 5, distance
    )
    np.testing.assert_array_equal(found.numpy(), expected)


def test_balanced_subset():
    labels = torch.arange(1000) % 10
    chosen = balanced_subset(labels, 100, torch.Generator().manual_seed(0))
    assert len(chosen.unique()) == 100
    assert torch.bincount(labels[chosen]).tolist() == [10] * 10
    other = balanced_subset(labels, 100, torch.Generator().manual_seed(1))
    assert not torch.equal(chosen, other)


def test_errors():
    labels = torch.arange(20) % 10
    draw = torch.Generator()
    with pytest.raises(ValueError, match="multiple of 10 classes, got 15"):
        balanced_subset(labels, 15, draw)
    with pytest.raises(ValueError, match="class 0 has 2 rows, fewer than 3"):
        balanced_subset(labels, 30, draw)
    with pytest.raises(ValueError, match="expected `distance`"):
        nearest_labels(torch.zeros(5, 2), labels[:5], torch.zeros(1, 2), distance="manhattan")
    with pytest.raises(ValueError, match="expected 1 <= `k` <= 5"):
        nearest_labels(torch.zeros(5, 2), labels[:5], torch.zeros(1, 2), k=6)
