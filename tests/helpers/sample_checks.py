# SPDX-License-Identifier: MIT
"""What is checked about a vMF sampler's draws: the distribution of w = mu.z, the uniform tangent
direction, the first two moments of z, and (not by chance) unit norm and agreement between z and w.

A sampler is any function of (loc [m], kappa, rows, seed) that returns z [rows, m] and the float
pair 1-w, 1+w [rows], so that wrong samplers can be put through the same checks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy
import torch
from torch import Tensor

from helpers import gof
from helpers.vmf_exact import angle_of, cosine_distribution

Sampler = Callable[[Tensor, float, int, int], tuple[Tensor, Tensor, Tensor]]

# Elements of z that are drawn at once, and that are looked at in float64 in all (w is looked at for
# every draw).
_CHUNK_ELEMENTS = 4_000_000
_VECTOR_ELEMENTS = 200_000_000


@dataclass
class Report:
    """p-values by name, and the worst errors in units of the type's eps."""

    p_values: dict[str, float] = field(default_factory=dict)
    norm_error: float = 0.0  # | |z|^2 - 1 |
    cosine_error: float = 0.0  # | |z - mu| - sqrt(2 (1-w)) |

    def require_all(self, what: str, norm_limit: float, cosine_limit: float) -> None:
        for name, p_value in self.p_values.items():
            gof.require(p_value, f"{what}: {name}")
        assert self.norm_error <= norm_limit, f"{what}: |z|^2 is {self.norm_error:.3g} eps from 1"
        assert self.cosine_error <= cosine_limit, (
            f"{what}: z and w differ by {self.cosine_error:.3g} eps"
        )


