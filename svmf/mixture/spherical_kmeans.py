# SPDX-License-Identifier: MIT
"""Spherical k-means: the mixture with equal weights and one concentration without bound.

Dhillon and Modha, "Concept decompositions for large sparse text data using clustering", Machine
Learning 42 (2001) 143. Each row belongs to the centre with the largest cosine; a centre is the
direction of the sum of its rows.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Tensor

from svmf.mixture.alternation import Alternation
from svmf.mixture.estimator import in_chunks, like_data
from svmf.mixture.model import Model
from svmf.mixture.rows import Rows
from svmf.mixture.seeding import Directions, seeds_for
from svmf.mixture.steps import RunningSums, pass_over


@dataclass(repr=False, eq=False)
class SphericalKMeans(Alternation):
    """k-means with cosines on S^(m-1), in the manner of scikit-learn's KMeans.

    Data are as for `VonMisesFisherMixture`: unit vectors [n, m], dense or sparse.

    Args:
        n_clusters: number of clusters.
        max_iter: most iterations of one start; with `batch_size`, most passes over the data.
        tol: converged when the mean cosine of rows and their centres grows by less than this.
        n_init: number of starts; the one with the largest mean cosine wins.
        random_state: a number, or a generator of NumPy or torch; None draws a seed from torch's.
        init: "k-means++", "random", or centres [k, m].
        batch_size: rows in a mini-batch; None takes all rows in each step.
        normalize: divide the rows by their norms instead of refusing those that are not 1.
        progress: print one line per iteration to stderr.

    After `fit`: `cluster_centers_` [k, m], `labels_` [n], `inertia_` (the sum of 1 - cosine),
    `n_iter_`, `converged_`, `history_` (mean cosine before each update).

    >>> import torch
    >>> data = torch.nn.functional.normalize(torch.tensor([[1, 0.1], [1, -0.1], [-1, 0.2]]), dim=-1)
    >>> label = SphericalKMeans(2, random_state=0).fit_predict(data)
    >>> bool(label[0] == label[1]), bool(label[0] == label[2])
    (True, False)
    """

    _kind = "clusterer"
    _count_name = "n_clusters"
    _objective_name = "mean cosine"

    n_clusters: int = 8
    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1e-6
    n_init: int = 1
    random_state: Any = None
    init: Any = "k-means++"
    batch_size: int | None = None
    normalize: bool = False
    progress: bool = False

    @torch.no_grad()
    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> "SphericalKMeans":
        """Finds the centres of the unit vectors `X` [n, m]; `y` is ignored."""
        rows, weight, best = self._best_fit(X, sample_weight)
        assert isinstance(best.model, Directions)
        self.cluster_centers_ = best.model.locs
        self.history_ = tuple(best.history)
        self.n_iter_, self.converged_ = len(best.history), best.converged
        cosine, label = self._nearest(rows)
        gap = (1 - cosine.double()).clamp(min=0)
        self.inertia_ = (gap if weight is None else gap * weight).sum().item()
        self.labels_ = like_data(label, X)
        return self

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, [n]."""
        return like_data(self._nearest(self._read(X, "predict"))[1], X)

    def transform(self, X: Any) -> Any:
        """1 - cosine of each row with each centre, [n, k]."""
        rows = self._read(X, "transform")
        gap = in_chunks(rows, lambda chunk: 1 - chunk.product(self._centres_like(rows)))
        return like_data(gap.clamp(min=0), X)

    def fit_transform(self, X: Any, y: None = None, sample_weight: Any = None) -> Any:
        """`fit`, then `transform` on the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: None = None) -> float:
        """The sum over the rows of their largest cosine less 1: at most 0, larger is better."""
        cosine, _ = self._nearest(self._read(X, "score"))
        return (cosine.double() - 1).sum().item()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cluster_centers_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    def _centres_like(self, rows: Rows) -> Tensor:
        return self.cluster_centers_.to(rows.dtype)

    def _nearest(self, rows: Rows) -> tuple[Tensor, Tensor]:
        centres = self._centres_like(rows)
        best = [chunk.product(centres).max(-1) for chunk in rows.chunks()]
        return torch.cat([b.values for b in best]), torch.cat([b.indices for b in best])

    def _start(
        self, rows: Rows, weight: Tensor | None, generator: Any
    ) -> tuple[Directions, RunningSums | None]:
        model = Directions(seeds_for(self, self.n_clusters, rows, weight, generator))
        if self.batch_size is None:
            return model, None
        return model, RunningSums(pass_over(rows, weight, model, hard=True, k=self.n_clusters))

    def _update(self, count: Tensor, resultant: Tensor, fallback: Tensor) -> tuple[Model, int]:
        length = torch.linalg.vector_norm(resultant, dim=-1, keepdim=True)
        empty = length == 0
        locs = torch.where(empty, fallback.double(), resultant / torch.where(empty, 1.0, length))
        return Directions(locs.to(fallback.dtype)), int(empty.sum())
