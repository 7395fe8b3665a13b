# SPDX-License-Identifier: MIT
"""What directions say about their distribution: a confidence interval for the concentration, and
tests of uniformity.

Data are unit vectors [n, *batch, m], tensors, arrays or data frames; further dimensions are
independent data sets. Everything is computed in float64, without gradients.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from svmf import functional as F
from svmf.distributions._fit import mean_direction, read_directions

__all__ = ["Interval", "UniformityTest", "bingham_test", "concentration_interval", "rayleigh_test"]

_NODES = 201  # of the quadrature (Simpson's rule) on each side of the observed length
_WIDTH = 24.0  # reach of the quadrature in standard deviations of the estimate
_HALVINGS = 42  # of an interval of e^60: twelve digits


class Interval(NamedTuple):
    """A confidence interval, one for each data set."""

    low: Tensor
    high: Tensor


class UniformityTest(NamedTuple):
    """A test of uniformity, one for each data set."""

    statistic: Tensor
    p_value: Tensor


@torch.no_grad()
def concentration_interval(
    value: Any, confidence: float = 0.95, *, normalize: bool = False
) -> Interval:
    """A confidence interval for the concentration of a von Mises-Fisher distribution.

    The mean direction is unknown. The interval holds the concentrations for which the length of
    the resultant is neither unusually small nor unusually large, (1 - confidence) / 2 on each
    side. The distribution of the length comes from the saddlepoint density of the resultant
    (Daniels 1954; Mardia and Jupp 2000, section 9.3), normalised by quadrature; it is tested from
    three observations on. At concentration 0, where `low` cannot be too small, the coverage is
    (1 + confidence) / 2.
    """
    name = "concentration_interval"
    if not 0 < confidence < 1:
        raise ValueError(f"{name}: expected `confidence` between 0 and 1, got {confidence}")
    value = read_directions(value, name=name, normalize=normalize)
    n, m = value.shape[0], value.shape[-1]
    if n < 2:
        raise ValueError(f"{name}: expected at least 2 observations in `value`, got {n}")
    _, length = mean_direction(value, name=name)
    observed = F.vmf_concentration(length, m)
    if not bool((observed < 1e9).all()):
        raise ValueError(f"{name}: expected observations that differ in `value`, got equal ones")
    density = _ResultantLength(observed.unsqueeze(-1), n, m)
    tail = (1 - confidence) / 2
    return Interval(density.concentration_at(1 - tail), density.concentration_at(tail))


class _ResultantLength:
    """The distribution of R = |sum of n observations| as a function of the concentration.

    R is told by the t with A_m(t) = R / n. Its density, up to a constant, is

        t^((m-1)/2) A(t)^((m-1)/2) A'(t)^(1/2) exp(-n KL(t) + L(kappa n A(t)))

    with KL(t) the divergence of vMF(t) from the uniform distribution and L the log partition: the
    saddlepoint density of the resultant vector of uniform observations, n^(-m/2)
    (A'(t) (A(t)/t)^(m-1))^(-1/2) exp(-n KL(t)), times the area of the sphere of radius R, times
    the mean over mean directions of exp(kappa mu.S).
    """

    def __init__(self, observed: Tensor, n: int, m: int) -> None:
        self.n, self.m = n, m
        typical = m / n**0.5  # where t lies for uniform observations
        observed = observed.clamp(min=1e-6 * typical)
        spread = 1 / (observed * (n * self._slope(observed)).sqrt())
        spread = torch.where(observed < typical, spread.clamp(max=m**-0.5), spread)
        # Of log t: from below to the observed value, and from there upwards, past `typical`.
        centre = observed.log()
        upper = centre.clamp(min=float(torch.tensor(typical).log()))
        unit = torch.linspace(0, 1, _NODES, dtype=torch.float64, device=observed.device)
        low, high = centre - _WIDTH * spread, (upper + _WIDTH * spread).clamp(max=23.0)
        self._simpson = 2 + 2 * (torch.arange(_NODES, device=unit.device) % 2).double()
        self._simpson[0] = self._simpson[-1] = 1
        self._steps = torch.stack((centre - low, high - centre)) / (_NODES - 1)
        log_t = torch.stack((low + (centre - low) * unit, centre + (high - centre) * unit))
        t = log_t.exp()
        mean_length = F.vmf_mean_length(t, m)
        self._total = n * mean_length
        self._fixed = (
            log_t  # the step is one of log t
            + (m - 1) / 2 * (log_t + mean_length.log())
            + self._slope(t).log() / 2
            - n * F.vmf_kl_uniform(t, m)
        )
        self._loss = n * F.vmf_mean_length_complement(t, m)
        self._highest = high.exp().squeeze(-1)

    def _slope(self, t: Tensor) -> Tensor:
        with torch.enable_grad():
            t = t.detach().requires_grad_()
            (slope,) = torch.autograd.grad(F.vmf_mean_length(t, self.m).sum(), t)
        return slope

    def below(self, kappa: Tensor) -> Tensor:
        """P(R <= observed) under concentration `kappa`, for each data set."""
        kappa = kappa.unsqueeze(-1)
        log = self._fixed + self._excess(kappa * self._total) - kappa * self._loss
        log = log - log.amax((0, -1), keepdim=True)
        mass = (log.exp() @ self._simpson) * self._steps.squeeze(-1)
        return mass[0] / mass.sum(0)

    def _excess(self, y: Tensor) -> Tensor:
        """L(y) - y; for large y from the scaled Bessel function, where both are large."""
        order = self.m / 2 - 1
        if not bool((y > 1e3).any()):
            return F.vmf_log_partition(y, self.m) - y
        small = F.vmf_log_partition(y.clamp(max=1e3), self.m) - y
        wide = y.clamp(min=1e3)
        constant = torch.lgamma(y.new_tensor(order + 1)) + order * torch.log(y.new_tensor(2.0))
        return torch.where(y < 1e3, small, constant - order * wide.log() + F.log_ive(order, wide))

    def concentration_at(self, probability: float) -> Tensor:
        """The concentration with P(R <= observed) = `probability`; 0 if there is none."""
        none = self.below(torch.zeros_like(self._highest)) <= probability
        high = self._highest.log()
        low = high - 60
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            above = self.below(middle.exp()) > probability
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        return torch.where(none, 0.0, ((low + high) / 2).exp())


@torch.no_grad()
def rayleigh_test(value: Any, *, normalize: bool = False) -> UniformityTest:
    """Rayleigh's test of uniformity against a preferred direction.

    The statistic S = n m |mean|^2 is nearly chi-square with m degrees of freedom; the p-value is
    that of (1 - 1/(2n)) S + S^2 / (2n (m + 2)), with an error of order 1/n^2 (Jupp 2001; Mardia
    and Jupp 2000, equation 10.4.6).
    """
    value = read_directions(value, name="rayleigh_test", normalize=normalize)
    n, m = value.shape[0], value.shape[-1]
    _, length = mean_direction(value, name="rayleigh_test")
    statistic = n * m * length.square()
    corrected = (1 - 1 / (2 * n)) * statistic + statistic.square() / (2 * n * (m + 2))
    return UniformityTest(statistic, _chi_square_tail(corrected, m))


@torch.no_grad()
def bingham_test(value: Any, *, normalize: bool = False) -> UniformityTest:
    """Bingham's test of uniformity against preferred axes, also without a preferred direction.

    With T the mean of z z^T, the statistic S = n m (m + 2) / 2 (tr T^2 - 1/m) is nearly chi-square
    with (m - 1)(m + 2)/2 degrees of freedom; the p-value is that of S corrected to an error of
    order 1/n^2 (Jupp 2001; Mardia and Jupp 2000, equation 10.7.2).
    """
    value = read_directions(value, name="bingham_test", normalize=normalize).movedim(0, -2).double()
    n, m = value.shape[-2], value.shape[-1]
    # tr T^2 from the smaller of the two products.
    product = value.mT @ value if m <= n else value @ value.mT
    trace = product.square().sum((-2, -1)) / n**2
    s = n * m * (m + 2) / 2 * (trace - 1 / m)
    quadratic = m * m + m
    b0 = (2 * m * m + 3 * m + 4) / (6 * (m + 4))
    b1 = -(4 * m * m + 3 * m - 4) / (3 * (m + 4) * (quadratic + 2))
    b2 = 4 * (m * m - 4) / (3 * (m + 4) * (quadratic + 2) * (quadratic + 6))
    corrected = s * (1 - (b0 + b1 * s + b2 * s * s) / n)
    degrees = (m - 1) * (m + 2) // 2
    # Far in the tail, where the cubic turns, the statistic itself is small enough a p-value.
    corrected = torch.where(corrected > 0, corrected, s)
    return UniformityTest(s, _chi_square_tail(corrected, degrees))


def _chi_square_tail(statistic: Tensor, degrees: int) -> Tensor:
    half = torch.full_like(statistic, degrees / 2)
    return torch.special.gammaincc(half, statistic.clamp(min=0) / 2)
