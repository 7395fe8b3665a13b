# SPDX-License-Identifier: MIT
"""Clustering of directions: a mixture of von Mises-Fisher distributions fitted by EM.

Banerjee, Dhillon, Ghosh, Sra, "Clustering on the unit hypersphere using von Mises-Fisher
distributions", JMLR 6 (2005) 1345; with the exact maximum-likelihood concentration. Used as
scikit-learn's mixtures are: `fit`, `predict`, `score_samples`; scikit-learn itself is not needed.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor
from torch.distributions import Categorical, MixtureSameFamily

from svmf import functional as F
from svmf.constraints import unit_vector
from svmf.distributions import VonMisesFisher

__all__ = ["MixtureReport", "VonMisesFisherMixture"]


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


@dataclass
class _Parameters:
    weights: Tensor  # [k]
    locs: Tensor  # [k, m]
    concentrations: Tensor  # [k]


class VonMisesFisherMixture:
    """A mixture of `n_components` von Mises-Fisher distributions on S^(m-1).

    Args:
        n_components: number of clusters.
        max_iter: most EM iterations of one start.
        tol: EM has converged when the mean log likelihood grows by less than this.
        n_init: number of starts; the one with the highest likelihood wins.
        seed: seed of the k-means++ starts and of `sample`; None draws one from torch's generator.
        max_concentration: bound on each concentration. Without it the likelihood is infinite when
            a component sits on a single point.
        progress: print one line per iteration to stderr.

    After `fit`: `weights_` [k], `locs_` [k, m], `concentrations_` [k], `report_` (a
    `MixtureReport`), and as in scikit-learn `converged_`, `n_iter_`, `lower_bound_`.

    >>> import torch
    >>> from svmf.distributions import VonMisesFisher
    >>> _ = torch.manual_seed(0)
    >>> truth = VonMisesFisher(torch.eye(3)[:2], torch.tensor([50.0, 200.0]))
    >>> data = truth.sample((500,)).reshape(-1, 3)
    >>> mixture = VonMisesFisherMixture(2, seed=0).fit(data)
    >>> mixture.converged_
    True
    >>> mixture.predict(torch.eye(3)[:2]).unique().numel()
    2
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        max_iter: int = 300,
        tol: float = 1e-5,
        n_init: int = 1,
        seed: int | None = None,
        max_concentration: float = 1e6,
        progress: bool = False,
    ) -> None:
        for name, number in (("n_components", n_components), ("max_iter", max_iter)):
            if number < 1:
                raise ValueError(f"VonMisesFisherMixture: expected `{name}` >= 1, got {number}")
        if n_init < 1:
            raise ValueError(f"VonMisesFisherMixture: expected `n_init` >= 1, got {n_init}")
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.seed = seed
        self.max_concentration = max_concentration
        self.progress = progress

    @torch.no_grad()
    def fit(
        self, X: Any, y: None = None, sample_weight: Any | None = None
    ) -> "VonMisesFisherMixture":
        """Fits the mixture to the unit vectors `X` [n, m], a tensor or an array; `y` is ignored."""
        data = self._checked(X)
        if data.shape[0] < self.n_components:
            raise ValueError(
                f"VonMisesFisherMixture.fit: expected at least n_components = {self.n_components} "
                f"observations, got {data.shape[0]}"
            )
        weight = self._checked_weight(sample_weight, data)
        generator = Generator(device=data.device)
        generator.manual_seed(torch.seed() if self.seed is None else self.seed)
        best: tuple[_Parameters, MixtureReport] | None = None
        for start in range(self.n_init):
            result = self._run(data, weight, generator, start)
            if best is None or result[1].log_likelihood > best[1].log_likelihood:
                best = result
        assert best is not None
        self._parameters, self.report_ = best
        return self

    def predict(self, X: Any) -> Tensor:
        """The most probable component of each row, [n]."""
        return self._joint(self._checked(X)).argmax(-1)

    def predict_proba(self, X: Any) -> Tensor:
        """The posterior probability of each component for each row, [n, k]."""
        return self._joint(self._checked(X)).softmax(-1)

    def score_samples(self, X: Any) -> Tensor:
        """The log density of each row, [n]."""
        return self._joint(self._checked(X)).logsumexp(-1)

    def score(self, X: Any, y: None = None) -> float:
        """The mean log density of the rows."""
        return self.score_samples(X).double().mean().item()

    def fit_predict(self, X: Any, y: None = None) -> Tensor:
        """`fit`, then `predict` on the same rows."""
        return self.fit(X).predict(X)

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on `X`: smaller is better."""
        n, m = self._checked(X).shape
        free = self.n_components * (m + 1) - 1  # per component m-1 angles, kappa, a weight
        return free * math.log(n) - 2 * n * self.score(X)

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
        generator = Generator(device=parameters.locs.device)
        generator.manual_seed(torch.seed() if self.seed is None else self.seed)
        component = torch.multinomial(
            parameters.weights, n_samples, replacement=True, generator=generator
        )
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
        return self.report_.converged

    @property
    def n_iter_(self) -> int:
        return self.report_.n_iter

    @property
    def lower_bound_(self) -> float:
        return self.report_.log_likelihood

    def _fitted(self) -> _Parameters:
        if not hasattr(self, "_parameters"):
            raise RuntimeError("VonMisesFisherMixture: call `fit` first")
        return self._parameters

    def _joint(self, data: Tensor) -> Tensor:
        """log(weight of component) + log density, [n, k]."""
        return _joint_log_density(data, self._fitted())

    def _checked(self, X: Any) -> Tensor:
        data = torch.as_tensor(X)
        if data.dim() != 2 or data.shape[1] < 2:
            raise ValueError(
                "VonMisesFisherMixture: expected `X` of shape [n, m] with m >= 2, "
                f"got {list(data.shape)}"
            )
        if not data.is_floating_point():
            raise TypeError(
                f"VonMisesFisherMixture: expected `X` of a floating type, got {data.dtype}"
            )
        valid = unit_vector.check(data)
        if not bool(valid.all()):
            row = int((~valid).nonzero()[0])
            raise ValueError(
                "VonMisesFisherMixture: expected the rows of `X` to be unit vectors, got norm "
                f"{data[row].norm().item():g} in row {row} ({int((~valid).sum())} rows wrong)"
            )
        return data

    @staticmethod
    def _checked_weight(sample_weight: Any | None, data: Tensor) -> Tensor:
        """Weights in float64 with mean 1."""
        n = data.shape[0]
        if sample_weight is None:
            return torch.ones(n, dtype=torch.float64, device=data.device)
        weight = torch.as_tensor(sample_weight, dtype=torch.float64, device=data.device)
        if weight.shape != (n,):
            raise ValueError(
                f"VonMisesFisherMixture.fit: expected `sample_weight` of shape [{n}], "
                f"got {list(weight.shape)}"
            )
        if not bool((weight >= 0).all()) or not bool(weight.sum() > 0):
            raise ValueError(
                "VonMisesFisherMixture.fit: expected `sample_weight` >= 0 with a positive sum"
            )
        return weight * (n / weight.sum())

    def _run(
        self, data: Tensor, weight: Tensor, generator: Generator, start: int
    ) -> tuple[_Parameters, MixtureReport]:
        """One start: k-means++ seeds, hard assignment, then EM until it settles."""
        seeds = _plus_plus_seeds(data, weight, self.n_components, generator)
        nearest = (data @ seeds.T).argmax(-1)
        hard = torch.nn.functional.one_hot(nearest, self.n_components).to(data.dtype)
        parameters, reseeded = self._maximise(data, hard, weight, fallback=seeds)
        history: list[float] = []
        converged = False
        for iteration in range(self.max_iter):
            joint = _joint_log_density(data, parameters)
            log_density = joint.logsumexp(-1)
            history.append((weight * log_density).mean().item())
            if self.progress:
                print(
                    f"start {start + 1}/{self.n_init}, iteration {iteration}: "
                    f"mean log likelihood {history[-1]:.6f}",
                    file=sys.stderr,
                )
            if len(history) > 1 and abs(history[-1] - history[-2]) < self.tol:
                converged = True
                break
            responsibility = (joint - log_density.unsqueeze(-1)).exp()
            # An empty component starts again at the rows that the mixture explains worst.
            worst = data[log_density.topk(self.n_components, largest=False).indices]
            parameters, more = self._maximise(data, responsibility, weight, fallback=worst)
            reseeded += more
        return parameters, MixtureReport(
            converged, len(history), history[-1], tuple(history), reseeded
        )

    def _maximise(
        self, data: Tensor, responsibility: Tensor, weight: Tensor, fallback: Tensor
    ) -> tuple[_Parameters, int]:
        """The M step in float64; components without data move to rows of `fallback`."""
        share = responsibility.double() * weight.unsqueeze(-1)  # [n, k]
        count = share.sum(0)
        resultant = (share.to(data.dtype).T @ data).double()  # [k, m]
        length = torch.linalg.vector_norm(resultant, dim=-1)
        empty = (count < 1e-6) | (length == 0)
        count = torch.where(empty, 1.0, count)
        safe = torch.where(empty, 1.0, length)
        locs = torch.where(empty[:, None], fallback.double(), resultant / safe[:, None])
        mean_length = torch.where(empty, 0.5, (safe / count).clamp(max=1))
        concentration = F.vmf_concentration(mean_length, data.shape[1])
        return _Parameters(
            weights=(count / count.sum()).to(data.dtype),
            locs=torch.nn.functional.normalize(locs, dim=-1).to(data.dtype),
            concentrations=concentration.clamp(max=self.max_concentration).to(data.dtype),
        ), int(empty.sum())


def _joint_log_density(data: Tensor, parameters: _Parameters) -> Tensor:
    """log(weight) + log C_m(kappa) + kappa mu.x for each row and component: one product, [n, k]."""
    kappa = parameters.concentrations
    constant = parameters.weights.log() + F.vmf_log_norm(kappa, data.shape[1])
    return data @ (kappa[:, None] * parameters.locs).T + constant


def _plus_plus_seeds(
    data: Tensor, weight: Tensor, n_components: int, generator: Generator
) -> Tensor:
    """k-means++ (Arthur and Vassilvitskii 2007) with the squared chord 2 (1 - cosine)."""
    first = torch.multinomial(weight, 1, generator=generator)
    seeds = data[first]
    distance = torch.full_like(weight, torch.inf)
    for _ in range(1, n_components):
        distance = torch.minimum(distance, (1 - (data @ seeds[-1]).double()).clamp(min=0))
        chance = weight * distance
        if not bool(chance.sum() > 0):  # fewer distinct rows than components
            chance = weight
        seeds = torch.cat((seeds, data[torch.multinomial(chance, 1, generator=generator)]))
    return seeds