def fused(dtype: torch.dtype, gradient: int = 0) -> Sampler:
    """The op under test, all draws as samples of one row or as rows of one batch by turns."""

    def draw(loc: Tensor, kappa: float, rows: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        mu, k, key = loc.to(dtype), torch.tensor(kappa, dtype=dtype), torch.tensor([seed])
        if seed % 2:
            batch = (mu.expand(rows, -1), k.expand(rows), key, [], gradient, True)
        else:
            batch = (mu, k, key, [rows], gradient, True)
        z, state = torch.ops.svmf.vmf_rsample.default(*batch)
        return z, state[0], state[1]

    return draw


def _tangent_frame(loc: Tensor) -> Tensor:
    """Up to two orthonormal directions [2, m] orthogonal to loc, chosen once per dimension."""
    m = loc.shape[0]
    generator = torch.Generator().manual_seed(m)
    frame = torch.randn(min(2, m - 1), m, generator=generator, dtype=torch.float64)
    unit = loc / loc.norm()
    for i in range(frame.shape[0]):
        for _ in range(2):  # the second pass removes what the first left by rounding
            for other in (unit, *frame[:i]):
                frame[i] -= (frame[i] @ other) * other
            frame[i] /= frame[i].norm()
    return frame


def examine(draw: Sampler, loc: Tensor, kappa: float, n: int, seed: int) -> Report:
    """Draws n samples and reports on them. loc: float64, with entries that the sampler's type
    represents."""
    m = loc.shape[0]
    rows = max(64, _CHUNK_ELEMENTS // m)
    frame = _tangent_frame(loc)
    report = Report()
    # Filled in place: small arrays kept between large ones would break up the heap.
    below, above = torch.empty(2, n, dtype=torch.float64)
    tangent = torch.empty(n, frame.shape[0], dtype=torch.float64)
    total = torch.zeros(m, dtype=torch.float64)
    vectors = 0  # rows looked at as vectors: the first ones
    for i, start in enumerate(range(0, n, rows)):
        part = slice(start, min(n, start + rows))
        count = part.stop - part.start
        z, below[part], above[part] = draw(loc, kappa, count, seed + i)
        if vectors * m > _VECTOR_ELEMENTS:
            continue
        eps = torch.finfo(z.dtype).eps
        offset = z.double() - loc  # keeps the digits of z near mu
        total += offset.sum(0)
        vectors += count
        tangent[part] = offset @ frame.T
        square = z.double().square().sum(-1)
        report.norm_error = max(report.norm_error, ((square - 1).abs().max() / eps).item())
        # torch's sums are pairwise and so exact enough; its norms are not (15 eps at m = 10,000)
        distance = (offset.square().sum(-1).sqrt() - (2 * below[part]).sqrt()).abs()
        report.cosine_error = max(report.cosine_error, (distance.max() / eps).item())
    _examine_cosine(report, below.numpy(), above.numpy(), m, kappa)
    _examine_tangent(
        report,
        below[:vectors].numpy(),
        above[:vectors].numpy(),
        tangent[:vectors].numpy(),
        m,
        kappa,
    )
    _examine_mean(report, total.numpy() / vectors, vectors, loc.numpy(), kappa)
    return report


def _examine_cosine(
    report: Report, below: gof.Array, above: gof.Array, m: int, kappa: float
) -> None:
    exact = cosine_distribution(m, kappa)
    uniform = exact.cdf(angle_of(below, above))
    report.p_values["w (Kolmogorov-Smirnov)"] = gof.kolmogorov_smirnov(uniform)
    report.p_values["w near 1"], report.p_values["w near -1"] = gof.tail_counts(uniform)
    mean, variance, _ = exact.moments_of_below()
    fourth = exact.expectation(lambda t, w: (t - mean) ** 4)
    report.p_values["mean of w"] = gof.mean(below.mean(), mean, variance, below.size)
    spread = ((below - mean) ** 2).mean()
    report.p_values["variance of w"] = gof.mean(spread, variance, fourth - variance**2, below.size)


def _examine_tangent(
    report: Report, below: gof.Array, above: gof.Array, projections: gof.Array, m: int, kappa: float
) -> None:
    """projections: z on the tangent frame, [n, 1 or 2]."""
    p, n = report.p_values, projections.shape[0]
    sine = numpy.sqrt(below * above)
    inside = sine > 0
    direction = projections[inside] / sine[inside, None]
    if m == 2:
        p["side"] = gof.fair_coin(int((direction[:, 0] > 0).sum()), len(direction))
    else:
        # A coordinate of a uniform direction of the tangent sphere S^(m-2), as an angle.
        first = direction[:, 0].clip(-1, 1)
        uniform = cosine_distribution(m - 1, 0.0).cdf(numpy.arccos(first))
        p["tangent direction, projected"] = gof.kolmogorov_smirnov(uniform)
        turns = numpy.arctan2(direction[:, 1], direction[:, 0]) / (2 * numpy.pi) + 0.5
        p["tangent direction, angle"] = gof.kolmogorov_smirnov(turns)
    ranks = cosine_distribution(m, kappa).cdf(angle_of(below, above))
    p["w against direction"] = gof.uncorrelated(ranks[inside], direction[:, 0])
    _, _, square = cosine_distribution(m, kappa).moments_of_below()
    fourth = cosine_distribution(m, kappa).expectation(lambda t, w: (t * (2 - t)) ** 2)
    # E[v_1^2] = 1/(m-1) and E[v_1^4] = 3/((m-1)(m+1)) for a uniform direction v of S^(m-2).
    expected = square / (m - 1)
    variance = 3 * fourth / ((m - 1) * (m + 1)) - expected**2
    p["second moment across"] = gof.mean((projections[:, 0] ** 2).mean(), expected, variance, n)
    if m > 2:
        product = (projections[:, 0] * projections[:, 1]).mean()
        # E[v_1^2 v_2^2] = 1/((m-1)(m+1))
        p["mixed moment across"] = gof.mean(product, 0.0, fourth / ((m - 1) * (m + 1)), n)


def _examine_mean(report: Report, offset: gof.Array, n: int, loc: gof.Array, kappa: float) -> None:
    """The sample mean of z (given as its distance from mu) has the expectation A mu and a known
    covariance."""
    m = loc.size
    _, _, square = cosine_distribution(m, kappa).moments_of_below()
    unit = loc / numpy.linalg.norm(loc)
    across = offset - (offset @ unit) * unit
    statistic = n * (m - 1) * float(across @ across) / square
    report.p_values["mean of z across mu"] = gof.chi_square(statistic, m - 1)
