# SPDX-License-Identifier: MIT
"""Where estimators start: the random numbers, and k-means++ on the sphere."""

import math
import operator
from typing import Any

import torch
from torch import Generator, Tensor

from svmf.distributions._data import as_tensor, unit_vectors
from svmf.mixture.rows import Rows


def generator_from(random_state: Any, device: torch.device) -> Generator:
    """A generator of its own, so that torch's global one stays where it is but for one draw.

    `random_state`: None draws a seed from torch's global generator, so that `torch.manual_seed`
    reproduces; a number is the seed; NumPy's generators and torch's are drawn from.
    """
    if random_state is None or isinstance(random_state, Generator):
        source = random_state
        where = torch.device("cpu") if source is None else source.device
        seed = int(torch.randint(2**63 - 1, (), generator=source, device=where))
    elif hasattr(random_state, "integers"):  # numpy.random.Generator
        seed = int(random_state.integers(2**62))
    elif hasattr(random_state, "randint"):  # numpy.random.RandomState, as scikit-learn passes it
        seed = int(random_state.randint(2**31 - 1))
    else:
        try:
            seed = operator.index(random_state)
        except TypeError:
            raise TypeError(
                "expected `random_state` to be None, a whole number or a generator, got "
                f"{type(random_state).__name__}"
            ) from None
    return Generator(device=device).manual_seed(seed)


class Directions:
    """Components that score a row by its cosine with them."""

    sharp: Tensor | None = None

    def __init__(self, locs: Tensor) -> None:
        self.locs = locs

    def scores(self, chunk: Rows) -> Tensor:
        return chunk.product(self.locs)

    def linear(self) -> tuple[Tensor, Tensor, Tensor]:
        one = self.locs.new_ones(self.locs.shape[0], dtype=torch.float64)
        return self.locs, one, torch.zeros_like(one)


def seeds_for(estimator: Any, k: int, rows: Rows, weight: Tensor | None, generator: Any) -> Tensor:
    """The mean directions [k, m] that `estimator.init` asks for."""
    name = type(estimator).__name__
    init = estimator.init
    if isinstance(init, str):
        if init == "k-means++":
            return plus_plus(rows, weight, k, generator)
        if init == "random":
            return rows.dense(
                torch.randperm(rows.shape[0], generator=generator, device=rows.device)[:k]
            )
        raise ValueError(
            f'{name}: expected `init` to be "k-means++", "random" or mean directions, got {init!r}'
        )
    given = as_tensor(init, name=name, argument="init")
    if given.shape != (k, rows.shape[1]):
        raise ValueError(
            f"{name}: expected `init` of shape [{k}, {rows.shape[1]}], got {list(given.shape)}"
        )
    given = unit_vectors(given, name=name, argument="init", normalize=estimator.normalize)
    return given.detach().to(device=rows.device, dtype=rows.dtype)


def plus_plus(rows: Rows, weight: Tensor | None, k: int, generator: Generator) -> Tensor:
    """Greedy k-means++ (Arthur and Vassilvitskii 2007) with the squared chord 2 (1 - cosine):
    [k, m].

    Of 2 + log k candidates, drawn with the distance to the seeds so far, the one that lowers the
    sum of distances most becomes the next seed.
    """
    n = rows.shape[0]
    each = torch.ones(n, dtype=torch.float64, device=rows.device) if weight is None else weight
    seeds = rows.dense(draw(each, 1, generator))
    distance = _distances(rows, seeds).squeeze(-1)
    for _ in range(1, k):
        chance = each * distance
        if not bool(chance.sum() > 0):  # fewer distinct rows than components
            chance = each
        candidates = rows.dense(draw(chance, 2 + int(math.log(k)), generator))
        closer = torch.minimum(_distances(rows, candidates), distance[:, None])
        best = int((each @ closer).argmin())
        seeds = torch.cat((seeds, candidates[best : best + 1]))
        distance = closer[:, best]
    return seeds


def draw(chance: Tensor, count: int, generator: Generator) -> Tensor:
    """`count` indices with these weights, with replacement, for any number of weights."""
    edges = chance.cumsum(0)
    u = torch.rand(count, dtype=torch.float64, generator=generator, device=chance.device)
    at = torch.searchsorted(edges, u * edges[-1], right=True)
    return at.clamp(max=int(chance.nonzero()[-1]))


def _distances(rows: Rows, seeds: Tensor) -> Tensor:
    """1 - cosine of each row with each seed, in float64 and not negative."""
    products = [chunk.product(seeds) for chunk in rows.chunks()]
    return (1 - torch.cat(products).double()).clamp(min=0)
