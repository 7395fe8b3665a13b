# SPDX-License-Identifier: MIT
"""Random arguments: shapes, dtypes, values from tame to hostile, and memory layouts.

Everything is drawn from one `Chance`, so that a call is reproduced by its seed and its number.
"""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
HALF_TYPES = (torch.bfloat16, torch.float16)
# The documented domain of the concentration.
LARGEST_KAPPA = {torch.float64: 1e10, torch.float32: 1e6, torch.bfloat16: 1e6, torch.float16: 6e4}
SMALL_DIMS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 17, 20, 31, 32, 33, 50, 63, 64, 65, 100)
LARGE_DIMS = (127, 128, 257, 500, 1000, 1023, 4096)
ELEMENTS = 40_000  # of a usual argument
MANY_ELEMENTS = 3_000_000  # of a rare one


class Chance:
    """The randomness of one call."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = random.Random(f"svmf {seed} {number}")
        self.generator = torch.Generator().manual_seed(self.random.getrandbits(60))

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def pick(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def log_uniform(self, low: float, high: float) -> float:
        return math.exp(self.random.uniform(math.log(low), math.log(high)))

    def seed(self) -> int:
        return self.pick((0, 1, 2**63 - 2, self.random.getrandbits(62)))

    def uniform(self, shape: Sequence[int]) -> Tensor:
        return torch.rand(tuple(shape), generator=self.generator, dtype=torch.float64)

    def normal(self, shape: Sequence[int]) -> Tensor:
        return torch.randn(tuple(shape), generator=self.generator, dtype=torch.float64)


def dimension(chance: Chance) -> int:
    """m: mostly small, sometimes large, rarely the largest that is supported."""
    if chance.one_in(300):
        return chance.pick((100_000, 1_000_000))
    return chance.pick(LARGE_DIMS if chance.one_in(12) else SMALL_DIMS)


def batch_shape(chance: Chance, row_elements: int) -> tuple[int, ...]:
    """Rank 0 to 3; now and then empty, long enough for several chunks, or huge."""
    limit = (MANY_ELEMENTS if chance.one_in(200) else ELEMENTS) // row_elements
    if limit <= 1:
        return chance.pick(((), (1,), (1, 1)))
    if chance.one_in(10):
        return (min(limit, chance.pick((63, 64, 65, 1023, 1024, 1025, 2049, 5000, 300_000))),)
    shape: list[int] = []
    for _ in range(chance.random.randrange(4)):
        size = chance.pick((0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33))
        shape.append(size if math.prod(shape) * size <= limit else 1)
    return tuple(shape)


def special_values(dtype: torch.dtype) -> list[float]:
    info = torch.finfo(dtype)
    smallest = info.smallest_normal
    return [
        0.0, -0.0, smallest, smallest / 4, -smallest / 4, info.eps, 1.0, 1 - info.eps, 1 + info.eps,
        0.5, -1.0, -0.5, LARGEST_KAPPA[dtype], info.max / 4, info.max, -info.max, math.inf,
        -math.inf, math.nan,
    ]  # fmt: skip


def sprinkle(chance: Chance, values: Tensor, dtype: torch.dtype) -> Tensor:
    """`values` with some elements replaced by special ones."""
    flat, specials = values.flatten(), special_values(dtype)
    for _ in range(chance.pick((1, 1, 2, 5))):
        if flat.numel():
            flat[chance.random.randrange(flat.numel())] = chance.pick(specials)
    return flat.view(values.shape)


def concentrations(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    kind = chance.random.randrange(5)
    if kind == 0:
        values = torch.full(shape, chance.pick(special_values(dtype)), dtype=torch.float64)
    else:
        low, high = (1e-3, 1e3) if kind < 3 else (1e-30, LARGEST_KAPPA[dtype])
        values = (chance.uniform(shape) * math.log(high / low)).exp() * low
        if kind in (2, 4):
            values = sprinkle(chance, values, dtype)
    return values.to(dtype)


def orders(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    values = (chance.uniform(shape) * math.log(1e9)).exp() * 1e-3
    if chance.one_in(2):
        values = (2 * values).round() / 2  # whole and half orders have code of their own
    return (sprinkle(chance, values, dtype) if chance.one_in(3) else values).to(dtype)


def fractions(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Mean lengths, in [0, 1]."""
    values = chance.uniform(shape)
    if chance.one_in(3):
        values = values.pow(chance.log_uniform(0.01, 100))
    return (sprinkle(chance, values, dtype) if chance.one_in(3) else values).to(dtype)


def cosines(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    values = 2 * chance.uniform(shape) - 1
    if chance.one_in(3):
        values = 1 - (1 - values).pow(chance.log_uniform(1, 30))
    return (sprinkle(chance, values, dtype) if chance.one_in(3) else values).to(dtype)


def directions(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Vectors [*shape], most of them unit vectors."""
    values = chance.normal(shape)
    values /= torch.linalg.vector_norm(values, dim=-1, keepdim=True)
    kind = chance.random.randrange(10)
    if kind < 3:  # poles, and next to them
        values.zero_()
        values[..., 0] = chance.pick((-1.0, 1.0))
        if kind == 1:
            values[..., -1] = torch.finfo(dtype).eps
    elif kind == 3:
        values *= chance.log_uniform(1e-20, 1e20)
    elif kind < 6:
        values = sprinkle(chance, values, dtype)
    return values.to(dtype)


def raw_concentrations(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    values = 40 * chance.normal(shape)
    return (sprinkle(chance, values, dtype) if chance.one_in(3) else values).to(dtype)


def laid_out(chance: Chance, values: Tensor) -> Tensor:
    """The same values in another memory layout."""
    kind = chance.random.randrange(8)
    if not values.is_floating_point():
        return values
    if kind == 1 and values.dim() >= 2:  # transposed
        return values.transpose(0, -1).contiguous().transpose(0, -1)
    if kind == 2 and values.dim():  # every second element, nan between
        spread = values.new_full((*values.shape, 2), math.nan)
        spread[..., 0] = values
        return spread[..., 0]
    if kind == 3:  # not aligned, and at the very end of its memory
        storage = values.new_full((values.numel() + 1,), math.nan)
        storage[1:] = values.flatten()
        return storage[1:].view(values.shape)
    if kind == 4:  # negated when it is read
        return torch._neg_view(-values)
    if kind == 5 and values.dim():  # a hole after each row
        wide = values.new_full((*values.shape[:-1], values.shape[-1] + 3), math.nan)
        wide[..., : values.shape[-1]] = values
        return wide[..., : values.shape[-1]]
    if kind == 6:
        return torch.nn.Parameter(values, requires_grad=False)
    return values


def repeated(chance: Chance, values: Tensor, vector: bool) -> Tensor:
    """Other values of the same shape: with stride zero, or overlapping in memory."""
    rank = values.dim() - vector
    if not rank or not values.numel():
        return values
    axis = chance.random.randrange(rank)
    if vector or chance.one_in(2):
        return values.narrow(axis, 0, 1).expand(values.shape)
    return values.flatten().as_strided(values.shape, [1] * values.dim())
