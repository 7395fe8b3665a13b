# SPDX-License-Identifier: MIT
"""What every latent space offers to the models.

A latent turns the raw output of an encoder into a posterior, draws from it with its KL divergence
from the prior, and knows its dimension twice: `dim` is the paper's d, the intrinsic one, and
`coordinates` is what a decoder receives (d, or m = d + 1 on the sphere).
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from svmf._gradients import PATHWISE
from svmf.models.knn import DISTANCES


class Draw(NamedTuple):
    """z [..., coordinates] and its KL [...]. `log_ratio` [...] is for the paper's estimator: its
    value is zero, and f(z) + f(z).detach() * log_ratio carries the unbiased gradient of E[f]."""

    z: Tensor
    kl: Tensor
    log_ratio: Tensor | None = None


def with_correction(value: Tensor, log_ratio: Tensor | None) -> Tensor:
    """`value` with the gradient that the estimator of `log_ratio` asks for."""
    return value if log_ratio is None else value + value.detach() * log_ratio


PosteriorT = TypeVar("PosteriorT", bound=tuple[Any, ...])


class Latent(ABC, Generic[PosteriorT]):
    """One posterior family with its prior. Holds no weights: the encoder's last layer does."""

    spread_name: ClassVar[str]  # the figure that `spread` gives, as metrics call it
    on_sphere: ClassVar[bool] = False  # are codes unit vectors?
    has_density: ClassVar[bool] = True
    exact_kl: ClassVar[bool] = True  # or does `draw` estimate it from its one sample?

    def __init__(self, dim: int, gradient: str = PATHWISE) -> None:
        if dim < 1:
            raise ValueError(f"{type(self).__name__}: expected `dim` of at least 1, got {dim}")
        if gradient not in self.gradients():
            raise ValueError(
                f"{type(self).__name__}: expected `gradient` among {self.gradients()}, "
                f"got {gradient!r}"
            )
        self.dim = dim
        self.gradient = gradient

    @classmethod
    def gradients(cls) -> tuple[str, ...]:
        """The gradient estimators of this family."""
        return (PATHWISE,)

    @property
    def coordinates(self) -> int:
        return self.dim

    @property
    def bounded(self) -> bool:
        """Whether dot products of codes are bounded, as those of unit vectors are."""
        return self.on_sphere

    @property
    def spheres(self) -> tuple[tuple[int, bool], ...]:
        """The blocks of a code: how many coordinates each has, and whether it is a unit vector."""
        return ((self.coordinates, self.on_sphere),)

    def distances(self, codes: Tensor, others: Tensor) -> Tensor:
        """Distances in this space, [codes, others]: what `nearest_labels` should use."""
        return DISTANCES["geodesic" if self.on_sphere else "euclidean"](codes, others)

    @property
    @abstractmethod
    def head_sizes(self) -> tuple[int, ...]:
        """Widths of the blocks of raw output that `posterior` expects, side by side."""

    @abstractmethod
    def posterior(self, raw: Tensor) -> PosteriorT:
        """The posterior's parameters from an encoder's raw output, [..., sum of head_sizes]."""

    @abstractmethod
    def draw(self, posterior: PosteriorT) -> Draw:
        """One reparameterised sample per row, with the KL divergence from the prior."""

    def step(self, raw: Tensor) -> tuple[Draw, Tensor]:
        """For a training step: the draw from the posterior of `raw`, and that posterior's spread,
        which carries no gradient."""
        posterior = self.posterior(raw)
        return self.draw(posterior), self.spread(posterior).detach()

    @abstractmethod
    def distribution(self, posterior: PosteriorT) -> torch.distributions.Distribution:
        """The posterior as an object of torch.distributions."""

    def sample(self, posterior: PosteriorT, count: int) -> Tensor:
        """[count, ..., coordinates], without gradient."""
        return self.distribution(posterior).sample(torch.Size([count]))

    def log_prob(self, posterior: PosteriorT, z: Tensor) -> Tensor:
        """The posterior's log density at the codes z [..., coordinates]."""
        return self.distribution(posterior).log_prob(z)

    def entropy(self, posterior: PosteriorT) -> Tensor:
        """The posterior's entropy, one value per row."""
        return self.distribution(posterior).entropy()

    @abstractmethod
    def prior_log_prob(self, z: Tensor) -> Tensor:
        """The prior's log density at the codes z."""

    @abstractmethod
    def prior_sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Codes drawn from the prior, [count, coordinates]."""

    @abstractmethod
    def spread(self, posterior: PosteriorT) -> Tensor:
        """One figure per row of how wide the posterior is."""

    def mean(self, posterior: PosteriorT) -> Tensor:
        """The point that represents the posterior: its location."""
        return posterior[0]

    def grid(self, points: int) -> tuple[Tensor, Tensor]:
        """About so many nodes [points, coordinates] over the whole of a space of one or two
        dimensions, and the log of the prior mass that each stands for [points]."""
        raise ValueError(
            "expected a latent with a density and d of 1 or 2, "
            f"got {type(self).__name__} of d = {self.dim}"
        )
