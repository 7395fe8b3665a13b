# SPDX-License-Identifier: MIT
"""A mixture of von Mises-Fisher distributions fitted by EM.

Banerjee, Dhillon, Ghosh, Sra, "Clustering on the unit hypersphere using von Mises-Fisher
distributions", JMLR 6 (2005) 1345; with the exact maximum-likelihood concentration.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, SupportsIndex

import torch
from torch import Tensor
from torch.distributions import Categorical, MixtureSameFamily

from svmf import functional as F
from svmf.distributions import VonMisesFisher
from svmf.mixture.alternation import Alternation
from svmf.mixture.components import Components, maximised
from svmf.mixture.estimator import in_chunks, like_data, number
from svmf.mixture.model import Model
from svmf.mixture.rows import Rows, part_of
from svmf.mixture.seeding import Directions, draw, generator_from, seeds_for
from svmf.mixture.steps import RunningSums, batch_step, pass_over


@dataclass(frozen=True)
class MixtureReport:
    """How a fit went. `history` is the mean log likelihood before each update."""

    converged: bool
    n_iter: int
    log_likelihood: float
    history: tuple[float, ...]
    reseeded: int

    def __str__(self) -> str:
        end = "converged" if self.converged else "stopped at max_iter, not converged,"
        reseeded = f", {self.reseeded} empty components re-seeded" if self.reseeded else ""
        return (
            f"{end} after {self.n_iter} iterations: mean log likelihood "
            f"{self.log_likelihood:.6g} (start {self.history[0]:.6g}){reseeded}"
        )


@dataclass(repr=False, eq=False)
class VonMisesFisherMixture(Alternation):
    """A mixture of `n_components` von Mises-Fisher distributions on S^(m-1).

    A scikit-learn estimator that does not need scikit-learn. Data `X` [n, m] are unit vectors: a
    tensor, an array, a data frame, or a sparse matrix, which stays sparse. Results are tensors for
    tensors, else arrays; the parameters are tensors. Half types are computed in float32.

    Args:
        n_components: number of clusters.
        max_iter: most EM iterations of one start; with `batch_size`, most passes over the data.
        tol: EM has converged when the mean log likelihood grows by less than this.
        n_init: number of starts; the one with the highest likelihood wins.
        seed: the same as `random_state`.
        max_concentration: bound on each concentration, at most 1e10 (float32 data stop at 1e6).
            Without it the likelihood is infinite when a component sits on a single point.
        progress: print one line per iteration to stderr.
        random_state: seed of the starts and of `sample`: a number, or a generator of NumPy or
            torch. None draws one from torch's global generator.
        concentration: "own", one for each component, or "shared", one for all.
        assignment: "soft" (EM), or "hard" (classification EM: each row belongs to one component).
        init: "k-means++", "random" (rows drawn by chance), or mean directions [k, m].
        batch_size: rows in a mini-batch (stepwise EM); None takes all rows in each step.
        normalize: divide the rows by their norms instead of refusing those that are not 1.

    After `fit`: `weights_` [k], `locs_` [k, m], `concentrations_` [k], `labels_` [n], `report_` (a
    `MixtureReport`), and as in scikit-learn `converged_`, `n_iter_`, `lower_bound_`.

    >>> import torch
    >>> from svmf.distributions import VonMisesFisher
    >>> _ = torch.manual_seed(0)
    >>> truth = VonMisesFisher(torch.eye(3)[:2], torch.tensor([50.0, 200.0]))
    >>> data = truth.sample((500,)).reshape(-1, 3)
    >>> mixture = VonMisesFisherMixture(2, random_state=0).fit(data)
    >>> mixture
    VonMisesFisherMixture(n_components=2, random_state=0)
    >>> mixture.converged_
    True
    >>> mixture.predict(torch.eye(3)[:2]).unique().numel()
    2
    """

    _kind = "density_estimator"
    _count_name = "n_components"
    _objective_name = "mean log likelihood"

    n_components: int = 1
    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1e-5
    n_init: int = 1
    seed: int | None = None
    max_concentration: float = 1e6
    progress: bool = False
    random_state: Any = None
    concentration: str = "own"
    assignment: str = "soft"
    init: Any = "k-means++"
    batch_size: int | None = None
    normalize: bool = False

    @torch.no_grad()
    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> "VonMisesFisherMixture":
        """Fits the mixture to the unit vectors `X` [n, m]; `y` is ignored."""
        rows, _, best = self._best_fit(X, sample_weight)
        assert isinstance(best.model, Components)
        self._components = best.model
        history = tuple(best.history)
        self.report_ = MixtureReport(
            best.converged, len(history), history[-1], history, best.reseeded
        )
        self._running: RunningSums | None = None
        self.labels_ = like_data(self._labels(rows), X)
        return self

    @torch.no_grad()
    def partial_fit(self, X: Any, y: None = None) -> "VonMisesFisherMixture":
        """One step of stepwise EM with the rows of a batch, for data that come in pieces.

        The first batch makes the start, and has at least `n_components` rows.
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__() or getattr(self, "_running", None) is None
        rows = self._read(X, "partial_fit", fitting=first)
        if first:
            self._enough_rows(rows, self.n_components, "n_components")
            generator = generator_from(self._random_state(), rows.device)
            self._components, self._running = self._start(rows, None, generator)
            self._history: list[float] = []
            self._reseeded = 0
        assert self._running is not None
        model, objective, reseeded = batch_step(
            rows, None, self._components, self._manner(), self._running
        )
        assert isinstance(model, Components)
        self._components = model
        self._history.append(objective)
        self._reseeded += reseeded
        self.report_ = MixtureReport(
            False, len(self._history), objective, tuple(self._history), self._reseeded
        )
        return self

    def predict(self, X: Any) -> Any:
        """The most probable component of each row, [n]."""
        return like_data(self._labels(self._read(X, "predict")), X)

    def predict_proba(self, X: Any) -> Any:
        """The posterior probability of each component for each row, [n, k]."""
        rows = self._read(X, "predict_proba")
        return like_data(in_chunks(rows, lambda c: self._joint(c).softmax(-1)), X)

    def score_samples(self, X: Any) -> Any:
        """The log density of each row, [n]."""
        return like_data(self._log_density(self._read(X, "score_samples")), X)

    def score(self, X: Any, y: None = None) -> float:
        """The mean log density of the rows."""
        return self._log_density(self._read(X, "score")).double().mean().item()

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on `X`: smaller is better."""
        n = self._read(X, "bic").shape[0]
        return self._free_parameters() * math.log(n) - 2 * n * self.score(X)

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on `X`: smaller is better."""
        n = self._read(X, "aic").shape[0]
        return 2 * self._free_parameters() - 2 * n * self.score(X)

    def distribution(self) -> MixtureSameFamily:
        """The fitted mixture as a torch distribution."""
        parameters = self._fitted()
        return MixtureSameFamily(
            Categorical(probs=parameters.weights),
            VonMisesFisher(parameters.locs, parameters.concentrations),
        )

    @torch.no_grad()
    def sample(self, n_samples: int = 1) -> tuple[Tensor, Tensor]:
        """`n_samples` draws [n, m] and the component [n] that each came from."""
        parameters = self._fitted()
        if not isinstance(n_samples, SupportsIndex) or n_samples.__index__() < 0:
            raise ValueError(
                "VonMisesFisherMixture.sample: expected a whole number `n_samples` >= 0, "
                f"got {n_samples!r}"
            )
        generator = generator_from(self._random_state(), parameters.locs.device)
        component = draw(parameters.weights.double(), n_samples, generator)
        locs, concentrations = parameters.locs[component], parameters.concentrations[component]
        return F.vmf_rsample(locs, concentrations, generator=generator), component

    @property
    def weights_(self) -> Tensor:
        return self._fitted().weights

    @property
    def locs_(self) -> Tensor:
        return self._fitted().locs

    @property
    def concentrations_(self) -> Tensor:
        return self._fitted().concentrations

    @property
    def converged_(self) -> bool:
        self._fitted()
        return self.report_.converged

    @property
    def n_iter_(self) -> int:
        self._fitted()
        return self.report_.n_iter

    @property
    def lower_bound_(self) -> float:
        self._fitted()
        return self.report_.log_likelihood

    def _fitted(self) -> Components:
        self._require_fitted()
        return self._components

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_components")

    def _joint(self, chunk: Rows) -> Tensor:
        """log(weight of component) + log density, [n, k], in the wider type of rows and fit."""
        components = self._fitted()
        if components.locs.dtype == torch.float64:
            chunk = chunk.double()
        elif chunk.dtype == torch.float64:
            components = components.double()
        return components.scores(chunk)

    def _labels(self, rows: Rows) -> Tensor:
        return in_chunks(rows, lambda chunk: self._joint(chunk).argmax(-1))

    def _log_density(self, rows: Rows) -> Tensor:
        return in_chunks(rows, lambda chunk: self._joint(chunk).logsumexp(-1))

    def _free_parameters(self) -> int:
        """Per component m-1 angles and a weight, less one weight; one or k concentrations."""
        k, m = self.n_components, self._fitted().locs.shape[1]
        return k * m - 1 + (1 if self.concentration == "shared" else k)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        bound = number(self.max_concentration)
        self._expect(0 < bound <= 1e10, "max_concentration", "> 0 and at most 1e10")
        known = ("own", "shared")
        self._expect(self.concentration in known, "concentration", 'to be "own" or "shared"')
        known = ("soft", "hard")
        self._expect(self.assignment in known, "assignment", 'to be "soft" or "hard"')
        both = self.seed is not None and self.random_state is not None
        self._expect(not both, "seed", "or `random_state`, not both")

    def _random_state(self) -> Any:
        return self.random_state if self.seed is None else self.seed

    @property
    def _hard(self) -> bool:  # type: ignore[override]
        return self.assignment == "hard"

    def _start(
        self, rows: Rows, weight: Tensor | None, generator: Any
    ) -> tuple[Components, RunningSums]:
        """Seeds, and the components of the rows that are nearest to each."""
        if self.batch_size is not None:  # a start from as many rows as a few batches have
            enough = max(3 * self.batch_size, 10 * self.n_components)
            if rows.shape[0] > enough:
                order = torch.randperm(rows.shape[0], generator=generator, device=rows.device)
                rows, weight = rows.select(order[:enough]), part_of(weight, order[:enough])
        k = self.n_components
        seeds = seeds_for(self, k, rows, weight, generator)
        sums = pass_over(rows, weight, Directions(seeds), hard=True, k=k)
        model, _ = self._update(sums.count, sums.resultant, seeds)
        assert isinstance(model, Components)
        return model, RunningSums(sums)

    def _update(self, count: Tensor, resultant: Tensor, fallback: Tensor) -> tuple[Model, int]:
        shared = self.concentration == "shared"
        bound = self.max_concentration
        return maximised(count, resultant, fallback, shared=shared, bound=bound)
