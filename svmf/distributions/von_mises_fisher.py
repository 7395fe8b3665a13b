# SPDX-License-Identifier: MIT
"""The von Mises-Fisher distribution as a `torch.distributions.Distribution`.

Density C_m(kappa) exp(kappa mu.z) on S^(m-1) with respect to the surface measure. Everything that
costs time is one call of `svmf.functional`.
"""

from typing import Any

import torch
from torch import Generator, Tensor
from torch.types import _size

from svmf import functional as F
from svmf._gradients import PATHWISE
from svmf._sphere import largest_concentration
from svmf.distributions._data import as_tensor
from svmf.distributions._directional import DirectionalDistribution
from svmf.distributions._fit import (
    effective_count,
    marginal_concentration,
    mean_direction,
    read_directions,
)
from svmf.distributions._marginal import cosine_cdf


class VonMisesFisher(DirectionalDistribution):
    """The von Mises-Fisher distribution on the sphere S^(m-1) in R^m.

    Args:
        loc: mean directions mu, unit vectors of shape [..., m], m >= 2.
        concentration: kappa >= 0, a number or a tensor that broadcasts with `loc.shape[:-1]`. One
            with as many dimensions as `loc` and a last size of 1 is read as one value per row of
            `loc`. 0 is the uniform distribution.
        validate_args: whether to check values; by default as `torch.distributions` has it.

    >>> loc = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    >>> q = VonMisesFisher(loc, torch.tensor([5.0, 500.0]))
    >>> q
    VonMisesFisher(loc: torch.Size([2, 3]), concentration: torch.Size([2]))
    >>> q.batch_shape, q.event_shape
    (torch.Size([2]), torch.Size([3]))
    >>> q.mean
    tensor([[0.8001, 0.0000, 0.0000],
            [0.0000, 0.5988, 0.7984]])
    >>> VonMisesFisher.fit(q.sample((1000,))).batch_shape
    torch.Size([2])
    """

    def rsample(
        self,
        sample_shape: _size = (),
        *,
        gradient: str = PATHWISE,
        generator: Generator | None = None,
    ) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m] that carry gradients.

        `gradient` chooses how a sample depends on the concentration: "pathwise" is unbiased,
        "rejection" is the published estimator without its correction term.
        """
        return F.vmf_rsample(
            self.loc, self.concentration, sample_shape, gradient=gradient, generator=generator
        )

    def rsample_kl(
        self,
        sample_shape: _size = (),
        *,
        gradient: str = PATHWISE,
        generator: Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Samples and the KL divergence to the uniform distribution, in one fused step."""
        return F.vmf_rsample_kl(
            self.loc, self.concentration, sample_shape, gradient=gradient, generator=generator
        )

    def _log_density(self, value: Tensor) -> Tensor:
        return F.vmf_log_prob(value, self.loc, self.concentration)

    def marginal_cdf(self, value: Tensor) -> Tensor:
        """P(loc.z <= value): the distribution function of the cosine between z and `loc`.

        `value` broadcasts with the batch shape. Differentiable in `value` and the concentration.
        """
        return cosine_cdf(value, self.concentration, self.loc.shape[-1]).to(self.loc.dtype)

    def entropy(self) -> Tensor:
        return F.vmf_entropy(self.concentration, self.loc.shape[-1])

    def _kl_uniform(self) -> Tensor:
        return F.vmf_kl_uniform(self.concentration, self.loc.shape[-1])

    def _mean_cosine(self) -> Tensor:
        return F.vmf_mean_length(self.concentration, self.loc.shape[-1])

    def _cosine_variances(self) -> tuple[Tensor, Tensor]:
        """Var[w] = A'(kappa), and across the mean A(kappa) / kappa, which is 1/m at kappa = 0.

        A' = 1 - A^2 - (m-1) A / kappa cancels for large kappa; the op does not.
        """
        kappa, dim = self.concentration, self.loc.shape[-1]
        at_zero = kappa == 0
        across = self._mean_cosine() / torch.where(at_zero, 1.0, kappa)
        return F.mean_length_slope(kappa, dim), torch.where(at_zero, 1 / dim, across)

    @classmethod
    def fit(
        cls,
        value: Any,
        weights: Any | None = None,
        *,
        normalize: bool = False,
        bias_correction: bool = False,
        validate_args: bool | None = None,
    ) -> "VonMisesFisher":
        """The maximum-likelihood distribution of the unit vectors `value`, [n, *batch, m].

        Args:
            value: the data, a tensor, an array or a data frame; the first dimension runs over the
                observations, and further ones over independent data sets, so that
                `fit(q.sample((n,)))` has the batch shape of `q`.
            weights: non-negative weights of the observations, [n] or [n, *batch].
            normalize: divide the rows by their norms, instead of refusing norms other than 1.
            bias_correction: estimate the concentration from the likelihood of the length of the
                resultant alone. The usual estimate is too large where n is not many times m:
                chance alone makes a resultant of length sqrt(n). No gradient reaches the data.

        Data that all point the same way have no finite maximum: the concentration then stops at
        1e10, or 1e6 in float32 and below. Data without any direction give concentration 0 and loc
        e1.
        """
        name = f"{cls.__name__}.fit"
        value = read_directions(value, name=name, normalize=normalize)
        if weights is not None and not isinstance(weights, Tensor):
            weights = as_tensor(weights, name=name, argument="weights")
        direction, length = mean_direction(value, weights, name=name)
        if bias_correction:
            count = effective_count(value, weights)
            kappa = marginal_concentration(length, count, value.shape[-1])
        else:
            kappa = F.vmf_concentration(length, value.shape[-1])
        kappa = kappa.clamp(max=largest_concentration(value.dtype))
        return cls(direction.to(value.dtype), kappa.to(value.dtype), validate_args=validate_args)
