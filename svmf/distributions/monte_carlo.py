# SPDX-License-Identifier: MIT
"""The KL divergence of two distributions by samples, where no closed form is registered."""

from typing import NamedTuple, SupportsIndex

import torch
from torch import Generator, Tensor
from torch.distributions import Distribution

from svmf.distributions._checks import common_batch


class KlEstimate(NamedTuple):
    """What `kl_monte_carlo` returns."""

    value: Tensor  # unbiased, [*batch]
    error: Tensor  # the standard error of `value`, without gradient


def kl_monte_carlo(
    p: Distribution, q: Distribution, samples: int = 10_000, *, generator: Generator | None = None
) -> KlEstimate:
    """KL(p || q) as the mean of log p(z) - log q(z) over samples of p, with its standard error.

    The value carries the gradients of both distributions. Batch shapes broadcast. `error` falls as
    1 / sqrt(samples); it is itself an estimate, too small where q has much lighter tails than p.

    >>> import torch
    >>> from svmf import PowerSpherical, VonMisesFisher
    >>> pole = torch.tensor([0.0, 0.0, 1.0])
    >>> kl = kl_monte_carlo(VonMisesFisher(pole, 5.0), PowerSpherical(pole, 9.0))
    >>> bool(kl.error < 0.01)
    True
    """
    if not isinstance(samples, SupportsIndex) or samples.__index__() < 2:
        raise ValueError(
            f"kl_monte_carlo: expected a whole number `samples` of at least 2, got {samples}"
        )
    if p.event_shape != q.event_shape:
        raise ValueError(
            "kl_monte_carlo: expected distributions on the same sphere, got event shapes "
            f"{list(p.event_shape)} and {list(q.event_shape)}"
        )
    batch = common_batch("kl_monte_carlo", p.batch_shape, q.batch_shape)
    p, q = p.expand(batch), q.expand(batch)
    options = {} if generator is None else {"generator": generator}
    z = p.rsample(torch.Size([samples]), **options)
    each = p.log_prob(z) - q.log_prob(z)
    value = each.mean(0)
    if not value.numel():  # of which torch's standard deviation would warn
        return KlEstimate(value, value.detach())
    return KlEstimate(value, each.detach().std(0) / samples**0.5)
