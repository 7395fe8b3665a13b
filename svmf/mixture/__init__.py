# SPDX-License-Identifier: MIT
"""Clustering of directions: a mixture of von Mises-Fisher distributions, and spherical k-means.

Both are scikit-learn estimators (`fit`, `predict`, `get_params`, Pipeline, GridSearchCV) that do
not need scikit-learn, for tensors, arrays, data frames and sparse matrices of unit vectors.
"""

from svmf.mixture.spherical_kmeans import SphericalKMeans
from svmf.mixture.von_mises_fisher import MixtureReport, VonMisesFisherMixture

__all__ = ["MixtureReport", "SphericalKMeans", "VonMisesFisherMixture"]
